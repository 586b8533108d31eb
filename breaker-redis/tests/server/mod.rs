//! A Redis server of a test's own: in a folder of its own, reached by a socket in it, ended with the test.

use rustix::process::{Pid, Signal, kill_process};
use std::env;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Names the program; without it, it is looked for in `PATH`.
const REDIS_SERVER: &str = "REDIS_SERVER";

/// For hangs only.
const LONGEST_START: Duration = Duration::from_secs(60);

/// A server that keeps nothing on disk.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    folder: TempDir,
    port: u16,
    options: Vec<String>,
}

impl Server {
    /// Starts one; `None`, said aloud, where there is no `redis-server`.
    ///
    /// # Panics
    /// Where it doesn't start, and where there is none but has to be: with `CI=true`.
    #[must_use]
    pub(crate) fn start(options: &[&str]) -> Option<Self> {
        Self::start_at("0", options)
    }

    /// The same with a port of its own, which is needed for a cluster.
    ///
    /// # Panics
    /// As [`start`](Self::start), and where there is no port.
    #[must_use]
    pub(crate) fn start_with_port(options: &[&str]) -> Option<Self> {
        // The cluster's bus is 10,000 above it. Somebody might be quicker to take it.
        let mut ports = (0..20).filter_map(|_| {
            let listener = TcpListener::bind("127.0.0.1:0").ok()?;
            let port = listener.local_addr().ok()?.port();
            let bus = port.checked_add(10_000)?;
            TcpListener::bind(("127.0.0.1", bus)).ok().map(|_| port)
        });
        let port = ports.next().expect("a port").to_string();
        Self::start_at(&port, &[&["--bind", "127.0.0.1"], options].concat())
    }

    fn start_at(port: &str, options: &[&str]) -> Option<Self> {
        let Some(program) = program() else {
            assert!(
                env::var_os("CI").is_none_or(|ci| ci != "true"),
                "redis-server is missing: install it (Debian: apt-get install redis-server)"
            );
            eprintln!("skipped: redis-server is missing");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder for the server");
        let options: Vec<_> = options.iter().map(ToString::to_string).collect();
        Some(Self {
            process: run(&program, folder.path(), port, &options),
            folder,
            port: port.parse().expect("a port"),
            options,
        })
    }

    /// Kills it, with no time to say anything.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts it again where it was, after it was killed.
    ///
    /// # Panics
    /// Where it doesn't start.
    pub(crate) fn restart(&mut self) {
        let program = program().expect("redis-server, which was there before");
        let port = self.port.to_string();
        self.process = run(&program, self.folder.path(), &port, &self.options);
    }

    /// Stops it, connections stay: it does nothing any more until it is to [go on](Self::go_on).
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("a signal to the server");
    }

    /// Where it is.
    #[must_use]
    pub(crate) fn url(&self) -> String {
        format!("unix://{}", self.folder.path().join("redis.sock").display())
    }

    /// The port that it has, if it has one.
    #[must_use]
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// A client of it.
    ///
    /// # Panics
    /// Never: the address is one.
    #[must_use]
    pub(crate) fn client(&self) -> redis::Client {
        redis::Client::open(self.url()).expect("an address")
    }

    /// A connection to it.
    ///
    /// # Panics
    /// Where it doesn't answer.
    #[must_use]
    pub(crate) fn connect(&self) -> redis::Connection {
        self.client().get_connection().expect("a connection")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs it until it is ready.
fn run(program: &Path, folder: &Path, port: &str, options: &[String]) -> Child {
    let mut process = Command::new(program)
        .args(["--port", port, "--unixsocket", "redis.sock", "--dir"])
        .arg(folder)
        .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
        .args(options)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starting redis-server");
    let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
    let (tell, told) = mpsc::channel();
    // To the end, so that it never waits for somebody to read it.
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if line.to_lowercase().contains("ready to accept connections") {
                let _ = tell.send(());
            }
        }
    });
    told.recv_timeout(LONGEST_START)
        .expect("redis-server, ready to accept connections");
    process
}

fn program() -> Option<PathBuf> {
    env::var_os(REDIS_SERVER).map(PathBuf::from).or_else(|| {
        env::split_paths(&env::var_os("PATH")?)
            .map(|folder| folder.join("redis-server"))
            .find(|program| program.is_file())
    })
}
