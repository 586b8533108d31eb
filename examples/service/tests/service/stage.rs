//! A service, its dependencies, and who asks.

use std::error::Error;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;
use service::dependencies::Dependencies;
use service::dependency::{Dependency, Seen};

pub(crate) type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// Nothing takes so long, on the slowest machine: something hangs.
const FOR_EVER: Duration = Duration::from_secs(60);

pub(crate) struct Stage {
    pub(crate) dependencies: Dependencies,
    pub(crate) service: Service,
    pub(crate) http: Client,
}

impl Stage {
    /// All is well, nobody has asked yet. `told` goes to the service.
    pub(crate) async fn set(told: &[&str]) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let dependencies = Dependencies::start().await?;
        let mut command = program();
        command.arg("serve").args(dependencies.places().args());
        let service = Service::start(command.args(told))?;
        let http = Client::builder().no_proxy().build()?;
        Ok(Self {
            dependencies,
            service,
            http,
        })
    }

    /// Asks the front.
    pub(crate) async fn ask(&self, method: Method, path: &str) -> reqwest::Result<Answer> {
        ask(&self.http, &self.service.front, method, path).await
    }

    pub(crate) async fn get(&self, path: &str) -> reqwest::Result<Answer> {
        self.ask(Method::GET, path).await
    }
}

/// What a guest got.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// What the header says of the answer.
    pub(crate) how: Option<String>,
    /// Seconds.
    pub(crate) age: Option<u64>,
    /// Seconds.
    pub(crate) retry_after: Option<u64>,
    pub(crate) body: Value,
}

impl Answer {
    #[track_caller]
    pub(crate) fn is(&self, how: &str) {
        assert_eq!(self.status, StatusCode::OK, "{self:?}");
        assert_eq!(self.how.as_deref(), Some(how), "{self:?}");
        assert_eq!(self.body["answer"], how, "{self:?}");
        assert_eq!(self.age.is_some(), how == "stale", "{self:?}");
        assert_eq!(self.body["age_ms"].is_u64(), how == "stale", "{self:?}");
    }

    /// Refused by a circuit; gives the seconds until it is worth while to ask again.
    #[track_caller]
    pub(crate) fn is_refused_by(&self, circuit: &str) -> u64 {
        assert_eq!(self.status, StatusCode::SERVICE_UNAVAILABLE, "{self:?}");
        assert_eq!(self.body["circuit"], circuit, "{self:?}");
        self.retry_after.expect("a Retry-After")
    }
}

/// Asks a service.
pub(crate) async fn ask(
    http: &Client,
    service: &str,
    method: Method,
    path: &str,
) -> reqwest::Result<Answer> {
    let response = http
        .request(method, format!("{service}{path}"))
        .send()
        .await?;
    let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let number = |name: &str| header(name)?.parse().ok();
    Ok(Answer {
        status: response.status(),
        how: header("x-answer"),
        age: number("age"),
        retry_after: number("retry-after"),
        body: serde_json::from_slice(&response.bytes().await?).unwrap_or_default(),
    })
}

/// The service's process; it ends when this is dropped.
pub(crate) struct Service {
    pub(crate) child: Child,
    pub(crate) front: String,
    pub(crate) operations: String,
    pub(crate) output: Lines<BufReader<ChildStdout>>,
}

/// The program under test.
pub(crate) fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_service"));
    program
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    program
}

impl Service {
    pub(crate) fn start(command: &mut Command) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let mut child = command.spawn()?;
        let output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut service = Self {
            child,
            front: String::new(),
            operations: String::new(),
            output,
        };
        service.front = service.address("guests")?;
        service.operations = service.address("status page")?;
        service.address("metrics")?;
        Ok(service)
    }

    /// The address in its next line: `http://`, host and port.
    fn address(&mut self, of: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        let line = self.output.next().ok_or("it did not start")??;
        let url = line.strip_prefix(of).ok_or(line.clone())?.trim();
        let end = url["http://".len()..].find('/').ok_or("no path")?;
        Ok(url[.."http://".len() + end].to_owned())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks until it is so; panics if it never is.
pub(crate) async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(began.elapsed() < FOR_EVER, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// All that reached a dependency since there were so many requests.
pub(crate) fn since(dependency: &Dependency, requests: u64) -> Vec<Seen> {
    let log = dependency.log();
    let new = usize::try_from(log.count() - requests).expect("a count");
    let skipped = log.last().len() - new;
    log.last().skip(skipped).cloned().collect()
}

/// After the first of these requests, each came at least so long after the one before: single probes, with
/// the circuit's wait between them.
#[track_caller]
pub(crate) fn are_single_probes(seen: &[Seen], wait: Duration) {
    for pair in seen.windows(2) {
        let gap = pair[1].arrived - pair[0].arrived;
        assert!(gap >= wait, "{gap:?} between requests: {seen:#?}");
    }
}
