//! Beside tower's own layers, on either side of them.

use super::*;
use breakerbox::{State, test};
use std::future::{pending, ready};
use std::sync::Mutex;
use tower::balance::p2c::Balance;
use tower::buffer::Buffer;
use tower::discover::ServiceList;
use tower::limit::ConcurrencyLimit;
use tower::load::{CompleteOnResponse, PendingRequests};
use tower::load_shed::LoadShed;
use tower::ready_cache::ReadyCache;
use tower::retry::{Policy, Retry};
use tower::timeout::Timeout;
use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};

#[test]
fn a_guarded_service_is_what_its_service_is() {
    fn is<T: Clone + Send + Sync + Unpin + 'static>(_: &T) {}
    fn is_send<T: Send>(_: &T) {}

    let pms = breaker(Settings::new());
    let layer = layer(&pms);
    is(&layer);
    let mut service = ServiceBuilder::new()
        .layer(&layer)
        .layer(layer.clone())
        .service(Pms::default());
    is(&service);
    is_send(&service.call(answered(Ok(1))));
    let _boxed = service.boxed_clone();
}

#[test]
fn oneshot_asks_and_calls() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let service = layer(&pms).layer(Pms::default());
        let once = |answer| service.clone().oneshot(answered(answer));
        assert_eq!(once(Ok(1)).await, Ok(1));
        assert_eq!(once(Err(DOWN)).await, Err(CallError::Call(DOWN)));
        assert!(is_open(once(Ok(1)).await));
    });
}

#[test]
fn an_outer_buffer_outlives_an_open_circuit() {
    let scope = test::scope();
    block_on(async {
        let (pms, inner) = (breaker(Settings::new()), Pms::default());
        let mut buffer = Buffer::new(layer(&pms).layer(inner.clone()), 8);
        let mut call = async |answer| buffer.ready().await?.call(answered(answer)).await;
        let failed: BoxError = call(Err(DOWN)).await.unwrap_err();
        assert!(failed.is::<CallError<Failed>>());
        inner.becomes(DEAD);
        for _ in 0..20 {
            // Had readiness been an error, the buffer's worker would have ended.
            let refused = call(Ok(1)).await.unwrap_err();
            let refused = refused.downcast::<CallError<Failed>>().unwrap();
            assert!(matches!(*refused, CallError::Open(_)));
        }
        inner.becomes(READY);
        scope.advance(RESET);
        assert_eq!(call(Ok(7)).await.unwrap(), 7);
    });
}

#[test]
fn an_inner_buffer_that_has_died_opens_the_circuit() {
    let _scope = test::scope();
    block_on(async {
        let (pms, inner) = (breaker(Settings::new()), Pms::default());
        let mut service = layer(&pms).layer(Buffer::new(inner.clone(), 8));
        inner.becomes(DEAD);
        // It says so to the one whose request found out, and to all who ask after that.
        let found_out = service.ready().await.unwrap().call(answered(Ok(1))).await;
        assert!(matches!(found_out, Err(CallError::Call(_))));
        assert_eq!(pms.state(), State::Open);
        for _ in 0..3 {
            let refused = service.ready().await.unwrap().call(answered(Ok(1))).await;
            assert!(matches!(refused, Err(CallError::Open(_))));
        }
    });
}

#[test]
fn who_waits_for_an_inner_limit_has_a_place_and_is_let_in() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let service = layer(&pms).layer(ConcurrencyLimit::new(Pms::default(), 1));
        let (mut one, mut other) = (service.clone(), service);
        let (answer, request) = oneshot::channel();
        let first = one.ready().await.unwrap().call(request);
        assert!(poll_ready(&mut other).is_pending());
        answer.send(Ok(1)).unwrap();
        assert_eq!(first.await, Ok(1));
        assert_eq!(
            other.ready().await.unwrap().call(answered(Ok(2))).await,
            Ok(2)
        );

        // While it is open nobody waits for the limit.
        let (_answer, request) = oneshot::channel();
        let _first = one.ready().await.unwrap().call(request);
        open(&pms);
        let refused = other.ready().await.unwrap().call(answered(Ok(3))).await;
        assert!(is_open(refused));
    });
}

/// What tower's services reserve for a call stays with the clone that asked, also if the call is
/// then refused.
#[test]
fn a_place_of_an_inner_limit_that_a_refused_clone_keeps_blocks_until_the_trial_times_out() {
    let scope = test::scope();
    let pms = breaker(Settings::new().probe_timeout(Duration::from_secs(60)));
    let service = layer(&pms).layer(ConcurrencyLimit::new(Pms::default(), 1));
    let (mut keeps, mut probes) = (service.clone(), service);
    let call = |service: &mut _, answer| now(Service::call(service, answered(answer)));
    assert!(poll_ready(&mut keeps).is_ready());
    open(&pms);
    assert!(is_open(call(&mut keeps, Ok(1))));
    scope.advance(RESET);
    assert!(
        poll_ready(&mut probes).is_pending(),
        "the limit's only place is kept"
    );
    assert!(poll_ready(&mut keeps).is_ready());
    assert!(is_open(call(&mut keeps, Ok(1))));
    scope.advance(Duration::from_secs(60));
    assert!(poll_ready(&mut keeps).is_ready());
    assert_eq!(call(&mut keeps, Ok(1)), Ok(1));
    assert_eq!(pms.state(), State::Closed);
    assert!(poll_ready(&mut probes).is_ready());
    assert_eq!(call(&mut probes, Ok(2)), Ok(2));
}

