//! Whatever is done with services and their calls, no place is lost and none is given twice.

use super::*;
use breakerbox::{Reason, State, test};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Clone, Debug)]
enum Step {
    Ask(usize),
    Call(usize),
    CallAnswered(usize, bool),
    Clone(usize, usize),
    Poll(usize),
    Answer(usize, bool),
    Drop(usize),
    Inner(u32),
    Wait(u64),
    Operator(u8),
}

const SERVICES: usize = 3;

fn step() -> impl Strategy<Value = Step> {
    let service = || 0..SERVICES;
    prop_oneof![
        4 => service().prop_map(Step::Ask),
        3 => service().prop_map(Step::Call),
        2 => (service(), any::<bool>()).prop_map(|(at, ok)| Step::CallAnswered(at, ok)),
        2 => (service(), service()).prop_map(|(from, to)| Step::Clone(from, to)),
        3 => (0..8_usize).prop_map(Step::Poll),
        2 => ((0..8_usize), any::<bool>()).prop_map(|(at, ok)| Step::Answer(at, ok)),
        2 => (0..8_usize).prop_map(Step::Drop),
        2 => prop_oneof![Just(READY), Just(NOT_READY), Just(DEAD)].prop_map(Step::Inner),
        3 => (0..70_u64).prop_map(Step::Wait),
        1 => (0..2_u8).prop_map(Step::Operator),
    ]
}

type Guarded = breakerbox::tower::CircuitBreaker<Pms, Arc<Breaker>>;
type Call = <Guarded as Service<Request>>::Future;

/// A call, and who answers it.
type InFlight = (Pin<Box<Call>>, Option<oneshot::Sender<Answer>>);

struct Walk {
    scope: test::TestScope,
    pms: Arc<Breaker>,
    inner: Pms,
    services: Vec<Guarded>,
    calls: Vec<InFlight>,
}

impl Walk {
    fn new(on_cancel: OnCancel) -> Self {
        let scope = test::scope();
        let settings = Settings::new().on_cancel(on_cancel);
        let pms = breaker(settings.probe_timeout(Duration::from_secs(60)));
        let inner = Pms::default();
        let service = layer(&pms).layer(inner.clone());
        Self {
            scope,
            services: vec![service; SERVICES],
            pms,
            inner,
            calls: Vec::new(),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Ask(at) => drop(poll_ready(&mut self.services[at])),
            Step::Call(at) => {
                let (answer, request) = oneshot::channel();
                let call = self.services[at].call(request);
                self.calls.push((Box::pin(call), Some(answer)));
            }
            Step::CallAnswered(at, ok) => {
                let answer = if ok { Ok(1) } else { Err(DOWN) };
                let _ = now(self.services[at].call(answered(answer)));
            }
            Step::Clone(from, to) => self.services[to] = self.services[from].clone(),
            Step::Poll(at) if at < self.calls.len() => {
                if poll(self.calls[at].0.as_mut()).is_ready() {
                    drop(self.calls.remove(at));
                }
            }
            Step::Answer(at, ok) if at < self.calls.len() => {
                if let Some(answer) = self.calls[at].1.take() {
                    let _ = answer.send(if ok { Ok(1) } else { Err(DOWN) });
                }
            }
            Step::Drop(at) if at < self.calls.len() => drop(self.calls.remove(at)),
            Step::Inner(readiness) => self.inner.becomes(readiness),
            Step::Wait(seconds) => self.scope.advance(Duration::from_secs(seconds)),
            Step::Operator(0) => drop(self.pms.close()),
            Step::Operator(_) => drop(self.pms.open_for(RESET)),
            Step::Poll(_) | Step::Answer(..) | Step::Drop(_) => {}
        }
    }

    fn check(&self) {
        let reserved = self.services.iter().map(|service| format!("{service:?}"));
        let in_flight = self.calls.iter().map(|(call, _)| format!("{call:?}"));
        check(&self.pms, reserved.chain(in_flight));
    }

    fn end(mut self) {
        self.services.clear();
        self.calls.clear();
        end(&self.scope, &self.pms);
    }
}

