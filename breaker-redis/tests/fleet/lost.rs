//! What Redis has lost is offered anew by those who know it.

use crate::server::Server;
use crate::support::{Instance, instances, until};
use breaker_redis::Sharing;
use breakerbox::observe::{self, Observer, StateChange};
use breakerbox::{Settings, State};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What became of the circuits of this name.
struct Changes {
    of: String,
    to: Mutex<Vec<State>>,
}

impl Observer for Changes {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.breaker == self.of {
            self.to.lock().unwrap().push(event.change.to);
        }
    }
}

/// All have asked, and were answered, at least twice since.
fn all_have_asked(instances: &[Instance]) {
    let answered = |of: &Instance| of.fleet.status().answered;
    let before: Vec<_> = instances.iter().map(answered).collect();
    until("all to have asked", || {
        let mut both = instances.iter().zip(&before);
        both.all(|(of, before)| answered(of) > before + 2)
    });
}

#[test]
fn who_stands_as_what_is_offered_anew_is_not_told_to_have_changed() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(3600));
    let instances: [Instance; 3] = instances(&server, config.must(), Sharing::new());
    let key = format!("breakerbox:{}", instances[0].breaker.name());
    let changes = Arc::new(Changes {
        of: instances[0].breaker.name().to_owned(),
        to: Mutex::default(),
    });
    let _installed = observe::install(changes.clone());
    let all_are = |state: State| {
        until("all to be told", || {
            instances.iter().all(|one| one.breaker.state() == state)
        });
    };
    let takes_it = |state: State| {
        for command in [&["FLUSHALL"][..], &["DEL", &key], &["FLUSHALL"]] {
            let mut lose = redis::cmd(command[0]);
            lose.arg(&command[1..]).exec(&mut server.connect()).unwrap();
            until("it to be offered", || {
                let mut exists = redis::cmd("EXISTS");
                exists.arg(&key).query(&mut server.connect()).unwrap()
            });
            all_have_asked(&instances);
            all_are(state);
        }
    };
    let told = || std::mem::take(&mut *changes.to.lock().unwrap());
    instances[0].fail();
    all_are(State::Open);
    takes_it(State::Open);
    assert_eq!(told(), [State::Open; 3]);
    instances[1].breaker.force_open();
    all_are(State::ForcedOpen);
    takes_it(State::ForcedOpen);
    assert_eq!(told(), [State::ForcedOpen; 3]);
    // Once more: told where it was said.
    instances[2].breaker.force_open();
    all_have_asked(&instances);
    assert_eq!(told(), [State::ForcedOpen]);
    instances[0].breaker.close();
    all_are(State::Closed);
    // Observers hear of it a moment later.
    until("all to tell it", || changes.to.lock().unwrap().len() >= 3);
    assert_eq!(told(), [State::Closed; 3]);
}
