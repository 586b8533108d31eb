//! A server on loopback that gives the replies it was told to give, in order, and counts requests.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// An answer of Cost Explorer without any costs.
pub(crate) const NO_COSTS: &str = r#"{"ResultsByTime": []}"#;

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// These bytes, and then the end of the connection.
    Bytes(String),
    /// Nothing: the connection is closed.
    Closed,
    /// Nothing, and the connection stays.
    Silence,
}

impl Reply {
    /// A whole response. Headers are lines that end with `\r\n`.
    pub(crate) fn response(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::Bytes(format!(
            "HTTP/1.1 {status} .\r\ncontent-type: application/x-amz-json-1.1\r\n\
             content-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
        ))
    }

    /// What the service calls an exception, in its protocol: AWS JSON 1.1.
    pub(crate) fn exception(status: u16, code: &str) -> Self {
        Self::exception_with(status, code, "")
    }

    /// The same with more headers.
    pub(crate) fn exception_with(status: u16, code: &str, headers: &str) -> Self {
        let body = format!(r#"{{"__type": "{code}", "Message": "said by the server"}}"#);
        Self::response(status, headers, &body)
    }

    pub(crate) fn good() -> Self {
        Self::response(200, "", NO_COSTS)
    }
}

/// A running server; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// One that gives these replies, and the last of them to all further requests.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let requests = Arc::new(AtomicUsize::new(0));
        let replies: Arc<[Reply]> = replies.into_iter().collect();
        let task = tokio::spawn(accept(listener, Arc::clone(&requests), replies));
        Ok(Self {
            address,
            requests,
            task,
        })
    }

    /// Ends it: when this returns, nobody listens on its port.
    pub(crate) async fn stop(mut self) {
        self.task.abort();
        // The listener is dropped with the task; how that ended says nothing.
        let _ = (&mut self.task).await;
    }

    /// How many requests arrived.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, requests: Arc<AtomicUsize>, replies: Arc<[Reply]>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(
            stream,
            Arc::clone(&requests),
            Arc::clone(&replies),
        ));
    }
}

/// Reads one request and gives its reply. An error is the client's to notice.
async fn converse(
    mut stream: TcpStream,
    requests: Arc<AtomicUsize>,
    replies: Arc<[Reply]>,
) -> io::Result<()> {
    read_request(&mut stream).await?;
    let number = requests.fetch_add(1, Ordering::Relaxed);
    match replies.get(number).or(replies.last()) {
        Some(Reply::Bytes(bytes)) => {
            stream.write_all(bytes.as_bytes()).await?;
            stream.shutdown().await
        }
        Some(Reply::Silence) => std::future::pending().await,
        Some(Reply::Closed) | None => Ok(()),
    }
}

/// Reads to the end of a request's body, so that closing the connection resets nothing.
async fn read_request(stream: &mut TcpStream) -> io::Result<()> {
    let mut request = Vec::new();
    while !is_whole(&request) {
        if stream.read_buf(&mut request).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    body.len() >= length.unwrap_or(0)
}
