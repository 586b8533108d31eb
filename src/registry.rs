//! Every breaker of the process, by name: to see it, to operate it, to configure it.
//!
//! Nobody has to register anything. A breaker of
//! [`#[circuit_breaker]`](crate::circuit_breaker) or [`breaker!`](crate::breaker) enters at its
//! first call, one of [`Breaker::shared`](crate::Breaker::shared) as it is made, and leaves as it
//! is dropped; a call after that asks the registry nothing.
//!
//! | | |
//! | --- | --- |
//! | [`all()`] | every breaker that is listed, sorted by name |
//! | [`find()`], [`find_keyed`] | those of one name |
//! | [`watch()`] | hears of what enters, leaves, changes its state or is reconfigured |
//! | [`configure()`], `configure_from_env`, `configure_from_file` | settings by name, at run time |
//! | [`overrides()`] | which settings are not as declared, and where they come from |
//! | [`snapshot()`], [`restore()`] | the states of all of them, for another process or run |
//! | [`problems()`] | what waited for a breaker and was wrong for it |
//!
//! # Operating
//! Each of [`AnyBreaker`]'s orders is for one breaker, those of [`FoundKeyed`] for all keys.
//! Why a breaker is in its state, and since when, says [`last_change`](AnyBreaker::last_change).
//!
//! ```
//! use breakerbox::{Breaker, Config, State, registry};
//!
//! # let _scope = breakerbox::test::scope();
//! let pms = Breaker::shared("pms", Config::DEFAULT);
//! // The dependency is taken down for an hour: let nobody wait for it.
//! registry::find("pms").unwrap().force_open();
//! assert_eq!(pms.state(), State::ForcedOpen);
//! registry::find("pms").unwrap().close();
//!
//! for breaker in registry::all().iter().flat_map(registry::Registered::breakers) {
//!     println!("{}: {}, {:?} left", breaker.name(), breaker.state(), breaker.time_left());
//! }
//! ```
//!
//! # Configuring
//! What was declared is where a breaker starts. Over it lie, each setting for itself:
//!
//! | | from | replaced by |
//! | --- | --- | --- |
//! | 1 | a file: `configure_from_file`, `configure_from_toml` (feature `config-file`) | reading it again |
//! | 2 | the environment: `configure_from_env` | reading it again |
//! | 3 | code: [`configure()`] | the next for the same name |
//!
//! ```toml
//! # breakers.toml: settings have the names and values that the attribute gives them
//! [breakers.pms]
//! threshold = 3
//! reset = "1m30s"
//!
//! [breakers."app::pms::inventory"]
//! failure_rate = 0.25
//! ```
//!
//! In the environment the same is `BREAKERBOX__PMS__RESET=1m30s` and
//! `BREAKERBOX__APP_PMS_INVENTORY__FAILURE_RATE=0.25`: in capitals, with one `_` for whatever is
//! neither letter nor digit.
//!
//! Everything is checked before anything is changed, also against the breakers that are listed:
//! one mistake, and all of it stays as it was, with every mistake in the error ([`Mistakes`]).
//! Settings for a name that isn't listed wait for it ([`Configured::waiting`]: look there for a
//! slip of the pen), and hold before its first call is admitted. Where they turn out to be wrong
//! for it, that layer is not applied to it, which [`problems()`] tells, and
//! [`Happened::Problem`]. State and counts stay as they are; a [`clear`](AnyBreaker::clear) goes
//! back to what was declared until the next configuration. `window`, `timeout` and whether a
//! breaker counts in a row or by rate are declared for good.
//!
//! Reload a file whenever you like (at `SIGHUP`, every ten seconds: `configure_from_file` has
//! both as examples). A name that is taken out of it goes back to the layers below.
//!
//! # Over a restart
//! A process that starts closed calls dependencies that the one before it knew to be down.
//! Take the states along:
//!
//! ```
//! # #[cfg(feature = "serde")] {
//! use breakerbox::registry;
//! # let folder = std::env::temp_dir().join(format!("breakerbox-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("breakers.json");
//! # let _scope = breakerbox::test::scope();
//!
//! // Before the process ends, or every few seconds. A crash in the middle leaves the old file:
//! let fresh = path.with_extension("new");
//! std::fs::write(&fresh, serde_json::to_string(&registry::snapshot())?)?;
//! std::fs::rename(&fresh, &path)?;
//!
//! // When it begins, before the first call. A bad file must not keep it from beginning:
//! match std::fs::read(&path).map(|text| serde_json::from_slice::<registry::Snapshots>(&text)) {
//!     Ok(Ok(snapshots)) => {
//!         for (circuit, error) in &registry::restore(&snapshots).refused {
//!             eprintln!("{circuit} was not restored: {error}");
//!         }
//!     }
//!     Ok(Err(error)) => eprintln!("nothing was restored: {error}"),
//!     Err(error) => eprintln!("nothing to restore: {error}"), // as in the first run
//! }
//! # std::fs::remove_dir_all(&folder)?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # In tests
//! A test scope (`test::scope`) has a registry of its own: what was made in it, and what its
//! calls used; with settings, states and watchers of its own.

mod all;
mod any;
mod any_keyed;
mod arrive;
mod book;
mod enter;
mod find;
mod found;
mod held;
mod names;
mod origin;
mod overrides;
mod problems;
mod snapshots;
mod waiting;
mod watch;

pub use all::{Registered, all};
pub use any::AnyBreaker;
pub use find::{find, find_keyed};
pub use found::{Found, FoundKeyed};
pub use origin::{Kind, Place};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use overrides::configure_from_env;
pub use overrides::{
    Configured, Layer, Mistake, Mistakes, Overridden, Whence, configure, configure_from_vars,
    overrides,
};
#[cfg(feature = "config-file")]
pub use overrides::{FileError, configure_from_file, configure_from_toml};
pub use problems::{Problem, ProblemCause, problems};
pub use snapshots::{
    CircuitName, RestoreError, Restored, SnapshotOf, Snapshots, restore, snapshot,
};
pub use watch::{DEFAULT_KEPT_NEWS, Happened, Heard, News, Watch, watch};

pub(crate) use any_keyed::AnyKeyed;
pub(crate) use arrive::NewKey;
#[cfg(feature = "test-util")]
pub(crate) use book::Book;
#[cfg(feature = "test-util")]
pub(crate) use enter::next_id;
pub(crate) use enter::{
    Declaration, Listing, enter, enter_keyed, enter_method, enter_shared, enter_shared_keyed,
};
#[cfg(feature = "test-util")]
pub(crate) use enter::{arrive_in, arrive_keyed_in};
#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub(crate) use enter::{enter_static_keyed, method_name};
pub(crate) use find::asked_name;
