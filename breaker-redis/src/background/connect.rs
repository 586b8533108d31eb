//! A connection to Redis: from nothing to one that can be used, or why not.

use super::connection::Connection;
#[cfg(feature = "cluster")]
use super::connection::cluster;
use super::limited::{Gauge, Limited};
use super::trouble;
use crate::error::{FleetError, Trouble};
use crate::protocol::SCRIPT;
use crate::settings::{FleetBuilder, is_tls};
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind,
    RedisConnectionInfo, Value,
};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

#[cfg(feature = "tls")]
type Tls = (
    Arc<rustls::ClientConfig>,
    rustls::pki_types::ServerName<'static>,
);
#[cfg(not(feature = "tls"))]
type Tls = std::convert::Infallible;

/// Messages that wait to be heard. More are dropped, and all circuits asked for instead.
pub(crate) const MOST_WAITING: usize = 16_384;

/// The longest message that is kept until it is looked at, in bytes: none is longer.
const LONGEST_MESSAGE: usize = 512;

/// Where Redis is, and how to log in.
pub(crate) struct Target {
    place: Place,
    login: RedisConnectionInfo,
    within: Duration,
    answer: Duration,
    /// In this, whether a user may do what is needed is tried out.
    trial: String,
}

enum Place {
    Tcp(String, u16, Option<Tls>),
    Unix(PathBuf),
    #[cfg(feature = "cluster")]
    Cluster(String, Vec<redis::ConnectionInfo>),
}

/// A connection that can be used.
pub(crate) struct Live {
    pub(crate) connection: Connection,
    pub(crate) script: String,
    pub(crate) messages: mpsc::Receiver<Heard>,
    /// Messages were dropped, since there were too many.
    pub(crate) overflowed: Arc<AtomicBool>,
    pub(crate) gauge: Gauge,
    /// What reads and writes, where the client doesn't see to it. It ends with the connection.
    driver: Option<JoinHandle<()>>,
}

/// A message, on which channel.
pub(crate) struct Heard {
    pub(crate) channel: Vec<u8>,
    pub(crate) text: Vec<u8>,
}

impl Live {
    /// Ready, once, when the connection has ended.
    pub(crate) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(driver) = &mut self.driver else {
            return Poll::Pending;
        };
        ready!(Pin::new(driver).poll(cx)).ok();
        self.driver = None;
        Poll::Ready(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(driver) = &self.driver {
            driver.abort();
        }
    }
}

impl Target {
    /// Nothing is connected yet.
    pub(crate) fn new(settings: &FleetBuilder, trial: String) -> Result<Self, FleetError> {
        let Some(mut url) = redis::parse_redis_url(&settings.url) else {
            return Err(FleetError::Address("it is no URL of a redis"));
        };
        let is_tls = is_tls(url.scheme());
        if is_tls && url.fragment().is_some() {
            return Err(FleetError::Address(
                "certificates are always looked at: leave out what follows `#`, and give whom to \
                 trust by `root_certificates`",
            ));
        }
        if is_tls && url.set_scheme("redis").is_err() {
            return Err(FleetError::Address("it is no URL of a redis"));
        }
        // What it says of the mistake may repeat parts of the URL.
        let Ok(info) = url.into_connection_info() else {
            return Err(FleetError::Address(
                "it has no host, or parts that can't be read",
            ));
        };
        let place = match info.addr() {
            ConnectionAddr::Tcp(host, port) if is_tls => {
                Place::Tcp(host.clone(), *port, Some(tls(settings, host)?))
            }
            ConnectionAddr::Tcp(host, port) => Place::Tcp(host.clone(), *port, None),
            ConnectionAddr::Unix(path) => Place::Unix(path.clone()),
            _ => return Err(FleetError::Address("it is no place to connect to")),
        };
        let mut login = info
            .redis_settings()
            .clone()
            .set_protocol(ProtocolVersion::RESP3)
            .set_skip_set_lib_name();
        if let Some((user, password)) = &settings.login {
            login = login.set_username(user).set_password(password);
        }
        let place = match settings.nodes.is_empty() {
            true => place,
            false => cluster_of(place, &login, &settings.nodes)?,
        };
        Ok(Self {
            place,
            login,
            within: settings.connect,
            answer: settings.answer,
            trial,
        })
    }

    /// Where it is, without who one is there.
    pub(crate) fn shown(&self) -> String {
        match &self.place {
            Place::Tcp(host, port, _) if host.contains(':') => format!("[{host}]:{port}"),
            Place::Tcp(host, port, _) => format!("{host}:{port}"),
            Place::Unix(path) => path.display().to_string(),
            #[cfg(feature = "cluster")]
            Place::Cluster(shown, _) => shown.clone(),
        }
    }

