//! A span for each guarded call.

use crate::lines::Lines;
use breakerbox::observe::{self, Observer, TracingObserver};
use breakerbox::reqwest_middleware::CircuitBreakerMiddleware;
use breakerbox::tower::CircuitBreakerLayer;
use breakerbox::{Breaker, CallError, KeyedBreakers, Settings, State, circuit_breaker, test};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tower::{Service, ServiceExt};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Instrument, Metadata, Subscriber};

const RESET: Duration = Duration::from_secs(30);

type Answer = Result<u32, CallError<&'static str>>;

/// Says something of the body's own between two polls.
async fn body(answer: Answer) -> Answer {
    tracing::info!(target: "app", "asked");
    tokio::task::yield_now().await;
    tracing::info!(target: "app", "answered");
    answer
}

#[circuit_breaker(name = "spans-pms", threshold = 1, timeout = "2s", fallback = |_| Some(Ok(1)))]
async fn pms(answer: Answer) -> Answer {
    body(answer).await
}

#[circuit_breaker(name = "spans-plain", threshold = 1, fallback_on = open, fallback = |_| Ok(1))]
fn plain(answer: Answer) -> Answer {
    tracing::info!(target: "app", "asked");
    answer
}

#[circuit_breaker(name = "spans-hosts", key = host)]
async fn host(host: &str, answer: Answer) -> Answer {
    body(answer).await
}

/// What was written while `act` ran, each line: what it says, and the spans around it.
fn written(act: impl FnOnce(&test::TestScope)) -> Vec<Value> {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.subscriber(), || {
        let scope = test::scope();
        let _installed = observe::install(TracingObserver::new());
        act(&scope);
    });
    lines.take()
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(future)
}

/// A line without what differs from run to run.
fn brief(line: &Value) -> Value {
    let names = |spans: &Value| -> Vec<Value> {
        let spans = spans.as_array().cloned().unwrap_or_default();
        spans.iter().map(|span| span["name"].clone()).collect()
    };
    json!([line["fields"]["message"], names(&line["spans"])])
}

fn briefs(lines: &[Value]) -> Vec<Value> {
    lines.iter().map(brief).collect()
}

const CALL: &str = "breaker.call";

#[test]
fn the_body_and_what_ends_it_are_in_the_span_of_the_call() {
    let lines = written(|_| {
        let caller = tracing::info_span!("caller");
        let call = async {
            assert_eq!(pms(Err(CallError::Call("down"))).await, Ok(1));
            assert_eq!(pms(Ok(7)).await, Ok(1));
        };
        block_on(call.instrument(caller));
    });
    assert_eq!(
        briefs(&lines),
        [
            json!(["asked", ["caller", CALL]]),
            json!(["answered", ["caller", CALL]]),
            json!([
                "circuit `spans-pms` opened after 1 failure, for 30s",
                ["caller", CALL]
            ]),
            json!(["close", ["caller"]]),
            json!([
                "circuit `spans-pms` served a fallback in place of a failed call",
                ["caller"]
            ]),
            json!([
                "call refused: circuit `spans-pms` is open: retry in 30s",
                ["caller"]
            ]),
            json!([
                "circuit `spans-pms` served a fallback in place of a refused call",
                ["caller"]
            ]),
            json!(["close", []]),
        ]
    );
    let span = &lines[3]["span"];
    assert_eq!(
        *span,
        json!({"name": CALL, "breaker": "spans-pms", "outcome": "failure", "took_seconds": 0.0})
    );
    assert_eq!(lines[3]["target"], "breakerbox");
    assert_eq!(lines[3]["level"], "INFO");
}

/// How spans ended: outcome and seconds.
fn ends(lines: &[Value]) -> Vec<(Value, Value)> {
    let ends = lines
        .iter()
        .filter(|line| line["fields"]["message"] == "close" && line["span"]["name"] == CALL);
    ends.map(|line| {
        let span = &line["span"];
        (span["outcome"].clone(), span["took_seconds"].clone())
    })
    .collect()
}

#[test]
fn every_end_is_said_with_its_time() {
    let settings = Settings::new().threshold(100).reset(RESET).jitter(0.0);
    let lines = written(|scope| {
        let b = Breaker::new("b", settings.must());
        let after = |millis, answer| {
            let _ = b.call_sync(|| {
                scope.advance(Duration::from_millis(millis));
                answer
            });
        };
        after(250, Ok(()));
        after(1500, Err("down"));
        let _ = b.classify(|_: &()| false).call_sync(|| Err::<(), _>(()));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = b.call_sync(|| -> Result<(), ()> { panic!("of the call") });
        }));
        assert!(panicked.is_err());
        {
            let mut dropped = pin!(b.call(std::future::pending::<Result<(), ()>>()));
            let polled = dropped
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            scope.advance(Duration::from_secs(1));
        }
        block_on(async {
            let late = b
                .call(std::future::pending::<Result<(), ()>>())
                .timeout(Duration::from_secs(2));
            let (late, ()) = tokio::join!(late, async {
                tokio::task::yield_now().await;
                scope.advance(Duration::from_secs(2));
            });
            assert!(matches!(late, Err(CallError::TimedOut(_))));
        });
        // Of the two-step form, which doesn't say when it runs, and of a call that is never polled,
        // there is none.
        b.admit().unwrap().success();
        drop(b.call(async { Ok::<_, ()>(()) }));
    });
    assert_eq!(
        ends(&lines),
        [
            (json!("success"), json!(0.25)),
            (json!("failure"), json!(1.5)),
            (json!("ignored"), json!(0.0)),
            (json!("panicked"), json!(0.0)),
            (json!("dropped"), json!(1.0)),
            (json!("timeout"), json!(2.0)),
        ]
    );
}

