//! A cluster of a test's own: real nodes on loopback.

use crate::server::Server;
use crate::support::{name, until};
use breaker_redis::{Fleet, FleetBuilder};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const SLOTS: u16 = 16_384;

/// Some primaries, each with as many slots, and what was asked for besides.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Server>,
    primaries: usize,
}

impl Cluster {
    /// `None`: there is no `redis-server`.
    pub(crate) fn start(primaries: usize, replicas: usize) -> Option<Self> {
        Self::start_with(primaries, replicas, &[])
    }

    /// With options of its nodes. That a node is gone is left to tests to say, and where one has gone the
    /// others go on.
    pub(crate) fn start_with(primaries: usize, replicas: usize, options: &[&str]) -> Option<Self> {
        let common = [
            "--cluster-enabled",
            "yes",
            "--cluster-node-timeout",
            "60000",
            "--cluster-require-full-coverage",
            "no",
            "--repl-diskless-sync-delay",
            "0",
        ];
        let options = [&common[..], options].concat();
        let nodes = (0..primaries + replicas).map(|_| Server::start_with_port(&options));
        let nodes: Vec<_> = nodes.collect::<Option<_>>()?;
        let cluster = Self { nodes, primaries };
        for (at, node) in cluster.nodes.iter().enumerate() {
            // Each another, before it knows anybody: else nodes that begin with the same one settle it among
            // themselves later, and who takes over meanwhile may have to give back.
            let epoch = (at + 1).to_string();
            node.order(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]);
            if at < primaries {
                let slot = |at: usize| usize::from(SLOTS) * at / primaries;
                let (first, last) = (slot(at), slot(at + 1) - 1);
                node.order(&[
                    "CLUSTER",
                    "ADDSLOTSRANGE",
                    &first.to_string(),
                    &last.to_string(),
                ]);
            }
            // Through each other they would get to know each other as well, at some time.
            for other in &cluster.nodes[..at] {
                let port = other.port().to_string();
                node.order(&["CLUSTER", "MEET", "127.0.0.1", &port]);
            }
        }
        let all = format!("cluster_known_nodes:{}", primaries + replicas);
        let epoch = format!("cluster_current_epoch:{}", primaries + replicas);
        let known = ["cluster_slots_assigned:16384", &all, &epoch];
        cluster.is_so_everywhere("nodes that know each other", &["INFO"], |info| {
            known.iter().all(|part| info.contains(part))
        });
        for replica in &cluster.nodes[primaries..] {
            let of = cluster.id(0);
            until("a replica", || {
                replica.tell(&["CLUSTER", "REPLICATE", &of]) == Ok("OK".into())
            });
        }
        for replica in &cluster.nodes[primaries..] {
            until("a replica that has all", || {
                replica
                    .ask(&["INFO", "replication"])
                    .contains("master_link_status:up")
            });
        }
        cluster.is_so_everywhere("a cluster that does something", &["INFO"], |info| {
            info.contains("cluster_state:ok")
        });
        Some(cluster)
    }

    /// Waits until all nodes that are given say so.
    fn is_so_everywhere(&self, what: &str, ask: &[&str], is_so: impl Fn(&str) -> bool) {
        let ask = [&["CLUSTER"], ask].concat();
        until(what, || {
            self.nodes.iter().all(|node| is_so(&node.ask(&ask)))
        });
    }

    pub(crate) fn id(&self, at: usize) -> String {
        self.nodes[at].ask(&["CLUSTER", "MYID"])
    }

    pub(crate) fn url(&self, at: usize) -> String {
        format!("redis://{}", self.address(at))
    }

    pub(crate) fn address(&self, at: usize) -> String {
        format!("127.0.0.1:{}", self.nodes[at].port())
    }

    /// A fleet that knows all of its nodes, with times that make tests short.
    pub(crate) fn builder(&self) -> FleetBuilder {
        let fleet = self.builder_from(0);
        (1..self.nodes.len()).fold(fleet, |fleet, at| fleet.node(self.url(at)))
    }

    /// One that knows this node, and finds the others.
    pub(crate) fn builder_from(&self, at: usize) -> FleetBuilder {
        let fleet = Fleet::builder(self.url(at)).node(self.url(at));
        fleet
            .poll(Duration::from_millis(500))
            .alive(Duration::from_secs(5))
    }

    /// All nodes are told that this one has the slot: it first, if it is the last.
    pub(crate) fn give(&self, slot: &str, to: usize) {
        let owner = self.id(to);
        for node in self.nodes.iter().rev() {
            node.order(&["CLUSTER", "SETSLOT", slot, "NODE", &owner]);
        }
    }

    pub(crate) fn slot(&self, key: &str) -> u16 {
        self.nodes[0]
            .ask(&["CLUSTER", "KEYSLOT", key])
            .parse()
            .unwrap()
    }

    /// Which primary had this key at first.
    pub(crate) fn node_of(&self, key: &str) -> usize {
        let slot = usize::from(self.slot(key));
        let first = |at: usize| usize::from(SLOTS) * at / self.primaries;
        (0..self.primaries).rfind(|at| first(*at) <= slot).unwrap()
    }

    /// A circuit's name that no other test has, whose key is on this node.
    pub(crate) fn name_at(&self, at: usize) -> &'static str {
        self.name_with(at, |name| format!("breakerbox:{name}"))
    }

    /// The same of a fleet with this prefix.
    pub(crate) fn name_with(&self, at: usize, key: impl Fn(&str) -> String) -> &'static str {
        let mut names = std::iter::repeat_with(|| name("on-a-node"));
        names.find(|name| self.node_of(&key(name)) == at).unwrap()
    }
}