/// In a trial, its one place is where it can be seen, or free.
fn check(pms: &Breaker, mut holders: impl Iterator<Item = String>) {
    if pms.state() != State::HalfOpen {
        return;
    }
    let generation = pms.generation();
    let claim = format!("generation: {generation:?}");
    let taken = holders
        .by_ref()
        .filter(|debug| debug.contains(&claim))
        .count();
    assert!(taken <= 1, "a place was given twice");
    let free = pms.admit().map(|permit| permit.ignore()).is_ok();
    let another_trial = pms.generation() != generation;
    assert_eq!(free, taken == 0 || another_trial, "{taken} places taken");
}

/// With everything dropped, whoever comes when it is time is let through: no place is lost.
fn end(scope: &test::TestScope, pms: &Breaker) {
    scope.advance(match pms.state() {
        State::Open => pms.snapshot().time_left,
        // All places are free at once.
        _ => Duration::ZERO,
    });
    let permit = pms.admit().expect("a place was lost");
    if pms.state() == State::HalfOpen {
        let other = pms.admit().unwrap_err();
        assert_eq!(
            other.reason(),
            Reason::HalfOpenFull,
            "a place was given twice"
        );
    }
    permit.success();
    assert_eq!(pms.state(), State::Closed);
}

#[derive(Clone, Debug)]
enum BodyStep {
    Ask,
    Head(u16, Vec<bodies::Step>, [bool; 2]),
    Frame(usize),
    Drop(usize),
    Wait(u64),
    Close,
}

fn body_step() -> impl Strategy<Value = BodyStep> {
    use bodies::Step;

    let status = prop_oneof![4 => Just(200), 1 => Just(404), 1 => Just(500), 1 => Just(503)];
    let frame = prop_oneof![
        4 => Just(Step::Data),
        2 => Just(Step::Waits),
        1 => Just(Step::Trailers("0")),
        1 => Just(Step::Fails("cut short")),
        1 => Just(Step::Panics),
    ];
    let frames = proptest::collection::vec(frame, 0..5);
    prop_oneof![
        1 => Just(BodyStep::Ask),
        4 => (status, frames, any::<[bool; 2]>()).prop_map(|(status, frames, knows)| {
            BodyStep::Head(status, frames, knows)
        }),
        8 => (0..6_usize).prop_map(BodyStep::Frame),
        2 => (0..6_usize).prop_map(BodyStep::Drop),
        3 => (0..70_u64).prop_map(BodyStep::Wait),
        1 => Just(BodyStep::Close),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_place_is_lost(
        counted: bool,
        steps in proptest::collection::vec(step(), 0..120),
    ) {
        let on_cancel = if counted { OnCancel::Failure } else { OnCancel::Ignore };
        let mut walk = Walk::new(on_cancel);
        for step in steps {
            walk.step(step);
            walk.check();
        }
        walk.end();
    }

    #[test]
    fn no_place_is_lost_to_a_body(
        counted: bool,
        steps in proptest::collection::vec(body_step(), 0..120),
    ) {
        let scope = test::scope();
        let on_cancel = if counted { OnCancel::Failure } else { OnCancel::Ignore };
        let settings = Settings::new().on_cancel(on_cancel);
        let pms = breaker(settings.probe_timeout(Duration::from_secs(60)));
        let mut service = bodies::to_the_end(&pms).layer(bodies::Echo);
        let mut read: Vec<bodies::Guarded<bodies::Script>> = Vec::new();
        for step in steps {
            match step {
                BodyStep::Ask => drop(poll_ready::<_, bodies::Asked<bodies::Script>>(&mut service)),
                BodyStep::Head(status, frames, [knows_its_end, says_its_length]) => {
                    let mut body = bodies::script(frames);
                    body.knows_its_end = knows_its_end;
                    body.says_its_length = says_its_length;
                    if let Ok(head) = now(service.call(bodies::Asked(status, body))) {
                        read.push(head.into_body());
                    }
                }
                BodyStep::Frame(at) if at < read.len() => {
                    let frame = catch_unwind(AssertUnwindSafe(|| bodies::frame(&mut read[at])));
                    drop(frame);
                }
                BodyStep::Drop(at) if at < read.len() => drop(read.remove(at)),
                BodyStep::Wait(seconds) => scope.advance(Duration::from_secs(seconds)),
                BodyStep::Close => drop(pms.close()),
                BodyStep::Frame(_) | BodyStep::Drop(_) => {}
            }
            let bodies = read.iter().map(|body| format!("{body:?}"));
            check(&pms, bodies.chain([format!("{service:?}")]));
        }
        drop((service, read));
        end(&scope, &pms);
    }
}
