//! The credentials of the environment.

use std::env;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials;
use aws_credential_types::provider::error::CredentialsError;

/// What makes credentials: who sets one of them means to ask AWS.
const VARIABLES: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

/// Those of the environment; none if no variable of them is set.
///
/// # Errors
/// Where half of them is there, or something else than a key.
pub(crate) async fn of_environment() -> Result<Option<Credentials>, CredentialsError> {
    let is_set =
        |name| env::var_os(name).is_some_and(|value| !value.to_string_lossy().trim().is_empty());
    if !VARIABLES.into_iter().any(is_set) {
        return Ok(None);
    }
    if let Some(missing) = VARIABLES.into_iter().find(|name| !is_set(name)) {
        return Err(CredentialsError::invalid_configuration(format!(
            "{missing} is not set"
        )));
    }
    let provider = EnvironmentVariableCredentialsProvider::new();
    let found = provider.provide_credentials().await?;
    // A file's last line break, mostly. The SDK panics when it signs with it.
    if found.access_key_id().chars().any(char::is_control) {
        return Err(CredentialsError::invalid_configuration(
            "there is a line break, or the like, in AWS_ACCESS_KEY_ID",
        ));
    }
    Ok(Some(found))
}