#[test]
fn a_refusal_takes_nothing_from_an_outer_limit() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let mut service = ConcurrencyLimit::new(layer(&pms).layer(Pms::default()), 1);
        open(&pms);
        for _ in 0..10 {
            let refused = service.ready().await.unwrap().call(answered(Ok(1))).await;
            assert!(is_open(refused));
        }
    });
}

#[test]
fn what_an_inner_load_shed_refuses_need_not_count() {
    let _scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        let limited = LoadShed::new(ConcurrencyLimit::new(Pms::default(), 1));
        let service = layer(&pms)
            .classify(|error: &BoxError| !error.is::<tower::load_shed::error::Overloaded>())
            .layer(limited);
        let (mut one, mut other) = (service.clone(), service);
        let (answer, request) = oneshot::channel();
        let first = one.ready().await.unwrap().call(request);
        for _ in 0..5 {
            let shed = other.ready().await.unwrap().call(answered(Ok(1))).await;
            assert!(matches!(shed, Err(CallError::Call(_))));
        }
        assert_eq!(pms.state(), State::Closed);
        answer.send(Err(DOWN)).unwrap();
        assert!(matches!(first.await, Err(CallError::Call(_))));
        assert_eq!(pms.state(), State::Open);
    });
}

#[test]
fn a_cache_of_ready_services_keeps_and_gives_up_places() {
    let scope = test::scope();
    block_on(async {
        let pms = breaker(Settings::new());
        open(&pms);
        scope.advance(RESET);
        let mut cache = ReadyCache::<&str, _, Request>::default();
        let service = layer(&pms).layer(Pms::default());
        cache.push("one", service.clone());
        std::future::poll_fn(|context| cache.poll_pending(context))
            .await
            .unwrap();
        assert_eq!(cache.ready_len(), 1);
        assert!(pms.admit().is_err(), "the cache has the only place");
        assert!(cache.evict(&"one"));
        assert!(pms.admit().map(|permit| permit.ignore()).is_ok());

        // A place that is kept until the circuit has opened again lets nobody in.
        cache.push("one", service);
        std::future::poll_fn(|context| cache.poll_pending(context))
            .await
            .unwrap();
        open_again(&pms);
        let refused = cache.call_ready_index(0, answered(Ok(1))).await;
        assert!(is_open(refused));
    });

    fn open_again(pms: &Breaker) {
        pms.open_for(RESET);
    }
}

#[test]
fn an_inner_timeout_counts_and_an_outer_one_drops() {
    let _scope = test::scope();
    let limit = Duration::from_millis(1);
    block_on(async {
        let never = || service_fn(|()| pending::<Answer>());
        let boxed = ServiceBuilder::new()
            .map_err(BoxError::from)
            .service(never());
        let [pms, counted] = breakers();
        let mut inside = layer(&pms).layer(Timeout::new(boxed, limit));
        let late = inside.ready().await.unwrap().call(()).await;
        assert!(
            matches!(late, Err(CallError::Call(error)) if error.is::<tower::timeout::error::Elapsed>())
        );
        assert_eq!(pms.state(), State::Open);
        pms.close();

        for (pms, then) in [(pms, State::Closed), (counted, State::Open)] {
            let guarded = layer(&pms).layer(never());
            let mut outside = Timeout::new(guarded, limit);
            let late = outside.ready().await.unwrap().call(()).await.unwrap_err();
            assert!(late.is::<tower::timeout::error::Elapsed>());
            assert_eq!(pms.state(), then, "by on_cancel");
        }
    });
}

/// So many tries more, but not of what was refused.
#[derive(Clone)]
struct Tries(u32);

trait WasRefused {
    fn was_refused(&self) -> bool;
}

impl WasRefused for Failed {
    fn was_refused(&self) -> bool {
        false
    }
}

impl<E> WasRefused for CallError<E> {
    fn was_refused(&self) -> bool {
        matches!(self, CallError::Open(_))
    }
}

impl<E: WasRefused> Policy<Answer, u32, E> for Tries {
    type Future = std::future::Ready<()>;

    fn retry(&mut self, _: &mut Answer, result: &mut Result<u32, E>) -> Option<Self::Future> {
        let error = result.as_ref().err()?;
        self.0 = self.0.checked_sub(1)?;
        (!error.was_refused()).then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Answer) -> Option<Answer> {
        Some(*request)
    }
}

