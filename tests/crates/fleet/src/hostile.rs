//! A server that is no Redis: it says what it likes to whoever connects.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What it says.
#[derive(Clone, Debug)]
pub enum Nonsense {
    /// These bytes to each thing that it is told.
    Says(Vec<u8>),
    /// The first, then the second again and again, as fast as they are read.
    Floods(Vec<u8>, Vec<u8>),
    /// Takes everything, and says nothing.
    Nothing,
    /// Ends each connection at once.
    HangsUp,
}

/// It runs until it is dropped.
#[derive(Debug)]
pub struct Hostile {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Hostile {
    /// One that says this.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn says(nonsense: Nonsense) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let over = Arc::new(AtomicBool::new(false));
        let connections = Arc::new(AtomicUsize::new(0));
        let thread = thread::spawn({
            let (over, connections) = (Arc::clone(&over), Arc::clone(&connections));
            move || {
                for stream in listener.incoming() {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    connections.fetch_add(1, Ordering::SeqCst);
                    if let Ok(stream) = stream {
                        let (over, nonsense) = (Arc::clone(&over), nonsense.clone());
                        thread::spawn(move || talk(stream, &nonsense, &over));
                    }
                }
            }
        });
        Self {
            address,
            over,
            connections,
            thread: Some(thread),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many have connected.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn talk(mut stream: TcpStream, nonsense: &Nonsense, over: &AtomicBool) {
    // So that it is seen when it is over.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
    let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
    let mut heard = [0; 4096];
    let mut begun = false;
    while !over.load(Ordering::SeqCst) {
        let said = match nonsense {
            Nonsense::HangsUp => return,
            Nonsense::Floods(_, flood) if begun => stream.write_all(flood),
            _ => match stream.read(&mut heard) {
                Ok(0) => return,
                Ok(_) => {
                    begun = true;
                    match nonsense {
                        Nonsense::Says(bytes) | Nonsense::Floods(bytes, _) => {
                            stream.write_all(bytes)
                        }
                        _ => Ok(()),
                    }
                }
                Err(error) => Err(error),
            },
        };
        match said {
            Ok(()) => {}
            Err(error) if is_only_late(&error) => {}
            Err(_) => return,
        }
    }
}

fn is_only_late(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut)
}
