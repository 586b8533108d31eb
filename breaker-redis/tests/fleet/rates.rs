//! Failures of all instances count together towards a rate, on a real Redis.

use crate::server::Server;
use crate::support::{LONG, builder, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetKeyedBreakers, SharedFleetBreaker, Sharing};
use breakerbox::{
    AnyBreaker, Breaker, DefaultClock, KeyedBreakers, ManualClock, Outcome, RateConfig, Settings,
    Sliding, State, Trigger, Window,
};
use std::sync::Arc;
use std::time::Duration;

type Clock = &'static ManualClock;
type ByRate = Sliding<2>;

/// One instance, with a clock of its own that stands still.
struct Instance {
    fleet: Fleet,
    clock: Clock,
    breaker: Arc<SharedFleetBreaker<Clock, ByRate>>,
}

/// Half of the last twenty calls, once there were ten.
fn half() -> RateConfig {
    half_for(Duration::from_secs(60))
}

/// The same, which opens for so long.
fn half_for(reset: Duration) -> RateConfig {
    let settings = Settings::new()
        .failure_rate(0.5)
        .slow(Duration::from_secs(1))
        .slow_rate(0.5)
        .window(Window::calls(20))
        .min_calls(10)
        .reset(reset)
        .jitter(0.0);
    settings.build_rate().expect("rates that can work")
}

impl Instance {
    fn new(server: &Server, name: &'static str, config: RateConfig, sharing: Sharing) -> Self {
        let clock: Clock = Box::leak(Box::new(ManualClock::new(0)));
        let breaker = Breaker::by_rate_with_clock(name, config, clock).expect("it fits");
        let breaker = Arc::new(FleetBreaker::of(Arc::new(breaker), sharing));
        let fleet = builder(server).start().expect("a fleet");
        fleet.share(&breaker).expect("to be shared");
        fleet.ready(LONG).expect("to be ready");
        Self {
            fleet,
            clock,
            breaker,
        }
    }

    fn calls(&self, times: usize, outcome: Outcome) {
        for _ in 0..times {
            if let Ok(permit) = self.breaker.admit() {
                permit.settle(outcome);
            }
        }
    }

    fn slow_calls(&self, times: usize) {
        for _ in 0..times {
            if let Ok(permit) = self.breaker.admit() {
                self.clock.advance(Duration::from_secs(2));
                permit.settle(Outcome::Success);
            }
        }
    }

    fn is(&self, state: State) -> bool {
        self.breaker.state() == state
    }
}

/// Ten, after so many calls that were well.
fn ten(server: &Server, config: RateConfig, sharing: Sharing, well: usize) -> [Instance; 10] {
    let name = name("rate");
    let all: [Instance; 10] = std::array::from_fn(|_| Instance::new(server, name, config, sharing));
    for one in &all {
        one.calls(well, Outcome::Success);
    }
    all
}

/// What was said of what happened until now has had its effect, with the census that it began.
fn has_settled(all: &[Instance]) {
    let answered: Vec<_> = all.iter().map(|one| one.fleet.status().answered).collect();
    until("a few polls of each, of half a second", || {
        all.iter()
            .zip(&answered)
            .all(|(one, before)| one.fleet.status().answered >= before + 3)
    });
}

/// Some fail, and so many are open then, and stay so. Where the machine is so busy that a census is over
/// before all have answered it, all are: then it is tried again.
fn opens(all: &[Instance], many: usize, fail: impl Fn()) {
    for _ in 0..30 {
        fail();
        has_settled(all);
        if open(all) == many {
            return;
        }
        all[0].breaker.close();
        until("all to be closed", || open(all) == 0);
        for one in all {
            one.calls(20, Outcome::Success);
        }
    }
    panic!("{} are open, each time", open(all));
}

fn open(all: &[Instance]) -> usize {
    all.iter().filter(|one| one.is(State::Open)).count()
}

#[test]
fn one_of_ten_that_fails_is_open_alone() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let all = ten(&server, half(), Sharing::new().counting(), 20);
    opens(&all, 1, || {
        all[0].calls(20, Outcome::Failure);
        assert!(all[0].is(State::Open));
    });
    // It probes by itself: nobody else is in a trial, and it asks nobody.
    all[0].clock.advance(Duration::from_secs(61));
    all[0].calls(1, Outcome::Failure);
    assert!(all[0].is(State::Open));
    has_settled(&all);
    assert_eq!(open(&all), 1);
    all[0].clock.advance(Duration::from_secs(61));
    all[0].calls(1, Outcome::Success);
    assert!(all[0].is(State::Closed));
    has_settled(&all);
    assert_eq!(open(&all), 0);
}

#[test]
fn six_of_ten_that_fail_open_all() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    // In Redis that passes by its own clock. Longer than a census.
    let reset = Duration::from_secs(2);
    let all = ten(&server, half_for(reset), Sharing::new().counting(), 20);
    for one in &all[..6] {
        one.calls(20, Outcome::Failure);
    }
    until("all to be open", || open(&all) == 10);
    for one in &all[6..] {
        until("why it is open", || {
            let why = one.breaker.last_change();
            why.is_some_and(|why| why.from == State::Closed && why.trigger == Trigger::Fleet)
        });
    }
    // One probe is that of all.
    for one in &all {
        one.clock.advance(2 * reset);
    }
    until("a probe", || {
        all[9].calls(1, Outcome::Success);
        all[9].is(State::Closed)
    });
    until("the recovery to be known", || open(&all) == 0);
}