#[test]
fn plain_functions_and_keys_have_spans_as_well() {
    let lines = written(|_| {
        assert_eq!(plain(Ok(7)), Ok(7));
        assert_eq!(block_on(host("a.example", Ok(7))), Ok(7));
    });
    assert_eq!(
        briefs(&lines),
        [
            json!(["asked", [CALL]]),
            json!(["close", []]),
            json!(["asked", [CALL]]),
            json!(["answered", [CALL]]),
            json!(["close", []]),
        ]
    );
    assert_eq!(lines[1]["span"]["breaker"], "spans-plain");
    assert_eq!(lines[1]["span"].get("key"), None);
    assert_eq!(lines[4]["span"]["breaker"], "spans-hosts");
    assert_eq!(lines[4]["span"]["key"], "a.example");
}

#[test]
fn so_have_services() {
    let lines = written(|_| {
        let breaker = Breaker::shared("spans-service", Settings::new().must());
        let inner = tower::service_fn(|answer: Result<u32, &'static str>| async move {
            tracing::info!(target: "app", "asked");
            tokio::task::yield_now().await;
            answer
        });
        let layer = CircuitBreakerLayer::new(breaker).classify(|_: &&str| true);
        let mut service = layer.layer(inner);
        block_on(async {
            let ready = service.ready().await.unwrap();
            assert_eq!(ready.call(Ok(7)).await.unwrap(), 7);
            assert!(
                service
                    .ready()
                    .await
                    .unwrap()
                    .call(Err("down"))
                    .await
                    .is_err()
            );
        });
    });
    assert_eq!(
        briefs(&lines)[..2],
        [json!(["asked", [CALL]]), json!(["close", []])]
    );
    let outcomes: Vec<_> = ends(&lines)
        .into_iter()
        .map(|(outcome, _)| outcome)
        .collect();
    assert_eq!(outcomes, ["success", "failure"]);
}

/// Says what is between the breaker and the client.
struct Says;

#[async_trait::async_trait]
impl reqwest_middleware::Middleware for Says {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: reqwest_middleware::Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        tracing::info!(target: "app", "asked");
        next.run(request, extensions).await
    }
}

#[test]
fn so_have_requests() {
    let lines = written(|_| {
        let breaker = Breaker::shared("spans-requests", Settings::new().must());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let client = reqwest_middleware::ClientBuilder::new(client)
            .with(CircuitBreakerMiddleware::new(breaker))
            .with(Says)
            .build();
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", nobody.local_addr().unwrap());
        drop(nobody);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        assert!(runtime.block_on(client.get(url).send()).is_err());
    });
    let ours: Vec<_> = lines
        .iter()
        .filter(|line| line["target"] == "app" || line["target"] == "breakerbox")
        .map(brief)
        .collect();
    let left = "circuit `spans-requests` is gone";
    assert_eq!(
        ours,
        [
            json!(["asked", [CALL]]),
            json!(["close", []]),
            json!([left, []])
        ]
    );
    assert_eq!(ends(&lines)[0].0, "failure");
}

/// Wants to hear of calls, or to see their spans.
struct Wants {
    calls: bool,
    spans: bool,
}

impl Observer for Wants {
    fn wants_calls(&self) -> bool {
        self.calls
    }

    fn wants_spans(&self) -> bool {
        self.spans
    }
}

#[test]
fn only_where_an_observer_wants_them() {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.subscriber(), || {
        let _scope = test::scope();
        let installed = observe::install(TracingObserver::new().spans(false));
        assert_eq!(plain(Ok(7)), Ok(7));
        drop(installed);
        assert_eq!(plain(Ok(7)), Ok(7));
        // And who wants one wants to hear of its end, too.
        for (calls, spans) in [(true, false), (false, true)] {
            observe::install(Wants { calls, spans }).forever();
            assert_eq!(plain(Ok(7)), Ok(7));
        }
    });
    assert_eq!(briefs(&lines.take()), vec![json!(["asked", []]); 4]);
}

