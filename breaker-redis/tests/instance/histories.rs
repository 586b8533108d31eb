//! Random fleets and what happens to them, as it can be shrunk.

use crate::forge::{Forged, forged};
use crate::network::{CALM, Mess};
use crate::world::{MS, Order, SECOND, World};
use breaker_core::{Outcome, Settings, Window};
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Limits, Quorum, Share, Who};
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::Duration;

/// What is the same for all instances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) threshold: u32,
    /// In milliseconds.
    pub(crate) reset: u64,
    pub(crate) probes: u32,
    pub(crate) close_after: u32,
    pub(crate) backoff: bool,
    pub(crate) counting: bool,
    pub(crate) slow_start: bool,
    pub(crate) quorum: Needed,
    /// By half of the calls in a window, instead of failures in a row.
    pub(crate) by_rate: Option<Rate>,
}

/// A window, and how many calls of all it takes at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) min_calls: u32,
    pub(crate) of_time: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needed {
    One,
    Two,
    Half,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// So many milliseconds.
    Pass(u64),
    Call(usize, Ended),
    /// So many calls at once, all of which fail.
    Fail(usize, u8),
    Order(usize, Order),
    Join,
    Crash(usize),
    CutOff(usize),
    Link(usize),
    Empty,
    Keep,
    RollBack(usize),
    /// Redis' clock, by so many milliseconds.
    Jump(i64),
    /// Somebody writes this, or publishes it.
    Forge(Forged, bool),
    Mess(Mess),
    /// The service fails for all, for one, or for nobody.
    Dead,
    DeadFor(usize),
    Well,
    Traffic(bool),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Ended {
    Well,
    Failed,
    Ignored,
    Overloaded,
}

pub(crate) fn rules() -> impl Strategy<Value = Rules> {
    let quorum = prop_oneof![
        3 => Just(Needed::One),
        1 => Just(Needed::Two),
        1 => Just(Needed::Half)
    ];
    (
        1..4_u32,
        300..2_000_u64,
        1..3_u32,
        1..3_u32,
        any::<[bool; 3]>(),
        quorum,
    )
        .prop_map(
            |(threshold, reset, probes, close_after, [backoff, counting, slow_start], quorum)| {
                Rules {
                    threshold,
                    reset,
                    probes,
                    close_after,
                    backoff,
                    counting,
                    slow_start,
                    quorum,
                    by_rate: None,
                }
            },
        )
}

/// Of fleets that trip by rate, and mostly count together.
pub(crate) fn rates() -> impl Strategy<Value = Rules> {
    let rate = (2..6_u32, any::<bool>());
    let counting = prop::bool::weighted(0.8);
    (rules(), rate, counting).prop_map(|(rules, (min_calls, of_time), counting)| Rules {
        counting,
        by_rate: Some(Rate { min_calls, of_time }),
        // Longer than a census: else what tripped counts as one call before it is decided.
        reset: rules.reset + 500,
        ..rules
    })
}

impl Rules {
    pub(crate) fn settings(self) -> Settings {
        let mut settings = match self.by_rate {
            None => Settings::new().threshold(self.threshold),
            Some(_) => Settings::new(),
        };
        settings = settings
            .reset(Duration::from_millis(self.reset))
            .probes(self.probes)
            .close_after(self.close_after)
            .probe_timeout(Duration::from_secs(2))
            .jitter(0.0);
        if let Some(Rate { min_calls, of_time }) = self.by_rate {
            let window = if of_time {
                Window::time(Duration::from_secs(2)).buckets(8)
            } else {
                Window::calls(8)
            };
            settings = settings
                .failure_rate(0.5)
                .window(window)
                .min_calls(min_calls);
        }
        if self.backoff {
            settings = settings.backoff(2.0).max_reset(Duration::from_secs(3));
        }
        settings
    }

    pub(crate) fn options(self, id: usize) -> Options {
        let threshold = self.threshold;
        Options {
            lease: Duration::from_millis(800),
            probe_timeout: Duration::from_secs(2),
            batch: Duration::from_millis(20),
            answer: Duration::from_millis(300),
            alive: Duration::from_secs(4),
            poll: Duration::from_secs(1),
            reset: Duration::from_millis(self.reset),
            counting: self.counting.then_some(match self.by_rate {
                None => Limits::Consecutive { threshold },
                Some(Rate { min_calls, .. }) => Limits::Rate {
                    failures: Share::new(0.5),
                    slow: None,
                    min_calls,
                },
            }),
            slow_start: Duration::from_millis(if self.slow_start { 300 } else { 0 }),
            quorum: match self.quorum {
                Needed::One => Quorum::Instances(1),
                Needed::Two => Quorum::Instances(2),
                Needed::Half => Quorum::Share(Share::new(0.5).expect("a share")),
            },
            ..Options::new(Who::new(&format!("node-{id}")).expect("a name"))
        }
    }

    pub(crate) fn world(self, instances: usize, seed: u64) -> World {
        let mut world = World::new(self.settings(), seed);
        for _ in 0..instances {
            world.join(|id| self.options(id));
        }
        world
    }
}

fn node() -> impl Strategy<Value = usize> {
    0..6_usize
}

fn mess() -> impl Strategy<Value = Mess> {
    prop_oneof![
        Just(CALM),
        (0..40_u64, 0..30_u64, 1..2_000_u64, 0..30_u64).prop_map(
            |(lost, doubled, delay, late_hooks)| Mess {
                lost,
                doubled,
                delay: delay * MS,
                late_hooks,
            }
        ),
    ]
}

pub(crate) fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        3 => Just(Order::Close),
        1 => Just(Order::ForceOpen),
        1 => Just(Order::Disable),
        1 => Just(Order::Shadow),
        1 => (1..3_000_u64).prop_map(|wait| Order::OpenFor(wait * MS)),
    ]
}

