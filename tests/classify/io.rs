//! `classify::io`, wherever a classifier may stand.

use std::io::{Error, ErrorKind};
use std::net::TcpStream;
use std::time::Duration;

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
        Error::new(ErrorKind::ResourceBusy, refused()),
        Error::other(CallError::<Error>::Open(refused())),
        Error::other(Error::other(refused())),
        Error::other(Within(refused())),
        Error::other(Within(Error::other(refused()))),
        Error::other(Within(CallError::<Error>::Open(refused()))),
    ] {
        assert_eq!(classify::io(&error), Outcome::Ignored, "{error:?}");
        assert_eq!(classify::io(&CallError::Call(error)), Outcome::Ignored);
    }
    let refused = CallError::<Error>::Open(refused());
    assert_eq!(classify::io(&refused), Outcome::Ignored);
}

/// That it took too long is this call's failure, whatever kind its error was given.
#[tokio::test]
async fn a_call_further_in_that_took_too_long_counts() {
    let inner = Breaker::new("inner", Config::DEFAULT);
    let call = || inner.call(std::future::pending::<Result<(), Error>>());
    let late = call().timeout(Duration::from_millis(1)).await.unwrap_err();
    assert_eq!(classify::io(&late), Outcome::Failure);
    let CallError::TimedOut(why) = &late else {
        panic!("{late:?}")
    };
    for error in [
        Error::new(ErrorKind::NotFound, why.clone()),
        Error::other(Error::new(ErrorKind::NotFound, why.clone())),
        Error::new(
            ErrorKind::NotFound,
            CallError::<Error>::TimedOut(why.clone()),
        ),
        Error::new(ErrorKind::NotFound, Within(why.clone())),
        Error::new(
            ErrorKind::NotFound,
            Within(CallError::<Error>::TimedOut(why.clone())),
        ),
    ] {
        assert_eq!(classify::io(&error), Outcome::Failure, "{error:?}");
    }
}

/// An error of a library's, of which it is the cause.
#[derive(Debug)]
struct Within<E>(E);

impl<E> std::fmt::Display for Within<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no page")
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Within<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Each kind that has a name, as the table of `classify::io` says.
#[test]
fn every_kind_is_as_its_table_says() {
    const COUNT: [ErrorKind; 20] = [
        ErrorKind::ConnectionRefused,
        ErrorKind::ConnectionReset,
        ErrorKind::ConnectionAborted,
        ErrorKind::NotConnected,
        ErrorKind::BrokenPipe,
        ErrorKind::HostUnreachable,
        ErrorKind::NetworkUnreachable,
        ErrorKind::NetworkDown,
        ErrorKind::AddrNotAvailable,
        ErrorKind::TimedOut,
        ErrorKind::WouldBlock,
        ErrorKind::UnexpectedEof,
        ErrorKind::WriteZero,
        ErrorKind::InvalidData,
        ErrorKind::ResourceBusy,
        ErrorKind::StaleNetworkFileHandle,
        ErrorKind::StorageFull,
        ErrorKind::QuotaExceeded,
        ErrorKind::ReadOnlyFilesystem,
        ErrorKind::OutOfMemory,
    ];
    const DO_NOT: [ErrorKind; 18] = [
        ErrorKind::NotFound,
        ErrorKind::AlreadyExists,
        ErrorKind::PermissionDenied,
        ErrorKind::NotADirectory,
        ErrorKind::IsADirectory,
        ErrorKind::DirectoryNotEmpty,
        ErrorKind::NotSeekable,
        ErrorKind::FileTooLarge,
        ErrorKind::CrossesDevices,
        ErrorKind::TooManyLinks,
        ErrorKind::InvalidFilename,
        ErrorKind::ExecutableFileBusy,
        ErrorKind::InvalidInput,
        ErrorKind::ArgumentListTooLong,
        ErrorKind::Unsupported,
        ErrorKind::AddrInUse,
        ErrorKind::Deadlock,
        ErrorKind::Interrupted,
    ];
    let table = include_str!("../../src/classify/io.rs");
    let row = |kind: ErrorKind| {
        let name = format!("`{kind:?}`");
        table
            .lines()
            .find(|line| line.starts_with("/// | ") && line.contains(&name))
    };
    for (kinds, outcome, word) in [
        (&COUNT[..], Outcome::Failure, "| yes |"),
        (&DO_NOT[..], Outcome::Ignored, "| no |"),
        (&[ErrorKind::Other], Outcome::Failure, "| yes |"),
    ] {
        for &kind in kinds {
            assert_eq!(classify::io(&Error::from(kind)), outcome, "{kind:?}");
            assert_eq!(classify::io(&Error::new(kind, "why")), outcome, "{kind:?}");
            assert!(row(kind).is_some_and(|row| row.contains(word)), "{kind:?}");
        }
    }
}

/// What wraps an error is of a kind of its own, which says less.
#[test]
fn an_error_that_wraps_another_is_that_one() {
    for (inner, outcome) in [
        (ErrorKind::NotFound, Outcome::Ignored),
        (ErrorKind::TimedOut, Outcome::Failure),
    ] {
        let wrapped = Error::new(ErrorKind::InvalidInput, Error::from(inner));
        assert_eq!(classify::io(&wrapped), outcome);
        assert_eq!(classify::io(&Error::other(wrapped)), outcome);
        let called = CallError::Call(Error::from(inner));
        assert_eq!(classify::io(&Error::other(called)), outcome);
    }
}