#[test]
fn a_future_is_as_sendable_as_its_body_and_its_span_is_not_held_over_an_await() {
    fn assert_send<F: Future + Send>(future: F) -> F {
        future
    }
    let lines = written(|_| {
        let mut first = pin!(assert_send(host("first", Ok(1))));
        let mut second = pin!(assert_send(host("second", Ok(2))));
        let context = &mut Context::from_waker(Waker::noop());
        // By turns, on one thread.
        assert!(first.as_mut().poll(context).is_pending());
        tracing::info!(target: "app", "between");
        assert!(second.as_mut().poll(context).is_pending());
        assert_eq!(first.as_mut().poll(context), Poll::Ready(Ok(1)));
        assert_eq!(second.as_mut().poll(context), Poll::Ready(Ok(2)));
    });
    let keys = |line: &Value| {
        let spans = line["spans"].as_array().cloned().unwrap_or_default();
        let keys: Vec<_> = spans.iter().map(|span| span["key"].clone()).collect();
        json!([line["fields"]["message"], keys])
    };
    assert_eq!(
        lines.iter().map(keys).collect::<Vec<_>>(),
        [
            json!(["asked", ["first"]]),
            json!(["between", []]),
            json!(["asked", ["second"]]),
            json!(["answered", ["first"]]),
            json!(["close", []]),
            json!(["answered", ["second"]]),
            json!(["close", []]),
        ]
    );
}

/// The only test that has a subscriber for the whole process, as tasks move between threads.
#[test]
fn tasks_on_many_threads_keep_their_own_spans() {
    const TASKS: u32 = 64;
    static HOSTS: KeyedBreakers<String> =
        KeyedBreakers::new("spans-tasks", breakerbox::Config::DEFAULT);
    let lines = Lines::default();
    tracing::subscriber::set_global_default(lines.subscriber()).unwrap();
    let installed = observe::install(TracingObserver::new());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let caller = tracing::info_span!("task", number = task);
                let call = async move {
                    let breaker = HOSTS.get(task.to_string().as_str());
                    let body = async {
                        for _ in 0..10 {
                            tracing::info!(target: "tasks", "turn");
                            tokio::task::yield_now().await;
                        }
                        Ok::<_, ()>(())
                    };
                    breaker.call(body).await.unwrap();
                };
                tokio::spawn(call.instrument(caller))
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    drop(installed);
    // Who only wants to hear of calls gets none.
    let (calls, spans) = (true, false);
    let installed = observe::install(Wants { calls, spans });
    let alone = || {
        tracing::info!(target: "alone", "turn");
        Ok::<_, ()>(())
    };
    HOSTS.get("alone").call_sync(alone).unwrap();
    drop(installed);
    let lines = lines.take();
    let alone: Vec<_> = lines
        .iter()
        .filter(|line| line["target"] == "alone")
        .collect();
    assert_eq!(alone.len(), 1);
    assert_eq!(brief(alone[0]), json!(["turn", []]));
    let mut turns = BTreeMap::new();
    for line in lines {
        if line["target"] == "tasks" {
            let spans = line["spans"].as_array().unwrap();
            let [task, call] = &spans[..] else {
                panic!("{line}")
            };
            assert_eq!(call["key"], task["number"].to_string(), "{line}");
            *turns.entry(task["number"].as_u64().unwrap()).or_insert(0) += 1;
        }
    }
    assert_eq!(turns.len(), TASKS as usize);
    assert!(turns.values().all(|turns| *turns == 10), "{turns:?}");
}

/// Panics at everything that a span asks of it.
struct Panics;

impl Subscriber for Panics {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        panic!("in record")
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        panic!("in event")
    }

    fn enter(&self, _: &Id) {
        panic!("in enter")
    }

    fn exit(&self, _: &Id) {
        panic!("in exit")
    }

    fn try_close(&self, _: Id) -> bool {
        panic!("in close")
    }
}

#[test]
fn a_subscriber_that_panics_costs_nothing() {
    tracing::subscriber::with_default(Panics, || {
        let _scope = test::scope();
        let _installed = observe::install(TracingObserver::new());
        let settings = Settings::new().threshold(1).must();
        let b = Breaker::new("b", settings);
        assert_eq!(b.call_sync(|| Ok::<_, ()>(7)), Ok(7));
        assert_eq!(block_on(b.call(async { Ok::<_, ()>(7) })), Ok(7));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = b.call_sync(|| -> Result<(), ()> { panic!("of the call") });
        }));
        let panic = panicked.unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"of the call"));
        assert_eq!(b.state(), State::Open, "it was counted once");
        assert!(b.admit().is_err());
    });
}

#[test]
fn the_subscriber_may_change_while_a_call_is_under_way() {
    let (first, second) = (Lines::default(), Lines::default());
    let _scope = test::scope();
    let _installed = observe::install(TracingObserver::new());
    let mut call = pin!(host("changing", Ok(1)));
    let context = &mut Context::from_waker(Waker::noop());
    let poll = |call: Pin<&mut dyn Future<Output = Answer>>, context: &mut Context<'_>| {
        call.poll(context).is_ready()
    };
    tracing::subscriber::with_default(first.subscriber(), || {
        assert!(!poll(call.as_mut(), context));
    });
    tracing::subscriber::with_default(second.subscriber(), || {
        assert!(poll(call.as_mut(), context));
    });
    // Its span is the first one's, and ends there.
    assert_eq!(
        briefs(&first.take()),
        [json!(["asked", [CALL]]), json!(["close", []])]
    );
    assert_eq!(briefs(&second.take()), [json!(["answered", []])]);
}
