//! What a fleet is started with.

pub(crate) mod address;
mod times;

use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::protocol::{Prefix, Who};
use address::Address;
use std::fmt;
use std::time::Duration;

/// How Redis is found, and the fleet's times. Made by [`Fleet::builder`].
///
/// | setting | default | from .. to | what it is |
/// | --- | --- | --- | --- |
/// | [`node`](Self::node) | none | | a cluster, and where to begin to look for its nodes |
/// | [`login`](Self::login) | that of the URL | | user and password |
/// | [`prefix`](Self::prefix) | `breakerbox` | 1 .. 64 characters | before each key and channel: one for each fleet in a Redis |
/// | [`instance`](Self::instance) | `HOSTNAME` | 1 .. 40 characters | this process, in events and in Redis |
/// | [`poll`](Self::poll) | 5 s | 100 ms .. 1 h | how long a message that was missed stays unknown |
/// | [`alive`](Self::alive) | 15 s | twice `poll` .. 1 day | how long an instance counts that is not heard of |
/// | [`batch`](Self::batch) | 20 ms | 1 ms .. 1 s, or `poll` | for so long counts are gathered |
/// | [`lease`](Self::lease) | 5 s | 100 ms .. 1 min | for how long at most an instance that crashed keeps others from probing |
/// | [`answer`](Self::answer) | 1 s | 10 ms .. `lease` | an answer that takes longer is none, and Redis is gone |
/// | [`connect`](Self::connect) | 5 s | 10 ms .. 1 min | for a connection, with TLS and login |
/// | [`root_certificates`](Self::root_certificates) | the system's | | who may vouch for Redis |
/// | [`client_certificate`](Self::client_certificate) | none | | who this is, where Redis asks |
///
/// What is outside of these is refused by [`start`](Self::start), with what to set instead.
/// All instances of a fleet have the same `prefix`, `lease` and `alive`.
#[derive(Clone)]
pub struct FleetBuilder {
    pub(crate) url: String,
    pub(crate) nodes: Vec<String>,
    pub(crate) login: Option<(String, String)>,
    pub(crate) prefix: String,
    pub(crate) instance: Option<String>,
    pub(crate) poll: Duration,
    pub(crate) alive: Duration,
    pub(crate) batch: Duration,
    pub(crate) lease: Duration,
    pub(crate) answer: Duration,
    pub(crate) connect: Duration,
    pub(crate) root_certificates: Option<Vec<u8>>,
    pub(crate) client_certificate: Option<(Vec<u8>, Vec<u8>)>,
}

