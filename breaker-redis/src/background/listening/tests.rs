//! Which node messages come from where breakers of a name go and others come: two real Redis servers, played
//! as the nodes of a cluster.

use super::super::connect::{Target, Trial};
use super::super::nodes::{Nodes, SLOTS, Slots};
use super::*;
use crate::hub::Hub;
use crate::protocol::tests::server::Server;
use crate::protocol::{Prefix, Who};
use crate::share::sealed::{Joins, To};
use crate::{Fleet, FleetBreaker, SharedFleetBreaker, Sharing};
use breakerbox::{Breaker, Settings};

const NAME: &str = "heard";
const CHANNEL: &str = "breakerbox:heard";

/// A background that does only what it is told to. The first of these nodes has all slots, and is connected
/// later.
fn background(servers: &[Server; 2]) -> Background {
    let settings = |server: &Server| {
        Fleet::builder(server.url())
            .lease(Duration::from_secs(60))
            .answer(Duration::from_secs(60))
    };
    let [first, second] = servers.each_ref().map(settings);
    let me = Who::new("me").expect("a name");
    let hub = Arc::new(Hub::new(me, Prefix::default(), &first));
    let target = |settings| Arc::new(Target::new(settings).expect("a target"));
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    let mut background = Background::new(hub, runtime, target(&first));
    background.nodes.all[0].retry_at = None;
    let second = Nodes::one(target(&second)).all.pop().expect("a node");
    background.nodes.all.push(second);
    let mut slots = Slots::unknown();
    slots.set(0, SLOTS - 1, 0);
    background.nodes.slots = Some(slots);
    connect(&mut background, 1);
    background
}

fn connect(background: &mut Background, at: usize) {
    let node = &mut background.nodes.all[at];
    node.session = at as u64 + 1;
    let connecting = node.target.connect(Trial::OfNode(None));
    let live = background.runtime.block_on(connecting);
    background.connected(at, live.expect("a connection"));
}

fn share(background: &Background) -> Arc<SharedFleetBreaker> {
    let breaker = Arc::new(Breaker::new(NAME, Settings::new().must()));
    let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
    (&breaker).join(To(&background.hub)).expect("to be shared");
    breaker
}

/// How many hear the channel, at each node, once all is done that was asked before.
fn heard(background: &mut Background, servers: &[Server; 2]) -> [u32; 2] {
    let within = Duration::from_secs(60);
    for at in 0..2 {
        if let Some(live) = &background.nodes.all[at].live {
            let asking = asking::is_alive(live, within);
            background.runtime.block_on(asking).expect("an answer");
        }
    }
    servers.each_ref().map(|server| {
        let mut command = redis::cmd("PUBSUB");
        let command = command.arg("NUMSUB").arg(CHANNEL);
        let (_, heard): (String, u32) = command.query(&mut server.connect()).expect("an answer");
        heard
    })
}

fn servers() -> Option<[Server; 2]> {
    Some([Server::start(&[])?, Server::start(&[])?])
}

#[test]
fn a_channel_is_left_with_its_breaker_and_kept_for_another_that_is_there_by_then() {
    let Some(servers) = servers() else {
        return;
    };
    let mut background = background(&servers);
    // Its own node can't be had.
    background.nodes.all[0].is_lost = true;
    let first = share(&background);
    background.look_at_groups();
    assert_eq!(heard(&mut background, &servers), [0, 1]);
    drop(first);
    let second = share(&background);
    background.look_at_groups();
    assert_eq!(heard(&mut background, &servers), [0, 1]);
    assert_eq!(background.hub.groups().len(), 1);
    // Gone, and there again once that was noticed: what is asked later holds.
    drop(second);
    background.look_at_groups();
    let third = share(&background);
    background.look_at_groups();
    assert_eq!(heard(&mut background, &servers), [0, 1]);
    drop(third);
    background.look_at_groups();
    assert_eq!(heard(&mut background, &servers), [0, 0]);
    assert_eq!(background.hub.groups().len(), 0);
}

/// Else the other would hear it twice, until the connection ends.
#[test]
fn a_channel_is_left_where_the_next_breaker_of_its_name_is_heard_from_another_node() {
    let Some(servers) = servers() else {
        return;
    };
    let mut background = background(&servers);
    background.nodes.all[0].is_lost = true;
    let first = share(&background);
    background.look_at_groups();
    assert_eq!(heard(&mut background, &servers), [0, 1]);
    connect(&mut background, 0);
    drop(first);
    let second = share(&background);
    background.look_at_groups();
    assert_eq!(heard(&mut background, &servers), [1, 0]);
    drop(second);
    background.look_at_groups();
    assert_eq!(heard(&mut background, &servers), [0, 0]);
}