impl Server {
    /// What it answers, as text; `Err`: the error that it answers with.
    pub(crate) fn tell(&self, command: &[&str]) -> Result<String, String> {
        let answer = redis::cmd(command[0])
            .arg(&command[1..])
            .query::<redis::Value>(&mut self.connect());
        match answer.map_err(|error| error.to_string())? {
            redis::Value::Int(number) => Ok(number.to_string()),
            answer => redis::from_redis_value(answer).map_err(|error| error.to_string()),
        }
    }

    #[track_caller]
    pub(crate) fn ask(&self, command: &[&str]) -> String {
        self.tell(command).unwrap()
    }

    #[track_caller]
    pub(crate) fn order(&self, command: &[&str]) {
        assert_eq!(self.ask(command), "OK", "{command:?}");
    }
}

/// What nodes really ran, and not only refused or sent elsewhere: what `MONITOR` says of it.
pub(crate) struct Monitor {
    lines: Arc<Mutex<Vec<String>>>,
    nodes: Vec<TcpStream>,
}

impl Monitor {
    /// From now on.
    pub(crate) fn of(cluster: &Cluster) -> Self {
        let lines = Arc::<Mutex<Vec<_>>>::default();
        let nodes = cluster.nodes.iter().map(|node| {
            let mut stream = TcpStream::connect(("127.0.0.1", node.port())).unwrap();
            stream.write_all(b"MONITOR\r\n").unwrap();
            let mut said = BufReader::new(stream.try_clone().unwrap());
            let mut ok = String::new();
            said.read_line(&mut ok).unwrap();
            assert_eq!(ok, "+OK\r\n");
            let lines = Arc::clone(&lines);
            thread::spawn(move || {
                for line in said.lines().map_while(Result::ok) {
                    lines.lock().unwrap().push(line);
                }
            });
            stream
        });
        let nodes = nodes.collect();
        Self { lines, nodes }
    }

    /// How often the script was run for this key, to do this.
    pub(crate) fn runs(&self, key: &str, to: &str) -> usize {
        let (key, to) = (format!("\"{key}\""), format!("\"{to}\""));
        let lines = self.lines.lock().unwrap();
        let is_run = |line: &&String| {
            line.contains("\"EVALSHA\"") && line.contains(&key) && line.contains(&to)
        };
        lines.iter().filter(is_run).count()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        for node in &self.nodes {
            let _ = node.shutdown(std::net::Shutdown::Both);
        }
    }
}
