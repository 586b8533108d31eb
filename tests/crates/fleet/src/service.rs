//! The service that all instances call: an HTTP server on loopback that answers, fails or hangs as it is
//! told, and writes down who called.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::plan::{INSTANCE, KEY, header_of};
use crate::wait::monotonic;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// Answered with 200.
    #[default]
    Up,
    /// Answered with 503.
    Down,
    /// Not answered, until the health is another.
    Hanging,
}

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, by [`monotonic`].
    pub at: u64,
    /// Whose it was.
    pub instance: String,
    /// With which key, as [`header_of`] writes it; empty: with none.
    pub key: String,
    /// What it met.
    pub health: Health,
}

/// Of requests of all, of one instance, of one key, or of both.
#[derive(Clone, Debug, Default)]
struct Healths(BTreeMap<(Option<String>, Option<String>), Health>);

impl Healths {
    /// As it was said the most closely.
    fn met_by(&self, instance: &str, key: &str) -> Health {
        let (instance, key) = (Some(instance.to_owned()), Some(key.to_owned()));
        let said = [
            (instance.clone(), key.clone()),
            (None, key),
            (instance, None),
            (None, None),
        ];
        let mut healths = said.iter().filter_map(|of| self.0.get(of));
        healths.next().copied().unwrap_or_default()
    }
}

/// A running service; it ends when it is dropped.
#[derive(Debug)]
pub struct Service {
    address: SocketAddr,
    healths: watch::Sender<Healths>,
    log: Arc<Mutex<Vec<Arrival>>>,
    over: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// One that answers.
    ///
    /// # Panics
    /// If it can't be started.
    #[must_use]
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket for tokio");
        let address = listener.local_addr().expect("a bound address");
        let healths = watch::Sender::new(Healths::default());
        let over = watch::Sender::new(false);
        let log = Arc::<Mutex<Vec<Arrival>>>::default();
        let thread = thread::spawn({
            let (healths, log) = (healths.clone(), Arc::clone(&log));
            let mut is_over = over.subscribe();
            move || {
                let runtime = Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(async {
                    let listener = TcpListener::from_std(listener).expect("a listener");
                    tokio::select! {
                        () = serve(&listener, &healths, &log) => {}
                        _ = is_over.wait_for(|over| *over) => {}
                    }
                });
            }
        });
        Self {
            address,
            healths,
            log,
            over,
            thread: Some(thread),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// For everybody, from now on.
    pub fn turns(&self, health: Health) {
        let of_all = [((None, None), health)];
        self.healths.send_replace(Healths(of_all.into()));
    }

    /// For this instance alone, from now on: the shard that it is served by.
    pub fn turns_for(&self, instance: &str, health: Health) {
        self.also((Some(instance.into()), None), health);
    }

    /// For calls with this key alone, from now on: the host, the account, that it stands for.
    pub fn turns_for_key(&self, key: &str, health: Health) {
        self.also((None, Some(header_of(key))), health);
    }

    /// For calls of this instance with this key alone, from now on.
    pub fn turns_for_both(&self, instance: &str, key: &str, health: Health) {
        self.also((Some(instance.into()), Some(header_of(key))), health);
    }

    fn also(&self, of: (Option<String>, Option<String>), health: Health) {
        self.healths.send_modify(|healths| {
            healths.0.insert(of, health);
        });
    }

    /// The requests so far that met this with this key, in the order of their arrival.
    #[must_use]
    pub fn met(&self, key: &str, health: Health) -> Vec<Arrival> {
        let key = header_of(key);
        let mut met = self.log();
        met.retain(|arrival| arrival.key == key && arrival.health == health);
        met
    }

    /// All requests so far, in the order of their arrival.
    #[must_use]
    pub fn log(&self) -> Vec<Arrival> {
        lock(&self.log).clone()
    }

    /// How many arrived from this instance.
    #[must_use]
    pub fn requests_of(&self, instance: &str) -> usize {
        let log = lock(&self.log);
        log.iter()
            .filter(|request| request.instance == instance)
            .count()
    }

    /// How many arrived.
    #[must_use]
    pub fn requests(&self) -> usize {
        lock(&self.log).len()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.over.send_replace(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(
    listener: &TcpListener,
    healths: &watch::Sender<Healths>,
    log: &Arc<Mutex<Vec<Arrival>>>,
) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let (healths, log) = (healths.subscribe(), Arc::clone(log));
        let answers = service_fn(move |request| {
            let (healths, log) = (healths.clone(), Arc::clone(&log));
            async move { Ok::<_, Infallible>(answer(&request, healths, &log).await) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answers));
    }
}

async fn answer(
    request: &Request<Incoming>,
    mut healths: watch::Receiver<Healths>,
    log: &Mutex<Vec<Arrival>>,
) -> Response<Empty<Bytes>> {
    let header = |name| {
        let header = request.headers().get(name);
        header.and_then(|text| text.to_str().ok()).unwrap_or("")
    };
    let (instance, key) = (header(INSTANCE), header(KEY));
    let of = |healths: &Healths| healths.met_by(instance, key);
    let met = of(&healths.borrow());
    lock(log).push(Arrival {
        at: monotonic(),
        instance: instance.into(),
        key: key.into(),
        health: met,
    });
    let in_the_end = healths
        .wait_for(|healths| of(healths) != Health::Hanging)
        .await;
    let status = match in_the_end.as_deref().map(of) {
        Ok(Health::Up) => StatusCode::OK,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = Response::new(Empty::new());
    *response.status_mut() = status;
    response
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
