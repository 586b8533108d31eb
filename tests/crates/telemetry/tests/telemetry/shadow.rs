//! A breaker that is rolled out: an annotated client in shadow, against a server that fails and
//! recovers, beside the same client with a live breaker.

use crate::lines::Lines;
use crate::page::{Exporter, Page};
use breakerbox::observe::{self, MetricsObserver, Rehearsal, TracingObserver};
use breakerbox::{CallError, State, circuit_breaker, classify, test};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::Client;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const RESET: Duration = Duration::from_secs(30);

type Answer = Result<String, CallError<reqwest::Error>>;

/// What both of them do.
async fn ask(client: &Client, url: &str) -> Answer {
    let response = client.get(url).send().await.map_err(CallError::Call)?;
    let response = response.error_for_status().map_err(CallError::Call)?;
    response.text().await.map_err(CallError::Call)
}

#[circuit_breaker(name = "shadowed", threshold = 3, reset = "30s", backoff = 2.0, jitter = 0.0, classify = classify::reqwest)]
async fn shadowed(client: &Client, url: &str) -> Answer {
    ask(client, url).await
}

#[circuit_breaker(name = "live", threshold = 3, reset = "30s", backoff = 2.0, jitter = 0.0, classify = classify::reqwest)]
async fn live(client: &Client, url: &str) -> Answer {
    ask(client, url).await
}

/// A server on loopback that answers, or fails, and counts what it is asked.
#[derive(Default)]
struct Rates {
    is_down: AtomicBool,
    asked: AtomicU32,
}

impl Rates {
    fn answer(&self) -> Response<Full<Bytes>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut response = Response::new(Full::from("7"));
        if self.is_down.load(Ordering::Relaxed) {
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
        response
    }

    async fn serve(self: Arc<Self>) -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let rates = Arc::clone(&self);
                let answer = service_fn(move |_: Request<_>| {
                    let answer = rates.answer();
                    async { Ok::<_, Infallible>(answer) }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), answer));
            }
        });
        (url, serving)
    }
}

/// What happens to the server, and how long there is quiet after it, before so many calls.
const HISTORY: [(bool, u64, usize); 6] = [
    (false, 0, 5),
    (true, 1, 6),
    (true, 30, 4),
    (true, 20, 2),
    // It is back before the breaker would have asked.
    (false, 5, 3),
    (false, 35, 4),
];

/// Plays the history. How often each call was answered, failed, and was refused.
async fn play(scope: &test::TestScope, rates: &Rates, call: impl AsyncFn() -> Answer) -> [u32; 3] {
    let [mut answered, mut failed, mut refused] = [0; 3];
    for (is_down, quiet, calls) in HISTORY {
        scope.advance(Duration::from_secs(quiet));
        rates.is_down.store(is_down, Ordering::Relaxed);
        for _ in 0..calls {
            match call().await {
                Ok(answer) => {
                    assert_eq!(answer, "7");
                    answered += 1;
                }
                Err(CallError::Call(error)) => {
                    assert_eq!(error.status(), Some(StatusCode::INTERNAL_SERVER_ERROR));
                    failed += 1;
                }
                Err(CallError::Open(_)) => refused += 1,
                Err(CallError::TimedOut(late)) => panic!("{late}"),
            }
        }
    }
    [answered, failed, refused]
}

fn of(page: &Page, sample: &str) -> u32 {
    page.value(sample) as u32
}