    /// Connects, logs in, and tries out what will be needed.
    pub(crate) async fn connect(&self) -> Result<Live, Trouble> {
        let by = Instant::now() + self.within;
        match timeout_at(by, self.connect_at_last(by)).await {
            Ok(result) => result,
            Err(_) => Err(Trouble::Silent(self.within)),
        }
    }

    async fn connect_at_last(&self, by: Instant) -> Result<Live, Trouble> {
        let unreachable = |error: io::Error| Trouble::Unreachable(trouble::of_io(&error));
        match &self.place {
            Place::Tcp(host, port, tls) => {
                let addresses = addresses(host, *port).await?;
                let stream = TcpStream::connect(&*addresses).await;
                let stream = stream.map_err(unreachable)?;
                stream.set_nodelay(true).map_err(unreachable)?;
                let Some(tls) = tls else {
                    return self.log_in(stream).await;
                };
                // A port without TLS waits for more, and says nothing.
                let Ok(shaken) = timeout_at(by, shake_hands(tls, stream)).await else {
                    return Err(Trouble::Tls(format!(
                        "no answer to the handshake within {:?}: is this port one for TLS?",
                        self.within
                    )));
                };
                self.log_in(shaken?).await
            }
            #[cfg(unix)]
            Place::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(path).await;
                self.log_in(stream.map_err(unreachable)?).await
            }
            #[cfg(feature = "cluster")]
            Place::Cluster(_, nodes) => self.find_nodes(nodes).await,
            #[cfg(not(unix))]
            Place::Unix(_) => Err(Trouble::Unreachable(
                "there are no such sockets on this system".to_owned(),
            )),
        }
    }

    async fn log_in<S>(&self, stream: S) -> Result<Live, Trouble>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (gauge, overflowed) = (Gauge::default(), Arc::new(AtomicBool::new(false)));
        let (sender, messages) = mpsc::channel(MOST_WAITING);
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(self.answer))
            .set_push_sender(listener(sender, gauge.clone(), Arc::clone(&overflowed)));
        let stream = Limited::new(stream, gauge.clone());
        let made = MultiplexedConnection::new_with_config(&self.login, stream, config).await;
        let (connection, driver) =
            made.map_err(|error| gauge.explain(trouble::of_login(&error)))?;
        let mut live = Live {
            connection: Connection::One(connection),
            script: String::new(),
            messages,
            overflowed,
            gauge,
            driver: Some(tokio::spawn(driver)),
        };
        self.try_out(&mut live).await?;
        Ok(live)
    }

    #[cfg(feature = "cluster")]
    async fn find_nodes(&self, nodes: &[redis::ConnectionInfo]) -> Result<Live, Trouble> {
        let (gauge, overflowed) = (Gauge::default(), Arc::new(AtomicBool::new(false)));
        let (sender, messages) = mpsc::channel(MOST_WAITING);
        let listener = listener(sender, gauge.clone(), Arc::clone(&overflowed));
        let made = cluster::connect(nodes, self.within, self.answer, listener).await;
        let connection = made.map_err(|error| {
            let otherwise = trouble::of_login(&error);
            cluster::trouble(&error, otherwise)
        })?;
        let mut live = Live {
            connection: Connection::Cluster(connection),
            script: String::new(),
            messages,
            overflowed,
            gauge,
            driver: None,
        };
        self.try_out(&mut live).await?;
        Ok(live)
    }

    /// Loads the script, and writes and publishes as it will: so a full memory, a replica, or a user who
    /// may not, is found out before anything counts on it.
    async fn try_out(&self, live: &mut Live) -> Result<(), Trouble> {
        let mut trial = [
            redis::cmd("SCRIPT"),
            redis::cmd("HSET"),
            redis::cmd("PEXPIRE"),
            redis::cmd("PUBLISH"),
        ];
        let [load, write, expire, publish] = &mut trial;
        load.arg("LOAD").arg(SCRIPT);
        write.arg(&self.trial).arg("v").arg("1");
        expire.arg(&self.trial).arg(1000);
        publish.arg(&self.trial).arg("");
        let answers = live.connection.ask(&trial).await;
        let answers = answers.map_err(|error| {
            let trouble = trouble::of_answer(&error, self.answer);
            live.gauge.explain(trouble)
        })?;
        live.gauge.clear();
        for answer in &answers {
            if let Err(refusal) = answer {
                return Err(trouble::refusal(refusal));
            }
        }
        let sha = match answers.first() {
            Some(Ok(Value::BulkString(sha))) => sha.as_slice(),
            Some(Ok(Value::SimpleString(sha))) => sha.as_bytes(),
            _ => &[],
        };
        if sha.len() != 40 || !sha.is_ascii() {
            return Err(Trouble::Nonsense("what it calls the script".to_owned()));
        }
        live.script = String::from_utf8_lossy(sha).into_owned();
        Ok(())
    }
}

