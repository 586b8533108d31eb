//! Laying settings over the declared ones: of all breakers that are listed, and of one that
//! enters.

use super::layers::{ByName, Called, Layer, Layers, Wrong};
use super::mistakes::{Mistake, Mistakes, Whence};
use super::{Configured, specimens};
use crate::name::Name;
use crate::registry::all::Registered;
use crate::registry::book::Here;
use crate::registry::watch::{Happened, Wake};
use breaker_core::{Config, Overrides, Reconfiguration, ReconfigureError, Setting};
use std::collections::BTreeSet;

/// Where a source has a name, or a setting of it.
type Places<'a> = Box<dyn Fn(&str, Option<Setting>) -> Whence + 'a>;

/// What a source says.
pub(super) struct Given<'a> {
    pub(super) layer: Layer,
    pub(super) of: ByName,
    /// Where it says what of which name.
    pub(super) whence: Places<'a>,
    /// Whether what it said of other names stands.
    pub(super) only_these: bool,
}

/// Checks all of it, and then lays it over what is listed: unless there are mistakes, also
/// those that were found before.
pub(super) fn configure(
    here: &Here,
    given: Given<'_>,
    mut mistakes: Vec<Mistake>,
) -> Result<Configured, Mistakes> {
    let layers_of_book = here.layers();
    // Outlives the lock: who drops a breaker last runs the user's code.
    let mut listed = Vec::new();
    let one_at_a_time = layers_of_book.one_at_a_time();
    let before = layers_of_book.now();
    let mut after = Layers::clone(&before);
    let mut of = if given.only_these {
        before.layer(given.layer).clone()
    } else {
        ByName::new()
    };
    of.extend(given.of.iter().map(|(name, these)| (name.clone(), *these)));
    of.retain(|_, these| !these.is_empty());
    after.set(given.layer, of);
    let change = Change {
        given: &given,
        before: &before,
        after: &after,
    };

    listed.push(here.listed());
    mistakes.extend(change.mistakes(&listed[0]));
    if !mistakes.is_empty() {
        return Err(Mistakes::new(mistakes));
    }
    layers_of_book.replace(after.clone());
    // Once more: what entered in between did so under the old ones.
    listed.push(here.listed());
    here.problems()
        .forget_overrides(given.layer, |by| change.is_about(by));
    let mut changed = Vec::new();
    let report = change.apply(here, &listed[1], &mut changed);
    drop(one_at_a_time);
    // Observers may configure in turn.
    for (registered, change) in changed {
        registered.tell_reconfigured(&change);
    }
    Ok(report)
}

struct Change<'a> {
    given: &'a Given<'a>,
    before: &'a Layers,
    after: &'a Layers,
}

