//! Keys of a program are found by another that knows only what they are called.

use crate::server::Server;
use crate::support::{LONG, builder, name, until};
use breaker_redis::{Fleet, FleetKeyedBreakers, Sharing};
use breakerbox::{AnyBreaker, Config, Key, KeyedBreakers, State};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

type Breakers<O> = FleetKeyedBreakers<Arc<KeyedBreakers<O>>>;

fn shared<O: Send + Sync + 'static>(server: &Server, name: &'static str) -> (Fleet, Breakers<O>) {
    let breakers = Arc::new(KeyedBreakers::new(name, Config::DEFAULT));
    let breakers = FleetKeyedBreakers::of(breakers, Sharing::new());
    let fleet = builder(server).start().expect("a fleet");
    fleet.share_keyed(&breakers).expect("to be shared");
    (fleet, breakers)
}

/// An operator's program opens the key by that text, also where nobody has used it yet.
fn is_opened_by<K: Key + ?Sized>(server: &Server, key: &K, text: &str) {
    for is_used in [true, false] {
        let name = name("labels");
        let (fleet, breakers) = shared::<K::Owned>(server, name);
        if is_used {
            drop(breakers.get(key));
        }
        let (operators, by_text) = shared::<String>(server, name);
        by_text.get(text).force_open();
        operators.ready(LONG).expect("to be told");
        let key = breakers.get(key);
        fleet.ready(LONG).expect("to be ready");
        until(text, || key.state() == State::ForcedOpen);
    }
}

#[test]
fn a_key_of_whatever_kind_is_opened_by_its_label() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    is_opened_by(&server, "adlon", "adlon");
    is_opened_by(&server, &7_u64, "7");
    is_opened_by(&server, &-7_i8, "-7");
    is_opened_by(&server, &true, "true");
    is_opened_by(&server, &'ü', "ü");
    is_opened_by(&server, &IpAddr::V6(Ipv6Addr::LOCALHOST), "::1");
    is_opened_by(&server, &("adlon", 7_u64), "adlon/7");
    is_opened_by(&server, &("adlon", ("mitte", 7_u64)), "adlon/mitte/7");
    // What breaks a line, and would break a key in Redis.
    is_opened_by(&server, &("a\nb", "[c]:*"), "a\nb/[c]:*");
}
