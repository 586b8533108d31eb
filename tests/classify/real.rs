//! `classify::io` of the errors that this machine's sockets and files really give.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use breakerbox::{Breaker, CallError, Outcome, Settings, State, circuit_breaker, classify};

/// The error's kind, and what a call that ends with it counts as.
fn counted<T: std::fmt::Debug>(call: impl FnOnce() -> Result<T, Error>) -> (ErrorKind, Outcome) {
    let _scope = breakerbox::test::scope();
    let breaker = Breaker::new("io", Settings::new().threshold(1).must());
    let answer = breaker.classify(classify::io).call_sync(call);
    let Err(CallError::Call(error)) = answer else {
        panic!("{answer:?}");
    };
    let outcome = match (breaker.state(), breaker.snapshot().consecutive) {
        (State::Open, _) => Outcome::Failure,
        (State::Closed, 0) => Outcome::Ignored,
        other => panic!("{other:?}"),
    };
    (error.kind(), outcome)
}

/// Both ends of a connection.
fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (ours, listener.accept().unwrap().0)
}

/// A folder that is there for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("breakerbox-{test}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        assert!(removed.is_ok() || std::thread::panicking());
    }
}

#[test]
fn a_port_that_refuses() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    assert_eq!(
        counted(|| TcpStream::connect(address)),
        (ErrorKind::ConnectionRefused, Outcome::Failure)
    );
}

#[test]
fn a_peer_that_closes_in_the_middle() {
    let (mut ours, mut theirs) = connection();
    theirs.write_all(b"half").unwrap();
    drop(theirs);
    assert_eq!(
        counted(|| ours.read_exact(&mut [0; 8])),
        (ErrorKind::UnexpectedEof, Outcome::Failure)
    );
}

#[test]
fn a_peer_that_resets() {
    let (mut ours, theirs) = connection();
    ours.write_all(b"unread").unwrap();
    theirs.peek(&mut [0]).unwrap();
    drop(theirs); // with what it has not read: so it resets
    assert_eq!(
        counted(|| ours.read(&mut [0])),
        (ErrorKind::ConnectionReset, Outcome::Failure)
    );
    assert_eq!(
        counted(|| ours.write_all(b"more")),
        (ErrorKind::BrokenPipe, Outcome::Failure)
    );
}

#[test]
fn a_peer_that_says_nothing() {
    let (mut ours, _theirs) = connection();
    ours.set_read_timeout(Some(Duration::from_millis(10)))
        .unwrap();
    let (kind, outcome) = counted(|| ours.read(&mut [0]));
    assert!(
        matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "{kind:?}"
    );
    assert_eq!(outcome, Outcome::Failure);
}

#[test]
fn a_peer_that_speaks_something_else() {
    let (mut ours, mut theirs) = connection();
    theirs.write_all(b"\xff\xfe").unwrap();
    drop(theirs);
    assert_eq!(
        counted(|| ours.read_to_string(&mut String::new())),
        (ErrorKind::InvalidData, Outcome::Failure)
    );
}

#[test]
fn addresses() {
    assert_eq!(
        counted(|| TcpStream::connect("no port")).1,
        Outcome::Ignored
    );
    assert_eq!(
        counted(|| TcpStream::connect_timeout(&"127.0.0.1:1".parse().unwrap(), Duration::ZERO)),
        (ErrorKind::InvalidInput, Outcome::Ignored)
    );
    // Of a network that is there for documents alone.
    assert_eq!(
        counted(|| UdpSocket::bind("192.0.2.1:0")),
        (ErrorKind::AddrNotAvailable, Outcome::Failure)
    );
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!(
        counted(|| TcpListener::bind(taken.local_addr().unwrap())),
        (ErrorKind::AddrInUse, Outcome::Ignored)
    );
}

#[test]
fn files() {
    let folder = Folder::new("files");
    let file = folder.file("file", b"\xff\xfe");
    let within = |name: &str| folder.0.join(name);
    let create_new = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let long = "n".repeat(1000);

    assert_eq!(
        counted(|| File::open(within("none"))),
        (ErrorKind::NotFound, Outcome::Ignored)
    );
    assert_eq!(
        counted(|| create_new(&file)),
        (ErrorKind::AlreadyExists, Outcome::Ignored)
    );
    assert_eq!(
        counted(|| fs::read(&folder.0)),
        (ErrorKind::IsADirectory, Outcome::Ignored)
    );
    assert_eq!(
        counted(|| fs::read(file.join("x"))),
        (ErrorKind::NotADirectory, Outcome::Ignored)
    );
    assert_eq!(
        counted(|| fs::remove_dir(&folder.0)),
        (ErrorKind::DirectoryNotEmpty, Outcome::Ignored)
    );
    assert_eq!(
        counted(|| File::open(within(&long))),
        (ErrorKind::InvalidFilename, Outcome::Ignored)
    );
    assert_eq!(
        counted(|| File::open("nul\0")),
        (ErrorKind::InvalidInput, Outcome::Ignored)
    );
    assert_eq!(
        counted(|| fs::read_to_string(&file)),
        (ErrorKind::InvalidData, Outcome::Failure)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full() {
    let full = || {
        OpenOptions::new()
            .write(true)
            .open("/dev/full")?
            .write_all(b"x")
    };
    assert_eq!(counted(full), (ErrorKind::StorageFull, Outcome::Failure));
}

/// Which the standard library has no name for.
#[cfg(target_os = "linux")]
#[test]
fn an_error_of_no_kind() {
    const EIO: i32 = 5;
    let (kind, outcome) = counted(|| Err::<(), _>(Error::from_raw_os_error(EIO)));
    assert_eq!(format!("{kind:?}"), "Uncategorized");
    assert_eq!(outcome, Outcome::Failure);
}

/// A server on this machine, and what to write where it is the dependency.
#[cfg(unix)]
#[test]
fn a_socket_s_file_that_is_missing() {
    use std::os::unix::net::UnixStream;

    #[circuit_breaker(threshold = 1, classify = classify::any((
        classify::io,
        classify::only([ErrorKind::NotFound]),
    )))]
    fn connect(path: &Path) -> Result<UnixStream, CallError<Error>> {
        Ok(UnixStream::connect(path)?)
    }

    let folder = Folder::new("socket");
    let missing = folder.0.join("socket");
    assert_eq!(
        counted(|| UnixStream::connect(&missing)),
        (ErrorKind::NotFound, Outcome::Ignored)
    );
    let _scope = breakerbox::test::scope();
    assert!(matches!(connect(&missing), Err(CallError::Call(_))));
    assert!(matches!(connect(&missing), Err(CallError::Open(_))));
}