/// Where a host of this name is.
async fn addresses(host: &str, port: u16) -> Result<Vec<SocketAddr>, Trouble> {
    match tokio::net::lookup_host((host, port)).await {
        Ok(found) => Ok(found.collect()),
        // The system's words: no server has a say in them.
        Err(error) => Err(Trouble::Unreachable(format!(
            "its name can't be resolved ({error})"
        ))),
    }
}

/// A cluster, of which some nodes are known.
#[cfg(feature = "cluster")]
fn cluster_of(
    first: Place,
    login: &RedisConnectionInfo,
    others: &[String],
) -> Result<Place, FleetError> {
    let no_node = FleetError::Address("of a cluster each node is `redis://host:port`, without TLS");
    let Place::Tcp(host, port, None) = first else {
        return Err(no_node);
    };
    let shown = format!("{host}:{port} and its cluster");
    let mut addresses = vec![ConnectionAddr::Tcp(host, port)];
    for url in others {
        match redis::parse_redis_url(url).map(IntoConnectionInfo::into_connection_info) {
            Some(Ok(info)) if matches!(info.addr(), ConnectionAddr::Tcp(..)) => {
                addresses.push(info.addr().clone());
            }
            _ => return Err(no_node),
        }
    }
    let nodes = addresses.into_iter().map(|address| {
        let info = address.into_connection_info();
        info.map(|info| info.set_redis_settings(login.clone()))
    });
    match nodes.collect() {
        Ok(nodes) => Ok(Place::Cluster(shown, nodes)),
        Err(_) => Err(no_node),
    }
}

#[cfg(not(feature = "cluster"))]
fn cluster_of(_: Place, _: &RedisConnectionInfo, _: &[String]) -> Result<Place, FleetError> {
    Err(FleetError::Address(
        "several nodes are a cluster, which needs the feature `cluster` of breaker-redis",
    ))
}

/// Takes messages as they come, and never waits.
fn listener(
    to: mpsc::Sender<Heard>,
    gauge: Gauge,
    overflowed: Arc<AtomicBool>,
) -> impl Fn(PushInfo) -> Result<(), ()> + Send + Sync + 'static {
    move |push| {
        gauge.clear();
        if push.kind != PushKind::Message {
            return Ok(());
        }
        let mut data = push.data.into_iter();
        let (Some(Value::BulkString(channel)), Some(Value::BulkString(mut text))) =
            (data.next(), data.next())
        else {
            return Ok(());
        };
        // It is refused for its length all the same.
        text.truncate(LONGEST_MESSAGE + 1);
        text.shrink_to_fit();
        match to.try_send(Heard { channel, text }) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => {
                overflowed.store(true, Ordering::Release);
                Ok(())
            }
            Err(TrySendError::Closed(_)) => Err(()),
        }
    }
}

#[cfg(feature = "tls")]
fn tls(settings: &FleetBuilder, host: &str) -> Result<Tls, FleetError> {
    let client = settings.client_certificate.as_ref();
    let config = super::tls::client(
        settings.root_certificates.as_deref(),
        client.map(|(certificates, key)| (&**certificates, &**key)),
    )?;
    match host.to_owned().try_into() {
        Ok(name) => Ok((config, name)),
        Err(_) => Err(FleetError::Address(
            "its host is no name that a certificate is for",
        )),
    }
}

#[cfg(not(feature = "tls"))]
fn tls(_: &FleetBuilder, _: &str) -> Result<Tls, FleetError> {
    Err(FleetError::Address(
        "`rediss://` is for TLS, which needs the feature `tls` of breaker-redis",
    ))
}

#[cfg(feature = "tls")]
async fn shake_hands(
    (config, name): &Tls,
    stream: TcpStream,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Trouble> {
    let connector = tokio_rustls::TlsConnector::from(Arc::clone(config));
    let shaken = connector.connect(name.clone(), stream).await;
    shaken.map_err(|error| match super::tls::why(&error) {
        Some(why) => Trouble::Tls(why),
        None => Trouble::Tls(trouble::of_io(&error)),
    })
}

#[cfg(not(feature = "tls"))]
async fn shake_hands(tls: &Tls, _: TcpStream) -> Result<TcpStream, Trouble> {
    match *tls {}
}