fn ended() -> impl Strategy<Value = Ended> {
    prop_oneof![
        Just(Ended::Well),
        Just(Ended::Failed),
        Just(Ended::Ignored),
        Just(Ended::Overloaded)
    ]
}

/// What calls, threads, and the network bring about.
fn common() -> BoxedStrategy<Act> {
    prop_oneof![
        6 => prop_oneof![1..50_u64, 1..3_000_u64].prop_map(Act::Pass),
        4 => (node(), ended()).prop_map(|(id, ended)| Act::Call(id, ended)),
        4 => (node(), 1..5_u8).prop_map(|(id, calls)| Act::Fail(id, calls)),
        1 => Just(Act::Join),
        1 => node().prop_map(Act::Crash),
        2 => node().prop_map(Act::CutOff),
        2 => node().prop_map(Act::Link),
        2 => mess().prop_map(Act::Mess),
        1 => Just(Act::Dead),
        1 => node().prop_map(Act::DeadFor),
        1 => Just(Act::Well),
        2 => any::<bool>().prop_map(Act::Traffic),
    ]
    .boxed()
}

/// And what becomes of Redis, beside being cut off.
fn of_redis() -> BoxedStrategy<Act> {
    prop_oneof![
        1 => Just(Act::Empty),
        1 => Just(Act::Keep),
        1 => node().prop_map(Act::RollBack),
        1 => prop_oneof![
            -5_000..5_000_i64,
            -9_000_000..9_000_000_i64,
            Just(-2 * YEAR),
            Just(2 * YEAR)
        ]
        .prop_map(Act::Jump),
        2 => (forged(), any::<bool>()).prop_map(|(forged, heard)| Act::Forge(forged, heard)),
    ]
    .boxed()
}

/// In milliseconds.
const YEAR: i64 = 366 * 86_400_000;

pub(crate) fn anything() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        8 => common(),
        1 => of_redis(),
        1 => (node(), order()).prop_map(|(id, order)| Act::Order(id, order)),
    ];
    vec(act, 0..40)
}

