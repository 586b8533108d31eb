//! Keys of one process that differ and have the same label: they don't speak for each other.

use crate::server::Server;
use crate::support::{LONG, builder, name, until};
use breaker_redis::{Fleet, FleetKeyedBreakers, Sharing};
use breakerbox::{AnyBreaker, Key, KeyedBreakers, Settings, State};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A guest of a house, called by his number alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Guest {
    house: &'static str,
    number: u32,
}

impl Key for Guest {
    type Owned = Self;

    fn to_key(&self) -> Self {
        self.clone()
    }

    fn is(&self, owned: &Self) -> bool {
        self == owned
    }

    fn label(owned: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", owned.number)
    }
}

fn guest(house: &'static str, number: u32) -> Guest {
    Guest { house, number }
}

type Guests = Arc<FleetKeyedBreakers<Arc<KeyedBreakers<Guest>>>>;

fn shared(
    server: &Server,
    name: &'static str,
    known: &[Guest],
    sharing: Sharing,
) -> (Fleet, Guests) {
    let config = Settings::new().threshold(1).reset(Duration::from_secs(60));
    let guests = KeyedBreakers::<Guest>::new(name, config.must()).max_keys(2);
    let guests = Arc::new(FleetKeyedBreakers::of(Arc::new(guests), sharing));
    for guest in known {
        drop(guests.get(guest));
    }
    let fleet = builder(server).start().expect("a fleet");
    fleet.share_keyed(&guests).expect("to be shared");
    fleet.ready(LONG).expect("to be ready");
    (fleet, guests)
}

fn fail(guests: &Guests, guest: &Guest) {
    let failed = guests.get(guest).call_sync(|| Err::<(), _>("no answer"));
    assert!(failed.is_err());
}

#[test]
fn the_first_is_shared_and_the_other_is_on_its_own() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (ritz, savoy) = (guest("ritz", 7), guest("savoy", 7));
    // Known before they are shared, and new after it.
    for known in [&[ritz.clone(), savoy.clone()][..], &[]] {
        let name = name("guests");
        let (fleet, here) = shared(&server, name, known, Sharing::new());
        let (other, there) = shared(&server, name, &[], Sharing::new());
        for guest in [&ritz, &savoy] {
            drop(here.get(guest));
        }
        let status = fleet.status();
        // Which of those that were known comes first is nobody's matter.
        assert_eq!((status.circuits, status.namesakes), (1, 1), "{status:?}");
        there.get(&ritz).force_open();
        let both = || [&ritz, &savoy].map(|guest| here.get(guest).state());
        until("an operator's word", || both().contains(&State::ForcedOpen));
        let (mine, own) = match both() {
            [State::ForcedOpen, State::Closed] => (&ritz, &savoy),
            [State::Closed, State::ForcedOpen] => (&savoy, &ritz),
            states => panic!("{states:?}"),
        };
        // What it does is nobody else's matter either, and it goes on all the same.
        fail(&here, own);
        assert_eq!(here.get(own).state(), State::Open);
        here.get(mine).close();
        until("an operator's word", || {
            there.get(&ritz).state() == State::Closed
        });
        fail(&here, mine);
        until("a trip", || there.get(&ritz).state() == State::Open);
        here.get(own).close();
        there.get(&ritz).disable();
        until("an operator's word", || {
            here.get(mine).state() == State::Disabled
        });
        assert_eq!(here.get(own).state(), State::Closed);
        assert_eq!(other.status().namesakes, 0);
    }
}

#[test]
fn two_are_not_two_of_a_quorum_and_take_nothing_back_of_each_others() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (ritz, savoy) = (guest("ritz", 7), guest("savoy", 7));
    let name = name("guests");
    let sharing = Sharing::new().quorum(2);
    let [(fleet, a), (_b, b), (_c, c)] =
        [0; 3].map(|_| shared(&server, name, std::slice::from_ref(&ritz), sharing));
    let told = || fleet.ready(LONG).expect("all to be told");
    fail(&a, &ritz);
    told();
    fail(&a, &savoy);
    told();
    // Nothing that an operator does with the one is done with the other, and the vote stands.
    a.get(&savoy).close();
    told();
    a.get(&savoy).force_open();
    told();
    assert_eq!(c.get(&ritz).state(), State::Closed);
    fail(&b, &ritz);
    until("the second vote", || c.get(&ritz).state() == State::Open);
    assert_eq!(a.get(&savoy).state(), State::ForcedOpen);
}

#[test]
fn once_the_first_is_given_up_the_other_is_shared() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (ritz, savoy) = (guest("ritz", 7), guest("savoy", 7));
    let name = name("guests");
    let (fleet, here) = shared(&server, name, std::slice::from_ref(&ritz), Sharing::new());
    let (_other, there) = shared(&server, name, &[], Sharing::new());
    drop(here.get(&savoy));
    assert_eq!((fleet.status().circuits, fleet.status().namesakes), (1, 1));
    // There is room for two: one of them goes, and if it is the other, then it is new again.
    let mut number = 8;
    while here.breakers().iter().any(|guest| *guest.key() == ritz) {
        drop(here.get(&savoy));
        drop(here.get(&guest("adlon", number)));
        number += 1;
        assert!(number < 100, "it stays");
    }
    fail(&here, &savoy);
    until("a trip", || there.get(&ritz).state() == State::Open);
    assert_eq!(fleet.status().namesakes, 0);
}
