//! A dependency on loopback: a real HTTP server that fails on command, and keeps a log of what reached it.

mod answers;
mod fault;
mod log;

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::Url;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use answers::HOTELS;
pub use fault::Fault;
pub use log::{Log, Said, Seen};

/// A running dependency; it ends when it is dropped.
#[derive(Debug)]
pub struct Dependency {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
    fault: watch::Sender<Fault>,
    task: JoinHandle<()>,
}

impl Dependency {
    /// One that is well, on a free port of loopback.
    ///
    /// # Errors
    /// Where there is no port.
    pub async fn start() -> io::Result<Self> {
        // Bound and never listening: it keeps the port while connections are refused.
        let reserved = socket(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = reserved.local_addr()?;
        let listener = listen(address)?;
        let (fault, faults) = watch::channel(Fault::None);
        let log = Arc::default();
        let desk = Desk {
            log: Arc::clone(&log),
            faults,
        };
        let task = tokio::spawn(desk.open(listener, address, reserved));
        Ok(Self {
            address,
            log,
            fault,
            task,
        })
    }

    /// Where it is.
    ///
    /// # Panics
    /// Never: an address of loopback is one.
    #[must_use]
    pub fn url(&self) -> Url {
        Url::parse(&format!("http://{}/", self.address)).expect("an address is a URL")
    }

    /// From now on requests meet this fault.
    pub fn play(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    /// What reached it so far.
    #[must_use]
    pub fn log(&self) -> Log {
        lock(&self.log).clone()
    }

    /// How many requests reached it so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        lock(&self.log).count()
    }
}

impl Drop for Dependency {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What all connections share.
#[derive(Clone, Debug)]
struct Desk {
    log: Arc<Mutex<Log>>,
    faults: watch::Receiver<Fault>,
}

type Reply = Response<Full<Bytes>>;

impl Desk {
    /// Is open for connections, except while they are to be refused. `_reserved` keeps the port.
    async fn open(mut self, first: TcpListener, address: SocketAddr, _reserved: TcpSocket) {
        let mut listener = Ok(first);
        loop {
            match listener {
                Ok(listener) => self.accept(listener).await,
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
            let opens = self.faults.wait_for(|fault| *fault != Fault::Refuses);
            if opens.await.is_err() {
                return;
            }
            listener = listen(address);
        }
    }

    /// Accepts connections until they are to be refused.
    async fn accept(&mut self, listener: TcpListener) {
        let refuses = refuses(self.faults.clone());
        tokio::pin!(refuses);
        loop {
            tokio::select! {
                biased;
                () = &mut refuses => return,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => drop(tokio::spawn(self.clone().converse(stream))),
                    // Out of sockets, say: the others go on.
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            }
        }
    }

    /// Serves a connection to its end, or until it is to be refused. How it ends is the client's to
    /// notice.
    async fn converse(self, stream: TcpStream) {
        let refuses = refuses(self.faults.clone());
        let service = service_fn(|request| self.serve(request));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::select! {
            biased;
            () = refuses => {}
            _ = connection => {}
        }
    }

    /// Writes a request down, and answers it, if it does.
    async fn serve(&self, request: Request<Incoming>) -> Result<Reply, Infallible> {
        let fault = *self.faults.borrow();
        let path = request.uri().path();
        let answer = answers::to(path);
        let said = match (fault, &answer) {
            (Fault::Errors, _) => Said::Error,
            (Fault::Hangs, _) => Said::Nothing,
            (Fault::Busy { .. }, _) => Said::Busy,
            (_, None) => Said::Unknown,
            (Fault::None | Fault::Slow(_) | Fault::Refuses, Some(_)) => Said::Answer,
        };
        lock(&self.log).write_down(path, said);
        match fault {
            Fault::Hangs => pending().await,
            Fault::Slow(by) => tokio::time::sleep(by).await,
            _ => {}
        }
        Ok(match (fault, answer) {
            (Fault::Errors, _) => empty(StatusCode::INTERNAL_SERVER_ERROR),
            (Fault::Busy { seconds }, _) => {
                let mut reply = empty(StatusCode::TOO_MANY_REQUESTS);
                reply.headers_mut().insert(RETRY_AFTER, seconds.into());
                reply
            }
            (_, Some(answer)) => json(answer),
            (_, None) => empty(StatusCode::NOT_FOUND),
        })
    }
}

/// Waits until connections are to be refused; also where the dependency ends.
async fn refuses(mut faults: watch::Receiver<Fault>) {
    let _ = faults.wait_for(|fault| *fault == Fault::Refuses).await;
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    socket(address)?.listen(1024)
}

/// Bound to an address that others of this program's may be bound to as well.
fn socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    #[cfg(unix)]
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    Ok(socket)
}

fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = status;
    reply
}

fn json(body: String) -> Reply {
    let mut reply = Response::new(Full::from(body));
    let json = HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, json);
    reply
}
