//! What calls of a shared breaker allocate: nothing, also where they fail, trip, probe or are refused.

use crate::server::Server;
use crate::support::{LONG, builder, instances, name, until};
use breaker_redis::{FleetKeyedBreakers, Sharing};
use breakerbox::{KeyedBreakers, Settings, State};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn no_call_of_a_shared_breaker_allocates() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let config = Settings::new()
        .threshold(3)
        .reset(Duration::from_millis(1))
        .jitter(0.0)
        .must();
    let [a, _b] = instances(&server, config, Sharing::new().counting());
    let fleet = builder(&server).start().expect("a fleet");
    let keyed = Arc::new(KeyedBreakers::<String>::new(name("keys"), config));
    let keyed = Arc::new(FleetKeyedBreakers::of(keyed, Sharing::new()));
    drop(keyed.get("known"));
    fleet.share_keyed(&keyed).expect("to be shared");
    fleet.ready(LONG).expect("to be ready");
    for _ in 0..20 {
        let failing = allocation_counter::measure(|| {
            for _ in 0..5 {
                a.fail();
                let failed = keyed.get("known").call_sync(|| Err::<(), _>("no answer"));
                drop(failed);
            }
        });
        assert_eq!(failing.count_total, 0, "failures, trips and refusals");
        let mut allocated = 0;
        until("a recovery", || {
            let probing = allocation_counter::measure(|| {
                a.succeed();
                let probed = keyed.get("known").call_sync(|| Ok::<_, &str>(()));
                drop(probed);
            });
            allocated += probing.count_total;
            let states = [a.breaker.state(), keyed.get("known").state()];
            states == [State::Closed; 2]
        });
        assert_eq!(allocated, 0, "probes and recoveries");
    }
}
