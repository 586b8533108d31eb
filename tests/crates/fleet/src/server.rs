//! A real Redis, from Debian's package, in a folder and on a port of its own.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use std::{env, fs};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::certificates::Files;
use crate::clock::Clock;
use crate::usage;
use crate::wait;

/// How it is started.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Lines of a configuration: `("maxmemory", "1mb")`.
    pub lines: Vec<(String, String)>,
    /// Speaks TLS, and nothing else, with these.
    pub tls: Option<Files>,
    /// Asks who connects over TLS for a certificate, of the same authority.
    pub asks_clients: bool,
    /// Its clock is another one.
    pub clock: Option<Arc<Clock>>,
}

/// A running server, or one that has been killed and may be started again. It is killed when this is
/// dropped.
#[derive(Debug)]
pub struct Server {
    settings: Settings,
    folder: TempDir,
    port: u16,
    child: Option<Child>,
}

impl Server {
    /// A server with nothing in it.
    ///
    /// # Panics
    /// If there is no `redis-server`, or it doesn't start.
    #[must_use]
    pub fn start() -> Self {
        Self::with(Settings::default())
    }

    /// One with these settings.
    ///
    /// # Panics
    /// If there is no `redis-server`, or it doesn't start.
    #[must_use]
    pub fn with(settings: Settings) -> Self {
        let mut server = Self::stopped(settings);
        server.run();
        server
    }

    /// One that isn't running yet, but has its address.
    ///
    /// # Panics
    /// If there is no folder for it.
    #[must_use]
    pub fn stopped(settings: Settings) -> Self {
        Self {
            settings,
            folder: TempDir::with_prefix("redis-").expect("a folder"),
            port: free_port(),
            child: None,
        }
    }

    /// Starts it (again), with what is in its folder.
    ///
    /// # Panics
    /// If it runs, or doesn't start.
    pub fn run(&mut self) {
        assert!(self.child.is_none(), "it runs");
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("redis-server can't be started ({error}): apt-get install redis-server")
        });
        self.child = Some(child);
        wait::until_so("redis-server to answer", || {
            let child = self.child.as_mut().expect("it was started");
            if let Ok(Some(status)) = child.try_wait() {
                let log = fs::read_to_string(self.folder.path().join("log"));
                panic!("redis-server ended with {status}: {log:?}");
            }
            let asked = self.try_ask(redis::cmd("PING"));
            asked.is_ok()
        });
    }

    fn command(&self) -> Command {
        let mut words: Vec<String> = Vec::new();
        // Killed with the tests, too.
        if Path::new("/usr/bin/setpriv").is_file() {
            words.extend(["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"].map(String::from));
        }
        // Where it is, as `cargo xtask test` says.
        let program = env::var("REDIS_SERVER");
        words.push(program.unwrap_or_else(|_| "redis-server".into()));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if let Some(clock) = &self.settings.clock {
            clock.set(&mut command);
        }
        let folder = self.folder.path();
        let mut line = |name: &str, value: &str| {
            command.args([format!("--{name}"), value.into()]);
        };
        line("bind", "127.0.0.1");
        line("dir", &folder.to_string_lossy());
        line("logfile", &folder.join("log").to_string_lossy());
        line("unixsocket", &self.socket().to_string_lossy());
        line("save", "");
        line("appendonly", "no");
        line("daemonize", "no");
        match &self.settings.tls {
            None => line("port", &self.port.to_string()),
            Some(files) => {
                line("port", "0");
                line("tls-port", &self.port.to_string());
                line("tls-cert-file", &files.certificate.to_string_lossy());
                line("tls-key-file", &files.key.to_string_lossy());
                line("tls-ca-cert-file", &files.authority.to_string_lossy());
                let asks = if self.settings.asks_clients {
                    "yes"
                } else {
                    "no"
                };
                line("tls-auth-clients", asks);
            }
        }
        for (name, value) in &self.settings.lines {
            line(name, value);
        }
        command
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The same, as clients write it.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.address())
    }

    /// Its socket on this machine, as breakers' users write it.
    #[must_use]
    pub fn socket_url(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// Says something to it, past any port, network or TLS.
    ///
    /// # Panics
    /// If it is refused.
    pub fn ask<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> T {
        let mut connection = self.connection().expect("redis-server's socket");
        command
            .query(&mut connection)
            .expect("an answer of redis-server")
    }

    /// Says something to it in words: `["SET", "a", "b"]`.
    ///
    /// # Panics
    /// If it is refused.
    pub fn say(&self, words: &[&str]) -> redis::Value {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        self.ask(&command)
    }

    fn try_ask(&self, command: redis::Cmd) -> redis::RedisResult<redis::Value> {
        command.query(&mut self.connection()?)
    }

    /// A connection of an operator.
    ///
    /// # Errors
    /// If it isn't running.
    pub fn connection(&self) -> redis::RedisResult<redis::Connection> {
        let url = format!("redis+unix://{}", self.socket().display());
        redis::Client::open(url)?.get_connection()
    }

    /// A connection as clients have it.
    ///
    /// # Errors
    /// If it isn't running.
    pub fn tcp_connection(&self) -> redis::RedisResult<redis::Connection> {
        redis::Client::open(self.url())?.get_connection()
    }

    /// All keys that it holds.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.ask(redis::cmd("KEYS").arg("*"));
        keys.sort();
        keys
    }

    /// How long it has run on a processor.
    ///
    /// # Panics
    /// If it isn't running.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        usage::cpu_of_process(self.child.as_ref().expect("it runs").id())
    }

    /// Stops it in its tracks: connections stay, nothing is answered.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("it runs");
        kill_process(Pid::from_child(child), signal).expect("a signal to redis-server");
    }

    /// Kills it: what it held is lost.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Writes down what it holds now, to be started with later.
    ///
    /// # Panics
    /// If that can't be done.
    #[must_use]
    pub fn backup(&self) -> Backup {
        self.say(&["SAVE"]);
        Backup(fs::read(self.folder.path().join("dump.rdb")).expect("the dump"))
    }

    /// Kills it and starts it with what it held then, or with nothing.
    ///
    /// # Panics
    /// If it doesn't start.
    pub fn restart_with(&mut self, backup: Option<&Backup>) {
        self.kill();
        let file = self.folder.path().join("dump.rdb");
        let _ = fs::remove_file(&file);
        if let Some(Backup(bytes)) = backup {
            fs::write(&file, bytes).expect("the dump");
        }
        self.run();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a server held at a time.
#[derive(Clone, Debug)]
pub struct Backup(Vec<u8>);

/// An address as Redis' clients write it.
#[must_use]
pub fn url(address: SocketAddr) -> String {
    format!("redis://{address}/")
}

/// Below those that clients' sockets get, so that none has it while a server is down.
fn free_port() -> u16 {
    const FIRST: u16 = 17_000;
    const MANY: u16 = 15_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let of_process = u16::try_from(std::process::id() % 500).unwrap_or(0) * 30;
    for _ in 0..MANY {
        let turn = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + of_process.wrapping_add(turn) % MANY;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no free port")
}
