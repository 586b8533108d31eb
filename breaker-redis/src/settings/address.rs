//! The address of Redis, and those of a cluster's nodes: what they say, and what can't be meant.

use super::is_tls;
use crate::error::FleetError;
use redis::{ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};

/// The most that a database's number can be, in whatever Redis.
const MOST_DATABASES: i64 = i32::MAX as i64;

/// What a URL says.
pub(crate) struct Address {
    pub(crate) is_tls: bool,
    pub(crate) place: ConnectionAddr,
    pub(crate) login: RedisConnectionInfo,
}

impl Address {
    /// Of all errors none repeats any of the URL.
    pub(crate) fn read(url: &str) -> Result<Self, FleetError> {
        let wrong = |what| Err(FleetError::Address(what));
        let Some(mut url) = redis::parse_redis_url(url) else {
            return wrong("it is no URL of a redis");
        };
        let is_tls = is_tls(url.scheme());
        match url.fragment() {
            None => {}
            Some("insecure") if is_tls => return Err(FleetError::Insecure),
            // Of a password or a path, perhaps: without it, it would be another address.
            Some(_) => return wrong("there is a `#` in it"),
        }
        let is_socket = url.scheme().ends_with("unix");
        // What isn't known is no setting, but what a password has after its `?`.
        let known: &[&str] = match is_socket {
            true => &["db", "user", "pass", "protocol"],
            false => &["protocol"],
        };
        for (name, value) in url.query_pairs() {
            if !known.contains(&&*name) {
                return wrong(
                    "there is a `?` in it, and what follows is nothing that an address says: the \
                     database is written as `redis://host:6379/3`",
                );
            }
            if name == "protocol" && !matches!(&*value, "3" | "resp3") {
                return wrong(
                    "it asks for another protocol than RESP3, which is what sharing needs",
                );
            }
        }
        if is_tls && url.set_scheme("redis").is_err() {
            return wrong("it is no URL of a redis");
        }
        let is_number = |database: &str| database.parse::<i64>().is_ok();
        let database = url.path().trim_matches('/');
        if !is_socket && !database.is_empty() && !is_number(database) {
            return wrong("what follows its host is no number of a database");
        }
        // What it says of the mistake may repeat parts of the URL.
        let Ok(info) = url.into_connection_info() else {
            return wrong("it has no host to connect to, or parts that can't be read");
        };
        let login = info.redis_settings().clone();
        if !(0..=MOST_DATABASES).contains(&login.db()) {
            return Err(FleetError::Database(
                "is below 0, or above all that there can be: write that of one that Redis has, from 0 on \
                 (`databases` in its configuration), as in `redis://host:6379/3`",
            ));
        }
        Ok(Self {
            is_tls,
            place: info.addr().clone(),
            login,
        })
    }

    #[cfg(feature = "cluster")]
    fn is_port(&self) -> bool {
        matches!(self.place, ConnectionAddr::Tcp(..))
    }
}

/// What is no node of a cluster.
#[cfg(feature = "cluster")]
pub(crate) const NO_NODE: FleetError = of_node(
    "is a node of a cluster, and each of them `redis://host:port`, or each `rediss://host:port`: write all \
     of them so, the one that `builder` is given as well",
);

#[cfg(feature = "cluster")]
const fn of_node(problem: &'static str) -> FleetError {
    FleetError::Setting {
        setting: "node",
        problem,
    }
}

/// All nodes are reached, and logged in to, as the first: whatever a URL says otherwise would be ignored.
#[cfg(feature = "cluster")]
pub(super) fn check_nodes(
    first: &Address,
    nodes: &[String],
    login: Option<&(String, String)>,
) -> Result<(), FleetError> {
    if nodes.is_empty() {
        return Ok(());
    }
    if !first.is_port() {
        return Err(NO_NODE);
    }
    if first.login.db() != 0 {
        return Err(FleetError::Database(
            "is another than 0, and a cluster, which it is by `node`, has that alone: leave it out",
        ));
    }
    for node in nodes {
        let node = match Address::read(node) {
            Ok(node) if node.is_port() => node,
            Err(FleetError::Database(_)) => return Err(of_node(NODE_DATABASE)),
            Ok(_) | Err(_) => return Err(NO_NODE),
        };
        if node.is_tls != first.is_tls {
            return Err(of_node(match first.is_tls {
                true => {
                    "is one without TLS, which the address of the first asks for, and so it is done with \
                     all: write `rediss://host:port` for each"
                }
                false => {
                    "is one with TLS, which the address of the first doesn't ask for, and so it isn't done \
                     with any: write `rediss://host:port` for each"
                }
            }));
        }
        if node.login.db() != 0 {
            return Err(of_node(NODE_DATABASE));
        }
        let who = (node.login.username(), node.login.password());
        let is_first = who == (first.login.username(), first.login.password());
        let is_given = login.is_some_and(|(user, password)| who == (Some(user), Some(password)));
        if who != (None, None) && !is_first && !is_given {
            return Err(of_node(
                "has a login that is not that of the first, and one logs in to all alike: leave it out, and \
                 give it in the address of the first, or by `login`",
            ));
        }
    }
    Ok(())
}

#[cfg(feature = "cluster")]
const NODE_DATABASE: &str =
    "names a database, and a cluster has 0 alone: leave it out, as in `redis://host:port`";
