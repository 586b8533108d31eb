//! Who asks a service: so many connections, on each of which one question follows the other.

use std::net::SocketAddr;
use std::time::Duration;

use hdrhistogram::Histogram;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Trouble;
use crate::traffic::{Question, questions};

/// All connections to a service.
#[derive(Debug)]
pub(super) struct Askers {
    connections: Vec<Connection>,
}

/// What came of a slice of time.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) lasted: Duration,
    /// How long each answer took, in nanoseconds.
    pub(super) latency: Histogram<u64>,
    /// Answers that were not fresh.
    pub(super) not_fresh: u64,
    /// What the service's process worked.
    pub(super) cpu: Option<Duration>,
}

impl Slice {
    pub(super) fn requests(&self) -> u64 {
        self.latency.len()
    }
}

impl Askers {
    pub(super) async fn connect(service: SocketAddr, count: u32) -> Result<Self, Trouble> {
        let mut connections = Vec::new();
        for place in 0..count {
            connections.push(Connection::open(service, place as usize).await?);
        }
        Ok(Self { connections })
    }

    /// Asks for so long.
    pub(super) async fn ask(&mut self, lasts: Duration) -> Result<Slice, Trouble> {
        let began = Instant::now();
        let mut asking = JoinSet::new();
        for connection in self.connections.drain(..) {
            asking.spawn(connection.ask_until(began + lasts));
        }
        let mut slice = Slice {
            lasted: Duration::ZERO,
            latency: latency()?,
            not_fresh: 0,
            cpu: None,
        };
        while let Some(asked) = asking.join_next().await {
            let (connection, latency, not_fresh) = asked??;
            slice.latency.add(latency)?;
            slice.not_fresh += not_fresh;
            self.connections.push(connection);
        }
        slice.lasted = began.elapsed();
        Ok(slice)
    }

    /// Asks each question once; whether all answers are fresh.
    pub(super) async fn all_is_fresh(&mut self) -> Result<bool, Trouble> {
        let Some(connection) = self.connections.first_mut() else {
            return Ok(true);
        };
        let mut all = true;
        for _ in 0..connection.questions.len() {
            all &= connection.ask().await?;
        }
        Ok(all)
    }
}

/// Up to a minute, to the thousandth part.
pub(super) fn latency() -> Result<Histogram<u64>, Trouble> {
    Ok(Histogram::new_with_bounds(1, 60_000_000_000, 3)?)
}

#[derive(Debug)]
struct Connection {
    service: SocketAddr,
    sender: SendRequest<Empty<Bytes>>,
    questions: Vec<Question>,
    /// The next question.
    next: usize,
}

impl Connection {
    async fn open(service: SocketAddr, next: usize) -> Result<Self, Trouble> {
        let stream = TcpStream::connect(service).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self {
            service,
            sender,
            questions: questions(),
            next,
        })
    }

    async fn ask_until(mut self, end: Instant) -> Result<(Self, Histogram<u64>, u64), Trouble> {
        let (mut latency, mut not_fresh) = (latency()?, 0);
        let mut now = Instant::now();
        while now < end {
            let fresh = self.ask().await?;
            let answered = Instant::now();
            let took = u64::try_from((answered - now).as_nanos())?;
            latency.saturating_record(took);
            not_fresh += u64::from(!fresh);
            now = answered;
        }
        Ok((self, latency, not_fresh))
    }

    /// Asks the next question; whether the answer was a fresh one.
    async fn ask(&mut self) -> Result<bool, Trouble> {
        let Question { method, path } = &self.questions[self.next % self.questions.len()];
        self.next += 1;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.service.to_string())
            .body(Empty::new())?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let fresh = response.status() == StatusCode::OK
            && response
                .headers()
                .get("x-answer")
                .is_some_and(|how| how == "fresh");
        response.into_body().collect().await?;
        Ok(fresh)
    }
}
