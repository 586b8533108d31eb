//! What no server on loopback can bring about with this client: errors of other transports than its
//! own, and of event streams, whose raw response is not HTTP's.

use aws_sdk_costexplorer::error::SdkError;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::error::ErrorMetadata;
use aws_smithy_types::retry::ErrorKind;
use breakerbox::Outcome::{Failure, Ignored};
use breakerbox::{Outcome, classify};

/// In place of an event of a stream.
#[derive(Debug)]
struct Event;

fn of_connector(error: ConnectorError) -> Outcome {
    classify::aws(&SdkError::<ErrorMetadata>::dispatch_failure(error))
}

fn of_event(code: Option<&str>) -> Outcome {
    let mut error = ErrorMetadata::builder();
    if let Some(code) = code {
        error = error.code(code);
    }
    classify::aws(&SdkError::service_error(error.build(), Event))
}

#[test]
fn a_connector_says_whose_mistake_it_was() {
    assert_eq!(
        of_connector(ConnectorError::user("no host".into())),
        Ignored
    );
    assert_eq!(of_connector(ConnectorError::io("reset".into())), Failure);
    assert_eq!(
        of_connector(ConnectorError::timeout("late".into())),
        Failure
    );
    for (kind, outcome) in [
        (None, Failure),
        (Some(ErrorKind::ClientError), Ignored),
        (Some(ErrorKind::ServerError), Failure),
        (Some(ErrorKind::ThrottlingError), Failure),
        (Some(ErrorKind::TransientError), Failure),
    ] {
        assert_eq!(
            of_connector(ConnectorError::other("other".into(), kind)),
            outcome,
            "{kind:?}"
        );
    }
}

#[test]
fn an_event_of_a_stream_is_taken_by_its_code() {
    assert_eq!(of_event(Some("ThrottlingException")), Failure);
    assert_eq!(of_event(Some("InternalServiceException")), Failure);
    assert_eq!(of_event(Some("ServiceUnavailableException")), Failure);
    assert_eq!(of_event(Some("ValidationException")), Ignored);
    assert_eq!(of_event(Some("ResourceNotFoundException")), Ignored);
    assert_eq!(of_event(None), Failure); // unreadable
    let cut_short = SdkError::<ErrorMetadata, Event>::response_error("cut short", Event);
    assert_eq!(classify::aws(&cut_short), Failure);
}