#[test]
fn a_few_failures_of_each_are_together_enough() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let all = ten(&server, half(), Sharing::new().counting(), 0);
    // Nobody has made as many calls as it takes; all together have.
    for one in &all {
        one.calls(3, Outcome::Failure);
        one.calls(1, Outcome::Success);
    }
    until("all to be open", || open(&all) == 10);
}

#[test]
fn before_there_were_enough_calls_nothing_opens() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let all = ten(&server, half(), Sharing::new().counting(), 0);
    for one in &all[..9] {
        one.calls(1, Outcome::Failure);
    }
    has_settled(&all);
    assert_eq!(open(&all), 0);
    // The tenth call, which is well.
    all[9].calls(1, Outcome::Success);
    all[0].calls(1, Outcome::Failure);
    until("all to be open", || open(&all) == 10);
}

#[test]
fn slow_calls_of_all_count_likewise() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    for (slow, opened) in [(2, 2), (6, 10)] {
        let all = ten(&server, half(), Sharing::new().counting(), 20);
        opens(&all, opened, || {
            for one in &all[..slow] {
                one.slow_calls(20);
            }
        });
    }
}

#[test]
fn a_quorum_must_have_seen_failures_too() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let all = ten(&server, half(), Sharing::new().counting().quorum(7), 20);
    for one in &all[..6] {
        one.calls(20, Outcome::Failure);
    }
    has_settled(&all);
    assert_eq!(open(&all), 6);
    all[6].calls(1, Outcome::Failure);
    until("all to be open", || open(&all) == 10);
}

#[test]
fn what_a_dependency_says_of_itself_opens_all_at_once() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let all = ten(&server, half(), Sharing::new().counting(), 20);
    all[3].calls(1, Outcome::Overloaded(Duration::from_secs(30)));
    until("all to be open", || open(&all) == 10);
}

#[test]
fn each_key_has_a_rate_of_its_own() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("rates");
    let all: [_; 4] = std::array::from_fn(|_| {
        let clock: Clock = Box::leak(Box::new(ManualClock::new(0)));
        let breakers =
            KeyedBreakers::<String, Clock, ByRate>::by_rate_with_clock(name, half(), clock);
        let breakers = Arc::new(breakers.expect("they fit"));
        let breakers = Arc::new(FleetKeyedBreakers::of(breakers, Sharing::new().counting()));
        let fleet = builder(&server).start().expect("a fleet");
        fleet.share_keyed(&breakers).expect("to be shared");
        (fleet, breakers)
    });
    let calls = |number: usize, key: &str, outcome| {
        for _ in 0..20 {
            if let Ok(permit) = all[number].1.get(key).admit() {
                permit.settle(outcome);
            }
        }
    };
    let open = |key: &str| {
        let is_open = |number: &usize| all[*number].1.get(key).state() == State::Open;
        (0..4).filter(is_open).collect::<Vec<_>>()
    };
    for (number, (fleet, _)) in all.iter().enumerate() {
        for key in ["berlin", "paris", "rome"] {
            calls(number, key, Outcome::Success);
        }
        fleet.ready(LONG).expect("to be ready");
    }
    for number in 1..4 {
        calls(number, "paris", Outcome::Failure);
    }
    until("the whole of one key", || open("paris").len() == 4);
    for key in ["berlin", "rome"] {
        assert_eq!(open(key), [0; 0]);
    }
}

/// Each as a client object has it: by what the registry gives, whose names differ in one process, so the
/// other is by hand.
#[test]
fn a_client_object_shares_what_trips_by_rate() {
    struct Client {
        breaker: SharedFleetBreaker<DefaultClock, Sliding<8>>,
    }
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("client-by-rate");
    let breaker = Breaker::shared_by_rate(name, half()).expect("it fits");
    assert_eq!(breaker.name(), name);
    let client = Client {
        breaker: FleetBreaker::of(breaker, Sharing::new().counting()),
    };
    let fleet = builder(&server).start().expect("a fleet");
    fleet.share(&client.breaker).expect("to be shared");
    fleet.ready(LONG).expect("to be ready");
    let other = Instance::new(&server, name, half(), Sharing::new().counting());
    other.breaker.force_open();
    until("the operator's word", || {
        client.breaker.state() == State::ForcedOpen
    });
    client.breaker.close();
    until("the other's", || other.is(State::Closed));
    // Neither has half of ten calls by itself.
    other.calls(5, Outcome::Success);
    for _ in 0..5 {
        let called = client.breaker.call_sync(|| Err::<(), _>("no answer"));
        assert!(called.is_err());
    }
    for is_open in [
        &(|| client.breaker.state() == State::Open) as &dyn Fn() -> bool,
        &|| other.is(State::Open),
    ] {
        until("all to be open", is_open);
    }
    drop(client);
    until("it to be left", || fleet.status().circuits == 0);
}
