//! A server that does one thing to whoever connects, right or wrong.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What becomes of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Reads the request, answers with these bytes, and closes.
    Answer(Vec<u8>),
    /// The same, and then neither says more nor closes.
    AnswerAndHang(Vec<u8>),
    /// Resets the connection, with the request unread.
    Reset,
}

impl Reply {
    /// An answer with this head, without its last empty line, and this body.
    pub(crate) fn new(head: &str, body: &str) -> Self {
        let length = body.len();
        Self::raw(&format!(
            "HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    pub(crate) fn raw(text: &str) -> Self {
        Self::Answer(text.into())
    }
}

/// Runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Of one reply.
    pub(crate) fn new(reply: Reply) -> Self {
        Self::by_path(move |_| reply.clone())
    }

    /// Of a reply to each path.
    pub(crate) fn by_path(reply: impl Fn(&str) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (requests, over) = (requests.clone(), over.clone());
            move || {
                let mut hanging = Vec::new();
                for stream in listener.incoming() {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    requests.fetch_add(1, Ordering::SeqCst);
                    // What a client does to its end of the connection is its affair.
                    hanging.extend(
                        stream
                            .and_then(|stream| serve(stream, &reply))
                            .ok()
                            .flatten(),
                    );
                }
            }
        });
        Self {
            address,
            requests,
            over,
            thread: Some(thread),
        }
    }

    /// One that was there and is gone: its port refuses.
    pub(crate) fn gone() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Connections so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes it.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking());
        }
    }
}

/// Gives the connection back if it is to stay open.
fn serve(
    mut stream: TcpStream,
    reply: &impl Fn(&str) -> Reply,
) -> std::io::Result<Option<TcpStream>> {
    // For hangs only.
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut head = [0; 4096];
    let seen = stream.peek(&mut head)?;
    let path = String::from_utf8_lossy(&head[..seen]);
    let path = path.split_whitespace().nth(1).unwrap_or_default();
    let reply = reply(path.trim_start_matches('/'));
    if let Reply::Answer(bytes) | Reply::AnswerAndHang(bytes) = &reply {
        read_head(&mut stream)?;
        stream.write_all(bytes)?;
    }
    Ok(matches!(reply, Reply::AnswerAndHang(_)).then_some(stream))
}

fn read_head(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte)? == 1 {
        head.extend(byte);
    }
    Ok(())
}
