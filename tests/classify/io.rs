//! `classify::io`, wherever a classifier may stand.

use std::io::Error;
use std::net::TcpStream;

use breakerbox::classify::{self, Held, Holds};
use breakerbox::{
    Breaker, CallError, CircuitOpenError, Config, Outcome, Settings, State, circuit_breaker,
};

/// Whatever this machine's first port is for, nobody listens on it.
const NOBODY: &str = "127.0.0.1:1";

fn connect(host: &str) -> Result<TcpStream, Error> {
    TcpStream::connect(host)
}

#[derive(Debug)]
enum Own {
    Io(Error),
    Refused,
}

impl Holds<Error> for Own {
    fn held(&self) -> Held<'_, Error> {
        match self {
            Self::Io(error) => Held::Error(error),
            Self::Refused => Held::Other(Outcome::Ignored),
        }
    }
}

impl From<CircuitOpenError> for Own {
    fn from(_: CircuitOpenError) -> Self {
        Self::Refused
    }
}

#[circuit_breaker(threshold = 1, classify = classify::io)]
fn wrapped(host: &str) -> Result<TcpStream, CallError<Error>> {
    Ok(connect(host)?)
}

#[circuit_breaker(threshold = 1, classify = classify::io, open_error = Error::other)]
fn as_it_is(host: &str) -> Result<TcpStream, Error> {
    connect(host)
}

#[circuit_breaker(threshold = 1, classify = classify::io)]
async fn own(host: &str) -> Result<TcpStream, Own> {
    connect(host).map_err(Own::Io)
}

#[test]
fn in_the_attribute_the_error_may_be_wrapped() {
    let _scope = breakerbox::test::scope();
    for _ in 0..2 {
        assert!(matches!(wrapped("no port"), Err(CallError::Call(_))));
    }
    assert!(matches!(wrapped(NOBODY), Err(CallError::Call(_))));
    assert!(matches!(wrapped(NOBODY), Err(CallError::Open(_))));
}

#[test]
fn in_the_attribute_the_error_may_be_as_it_is() {
    let _scope = breakerbox::test::scope();
    for _ in 0..2 {
        assert!(as_it_is("no port").unwrap_err().get_ref().is_none());
    }
    assert!(as_it_is(NOBODY).is_err());
    let refused = as_it_is(NOBODY).unwrap_err();
    assert!(refused.get_ref().unwrap().is::<CircuitOpenError>());
}

#[tokio::test]
async fn in_the_attribute_the_error_may_be_the_users_own() {
    let _scope = breakerbox::test::scope();
    for _ in 0..2 {
        assert!(matches!(own("no port").await, Err(Own::Io(_))));
    }
    assert!(matches!(own(NOBODY).await, Err(Own::Io(_))));
    assert!(matches!(own(NOBODY).await, Err(Own::Refused)));
}

#[tokio::test]
async fn without_the_attribute_too() {
    let breaker = Breaker::new("sockets", Settings::new().threshold(1).must());
    let consecutive = || breaker.snapshot().consecutive;
    let answer = breaker
        .classify(classify::io)
        .call_sync(|| connect("no port"));
    assert!(matches!(answer, Err(CallError::Call(_))));
    let answer = breaker
        .call(async { connect("no port") })
        .classify(classify::io);
    assert!(matches!(answer.await, Err(CallError::Call(_))));
    let answer = breaker
        .classify(classify::io)
        .call(async { connect("no port") });
    assert!(matches!(answer.await, Err(CallError::Call(_))));
    assert_eq!((breaker.state(), consecutive()), (State::Closed, 0));

    let answer = breaker.classify(classify::io).call_sync(|| connect(NOBODY));
    assert!(matches!(answer, Err(CallError::Call(_))));
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_circuit_further_in_is_known_by_its_errors() {
    let inner = Breaker::new("inner", Config::DEFAULT);
    inner.force_open();
    let refused = || inner.admit().unwrap_err();
    for error in [
        Error::other(refused()),
        Error::new(std::io::ErrorKind::ResourceBusy, refused()),
        Error::other(CallError::<Error>::Open(refused())),
        Error::other(Error::other(refused())),
    ] {
        assert_eq!(classify::io(&error), Outcome::Ignored, "{error:?}");
        assert_eq!(classify::io(&CallError::Call(error)), Outcome::Ignored);
    }
    let refused = CallError::<Error>::Open(refused());
    assert_eq!(classify::io(&refused), Outcome::Ignored);
}
