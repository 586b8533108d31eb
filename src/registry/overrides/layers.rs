//! What each source says, and what lies over what.

use super::environment::in_a_variable;
use crate::name::Name;
use breaker_core::{Config, Overrides, ReconfigureError, Setting};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Where settings come from. Later ones lie over earlier ones, each setting for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// A configuration file.
    File,
    /// Environment variables.
    Environment,
    /// [`configure`](super::configure).
    Code,
}

impl Layer {
    pub(super) const ALL: [Self; 3] = [Self::File, Self::Environment, Self::Code];

    /// Its name in pages and logs: `file`, `environment` or `code`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Environment => "environment",
            Self::Code => "code",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a breaker is called, and what it asked for.
#[derive(Clone, Copy)]
pub(in crate::registry) struct Called<'a> {
    pub(in crate::registry) name: &'a str,
    pub(in crate::registry) wanted: &'a str,
}

impl<'a> Called<'a> {
    pub(in crate::registry) fn new(name: &'a Name, wanted: &'a Name) -> Self {
        let (name, wanted) = (name.as_str(), wanted.as_str());
        Self { name, wanted }
    }
}

/// Settings by name: of the environment by what becomes of a name in a variable.
pub(super) type ByName = BTreeMap<String, Overrides>;

/// What all sources say.
#[derive(Clone, Default)]
pub(in crate::registry) struct Layers([ByName; 3]);

/// Settings of one layer that a breaker does not take.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::registry) struct Wrong {
    pub(in crate::registry) layer: Layer,
    /// The name that the layer has them by.
    pub(in crate::registry) by: String,
    pub(in crate::registry) setting: Setting,
    pub(in crate::registry) error: ReconfigureError,
}

impl Layers {
    pub(super) fn layer(&self, layer: Layer) -> &ByName {
        &self.0[layer as usize]
    }

    pub(super) fn set(&mut self, layer: Layer, of: ByName) {
        self.0[layer as usize] = of;
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(BTreeMap::is_empty)
    }

    /// What a layer says of a breaker, and by which name.
    pub(super) fn find(&self, layer: Layer, called: &Called<'_>) -> Option<(&str, Overrides)> {
        let of = self.layer(layer);
        if of.is_empty() {
            return None;
        }
        let by = |name: &str| {
            let found = match layer {
                Layer::Environment => of.get_key_value(&in_a_variable(name)),
                Layer::File | Layer::Code => of.get_key_value(name),
            };
            found.map(|(by, overrides)| (by.as_str(), *overrides))
        };
        by(called.name).or_else(|| by(called.wanted))
    }

    /// What the layers say of a breaker, the lowest first.
    pub(super) fn of<'l>(
        &'l self,
        called: &Called<'_>,
    ) -> impl DoubleEndedIterator<Item = (Layer, &'l str, Overrides)> {
        let say = |layer| {
            let (by, overrides) = self.find(layer, called)?;
            Some((layer, by, overrides))
        };
        Layer::ALL.map(say).into_iter().flatten()
    }

    /// All that is said of a name of which no breaker is known.
    pub(super) fn all(&self, called: &Called<'_>) -> Overrides {
        self.of(called)
            .fold(Overrides::new(), |below, (_, _, these)| these.over(below))
    }

    /// What comes of it for a breaker: of a layer that it does not take, nothing.
    pub(in crate::registry) fn over(
        &self,
        declared: &Config,
        called: &Called<'_>,
    ) -> (Overrides, Vec<Wrong>) {
        let (mut taken, mut wrong) = (Overrides::new(), Vec::new());
        for (layer, by, these) in self.of(called) {
            let with_these = these.over(taken);
            match declared.overridden(&with_these) {
                Ok(_) => taken = with_these,
                Err(_) => wrong.extend(mistaken(declared, &these, taken).map(
                    |(setting, error)| Wrong {
                        layer,
                        by: by.to_owned(),
                        setting,
                        error,
                    },
                )),
            }
        }
        (taken, wrong)
    }
}

/// The mistakes of settings over others that a breaker takes: each at one of the former.
pub(super) fn mistaken(
    declared: &Config,
    these: &Overrides,
    below: Overrides,
) -> impl Iterator<Item = (Setting, ReconfigureError)> {
    let mut found = Vec::<(Setting, ReconfigureError)>::new();
    for (setting, error) in declared.mistakes(&these.over(below)) {
        let about = error.settings().iter().copied();
        let mut ours = about.filter(|setting| these.get(*setting).is_some());
        let setting = ours.next().unwrap_or(setting);
        if found.iter().all(|(other, _)| *other != setting) {
            found.push((setting, error));
        }
    }
    found.into_iter()
}

/// The layers of one book.
pub(in crate::registry) struct LayersOfBook {
    now: RwLock<Option<Arc<Layers>>>,
    /// Whether there are any: nobody locks to find out that there are none.
    are_any: AtomicBool,
    /// Who configures waits for who is at it. No call ever does.
    one_at_a_time: Mutex<()>,
}

impl LayersOfBook {
    pub(in crate::registry) const fn new() -> Self {
        Self {
            now: RwLock::new(None),
            are_any: AtomicBool::new(false),
            one_at_a_time: Mutex::new(()),
        }
    }

    pub(in crate::registry) fn are_any(&self) -> bool {
        self.are_any.load(Ordering::SeqCst)
    }

    pub(in crate::registry) fn now(&self) -> Arc<Layers> {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        now.clone().unwrap_or_default()
    }

    pub(super) fn replace(&self, layers: Layers) {
        let are_any = !layers.is_empty();
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        *now = Some(Arc::new(layers));
        self.are_any.store(are_any, Ordering::SeqCst);
    }

    pub(super) fn one_at_a_time(&self) -> MutexGuard<'_, ()> {
        let one = self.one_at_a_time.lock();
        one.unwrap_or_else(PoisonError::into_inner)
    }
}
