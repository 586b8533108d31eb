//! The peers' calls, each through the fastest of its own interfaces that is correct.

use crate::calls::{consume, poll};
use circuitbreaker_rs::{CircuitBreaker, DefaultPolicy};
use ferryman_core::{Breaker as Ferryman, BreakerConfig};
use layered::{Execute, Service as _, Stack};
use recloser::{AsyncRecloser, Recloser};
use seatbelt::breaker::Breaker as Seatbelt;
use seatbelt::{RecoveryInfo, ResilienceContext};
use std::future::poll_fn;
use std::hint::black_box;
use std::time::Duration;
use tower::{Service as _, service_fn};
use tower_resilience_circuitbreaker::{CircuitBreakerLayer, DefaultClassifier, SlidingWindowType};

const DAY: Duration = Duration::from_secs(24 * 3_600);
const RESET: Duration = Duration::from_secs(30);

/// The peers' own answer: theirs carries no refusal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Down;

impl std::fmt::Display for Down {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("down")
    }
}

impl std::error::Error for Down {}

/// The call that nobody guards, with the peers' answer.
pub(crate) async fn bare_async(rooms: u32) -> Result<u32, Down> {
    Ok(black_box(rooms))
}

fn answer() -> Result<u32, Down> {
    Ok(black_box(1))
}

pub(crate) fn call_bare_async() {
    consume(poll(bare_async(black_box(1))));
}

/// A call of a peer that one or two threads can make.
pub(crate) trait Call: Fn() + Send + Sync + 'static {}

impl<F: Fn() + Send + Sync + 'static> Call for F {}

fn backoff(reset: Duration) -> failsafe::backoff::Constant {
    failsafe::backoff::constant(reset)
}

type Failsafe<P> = failsafe::StateMachine<P, ()>;
type ByFailures = failsafe::failure_policy::ConsecutiveFailures<failsafe::backoff::Constant>;

fn failsafe(reset: Duration) -> Failsafe<ByFailures> {
    let policy = failsafe::failure_policy::consecutive_failures(5, backoff(reset));
    failsafe::Config::new().failure_policy(policy).build()
}

pub(crate) fn failsafe_plain() -> impl Call {
    let breaker = failsafe(RESET);
    move || {
        consume(failsafe::CircuitBreaker::call(&breaker, answer));
    }
}

pub(crate) fn failsafe_async() -> (impl Call, usize) {
    let breaker = failsafe(RESET);
    let call = move |rooms| failsafe::futures::CircuitBreaker::call(&breaker, bare_async(rooms));
    let bytes = size_of_val(&call(1));
    let poll = move || {
        consume(poll(call(black_box(1))));
    };
    (poll, bytes)
}

pub(crate) fn failsafe_by_time() -> impl Call {
    let window = Duration::from_secs(10);
    let policy =
        failsafe::failure_policy::success_rate_over_time_window(0.5, 20, window, backoff(RESET));
    let breaker = failsafe::Config::new().failure_policy(policy).build();
    move || {
        consume(failsafe::CircuitBreaker::call(&breaker, answer));
    }
}

pub(crate) fn failsafe_refused() -> impl Call {
    let breaker = failsafe(DAY);
    for _ in 0..5 {
        let _ = failsafe::CircuitBreaker::call(&breaker, || Err::<u32, _>(Down));
    }
    assert!(!failsafe::CircuitBreaker::is_call_permitted(&breaker));
    move || {
        black_box(failsafe::CircuitBreaker::is_call_permitted(&breaker));
    }
}

fn recloser() -> Recloser {
    Recloser::custom()
        .error_rate(0.5)
        .closed_len(100)
        .open_wait(DAY)
        .build()
}

pub(crate) fn recloser_plain() -> impl Call {
    let breaker = recloser();
    move || {
        consume(breaker.call(answer));
    }
}

pub(crate) fn recloser_async() -> (impl Call, usize) {
    let breaker = AsyncRecloser::from(recloser());
    let bytes = size_of_val(&breaker.call(bare_async(1)));
    let call = move || {
        consume(poll(breaker.call(bare_async(black_box(1)))));
    };
    (call, bytes)
}

pub(crate) fn recloser_refused() -> impl Call {
    let breaker = recloser();
    for _ in 0..200 {
        let _ = breaker.call(|| Err::<u32, _>(Down));
    }
    assert!(breaker.call(answer).is_err());
    move || {
        consume(breaker.call(answer));
    }
}

fn ferryman(cooldown: Duration) -> Ferryman {
    let config = BreakerConfig::default()
        .with_failure_threshold(5)
        .with_cooldown(cooldown);
    Ferryman::new(config).expect("a valid configuration")
}

pub(crate) fn ferryman_plain() -> impl Call {
    let breaker = ferryman(RESET);
    move || {
        if let Some(admission) = black_box(breaker.try_acquire()) {
            breaker.record_success(admission);
        }
    }
}

