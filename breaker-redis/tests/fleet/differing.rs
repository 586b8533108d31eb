//! A breaker that processes declare in different ways.

use crate::server::Server;
use crate::support::{Instance, LONG, builder, name, until};
use breaker_redis::{FleetKeyedBreakers, Sharing};
use breakerbox::observe::{self, Installed, Observer, SharingDiffers};
use breakerbox::{Config, KeyedBreakers, Settings, State};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is told of one breaker's declarations.
struct Told(
    Arc<Heard>,
    #[expect(dead_code, reason = "while it lives")] Installed,
);

struct Heard(&'static str, Mutex<Vec<String>>);

impl Told {
    fn of(breaker: &'static str) -> Self {
        let heard = Arc::new(Heard(breaker, Mutex::default()));
        Self(heard.clone(), observe::install(heard))
    }

    fn all(&self) -> Vec<String> {
        let mut all = self.0.1.lock().unwrap().clone();
        all.sort();
        all
    }
}

impl Observer for Heard {
    fn sharing_differs(&self, event: &SharingDiffers<'_>) {
        if event.breaker == self.0 {
            let all = event.differences.iter().map(ToString::to_string);
            let all: Vec<_> = all.collect();
            self.1.lock().unwrap().push(all.join("; "));
        }
    }
}

fn reset(seconds: u64) -> Config {
    let settings = Settings::new().threshold(1).jitter(0.0);
    settings.reset(Duration::from_secs(seconds)).must()
}

type Keyed = Arc<FleetKeyedBreakers<Arc<KeyedBreakers<String>>>>;

fn differing(instance: &Instance) -> usize {
    instance.fleet.status().differing
}

#[test]
fn each_tells_once_what_the_other_declares_and_goes_on_by_its_own() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("differs");
    let told = Told::of(name);
    let a = Instance::new(builder(&server), name, reset(300), Sharing::new());
    let b = Instance::new(builder(&server), name, reset(600), Sharing::new().quorum(1));
    // Nothing has happened: nothing is stored, and nothing is known.
    assert_eq!((differing(&a), differing(&b)), (0, 0));
    for _ in 0..3 {
        a.fail();
        until("b to follow", || b.breaker.state() == State::Open);
        b.breaker.close();
        until("a to follow", || a.breaker.state() == State::Closed);
        b.fail();
        until("a to follow", || a.breaker.state() == State::Open);
        a.breaker.close();
        until("b to follow", || b.breaker.state() == State::Closed);
    }
    let both = ["reset 300s here, 600s there", "reset 600s here, 300s there"];
    until("both to tell", || told.all().len() == 2);
    assert_eq!(told.all(), both);
    assert_eq!((differing(&a), differing(&b)), (1, 1));
    // Who comes only now reads what may be of a process that is gone.
    let c = Instance::new(builder(&server), name, reset(900), Sharing::new());
    assert_eq!(differing(&c), 0);
    assert_eq!(told.all().len(), 2);
}

#[test]
fn one_line_is_for_all_keys() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (name, other) = (name("differing-keys"), name("beside"));
    let told = Told::of(name);
    let keyed = |seconds, sharing| {
        let fleet = Instance::new(builder(&server), other, reset(300), Sharing::new());
        let config = Settings::new()
            .threshold(2)
            .reset(Duration::from_secs(seconds));
        let breakers = KeyedBreakers::<String>::new(name, config.must());
        let breakers = Arc::new(FleetKeyedBreakers::of(Arc::new(breakers), sharing));
        fleet.fleet.share_keyed(&breakers).expect("to be shared");
        fleet.fleet.ready(LONG).expect("to be ready");
        (fleet, breakers)
    };
    let (mine, a) = keyed(300, Sharing::new());
    let (others, b) = keyed(300, Sharing::new().counting());
    let fails = |breakers: &Keyed, key| {
        drop(breakers.get(key).call_sync(|| Err::<(), _>("no answer")));
    };
    for key in ["first", "second", "third"] {
        for (fleet, breakers) in [(&mine, &a), (&others, &b)] {
            drop(breakers.get(key));
            fleet.fleet.ready(LONG).expect("to be ready");
        }
        fails(&b, key);
        let stored = format!("breakerbox:{name}[{key}]");
        // Else the other's trip may be first, and what this one has counted of no effect.
        until("it to be told", || {
            let mut exists = redis::cmd("EXISTS");
            exists.arg(&stored).query(&mut server.connect()) == Ok(1)
        });
        fails(&a, key);
        fails(&a, key);
        until("b to follow", || b.get(key).state() == State::Open);
    }
    until("both to tell", || told.all().len() == 2);
    let both = ["counting off here, on there", "counting on here, off there"];
    assert_eq!(told.all(), both);
    assert_eq!((differing(&mine), differing(&others)), (1, 1));
}

#[test]
fn an_operators_program_neither_tells_nor_is_told_of() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("operated");
    let told = Told::of(name);
    let a = Instance::new(builder(&server), name, reset(300), Sharing::new());
    // It knows the name, and no more.
    let operators = Instance::new(builder(&server), name, Config::DEFAULT, Sharing::new());
    for _ in 0..3 {
        operators.breaker.force_open();
        until("a to follow", || a.breaker.state() == State::ForcedOpen);
        operators.breaker.close();
        until("a to follow", || a.breaker.state() == State::Closed);
        a.fail();
        until("it to follow", || operators.breaker.state() == State::Open);
        operators.breaker.close();
        until("a to follow", || a.breaker.state() == State::Closed);
    }
    assert_eq!(told.all(), [""; 0]);
    assert_eq!((differing(&a), differing(&operators)), (0, 0));
}
