//! Why there are no costs.

use aws_sdk_costexplorer::error::{BuildError, ProvideErrorMetadata, SdkError};
use aws_sdk_costexplorer::operation::get_cost_and_usage::GetCostAndUsageError;
use breakerbox::classify::{Held, Holds};
use breakerbox::{CircuitOpenError, Outcome, TimeoutError};

/// An error of the SDK, boxed: it holds the whole response.
type Sdk = Box<SdkError<GetCostAndUsageError>>;

/// Why there are no costs, and no last good answer either.
#[derive(Debug, thiserror::Error)]
pub enum CostsError {
    /// What the SDK says.
    #[error("{}", said(.0))]
    Sdk(#[source] Sdk),
    /// A page says that the next one is one that was read already.
    #[error("Cost Explorer gives the same page again and again")]
    SamePage,
    /// The answer is longer than anybody wanted to pay for.
    #[error("the answer has more than {0} pages: ask for fewer days")]
    TooManyPages(usize),
    /// Too many calls wait for their turn.
    #[error("too many calls of this account wait for their turn")]
    Queue,
    /// The circuit is open.
    #[error(transparent)]
    Open(#[from] CircuitOpenError),
    /// The call took too long, with all its retries.
    #[error(transparent)]
    TimedOut(#[from] TimeoutError),
}

/// The service's own words, if it said anything; what went wrong on the way are the error's sources.
fn said(error: &Sdk) -> String {
    match (error.code(), error.message()) {
        (Some(code), Some(message)) => format!("Cost Explorer says {code}: {message}"),
        (Some(code), None) => format!("Cost Explorer says {code}"),
        (None, _) => "Cost Explorer did not answer".to_owned(),
    }
}

impl CostsError {
    /// What the service calls it, if the service said it: `ValidationException`.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Sdk(error) => error.code(),
            _ => None,
        }
    }
}

impl From<SdkError<GetCostAndUsageError>> for CostsError {
    fn from(error: SdkError<GetCostAndUsageError>) -> Self {
        Self::Sdk(Box::new(error))
    }
}

impl From<BuildError> for CostsError {
    fn from(error: BuildError) -> Self {
        SdkError::from(error).into()
    }
}

/// For `classify::aws`: the SDK's error, or what counts as what in its place.
impl Holds<SdkError<GetCostAndUsageError>> for CostsError {
    fn held(&self) -> Held<'_, SdkError<GetCostAndUsageError>> {
        match self {
            Self::Sdk(error) => Held::Error(error),
            // A service that works doesn't do this.
            Self::SamePage | Self::TimedOut(_) => Held::Other(Outcome::Failure),
            // Of our own making: nothing is wrong with the service.
            Self::TooManyPages(_) | Self::Queue | Self::Open(_) => Held::Other(Outcome::Ignored),
        }
    }
}
