//! The credentials of the environment.

use std::env::{self, VarError};

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials;
use aws_credential_types::provider::error::CredentialsError;

/// Who sets one of the two means to ask AWS.
const KEY: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";

/// Those of the environment; none if no variable of them is set.
///
/// # Errors
/// Where half of them is there, or something else than a key.
pub(crate) async fn of_environment() -> Result<Option<Credentials>, CredentialsError> {
    match (is_set(KEY)?, is_set(SECRET)?) {
        (false, false) => return Ok(None),
        (true, true) => {}
        (false, true) => return Err(wrong(KEY, "is not set")),
        (true, false) => return Err(wrong(SECRET, "is not set")),
    }
    let provider = EnvironmentVariableCredentialsProvider::new();
    let found = provider.provide_credentials().await?;
    // A file's last line break, mostly. The SDK panics when it signs with it.
    if found.access_key_id().chars().any(char::is_control) {
        return Err(wrong(KEY, "has a line break in it, or the like"));
    }
    Ok(Some(found))
}

/// To set it to nothing is not to set it.
fn is_set(name: &str) -> Result<bool, CredentialsError> {
    match env::var(name) {
        Ok(value) => Ok(!value.trim().is_empty()),
        Err(VarError::NotPresent) => Ok(false),
        // The SDK's own error has the value in it, which may be the secret.
        Err(VarError::NotUnicode(_)) => Err(wrong(name, "is no text")),
    }
}

fn wrong(name: &str, why: &str) -> CredentialsError {
    CredentialsError::invalid_configuration(format!("{name} {why}"))
}