pub(crate) fn ferryman_async() -> (impl Call, usize) {
    async fn guarded(breaker: &Ferryman, rooms: u32) -> Option<Result<u32, Down>> {
        let admission = breaker.try_acquire()?;
        let answer = bare_async(rooms).await;
        match answer {
            Ok(_) => breaker.record_success(admission),
            Err(_) => breaker.record_failure(admission),
        }
        Some(answer)
    }
    let breaker = ferryman(RESET);
    let bytes = size_of_val(&guarded(&breaker, 1));
    let call = move || {
        if let Some(answer) = poll(guarded(&breaker, black_box(1))) {
            consume(answer);
        }
    };
    (call, bytes)
}

pub(crate) fn ferryman_refused() -> impl Call {
    let breaker = ferryman(DAY);
    for _ in 0..5 {
        let admission = breaker.try_acquire().expect("closed");
        breaker.record_failure(admission);
    }
    assert!(breaker.try_acquire().is_none());
    move || {
        black_box(breaker.try_acquire());
    }
}

fn circuitbreaker_rs() -> CircuitBreaker<DefaultPolicy, Down> {
    CircuitBreaker::<DefaultPolicy, Down>::builder()
        .failure_threshold(0.5)
        .cooldown(DAY)
        .build()
}

pub(crate) fn circuitbreaker_rs_plain() -> impl Call {
    let breaker = circuitbreaker_rs();
    move || {
        consume(breaker.call(answer));
    }
}

pub(crate) fn circuitbreaker_rs_async() -> (impl Call, usize) {
    let breaker = circuitbreaker_rs();
    let bytes = size_of_val(&breaker.call_async(|| bare_async(1)));
    let call = move || {
        consume(poll(breaker.call_async(|| bare_async(black_box(1)))));
    };
    (call, bytes)
}

pub(crate) fn circuitbreaker_rs_refused() -> impl Call {
    let breaker = circuitbreaker_rs();
    breaker.force_open();
    assert!(breaker.call(answer).is_err());
    move || {
        consume(breaker.call(answer));
    }
}

/// A window of 10 s; opened by a failure where `open` says so.
pub(crate) fn seatbelt(open: bool) -> (impl Fn(), usize) {
    let clock = tick::Clock::new_tokio().with_fast_instant(true);
    let context = ResilienceContext::new(&clock);
    let fails = move |fail: bool| async move { if fail { Err(Down) } else { answer() } };
    let stack = (
        Seatbelt::layer("bench", &context)
            .recovery_with(|answer: &Result<u32, Down>, _| match answer {
                Ok(_) => RecoveryInfo::never(),
                Err(_) => RecoveryInfo::retry(),
            })
            .rejected_input_error(|_: bool, _| Down)
            .failure_threshold(0.5)
            .min_throughput(20)
            .sampling_duration(Duration::from_secs(10))
            .break_duration(DAY),
        Execute::new(fails),
    );
    let service = stack.into_service();
    if open {
        for _ in 0..100 {
            let _ = poll(service.execute(true));
        }
        assert!(poll(service.execute(false)).is_err());
    }
    let bytes = size_of_val(&service.execute(false));
    let call = move || {
        consume(poll(service.execute(black_box(false))));
    };
    (call, bytes)
}

/// What a window of tower-resilience is taken of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Calls,
    Time,
}

pub(crate) fn tower_resilience(of: Of, open: bool) -> impl FnMut() {
    let window = match of {
        Of::Calls => SlidingWindowType::CountBased,
        Of::Time => SlidingWindowType::TimeBased,
    };
    let layer: CircuitBreakerLayer<DefaultClassifier> = CircuitBreakerLayer::builder()
        .failure_rate_threshold(0.5)
        .sliding_window_type(window)
        .sliding_window_size(100)
        .sliding_window_duration(Duration::from_secs(10))
        .minimum_number_of_calls(20)
        .wait_duration_in_open(DAY)
        .build()
        .expect("a valid configuration");
    let mut service = layer.layer_fn(service_fn(bare_async));
    if open {
        poll(service.force_open());
        assert!(service.is_open());
    }
    move || {
        // A caller's own order: readiness, then the call.
        let _ = black_box(poll(poll_fn(|context| {
            tower::Service::<u32>::poll_ready(&mut service, context)
        })));
        consume(poll(service.call(black_box(1))));
    }
}

/// Tokio's own time limit, without any breaker.
pub(crate) fn tokio_timeout() -> (impl Fn(), usize) {
    let limit = Duration::from_secs(2);
    let bytes = size_of_val(&tokio::time::timeout(limit, bare_async(1)));
    let call = move || {
        if let Ok(answer) = poll(tokio::time::timeout(limit, bare_async(black_box(1)))) {
            consume(answer);
        }
    };
    (call, bytes)
}
