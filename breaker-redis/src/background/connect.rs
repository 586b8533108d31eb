//! A connection to Redis: from nothing to one that can be used, or why not.

mod addresses;
mod encryption;
mod names;

use super::connection::Connection;
use super::limited::{Gauge, Limited};
use super::trouble;
use crate::error::{FleetError, Trouble};
use crate::protocol::SCRIPT;
use crate::settings::FleetBuilder;
use crate::settings::address::Address;
use addresses::connect_to;
use encryption::{Config, Tls, shake_hands, tls, with};
use names::Names;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ConnectionAddr, ProtocolVersion, PushInfo, PushKind,
    RedisConnectionInfo, Value,
};
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

/// Messages that wait to be heard. More are dropped, and all circuits asked for instead.
pub(crate) const MOST_WAITING: usize = 16_384;

/// The longest message that is kept until it is looked at, in bytes: none is longer.
const LONGEST_MESSAGE: usize = 512;

/// Where a Redis is, and how to log in.
#[derive(Clone)]
pub(crate) struct Target {
    place: Place,
    #[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "of other nodes"))]
    tls: Option<Config>,
    login: RedisConnectionInfo,
    within: Duration,
    answer: Duration,
    names: Names,
}

#[derive(Clone)]
enum Place {
    Tcp(String, u16, Option<Tls>),
    Unix(PathBuf),
}

/// What is tried out once a connection is there.
#[derive(Clone)]
pub(crate) enum Trial {
    /// Nothing: no circuit is asked for there.
    #[cfg(feature = "cluster")]
    Nothing,
    /// Whether a user may do what is needed, in this. `None`: nothing can be written there.
    #[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "of a cluster"))]
    OfNode(Option<String>),
    /// The same of a Redis that has all circuits.
    OfAll(String),
}

/// A connection that can be used.
pub(crate) struct Live {
    pub(crate) connection: Connection,
    pub(crate) script: String,
    pub(crate) messages: mpsc::Receiver<Heard>,
    /// Messages were dropped, since there were too many.
    pub(crate) overflowed: Arc<AtomicBool>,
    pub(crate) gauge: Gauge,
    /// What reads and writes. It ends with the connection.
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
    pub(crate) fn new(settings: &FleetBuilder) -> Result<Self, FleetError> {
        let Address {
            is_tls,
            place: at,
            login,
        } = Address::read(&settings.url)?;
        let tls = match is_tls {
            true => Some(tls(settings)?),
            false => None,
        };
        let place = match at {
            ConnectionAddr::Tcp(host, port) => place(&host, port, tls.as_ref())?,
            ConnectionAddr::Unix(path) => Place::Unix(path),
            _ => return Err(FleetError::Address("it is no place to connect to")),
        };
        let mut login = login
            .set_protocol(ProtocolVersion::RESP3)
            .set_skip_set_lib_name();
        if let Some((user, password)) = &settings.login {
            login = login.set_username(user).set_password(password);
        }
        Ok(Self {
            place,
            tls,
            login,
            within: settings.connect,
            answer: settings.answer,
            names: Names::of_system(),
        })
    }

    /// Where it is, without who one is there.
    pub(crate) fn shown(&self) -> String {
        match &self.place {
            Place::Tcp(host, port, _) if host.contains(':') => format!("[{host}]:{port}"),
            Place::Tcp(host, port, _) => format!("{host}:{port}"),
            Place::Unix(path) => path.display().to_string(),
        }
    }

    /// Connects, logs in, and tries out what will be needed.
    pub(crate) async fn connect(&self, trial: Trial) -> Result<Live, Trouble> {
        let by = Instant::now() + self.within;
        match timeout_at(by, self.connect_at_last(by, trial)).await {
            Ok(result) => result,
            Err(_) => Err(Trouble::Silent(self.within)),
        }
    }