#[tokio::test]
async fn shadow_says_what_a_live_breaker_would_have_done_and_touches_no_call() {
    let lines = Lines::default();
    let _subscriber = tracing::subscriber::set_default(lines.subscriber());
    let rates = Arc::new(Rates::default());
    let (url, serving) = Arc::clone(&rates).serve().await;
    let client = Client::builder().no_proxy().build().unwrap();
    let (exporter, recorder) = Exporter::start();

    let scope = test::scope();
    observe::install(MetricsObserver::to(recorder)).forever();
    observe::install(TracingObserver::new().spans(false)).forever();
    let rehearsal = Arc::new(Rehearsal::new());
    observe::install(Arc::clone(&rehearsal)).forever();

    // A breaker is known from its first call on.
    shadowed(&client, &url).await.unwrap();
    let breaker = breakerbox::find("shadowed").unwrap();
    breaker.shadow();
    rates.asked.store(0, Ordering::Relaxed);
    let in_shadow = play(&scope, &rates, async || shadowed(&client, &url).await).await;
    let asked_in_shadow = rates.asked.swap(0, Ordering::Relaxed);
    assert_eq!(breaker.state(), State::Shadow);
    let all: usize = HISTORY.iter().map(|(_, _, calls)| calls).sum();
    assert_eq!(asked_in_shadow, all as u32, "each call is made");
    assert_eq!(in_shadow, [12, 12, 0], "and nothing refused");

    scope.advance(RESET);
    let alive = play(&scope, &rates, async || live(&client, &url).await).await;
    let asked_alive = rates.asked.load(Ordering::Relaxed);
    serving.abort();
    let [_, _, refused] = alive;
    assert!(refused > 5, "{alive:?}");
    assert_eq!(asked_alive + refused, asked_in_shadow);

    // On the page, the one is as the other would have been.
    let page = exporter.page().await;
    let outcomes = ["success", "failure"].map(|outcome| {
        let of_outcome = |metric, breaker| {
            of(
                &page,
                &format!("{metric} breaker={breaker},outcome={outcome}"),
            )
        };
        let would_reject = of_outcome("breaker_would_reject_total", "shadowed");
        let made = of_outcome("breaker_calls_total", "live");
        let made_in_shadow = of_outcome("breaker_calls_total", "shadowed");
        (would_reject, made, made_in_shadow)
    });
    let [success, failure] = outcomes;
    assert_eq!(success.0 + failure.0, refused);
    assert_eq!(
        success.0, 3,
        "the server was back, and would not have been asked"
    );
    // One more before it was in shadow.
    assert_eq!(success.2 - 1, success.0 + success.1);
    assert_eq!(failure.2, failure.0 + failure.1);
    let changes = |change: &str| {
        of(
            &page,
            &format!("breaker_state_changes_total breaker=live,{change}"),
        )
    };
    let opened = changes("from=closed,to=open,trigger=failures");
    let reopened = changes("from=half_open,to=open,trigger=failed_probe");
    assert_eq!((opened, reopened), (1, 1));
    let would_trip = of(&page, "breaker_would_trip_total breaker=shadowed");
    assert_eq!(would_trip, opened + reopened);
    assert_eq!(
        of(
            &page,
            "breaker_calls_total breaker=shadowed,outcome=rejected"
        ),
        0
    );
    let open_for = page.value("breaker_would_be_open_seconds_sum breaker=shadowed");
    assert!((open_for - 90.0).abs() < 1e-9, "{open_for}");

    // So says the report,
    let report = rehearsal.report();
    let report = report.iter().find(|one| one.breaker == "shadowed").unwrap();
    assert_eq!(report.calls, u64::from(asked_in_shadow));
    assert_eq!(report.openings, u64::from(would_trip));
    assert_eq!(report.rejected, u64::from(refused));
    assert_eq!(report.rejected_successes, 3);
    assert_eq!(report.open_for, Duration::from_secs(90));
    assert!(!report.is_open);

    // and the log.
    let told = |breaker: &str| -> Vec<Value> {
        let lines = lines.take();
        let ours = lines
            .iter()
            .filter(|line| line["fields"]["breaker"] == breaker);
        ours.map(|line| line["fields"].clone()).collect()
    };
    let told = told("shadowed");
    let events = |event: &str| {
        let of_event = told.iter().filter(|fields| fields["event"] == *event);
        of_event.cloned().collect::<Vec<_>>()
    };
    assert_eq!(events("rejected"), Vec::<Value>::new());
    assert_eq!(events("would_reject").len(), refused as usize);
    let would_open = events("would_open");
    let briefly: Vec<_> = would_open
        .iter()
        .map(|fields| json!([fields["from"], fields["trigger"], fields["wait_seconds"]]))
        .collect();
    assert_eq!(
        briefly,
        [
            json!(["shadow", "failures", 30.0]),
            json!(["half_open", "failed_probe", 60.0]),
        ]
    );
    let [closed] = &events("would_close")[..] else {
        panic!("{told:?}")
    };
    assert_eq!(closed["after_seconds"], 90.0);
    assert_eq!(closed["rejected"], refused);
    assert_eq!(closed["rejected_successes"], 3);
}
