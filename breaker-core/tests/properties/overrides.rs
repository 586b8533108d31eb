//! What an operator lays over the settings at run time: how it is drawn, and what the model makes
//! of it.

use crate::rules::{Close, Factor, MILLI, Rules, SECOND, Share, Trip};
use breaker_core::{OnCancel, Overrides, Setting, SettingValue};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::time::Duration;

const FACTORS: [(u32, u32); 5] = [(1, 1), (2, 1), (3, 2), (5, 4), (10, 1)];

fn value_of(setting: Setting) -> BoxedStrategy<SettingValue> {
    let counts =
        prop_oneof![6 => 1..=5_u32, 1 => select(vec![0, 20, 255, 256, 511, 512, u32::MAX])];
    let shares = prop_oneof![
        9 => select(vec![1, 2_500, 3_333, 5_000, 6_667, 9_999, 10_000]),
        1 => select(vec![0, 10_001]),
    ];
    let waits = prop_oneof![
        9 => select(vec![MILLI / 100, MILLI, 7 * MILLI, SECOND, 30 * SECOND, 90 * SECOND])
            .prop_map(Duration::from_nanos),
        1 => select(vec![Duration::ZERO, Duration::from_nanos(u64::MAX), Duration::MAX]),
    ];
    let share = |shares: u32| SettingValue::Number(f64::from(shares) / 10_000.0);
    match setting {
        Setting::Threshold | Setting::MinCalls | Setting::Probes | Setting::CloseAfter => {
            counts.prop_map(SettingValue::Count).boxed()
        }
        Setting::FailureRate | Setting::SlowRate | Setting::CloseRate => {
            shares.prop_map(share).boxed()
        }
        // The model of the properties that play these has none.
        Setting::Jitter => Just(SettingValue::Number(0.0)).boxed(),
        Setting::Backoff => select(FACTORS.to_vec())
            .prop_map(|(over, under)| SettingValue::Number(f64::from(over) / f64::from(under)))
            .boxed(),
        Setting::OnCancel => select(vec![OnCancel::Ignore, OnCancel::Failure])
            .prop_map(SettingValue::OnCancel)
            .boxed(),
        _ => waits.prop_map(SettingValue::Duration).boxed(),
    }
}

/// A few settings, of which some make no sense, or none to some breakers.
pub(crate) fn overrides() -> BoxedStrategy<Overrides> {
    let one = select(Setting::OVERRIDABLE.to_vec())
        .prop_flat_map(|setting| (Just(setting), value_of(setting)));
    vec(one, 0..=4)
        .prop_map(|set| {
            let set = set.into_iter();
            set.fold(Overrides::new(), |overrides, (setting, value)| {
                overrides.set(setting, value).expect("of its kind")
            })
        })
        .boxed()
}

impl Rules {
    /// What the breaker goes by under overrides that it took.
    pub(crate) fn under(&self, overrides: &Overrides) -> Self {
        let mut rules = self.clone();
        for (setting, value) in overrides.iter() {
            rules.set(setting, value);
        }
        rules
    }

    fn set(&mut self, setting: Setting, value: SettingValue) {
        match (setting, value) {
            (Setting::Threshold, SettingValue::Count(failures)) => {
                self.trip = Trip::InARow(failures);
            }
            (Setting::Probes, SettingValue::Count(probes)) => self.probes = probes,
            (Setting::CloseAfter, SettingValue::Count(successes)) => {
                self.close = Close::After(successes);
            }
            (Setting::CloseRate, SettingValue::Number(failures)) => {
                self.close = Close::Rate(share(failures));
            }
            (Setting::Backoff, SettingValue::Number(factor)) => {
                let is_it = |(over, under): &(u32, u32)| {
                    (f64::from(*over) / f64::from(*under))
                        .total_cmp(&factor)
                        .is_eq()
                };
                let (over, under) = FACTORS.into_iter().find(is_it).expect("drawn of these");
                self.backoff = Factor { over, under };
            }
            (Setting::Reset, SettingValue::Duration(wait)) => self.reset = nanos(wait),
            (Setting::MaxReset, SettingValue::Duration(most)) => {
                self.max_reset = Some(nanos(most));
            }
            (Setting::ProbeTimeout, SettingValue::Duration(after)) => {
                self.probe_timeout = Some(nanos(after));
            }
            (Setting::OnCancel, SettingValue::OnCancel(counts_as)) => {
                self.cancelled_is_failure = counts_as == OnCancel::Failure;
            }
            (Setting::Jitter, _) => {}
            (setting, value) => self.set_rate(setting, value),
        }
    }

    fn set_rate(&mut self, setting: Setting, value: SettingValue) {
        let Trip::Rate(rate) = &mut self.trip else {
            panic!("`{setting}` was taken by a breaker without rates");
        };
        let slow = rate.slow.as_mut();
        match (setting, value) {
            (Setting::FailureRate, SettingValue::Number(failures)) => {
                rate.failures = share(failures);
            }
            (Setting::MinCalls, SettingValue::Count(calls)) => rate.min_calls = calls,
            (Setting::Slow, SettingValue::Duration(than)) => {
                slow.expect("its calls are timed").than = nanos(than);
            }
            (Setting::SlowRate, SettingValue::Number(of)) => {
                slow.expect("its calls are timed").share = share(of);
            }
            other => panic!("{other:?}"),
        }
    }
}

fn share(of: f64) -> Share {
    Share((of * 10_000.0).round() as u32)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("taken, so it fits")
}