    async fn connect_at_last(&self, by: Instant, trial: Trial) -> Result<Live, Trouble> {
        let unreachable = |error: io::Error| Trouble::Unreachable(trouble::of_io(&error));
        match &self.place {
            Place::Tcp(host, port, tls) => {
                let addresses = self.names.addresses(host, *port).await?;
                let stream = connect_to(&addresses).await;
                let stream = stream.map_err(unreachable)?;
                stream.set_nodelay(true).map_err(unreachable)?;
                let Some(tls) = tls else {
                    return self.log_in(stream, trial).await;
                };
                // A port without TLS waits for more, and says nothing.
                let Ok(shaken) = timeout_at(by, shake_hands(tls, stream)).await else {
                    return Err(Trouble::Tls(trouble::without_answer(self.within)));
                };
                self.log_in(shaken?, trial).await
            }
            #[cfg(unix)]
            Place::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(path).await;
                self.log_in(stream.map_err(unreachable)?, trial).await
            }
            #[cfg(not(unix))]
            Place::Unix(_) => Err(Trouble::Unreachable(
                "there are no such sockets on this system".to_owned(),
            )),
        }
    }

    async fn log_in<S>(&self, stream: S, trial: Trial) -> Result<Live, Trouble>
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
        let (connection, driver) = made.map_err(|error| {
            let trouble = gauge.explain(trouble::of_login(&error));
            match self.place {
                Place::Tcp(_, _, None) => trouble::without_tls(trouble, gauge.first()),
                _ => trouble,
            }
        })?;
        let mut live = Live {
            connection: Connection(connection),
            script: String::new(),
            messages,
            overflowed,
            gauge,
            driver: Some(tokio::spawn(driver)),
        };
        self.try_out(&mut live, trial).await?;
        Ok(live)
    }

    /// Loads the script, and does once what it will: so a full memory, a replica, or a user who may not, is
    /// found out before anything counts on it. What a script may not run, not each Redis names.
    async fn try_out(&self, live: &mut Live, trial: Trial) -> Result<(), Trouble> {
        let (written, may_be_elsewhere) = match trial {
            #[cfg(feature = "cluster")]
            Trial::Nothing => return Ok(()),
            Trial::OfNode(written) => (written, true),
            Trial::OfAll(written) => (Some(written), false),
        };
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(SCRIPT);
        let mut commands = vec![load];
        if let Some(written) = &written {
            commands.extend(all_of_script(written));
        }
        let answers = live.connection.ask(&commands).await;
        let answers = answers.map_err(|error| {
            let trouble = trouble::of_answer(&error, self.answer);
            live.gauge.explain(trouble)
        })?;
        live.gauge.clear();
        for answer in &answers {
            match answer {
                // Who may write there is looked at first. Where it is, the next command is told.
                Err(refusal) if may_be_elsewhere && refusal.is_elsewhere() => {}
                Err(refusal) => return Err(trouble::refusal(refusal)),
                Ok(_) => {}
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

/// The commands of the script, once each, with a key of our own that lives for a second.
fn all_of_script(key: &str) -> Vec<Cmd> {
    let of_key: [&[&str]; 8] = [
        &["HSET", key, "v", "1"],
        &["PEXPIRE", key, "1000"],
        &["PUBLISH", key, ""],
        &["EXISTS", key],
        &["HMGET", key, "v"],
        &["HSCAN", key, "0"],
        &["HDEL", key, "none"],
        &["PTTL", key],
    ];
    let commands = of_key.into_iter().chain([&["TIME"][..]]);
    commands
        .map(|words| {
            let mut command = Cmd::new();
            command.arg(words);
            command
        })
        .collect()
}

/// A place that is spoken to over TLS, if that is given.
fn place(host: &str, port: u16, tls: Option<&Config>) -> Result<Place, FleetError> {
    let tls = match tls {
        Some(config) => Some(with(config, host)?),
        None => None,
    };
    Ok(Place::Tcp(host.to_owned(), port, tls))
}

#[cfg(feature = "cluster")]
impl Target {
    /// Another node of the same cluster, to which one logs in alike. `None`: that is no host.
    pub(crate) fn at(&self, host: &str, port: u16) -> Option<Self> {
        let place = place(host, port, self.tls.as_ref()).ok()?;
        Some(Self {
            place,
            ..self.clone()
        })
    }

    /// One that this URL names.
    pub(crate) fn of_url(&self, url: &str) -> Option<Self> {
        match Address::read(url).ok()?.place {
            ConnectionAddr::Tcp(host, port) => self.at(&host, port),
            _ => None,
        }
    }

    /// Host and port; `None`: it is reached in another way.
    pub(crate) fn address(&self) -> Option<(&str, u16)> {
        match &self.place {
            Place::Tcp(host, port, _) => Some((host, *port)),
            Place::Unix(_) => None,
        }
    }

    pub(crate) fn answers_within(&self) -> Duration {
        self.answer
    }
}

/// Takes messages as they come, and never waits.
fn listener(
    to: mpsc::Sender<Heard>,
    gauge: Gauge,
    overflowed: Arc<AtomicBool>,
) -> impl Fn(PushInfo) -> Result<(), ()> + Send + Sync + 'static {
    move |push| {
        if push.kind == PushKind::Disconnection {
            // Of the client itself: why, the gauge says.
            return Ok(());
        }
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