/// Nobody gives orders, and Redis is as it is.
pub(crate) fn by_calls() -> impl Strategy<Value = Vec<Act>> {
    vec(common(), 0..60)
}

/// The same, where a part of the fleet fails more often while calls come.
pub(crate) fn by_calls_of_some() -> impl Strategy<Value = Vec<Act>> {
    let gentle = (0..5_u64, 0..30_u64, 1..20_u64).prop_map(|(lost, doubled, delay)| Mess {
        lost,
        doubled,
        delay: delay * MS,
        late_hooks: 20,
    });
    let mess = prop_oneof![2 => Just(CALM), 1 => gentle];
    let some = (mess, vec(node(), 1..4), 1_500..4_000_u64, 500..4_000_u64);
    let some = some.prop_map(|(mess, fail, well, failing)| {
        let before = [
            Act::Well,
            Act::Mess(mess),
            Act::Traffic(true),
            Act::Pass(well),
        ];
        let fail = fail.into_iter().map(Act::DeadFor);
        before
            .into_iter()
            .chain(fail)
            .chain([Act::Pass(failing)])
            .collect::<Vec<_>>()
    });
    let acts = prop_oneof![
        10 => common().prop_map(|act| vec![act]),
        2 => some,
    ];
    vec(acts, 0..40).prop_map(|acts| acts.concat())
}

impl World {
    /// One of those that are alive.
    pub(crate) fn one(&self, which: usize) -> Option<usize> {
        let ids = self.ids();
        ids.get(which % ids.len().max(1)).copied()
    }

    pub(crate) fn act(&mut self, rules: Rules, act: Act) {
        match act {
            Act::Pass(time) => self.run(time * MS),
            Act::Call(which, ended) => {
                if let Some(id) = self.one(which) {
                    self.call(id, ended.outcome());
                }
            }
            Act::Fail(which, calls) => {
                if let Some(id) = self.one(which) {
                    for _ in 0..calls {
                        self.call(id, Outcome::Failure);
                    }
                }
            }
            Act::Order(which, order) => {
                if let Some(id) = self.one(which) {
                    self.order(id, order);
                }
            }
            Act::Join => {
                if self.nodes.len() < 6 {
                    self.join(|id| rules.options(id));
                }
            }
            Act::Crash(which) => {
                if self.nodes.len() > 1
                    && let Some(id) = self.one(which)
                {
                    self.crash(id);
                }
            }
            Act::CutOff(which) => {
                if let Some(id) = self.one(which) {
                    self.unlink(id);
                }
            }
            Act::Link(which) => {
                if let Some(id) = self.one(which) {
                    self.link(id);
                }
            }
            Act::Empty => self.empty(),
            Act::Keep => self.keep(),
            Act::RollBack(which) => self.roll_back(which),
            Act::Jump(by) => self.ahead = self.ahead.saturating_add_signed(by * MS as i64),
            Act::Forge(forged, false) => self.write(forged),
            Act::Forge(forged, true) => self.publish(forged),
            Act::Mess(mess) => self.mess = mess,
            Act::Dead => self.all_dead = true,
            Act::DeadFor(which) => self.dead.extend(self.one(which)),
            Act::Well => {
                self.all_dead = false;
                self.dead.clear();
            }
            Act::Traffic(true) => self.calls_come(150 * MS),
            Act::Traffic(false) => self.calls_stop(),
        }
    }

    /// The disturbance ends.
    pub(crate) fn calm(&mut self) {
        self.mess = CALM;
        self.all_dead = false;
        self.dead.clear();
        self.neutral = 0;
        for id in self.ids() {
            self.link(id);
        }
        self.calls_come(150 * MS);
        // What was under way arrives.
        self.run(2 * SECOND);
    }
}

impl Ended {
    fn outcome(self) -> Outcome {
        match self {
            Self::Well => Outcome::Success,
            Self::Failed => Outcome::Failure,
            Self::Ignored => Outcome::Ignored,
            Self::Overloaded => Outcome::Overloaded(Duration::from_millis(700)),
        }
    }
}
