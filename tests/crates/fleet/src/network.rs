//! A network between a client and a server: a proxy on loopback that is slow, cuts, resets and corrupts
//! as it is told, at any time.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How the network is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weather {
    /// All arrives at once.
    #[default]
    Fair,
    /// All arrives so much later, in both directions.
    Slow(Duration),
    /// Answers arrive a byte at a time, with so long between them.
    Trickle(Duration),
    /// Nothing arrives, and nobody is told: what is sent now is lost.
    Silent,
    /// Connections are reset, and so are new ones.
    Reset,
    /// Of each connection so many bytes of answers arrive; then it is reset, in their middle.
    ResetAfter(usize),
    /// One bit of each piece of an answer is another.
    Corrupt,
}

/// A proxy; it ends when it is dropped.
#[derive(Debug)]
pub struct Network {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    to: SocketAddr,
    weather: Mutex<Weather>,
    over: AtomicBool,
    connections: AtomicUsize,
    open: Mutex<Vec<TcpStream>>,
}

impl Network {
    /// In front of a server.
    ///
    /// # Panics
    /// If there is no free port.
    #[must_use]
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let shared = Arc::new(Shared {
            to: server,
            weather: Mutex::default(),
            over: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            open: Mutex::default(),
        });
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                for client in listener.incoming() {
                    if shared.over.load(Ordering::SeqCst) {
                        break;
                    }
                    if let Ok(client) = client {
                        shared.connect(client);
                    }
                }
            }
        });
        Self {
            address,
            shared,
            accepting: Some(accepting),
        }
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many have connected so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// From now on.
    pub fn turns(&self, weather: Weather) {
        *lock(&self.shared.weather) = weather;
        if weather == Weather::Reset {
            self.shared.reset_all();
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        self.shared.reset_all();
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.accepting.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn weather(&self) -> Weather {
        *lock(&self.weather)
    }

    fn connect(self: &Arc<Self>, client: TcpStream) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        if self.weather() == Weather::Reset {
            return reset(&client);
        }
        let Ok(server) = TcpStream::connect(self.to) else {
            return reset(&client);
        };
        let _ = client.set_nodelay(true);
        let _ = server.set_nodelay(true);
        {
            let mut open = lock(&self.open);
            open.extend(
                [client.try_clone(), server.try_clone()]
                    .into_iter()
                    .flatten(),
            );
        }
        if let (Ok(from_client), Ok(to_client)) = (client.try_clone(), client.try_clone())
            && let (Ok(from_server), Ok(to_server)) = (server.try_clone(), server.try_clone())
        {
            self.carry(from_client, to_server, false);
            self.carry(from_server, to_client, true);
        }
    }

    /// One direction of a connection: a thread reads, another writes when it is time.
    fn carry(self: &Arc<Self>, from: TcpStream, to: TcpStream, answers: bool) {
        let (pieces, due) = mpsc::channel();
        let reads = Arc::clone(self);
        thread::spawn(move || reads.read(from, &pieces, answers));
        let writes = Arc::clone(self);
        thread::spawn(move || writes.write(&to, &due, answers));
    }

    fn read(&self, mut from: TcpStream, pieces: &Sender<(Instant, Vec<u8>)>, answers: bool) {
        let mut piece = vec![0; 16 * 1024];
        let mut passed = 0;
        loop {
            let length = match from.read(&mut piece) {
                Ok(length) if length > 0 => length,
                _ => return,
            };
            let mut bytes = piece[..length].to_vec();
            let mut due = Instant::now();
            match self.weather() {
                Weather::Slow(delay) => due += delay,
                Weather::Silent => continue,
                Weather::Reset => return reset(&from),
                Weather::ResetAfter(limit) if answers && passed + length > limit => {
                    bytes.truncate(limit.saturating_sub(passed));
                    // What is left of it arrives first.
                    let _ = pieces.send((due, bytes));
                    let _ = pieces.send((due, Vec::new()));
                    return;
                }
                Weather::Corrupt if answers => bytes[length / 2] ^= 1,
                _ => {}
            }
            passed += length;
            if pieces.send((due, bytes)).is_err() {
                return;
            }
        }
    }

    fn write(&self, mut to: &TcpStream, due: &Receiver<(Instant, Vec<u8>)>, answers: bool) {
        for (due, bytes) in due {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if bytes.is_empty() {
                return reset(to);
            }
            let step = match self.weather() {
                Weather::Trickle(pause) if answers => {
                    thread::sleep(pause);
                    1
                }
                _ => bytes.len(),
            };
            for part in bytes.chunks(step) {
                if to.write_all(part).is_err() {
                    return;
                }
                if let Weather::Trickle(pause) = self.weather() {
                    thread::sleep(pause);
                }
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    }

    fn reset_all(&self) {
        for stream in lock(&self.open).drain(..) {
            reset(&stream);
        }
    }
}

/// Ends a connection as a crashed host's kernel would: what it hasn't sent is lost.
fn reset(stream: &TcpStream) {
    // Without lingering, closing sends a reset; the other clones of it are woken by the shutdown.
    let _ = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
    let _ = stream.shutdown(Shutdown::Both);
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
