//! A service, its dependencies, and who asks.

use std::error::Error;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;
use service::dependencies::Dependencies;
use service::dependency::{Dependency, Seen};
use tempfile::NamedTempFile;

pub(crate) type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// Nothing takes so long, on the slowest machine: something hangs.
const FOR_EVER: Duration = Duration::from_secs(60);

pub(crate) struct Stage {
    pub(crate) dependencies: Dependencies,
    pub(crate) service: Service,
    pub(crate) http: Client,
    /// Where what the service logs is written: a pipe that nobody reads would hold it up.
    log: NamedTempFile,
}

impl Stage {
    /// All is well, nobody has asked yet. `told` goes to the service.
    pub(crate) async fn set(told: &[&str]) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Self::set_with(told, &[]).await
    }

    /// The same, and what is in the service's environment besides.
    pub(crate) async fn set_with(
        told: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let dependencies = Dependencies::start().await?;
        let log = NamedTempFile::new()?;
        let service = serve(&dependencies, &log, told, environment)?;
        let http = Client::builder().no_proxy().build()?;
        Ok(Self {
            dependencies,
            service,
            http,
            log,
        })
    }

    /// The status page's JSON.
    pub(crate) async fn page(&self) -> reqwest::Result<Value> {
        let page = self
            .http
            .get(format!("{}/circuits", self.service.operations));
        let page = page.header("accept", "application/json").send().await?;
        page.error_for_status()?.json().await
    }

    /// A circuit as the status page has it, by its name, or name and key; `None` before its first call.
    pub(crate) async fn circuit(&self, name: &str) -> reqwest::Result<Option<Value>> {
        let page = self.page().await?;
        let circuits = page["circuits"].as_array().into_iter().flatten();
        let mut named = circuits.filter(|circuit| {
            let breaker = circuit["breaker"].as_str().unwrap_or_default();
            match circuit["key"].as_str() {
                Some(key) => name == format!("{breaker}[{key}]"),
                None => name == breaker,
            }
        });
        Ok(named.next().cloned())
    }

    /// Waits until the status page shows a circuit in this state: it may be a second late.
    pub(crate) async fn until_it_is(&self, name: &str, state: &str) -> Value {
        until(state, async || {
            let circuit = self.circuit(name).await.expect("an answer")?;
            (circuit["state"] == state).then_some(circuit)
        })
        .await
    }

    /// The page that Prometheus reads.
    pub(crate) async fn metrics(&self) -> reqwest::Result<Metrics> {
        let page = format!("{}/metrics", self.service.operations);
        let page = self.http.get(page).send().await?.error_for_status()?;
        Ok(Metrics(page.text().await?))
    }

    /// Tells the service to end, and waits until it has.
    #[cfg(unix)]
    pub(crate) async fn end(&mut self) -> Outcome {
        self.service.tell_to_end()?;
        let ended = until("it ends", async || self.service.child.try_wait().ok()?);
        let ended = ended.await;
        assert!(ended.success(), "{ended}: {}", self.errors()?);
        Ok(())
    }

    /// Starts another one in its place.
    pub(crate) fn start(&mut self, told: &[&str]) -> Outcome {
        self.service = serve(&self.dependencies, &self.log, told, &[])?;
        // Its connections are of the one before.
        self.http = Client::builder().no_proxy().build()?;
        Ok(())
    }

    #[cfg(unix)]
    pub(crate) async fn restart(&mut self, told: &[&str]) -> Outcome {
        self.end().await?;
        self.start(told)
    }

    /// What was written to standard error.
    pub(crate) fn errors(&self) -> std::io::Result<String> {
        std::fs::read_to_string(self.log.path())
    }

    /// Asks the front.
    pub(crate) async fn ask(&self, method: Method, path: &str) -> reqwest::Result<Answer> {
        ask(&self.http, &self.service.front, method, path).await
    }

    pub(crate) async fn get(&self, path: &str) -> reqwest::Result<Answer> {
        self.ask(Method::GET, path).await
    }
}

/// A page of metrics.
#[derive(Debug)]
pub(crate) struct Metrics(pub(crate) String);

impl Metrics {
    /// The value of a series, written as the page does.
    #[track_caller]
    pub(crate) fn of(&self, series: &str) -> f64 {
        let line = self.0.lines().find_map(|line| line.strip_prefix(series));
        let value = line.and_then(|rest| rest.trim().parse().ok());
        value.unwrap_or_else(|| panic!("no `{series}` in:\n{}", self.0))
    }
}

fn serve(
    dependencies: &Dependencies,
    log: &NamedTempFile,
    told: &[&str],
    environment: &[(&str, &str)],
) -> Result<Service, Box<dyn Error + Send + Sync>> {
    let mut command = program();
    let log = std::fs::File::options().append(true).open(log.path())?;
    command
        .arg("serve")
        .args(dependencies.places().args())
        .args(told)
        .envs(environment.iter().copied())
        .stderr(log);
    Service::start(&mut command)
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
    let (status, how) = (response.status(), header("x-answer"));
    let (age, retry_after) = (number("age"), number("retry-after"));
    let text = response.text().await?;
    // Where the service asks is nobody's outside, whatever goes wrong there.
    assert!(!text.contains("://"), "{path}: {text}");
    Ok(Answer {
        status,
        how,
        age,
        retry_after,
        body: serde_json::from_str(&text).unwrap_or_default(),
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

    /// The token that it printed: its next line.
    pub(crate) fn printed_token(&mut self) -> Result<String, Box<dyn Error + Send + Sync>> {
        let line = self.output.next().ok_or("no more lines")??;
        let (address, token) = line.rsplit_once('/').ok_or("no token")?;
        assert_eq!(address, format!("to operate  {}/login", self.operations));
        Ok(token.to_owned())
    }

    #[cfg(unix)]
    pub(crate) fn tell_to_end(&self) -> Outcome {
        self.signal(rustix::process::Signal::TERM)
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) -> Outcome {
        use rustix::process::{Pid, kill_process};
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
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
