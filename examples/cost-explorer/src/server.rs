//! Cost Explorer on loopback: a real HTTP server that speaks its protocol, fails on command, and
//! keeps a log of what reached it.

mod fault;
mod log;
mod page;
mod protocol;

use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_credential_types::Credentials;
use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub use fault::Fault;
pub use log::{Answer, Seen};

use protocol::{Asked, Exception, Reply};

/// A running server; it ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    desk: Arc<Desk>,
    task: JoinHandle<()>,
}

/// What all connections share.
#[derive(Debug, Default)]
struct Desk(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Of accounts that are not well.
    faults: HashMap<String, Fault>,
    log: Vec<Seen>,
}

impl Server {
    /// One that is well, on a free port of loopback.
    ///
    /// # Errors
    /// Where there is no port.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let desk = Arc::new(Desk::default());
        let task = tokio::spawn(accept(listener, Arc::clone(&desk)));
        Ok(Self {
            address,
            desk,
            task,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on an account's requests meet this fault.
    pub fn play(&self, account: &str, fault: Fault) {
        self.desk.state().faults.insert(account.to_owned(), fault);
    }

    /// All requests so far, in the order in which they arrived.
    #[must_use]
    pub fn log(&self) -> Vec<Seen> {
        self.desk.state().log.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Credentials that this server takes for an account's: their id is the account's.
#[must_use]
pub fn credentials(account: &str) -> Credentials {
    Credentials::builder()
        .access_key_id(format!("AKIA{account}"))
        .secret_access_key("known to nobody")
        .provider_name("loopback")
        .build()
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fault that an account's requests meet.
    fn fault(&self, account: &str) -> Fault {
        self.state()
            .faults
            .get(account)
            .copied()
            .unwrap_or_default()
    }

    fn write_down(&self, account: &str, answer: Answer) {
        self.state().log.push(Seen {
            account: account.to_owned(),
            answer,
        });
    }

    /// Reads a request, writes it down, and answers it, if it does.
    async fn serve(&self, request: Request<Incoming>) -> Result<Reply, hyper::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let asked = match protocol::read(&head.headers, &body) {
            Ok(asked) => asked,
            Err(exception) => {
                self.write_down("unknown", Answer::Invalid);
                return Ok(exception.reply());
            }
        };
        let fault = self.fault(&asked.account);
        let (answer, reply) = answer(fault, &asked);
        self.write_down(&asked.account, answer);
        match fault {
            Fault::Hang => pending().await,
            Fault::Slow(by) => tokio::time::sleep(by).await,
            _ => {}
        }
        Ok(reply)
    }
}

/// What becomes of a request, and what is said to it.
fn answer(fault: Fault, asked: &Asked) -> (Answer, Reply) {
    let further_page = asked.request.next_page_token.is_some();
    let (answer, exception) = match fault {
        Fault::Throttled { retry_after } => (Answer::Throttled, Exception::throttled(retry_after)),
        Fault::DataUnavailable => (Answer::DataUnavailable, Exception::data_unavailable()),
        Fault::Error => (Answer::Error, Exception::internal()),
        Fault::BreaksOff if further_page => (Answer::Error, Exception::internal()),
        // Said to nobody: the reply is never sent.
        Fault::Hang => (Answer::Silence, Exception::internal()),
        Fault::None | Fault::Slow(_) | Fault::SamePage | Fault::BreaksOff => {
            match page::of(asked, fault == Fault::SamePage) {
                Ok(page) => return (Answer::Page, protocol::success(&page)),
                Err(exception) => (Answer::Invalid, exception),
            }
        }
    };
    (answer, exception.reply())
}

async fn accept(listener: TcpListener, desk: Arc<Desk>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(stream, Arc::clone(&desk)))),
            // Out of sockets, say: the others go on.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Serves a connection to its end. How it ends is the client's to notice.
async fn converse(stream: TcpStream, desk: Arc<Desk>) {
    let service = service_fn(move |request| {
        let desk = Arc::clone(&desk);
        async move { desk.serve(request).await }
    });
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