impl Change<'_> {
    /// Whether it may change what the layer has by that name.
    fn is_about(&self, by: &str) -> bool {
        !self.given.only_these || self.given.of.contains_key(by)
    }

    fn mistakes(&self, listed: &[(Registered, Name)]) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let mut told = BTreeSet::new();
        for (registered, wanted) in listed {
            let called = called(registered, wanted);
            let Some((by, _)) = self.after.find(self.given.layer, &called) else {
                continue;
            };
            told.insert(by);
            if !self.is_about(by) {
                continue;
            }
            let declared = registered.declared();
            let (_, was_wrong) = self.before.over(declared, &called);
            let (_, is_wrong) = self.after.over(declared, &called);
            for wrong in is_wrong {
                let is_ours = wrong.layer == self.given.layer;
                if is_ours || !was_wrong.contains(&wrong) {
                    mistakes.push(self.mistake(by, called.name, &wrong, is_ours));
                }
            }
        }
        // Of the others nothing is known but what suits no breaker.
        for (name, these) in &self.given.of {
            if !told.contains(name.as_str()) {
                for (setting, error) in specimens::mistakes(these) {
                    mistakes.push(self.own_mistake(name, name, setting, &error));
                }
                mistakes.extend(self.of_one_key(name, listed));
            }
        }
        mistakes
    }

    /// A name such as `hosts[a.example]`, where there are breakers by key of the name `hosts`.
    fn of_one_key(&self, name: &str, listed: &[(Registered, Name)]) -> Option<Mistake> {
        let before = name.strip_suffix(']')?;
        let mut groups = before.match_indices('[').map(|(at, _)| &name[..at]);
        let is_listed = |group: &&str| {
            let mut listed = listed.iter();
            listed.any(|(it, _)| matches!(it, Registered::Keyed(_)) && it.name() == *group)
        };
        let group = groups.find(is_listed)?;
        Some(Mistake {
            whence: (self.given.whence)(name, None),
            breaker: Some(name.to_owned()),
            setting: None,
            what: format!("all keys have one configuration: write it for `{group}`"),
        })
    }

    fn mistake(&self, by: &str, breaker: &str, wrong: &Wrong, is_ours: bool) -> Mistake {
        if is_ours {
            return self.own_mistake(by, breaker, wrong.setting, &wrong.error);
        }
        Mistake {
            whence: (self.given.whence)(by, None),
            breaker: Some(breaker.to_owned()),
            setting: None,
            what: format!(
                "over this the breaker does not take what the {} says of it: {}",
                wrong.layer, wrong.error
            ),
        }
    }

    fn own_mistake(
        &self,
        by: &str,
        breaker: &str,
        setting: Setting,
        error: &ReconfigureError,
    ) -> Mistake {
        Mistake {
            whence: (self.given.whence)(by, Some(setting)),
            breaker: Some(breaker.to_owned()),
            setting: Some(setting.name().to_owned()),
            what: error.to_string(),
        }
    }

    /// Says what has changed, of which the observers are told once nothing is locked.
    fn apply<'l>(
        &self,
        here: &Here,
        listed: &'l [(Registered, Name)],
        changed: &mut Vec<(&'l Registered, Reconfiguration)>,
    ) -> Configured {
        let layer = self.given.layer;
        let mut report = Configured::default();
        let mut known = BTreeSet::new();
        for (registered, wanted) in listed {
            let called = called(registered, wanted);
            let [was, is] = [self.before, self.after].map(|layers| layers.find(layer, &called));
            let about = |found: Option<(&str, _)>| found.is_some_and(|(by, _)| self.is_about(by));
            known.extend(is.map(|(by, _)| by));
            if !about(was) && !about(is) {
                continue;
            }
            let (overrides, wrong) = self.after.over(registered.declared(), &called);
            here.problems().add_overrides(called.name, wrong);
            match registered.reconfigure_quietly(&overrides) {
                Ok(change) => changed.push((registered, change)),
                Err(error) => {
                    let wrong = refused(layer, called.name, &overrides, error);
                    here.problems().add_overrides(called.name, wrong);
                }
            }
            match is {
                Some(_) => report.applied.push(called.name.to_owned()),
                None => report.withdrawn.push(called.name.to_owned()),
            }
        }
        let these = self.given.of.iter().filter(|(_, these)| !these.is_empty());
        let waiting = these
            .map(|(name, _)| name)
            .filter(|name| !known.contains(name.as_str()));
        report.waiting.extend(waiting.cloned());
        report
    }
}

/// What a breaker was expected to take and did not.
fn refused(layer: Layer, by: &str, overrides: &Overrides, error: ReconfigureError) -> Vec<Wrong> {
    let first = overrides.iter().next();
    let wrong = first.map(|(setting, _)| Wrong {
        layer,
        by: by.to_owned(),
        setting,
        error,
    });
    wrong.into_iter().collect()
}

fn called<'a>(registered: &'a Registered, wanted: &'a Name) -> Called<'a> {
    Called {
        name: registered.name(),
        wanted: wanted.as_str(),
    }
}

/// The same for one that enters, before its first call. Tells the watchers of what is wrong for
/// it, once what is returned is dropped.
pub(in crate::registry) fn lay_over(
    here: &Here,
    declared: &Config,
    called: &Called<'_>,
    reconfigure: impl FnOnce(&Overrides) -> Result<(), ReconfigureError>,
) -> Option<Wake> {
    if !here.layers().are_any() {
        return None;
    }
    let (overrides, mut wrong) = here.layers().now().over(declared, called);
    if !overrides.is_empty()
        && let Err(error) = reconfigure(&overrides)
    {
        wrong.extend(refused(Layer::Code, called.name, &overrides, error));
    }
    if wrong.is_empty() {
        return None;
    }
    here.problems().add_overrides(called.name, wrong);
    Some(here.watchers().tell(called.name, None, Happened::Problem))
}
