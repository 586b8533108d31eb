//! Fleets of this process against a real Redis. With processes of their own they are tested in
//! `tests/crates/fleet`.

#[path = "fleet/allocations.rs"]
mod allocations;
#[path = "fleet/channels.rs"]
mod channels;
#[path = "fleet/circuits.rs"]
mod circuits;
#[cfg(feature = "cluster")]
#[path = "fleet/clusters.rs"]
mod clusters;
#[path = "fleet/connection.rs"]
mod connection;
#[path = "fleet/differing.rs"]
mod differing;
#[path = "fleet/labels.rs"]
mod labels;
#[path = "fleet/leaving.rs"]
mod leaving;
#[path = "fleet/lifetimes.rs"]
mod lifetimes;
#[path = "fleet/lost.rs"]
mod lost;
#[path = "fleet/namesakes.rs"]
mod namesakes;
#[path = "fleet/partings.rs"]
mod partings;
#[path = "fleet/rates.rs"]
mod rates;
#[cfg_attr(
    not(feature = "cluster"),
    expect(dead_code, reason = "a port is for a cluster")
)]
mod server;
#[path = "fleet/settings.rs"]
mod settings;
#[path = "fleet/several.rs"]
mod several;
#[path = "fleet/statics.rs"]
mod statics;
#[path = "fleet/support.rs"]
mod support;
#[cfg(target_os = "linux")]
#[path = "fleet/threads.rs"]
mod threads;
#[path = "fleet/unheard.rs"]
mod unheard;
#[path = "fleet/unknown.rs"]
mod unknown;
#[path = "fleet/unusable.rs"]
mod unusable;
#[path = "fleet/users.rs"]
mod users;