impl FleetBuilder {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            nodes: Vec::new(),
            login: None,
            prefix: "breakerbox".to_owned(),
            instance: None,
            poll: Duration::from_secs(5),
            alive: Duration::from_secs(15),
            batch: Duration::from_millis(20),
            lease: Duration::from_secs(5),
            answer: Duration::from_secs(1),
            connect: Duration::from_secs(5),
            root_certificates: None,
            client_certificate: None,
        }
    }

    /// Redis is a cluster, and this the URL of one more of its nodes: the one that
    /// [`Fleet::builder`] was given may be gone. The others are found through any of them. Say it of
    /// the same URL once more, if there is no other.
    ///
    /// A circuit is one key, so circuits are on all nodes, and each node that has some is connected to like
    /// a single Redis: with the same login, and over TLS, with the same certificates, if all URLs say
    /// `rediss`. (Certificates must then be for what nodes call each other in `CLUSTER SLOTS`: their
    /// addresses, or, with Redis' `cluster-announce-hostname` and `cluster-preferred-endpoint-type
    /// hostname`, their names.) All URLs are `redis`, or all are `rediss`. A login in this one must be that
    /// of the first, or [`login`](Self::login)'s; a cluster has the database 0 alone. [`start`](Self::start)
    /// refuses what says otherwise.
    ///
    /// Where a node is gone, its circuits are on their own and the others stay shared; a replica that takes
    /// its place is found. Circuits whose slot no node has are on their own likewise. A user also needs `+cluster|slots`, and `+asking` while slots are moved.
    ///
    /// Needs the feature `cluster`: without it [`start`](Self::start) says so.
    #[must_use]
    pub fn node(mut self, url: impl Into<String>) -> Self {
        self.nodes.push(url.into());
        self
    }

    /// User and password, instead of those of the URL. The user `default` is the one without a name.
    ///
    /// What a user of Redis needs, with the default [`prefix`](Self::prefix):
    /// ```text
    /// ACL SETUSER shop on >secret ~breakerbox:* resetchannels &breakerbox:* -@all +evalsha +script|load
    ///     +time +exists +hmget +hset +hdel +hscan +pttl +pexpire +publish +subscribe +unsubscribe +ping
    /// ```
    /// and `+select`, if the URL names a database; of a cluster `+cluster|slots +asking`. With another prefix
    /// both patterns begin with that, and with a `\` before each `*`, `?`, `[` and `\` of it. What is missing
    /// is told with the rule that gives it ([`Right`](crate::Right)).
    #[must_use]
    pub fn login(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.login = Some((user.into(), password.into()));
        self
    }

    /// What stands before each key and channel: `{prefix}:{name}`. Fleets that share a Redis, and not
    /// their circuits, have different ones. 1 to 64 of ASCII's visible characters.
    /// Braces are those of a cluster's hash tags: with `{shop}` all circuits are in one slot.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// What this process is called, in events of other instances and in Redis: 1 to 40 of ASCII's visible
    /// characters. What makes it unique is added, so two processes may say the same.
    #[must_use]
    pub fn instance(mut self, name: impl Into<String>) -> Self {
        self.instance = Some(name.into());
        self
    }

    /// How often it is asked how each circuit stands, although nothing was heard of it: a message that
    /// was missed is caught up within this time and a quarter of it.
    ///
    /// Of many keys each one's turn comes later. Those that are closed, and of which this process has
    /// counted no failure that counts together with others', are asked for 20 times a second, all of them:
    /// each of 10,000 keys once in eight minutes. For these a message that was missed costs failures of
    /// their own, and a connection that broke is followed by a question for all of them. Of the others
    /// 200 are asked for in a second at most; where failures count together or a quorum is needed, each
    /// of these every `poll`, and where it is a share, each at all.
    ///
    /// From 100 ms to an hour.
    #[must_use]
    pub fn poll(mut self, every: Duration) -> Self {
        self.poll = every;
        self
    }

    /// An instance that is not heard of for so long no longer counts: neither what it has counted, nor
    /// its vote, nor among those of which a quorum takes a share. At least twice
    /// [`poll`](Self::poll), and 300 ms; at most a day.
    #[must_use]
    pub fn alive(mut self, within: Duration) -> Self {
        self.alive = within;
        self
    }

    /// For so long at most an instance gathers what it has counted, before it tells. From 1 ms to a second,
    /// and at most [`poll`](Self::poll).
    #[must_use]
    pub fn batch(mut self, over: Duration) -> Self {
        self.batch = over;
        self
    }

    /// How long a lease to probe lasts, unless it is renewed, as it is while probes run. From 100 ms to a
    /// minute ([`MIN_LEASE`](crate::MIN_LEASE), [`MAX_LEASE`](crate::MAX_LEASE)). Of a breaker whose
    /// `probe_timeout` is shorter it lasts only that.
    #[must_use]
    pub fn lease(mut self, lasts: Duration) -> Self {
        self.lease = lasts;
        self
    }

    /// How long Redis may take for an answer. Once it takes longer, it counts as gone: breakers are
    /// local ones, and a new connection is made. From 10 ms to [`lease`](Self::lease), which could be over
    /// before the answer that gives it.
    #[must_use]
    pub fn answer(mut self, within: Duration) -> Self {
        self.answer = within;
        self
    }

    /// How long a connection may take to be made, with TLS and login. From 10 ms to a minute.
    #[must_use]
    pub fn connect(mut self, within: Duration) -> Self {
        self.connect = within;
        self
    }

    /// Who may vouch for Redis over TLS, instead of whom the system trusts (or those in the file that the
    /// environment names as `SSL_CERT_FILE`): certificates in PEM. The URL must ask for TLS.
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates = Some(pem.into());
        self
    }

    /// Who this is, where Redis asks over TLS: certificates and the key, in PEM. The URL must ask for
    /// TLS.
    #[must_use]
    pub fn client_certificate(
        mut self,
        certificates: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.client_certificate = Some((certificates.into(), key.into()));
        self
    }

    /// Starts the thread, which connects in the background. Never waits for Redis, and does not fail
    /// because of it.
    ///
    /// ```
    /// use breaker_redis::{Fleet, FleetError};
    /// use std::time::Duration;
    ///
    /// let error = Fleet::builder("http://127.0.0.1").start().unwrap_err();
    /// assert!(error.to_string().contains("redis://host:6379"), "{error}");
    ///
    /// let error = Fleet::builder("redis://127.0.0.1").poll(Duration::ZERO).start().unwrap_err();
    /// assert!(matches!(error, FleetError::TooShort { setting: "poll", .. }));
    /// assert!(error.to_string().starts_with("`poll` is 0ns, which is less than 100ms: "), "{error}");
    /// ```
    ///
    /// # Errors
    /// [`FleetError::Address`], [`FleetError::Database`], [`FleetError::Insecure`], [`FleetError::Setting`],
    /// [`FleetError::TooShort`], [`FleetError::TooLong`], [`FleetError::Feature`], [`FleetError::Certificate`], [`FleetError::Thread`].
    pub fn start(self) -> Result<Fleet, FleetError> {
        self.check()?;
        let wrong = |setting, problem| FleetError::Setting { setting, problem };
        let prefix = Prefix::new(&self.prefix).map_err(|_| wrong("prefix", PREFIX))?;
        let me = self.who().ok_or_else(|| wrong("instance", INSTANCE))?;
        Fleet::run(me, prefix, &self)
    }

    /// A name that no other process has, nor another fleet of this one.
    fn who(&self) -> Option<Who> {
        let host = || std::env::var("HOSTNAME").ok();
        let name = match &self.instance {
            Some(name) => name.clone(),
            None => host()
                .filter(|host| is_instance(host))
                .unwrap_or_else(|| format!("pid-{}", std::process::id())),
        };
        let unique = fastrand::u64(..);
        let who = Who::new(&format!("{name}.{unique:016x}"));
        who.ok().filter(|_| is_instance(&name))
    }

    fn check(&self) -> Result<(), FleetError> {
        let wrong = |setting, problem| Err(FleetError::Setting { setting, problem });
        let address = Address::read(&self.url)?;
        if !address.is_tls {
            // Whoever gives them counts on TLS, and would have none.
            let certificates = [
                ("root_certificates", self.root_certificates.is_some()),
                ("client_certificate", self.client_certificate.is_some()),
            ];
            if let Some((setting, _)) = certificates.into_iter().find(|(_, given)| *given) {
                return wrong(
                    setting,
                    "is for TLS, which this URL doesn't ask for: write `rediss://host:6379`, or \
                     leave it out",
                );
            }
        }
        if address.login.username().is_some()
            && address.login.password().is_none()
            && self.login.is_none()
        {
            // It would be another user's connection: that of who has no name.
            return Err(FleetError::Address(
                "it names a user and no password: one who needs none is given by `login`",
            ));
        }
        #[cfg(feature = "cluster")]
        address::check_nodes(&address, &self.nodes, self.login.as_ref())?;
        times::check(self)
    }
}

const PREFIX: &str =
    "must be 1 to 64 of ASCII's visible characters (no spaces), such as `shop:breakers`";

const INSTANCE: &str =
    "must be 1 to 40 of ASCII's visible characters (no spaces), such as the name of a pod";

/// Whether a URL that begins so asks for TLS.
pub(crate) fn is_tls(scheme: &str) -> bool {
    matches!(scheme, "rediss" | "valkeys")
}

fn is_instance(name: &str) -> bool {
    (1..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Without the URL, which has a password in it.
impl fmt::Debug for FleetBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetBuilder")
            .field("prefix", &self.prefix)
            .field("instance", &self.instance)
            .field("poll", &self.poll)
            .field("alive", &self.alive)
            .field("batch", &self.batch)
            .field("lease", &self.lease)
            .field("answer", &self.answer)
            .field("connect", &self.connect)
            .finish_non_exhaustive()
    }
}
