//! Settings by name, laid over the declared ones: from a file, from the environment, from code.

mod apply;
mod environment;
#[cfg(feature = "config-file")]
mod file;
mod layers;
mod mistakes;
mod specimens;
mod values;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use environment::configure_from_env;
pub use environment::configure_from_vars;
#[cfg(feature = "config-file")]
pub use file::{FileError, configure_from_file, configure_from_toml};
pub use layers::Layer;
pub use mistakes::{Mistake, Mistakes, Whence};

pub(super) use apply::lay_over;
pub(super) use layers::{Called, LayersOfBook, Wrong};

use super::book::here;
use apply::Given;
use breaker_core::{Overrides, Setting, SettingValue};
use std::collections::BTreeMap;

/// Lays settings over the declared ones of the breaker of that name: of breakers by key over
/// those of all keys. They come instead of those that `configure` laid there before; without
/// any ([`Overrides::new`]) there are none from code any more.
///
/// What a file or the environment says lies below. A name that
/// isn't listed yet waits for them: they hold before its first call is admitted. Where a name
/// was taken, so that a breaker got its place besides (`pms@src/a.rs:12`), those for that whole
/// name win, and else those for the name it asked for hold.
///
/// ```
/// use breakerbox::{Breaker, Config, Overrides, registry};
///
/// # let _scope = breakerbox::test::scope();
/// let pms = Breaker::shared("pms", Config::DEFAULT);
/// registry::configure("pms", Overrides::new().threshold(20))?;
/// assert_eq!(pms.config().threshold(), 20);
///
/// let report = registry::configure("crs", Overrides::new().threshold(1))?;
/// assert_eq!(report.waiting, ["crs"]);
/// let crs = Breaker::shared("crs", Config::DEFAULT);
/// assert_eq!(crs.config().threshold(), 1);
///
/// registry::configure("pms", Overrides::new())?;
/// assert_eq!(pms.config(), *pms.declared());
/// # Ok::<(), registry::Mistakes>(())
/// ```
///
/// It is for names, and looks at every breaker that is listed (10,000 of them take some tens of
/// milliseconds, in which no call waits): what has a breaker in its hand, as a client made for a moment
/// has, [reconfigures](crate::Breaker::reconfigure) that. What is said of a name is kept until it is
/// said anew.
///
/// [`clear`](crate::Breaker::clear) takes a breaker back to what was declared, until it is
/// configured anew: by this, from the environment, or by reading a file again.
///
/// # Errors
/// Every mistake in them, also where they are only wrong for the breaker of that name. Nothing
/// has changed then.
pub fn configure(name: &str, overrides: Overrides) -> Result<Configured, Mistakes> {
    let given = Given {
        layer: Layer::Code,
        of: BTreeMap::from([(name.to_owned(), overrides)]),
        whence: Box::new(|_, _| Whence::Code),
        only_these: true,
    };
    apply::configure(&here(), given, Vec::new())
}

/// What became of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Configured {
    /// The breakers that it holds for now, by name.
    pub applied: Vec<String>,
    /// What waits for breakers that are not listed yet. A slip of the pen is here, too: from
    /// the environment the name is that of the variable.
    pub waiting: Vec<String>,
    /// The breakers of which it says nothing any more, where before it did.
    pub withdrawn: Vec<String>,
}

/// A setting that lies over the declared one, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Overridden {
    /// Which.
    pub setting: Setting,
    /// Its value.
    pub value: SettingValue,
    /// Where it comes from. `None`: from [`reconfigure`](crate::Breaker::reconfigure) of the
    /// breaker itself.
    pub layer: Option<Layer>,
}

/// The settings that lie over the declared ones of the breaker of that name, and where each
/// comes from. For a name that isn't listed: those that wait for it.
///
/// ```
/// use breakerbox::registry::{self, Layer};
/// use breakerbox::{Breaker, Config, Overrides};
///
/// # let _scope = breakerbox::test::scope();
/// let pms = Breaker::shared("pms", Config::DEFAULT);
/// registry::configure_from_vars([("BREAKERBOX__PMS__THRESHOLD", "3")])?;
/// registry::configure("pms", Overrides::new().probes(2))?;
/// let all = registry::overrides("pms");
/// let all: Vec<_> = all.iter().map(|it| (it.setting.name(), it.layer)).collect();
/// assert_eq!(all, [("threshold", Some(Layer::Environment)), ("probes", Some(Layer::Code))]);
/// # Ok::<(), registry::Mistakes>(())
/// ```
#[must_use]
pub fn overrides(name: &str) -> Vec<Overridden> {
    let here = here();
    let layers = here.layers().now();
    let listed = here.listed_as(name);
    let (in_force, wanted) = match &listed {
        Some((registered, wanted)) => (registered.overrides(), wanted.as_str()),
        None => (layers.all(&Called { name, wanted: name }), name),
    };
    let called = Called { name, wanted };
    let from = |setting, value| {
        let mut layers = layers.of(&called).rev();
        layers.find(|(_, _, overrides)| overrides.get(setting) == Some(value))
    };
    let overridden = |(setting, value)| Overridden {
        setting,
        value,
        layer: from(setting, value).map(|(layer, ..)| layer),
    };
    in_force.iter().map(overridden).collect()
}