#[test]
fn a_retry_inside_is_one_call_and_one_outside_stops_when_refused() {
    let _scope = test::scope();
    let requests = Arc::new(AtomicU32::new(0));
    let pms = Arc::new(Breaker::new("pms", Settings::new().threshold(3).must()));
    let counted = Arc::clone(&requests);
    let one_try = service_fn(move |answer: Answer| {
        counted.fetch_add(1, Ordering::Relaxed);
        ready(answer)
    });
    block_on(async {
        let mut inside = layer(&pms).layer(Retry::new(Tries(3), one_try.clone()));
        let answer = inside.ready().await.unwrap().call(Err(DOWN)).await;
        assert_eq!(answer, Err(CallError::Call(DOWN)));
        assert_eq!(requests.swap(0, Ordering::Relaxed), 4);
        assert_eq!(pms.snapshot().consecutive, 1, "one failure per call");
        pms.close();

        let mut outside = Retry::new(Tries(100), layer(&pms).layer(one_try));
        let answer = outside.ready().await.unwrap().call(Err(DOWN)).await;
        assert!(is_open(answer));
        assert_eq!(requests.load(Ordering::Relaxed), 3, "no storm");
    });
}

/// Of two endpoints one is down. Its circuit is ready at once, and never busy: a balancer likes
/// it best.
#[test]
fn a_refused_call_may_be_made_at_another_endpoint() {
    let _scope = test::scope();
    block_on(async {
        let pms = [breaker(Settings::new()), breaker(Settings::new())];
        open(&pms[0]);
        let asked = Arc::new(Mutex::new(Vec::new()));
        let endpoints = pms.each_ref().map(|pms| {
            let (asked, which) = (Arc::clone(&asked), Arc::as_ptr(pms) as usize);
            let guarded = layer(pms).layer(service_fn(move |answer: Answer| {
                asked.lock().unwrap().push(which);
                ready(answer)
            }));
            PendingRequests::new(guarded, CompleteOnResponse::default())
        });
        let mut balancer = Balance::new(ServiceList::new::<Answer>(endpoints));
        let mut refused = 0;
        for _ in 0..100 {
            let mut answer = balancer.ready().await.unwrap().call(Ok(1)).await;
            for _ in 0..64 {
                let Err(error) = &answer else { break };
                let open = error.downcast_ref::<CallError<Failed>>().unwrap();
                assert!(matches!(open, CallError::Open(_)));
                refused += 1;
                // It was not made, so it may be made again, whatever it does.
                answer = balancer.ready().await.unwrap().call(Ok(1)).await;
            }
            assert_eq!(answer.unwrap(), 1);
        }
        assert!(refused > 0, "the balancer goes by load, not by health");
        let only_the_other = Arc::as_ptr(&pms[1]) as usize;
        assert!(
            asked
                .lock()
                .unwrap()
                .iter()
                .all(|&which| which == only_the_other)
        );
    });
}

#[test]
fn of_many_clones_one_probes() {
    let scope = test::scope();
    block_on(async {
        let (pms, inner) = (breaker(Settings::new()), Pms::default());
        let service = layer(&pms).layer(inner.clone());
        for round in 1..=20 {
            open(&pms);
            scope.advance(RESET);
            let (senders, tasks): (Vec<_>, Vec<_>) = (0..100)
                .map(|_| {
                    let (sender, request) = oneshot::channel();
                    let mut service = service.clone();
                    let task = tokio::spawn(async move {
                        let ready = service.ready().await.unwrap();
                        tokio::task::yield_now().await;
                        ready.call(request).await
                    });
                    (sender, task)
                })
                .unzip();
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            assert_eq!(inner.called(), 1, "in round {round}");
            for sender in senders {
                // Those of refused calls have gone.
                let _ = sender.send(Ok(1));
            }
            let mut refused = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Ok(answer) => assert_eq!(answer, 1),
                    Err(error) => {
                        assert!(matches!(error, CallError::Open(_)));
                        refused += 1;
                    }
                }
            }
            assert_eq!(refused, 99);
            assert_eq!(pms.state(), State::Closed);
        }
    });
}

/// By the real clock, on several threads.
#[test]
fn clones_on_several_threads_lose_no_place() {
    let settings = Settings::new().threshold(1).jitter(0.0);
    let settings = settings.reset(Duration::from_nanos(1)).must();
    let pms = Arc::new(Breaker::new("pms", settings));
    let service = layer(&pms).layer(Pms::default());
    std::thread::scope(|threads| {
        for thread in 0..4_u32 {
            let service = service.clone();
            threads.spawn(move || {
                for round in 0..2_000 {
                    let mut service = service.clone();
                    let _ = poll_ready(&mut service);
                    match (round + thread) % 5 {
                        0 => drop(service),
                        1 => drop(service.call(answered(Ok(1)))),
                        2 => {
                            let (_sender, request) = oneshot::channel();
                            assert!(
                                poll(pin!(service.call(request))).map(is_open)
                                    != Poll::Ready(false)
                            );
                        }
                        3 => drop(now(service.call(answered(Err(DOWN))))),
                        _ => drop(now(service.call(answered(Ok(1))))),
                    }
                }
            });
        }
    });
    // The clock's resolution comes on top of the wait.
    let patience = std::time::Instant::now();
    while let Err(refused) = pms.admit().map(|permit| permit.success()) {
        assert!(
            refused.reason() == breakerbox::Reason::Open,
            "a place was lost"
        );
        assert!(patience.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
}
