//! The PMS: a real HTTP server on loopback that breaks on command and keeps a log of what reached it.

use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use crate::script::{Fault, Room};

/// The header that carries the number of a call, to match the server's log with the callers'.
pub(crate) const CALL_HEADER: &str = "x-call";

/// What looking a room up costs a healthy PMS.
const LOOKUP: Duration = Duration::from_millis(2);

/// The request that is answered whatever its room, while most rooms are unknown. Those before it may all
/// get a 404, which decides nothing about a circuit; this one lets it close.
const FOUND_AGAIN: usize = 4;

/// What the server did to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The room's inventory.
    Inventory,
    /// 500.
    Error,
    /// 404.
    NotFound,
    /// The connection was reset.
    Reset,
    /// Nothing, ever.
    Silence,
}

/// A request that reached the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) call: u64,
    pub(crate) arrived: Instant,
    /// When the answer was ready to be sent; `None` while there is none.
    pub(crate) answered: Option<Instant>,
    pub(crate) answer: Answer,
}

/// A running PMS.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    desk: Arc<Desk>,
}

/// What all connections share.
#[derive(Debug)]
struct Desk(Mutex<State>);

#[derive(Debug)]
struct State {
    fault: Fault,
    /// Requests since the fault began.
    met: usize,
    log: Vec<Seen>,
}

/// A service's answer, or the wish to reset the connection.
type Reply = Result<Response<Full<Bytes>>, ResetConnection>;

#[derive(Debug)]
struct ResetConnection;

impl std::fmt::Display for ResetConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection is to be reset")
    }
}

impl std::error::Error for ResetConnection {}

impl Server {
    /// Listens on a free port of loopback.
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let desk = Arc::new(Desk(Mutex::new(State {
            fault: Fault::None,
            met: 0,
            log: Vec::new(),
        })));
        tokio::spawn(accept(listener, Arc::clone(&desk)));
        Ok(Self { address, desk })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Breaks in this way from now on.
    pub(crate) fn play(&self, fault: Fault) {
        self.desk.state(|state| {
            state.fault = fault;
            state.met = 0;
        });
    }

    /// How many requests were read so far.
    pub(crate) fn count(&self) -> usize {
        self.desk.state(|state| state.log.len())
    }

    /// Every request so far, in order of arrival.
    pub(crate) fn log(&self) -> Vec<Seen> {
        self.desk.state(|state| state.log.clone())
    }
}

impl Desk {
    fn state<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Enters a request into the log; gives its place there and what to do to it.
    fn arrive(&self, call: u64, room: Option<Room>) -> (usize, Answer) {
        self.state(|state| {
            state.met += 1;
            let answer = match (room, state.fault) {
                (None, _) => Answer::NotFound,
                (Some(_), Fault::None) => Answer::Inventory,
                (Some(_), Fault::Errors) => Answer::Error,
                (Some(_), Fault::Hangs) => Answer::Silence,
                (Some(_), Fault::Resets) => Answer::Reset,
                (Some(room), Fault::UnknownRooms)
                    if room.is_known_in_a_mix_up() || state.met == FOUND_AGAIN =>
                {
                    Answer::Inventory
                }
                (Some(_), Fault::UnknownRooms) => Answer::NotFound,
            };
            state.log.push(Seen {
                call,
                arrived: Instant::now(),
                answered: None,
                answer,
            });
            (state.log.len() - 1, answer)
        })
    }

    fn answered(&self, place: usize) {
        self.state(|state| state.log[place].answered = Some(Instant::now()));
    }

    async fn serve(&self, request: Request<Incoming>) -> Reply {
        let room = room_of(request.uri().path());
        let (place, answer) = self.arrive(call_of(&request), room);
        if answer == Answer::Silence {
            pending::<Infallible>().await;
        }
        if answer == Answer::Inventory {
            tokio::time::sleep(LOOKUP).await;
        }
        self.answered(place);
        match (answer, room) {
            (Answer::Inventory, Some(room)) => Ok(respond(StatusCode::OK, inventory(room))),
            (Answer::Error, _) => Ok(respond(StatusCode::INTERNAL_SERVER_ERROR, "")),
            (Answer::Reset, _) => Err(ResetConnection),
            _ => Ok(respond(StatusCode::NOT_FOUND, "")),
        }
    }
}

/// `/rooms/101` is room 101.
fn room_of(path: &str) -> Option<Room> {
    path.strip_prefix("/rooms/")?.parse().ok().map(Room)
}

/// The number of the call; 0 for a request of somebody else.
fn call_of(request: &Request<Incoming>) -> u64 {
    let header = request.headers().get(CALL_HEADER);
    header
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or(0)
}

fn inventory(room: Room) -> String {
    let nights_left = 1 + room.0 % 5;
    format!(r#"{{"room":{},"nights_left":{nights_left}}}"#, room.0)
}

fn respond(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response
}

async fn accept(listener: TcpListener, desk: Arc<Desk>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, Arc::clone(&desk)));
            }
            // Out of sockets, say: the others go on.
            Err(error) => {
                eprintln!("the PMS could not accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// Serves a connection to its end, which is a reset if the service says so.
async fn converse(stream: TcpStream, desk: Arc<Desk>) {
    let service = service_fn(
        move |request| -> Pin<Box<dyn Future<Output = Reply> + Send>> {
            let desk = Arc::clone(&desk);
            Box::pin(async move { desk.serve(request).await })
        },
    );
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // Without hyper's shutdown: a connection that was closed in good order can't be reset any more.
    let ended = poll_fn(|cx| connection.poll_without_shutdown(cx)).await;
    if ended.is_err_and(|error| error.is_user()) {
        let stream = connection.into_parts().io.into_inner();
        if let Err(error) = stream.set_zero_linger() {
            eprintln!("the PMS could not reset a connection: {error}");
        }
    }
}
