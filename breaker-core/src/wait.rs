//! How long an opening lasts: `reset`, `backoff`, `max_reset`, `jitter`, and
//! the waits that an overload, an operator or a snapshot sets.

use crate::config::Config;
use crate::word::PAYLOAD_BITS;
use core::num::NonZeroU64;

/// The payload of `Open`, in three ranges of its 27 bits:
/// below 2^16, a draw for `jitter` over the configured wait; above, a wait of
/// its own, of which the lowest bit says who set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// `reset` and `backoff` decide; so many 65,536ths of the jitter are added.
    Configured { draw: u16 },
    /// What a snapshot had left of a configured wait.
    Remaining { nanos: u64 },
    /// Set by an overload or by `open_for`.
    Imposed { nanos: u64 },
}

const DRAWS: u32 = 1 << 16;
const IMPOSED: u32 = 1;

const TEN_MICROS: NonZeroU64 = unit(10_000);
const MILLI: NonZeroU64 = unit(1_000_000);
const SECOND: NonZeroU64 = unit(1_000_000_000);
const HOUR: NonZeroU64 = unit(3_600_000_000_000);

const fn unit(nanos: u64) -> NonZeroU64 {
    match NonZeroU64::new(nanos) {
        Some(nanos) => nanos,
        None => panic!(),
    }
}

/// A wait of its own is so many units, of which the first range has the finest;
/// the last reaches over every `u64` of nanoseconds (584 years).
struct Scale {
    ranges: [Range; 3],
    last: Range,
}

struct Range {
    /// Not 0: so no division is one that could panic.
    unit: NonZeroU64,
    /// The first multiple of the unit in this range.
    first: u64,
    codes: u64,
}

impl Range {
    const fn end(&self) -> u64 {
        (self.first + self.codes) * self.unit.get()
    }

    const fn after(before: &Self, unit: NonZeroU64, codes: u64) -> Self {
        Self {
            unit,
            first: before.end().div_ceil(unit.get()),
            codes,
        }
    }

    /// How many units of this range, rounded up, a wait lies above its first one.
    fn units(&self, nanos: u64) -> u64 {
        let units = nanos / self.unit + u64::from(nanos % self.unit != 0);
        units.saturating_sub(self.first)
    }
}

impl Scale {
    const fn new() -> Self {
        let fine = Range {
            unit: TEN_MICROS,
            first: 0,
            codes: 1 << 23,
        };
        let millis = Range::after(&fine, MILLI, 1 << 25);
        let seconds = Range::after(&millis, SECOND, 1 << 24);
        let codes = u64::MAX.div_ceil(HOUR.get()) + 1;
        let last = Range::after(&seconds, HOUR, codes);
        let scale = Self {
            ranges: [fine, millis, seconds],
            last,
        };
        assert!(scale.codes() <= ((1 << PAYLOAD_BITS) - DRAWS as u64) >> 1);
        scale
    }

    const fn codes(&self) -> u64 {
        let [first, second, third] = &self.ranges;
        first.codes + second.codes + third.codes + self.last.codes
    }

    /// Rounded up, so that no wait ends early.
    fn code(&self, nanos: u64) -> u64 {
        let mut before = 0;
        for range in &self.ranges {
            let units = range.units(nanos);
            if units < range.codes {
                return before + units;
            }
            before += range.codes;
        }
        before + self.last.units(nanos)
    }

    fn nanos(&self, code: u64) -> u64 {
        let mut code = code;
        for range in &self.ranges {
            if code < range.codes {
                return (range.first + code) * range.unit.get();
            }
            code -= range.codes;
        }
        let hours = self.last.first + code;
        if hours > u64::MAX / HOUR.get() {
            u64::MAX
        } else {
            hours * HOUR.get()
        }
    }
}

/// 10 us up to 83 s, milliseconds up to 9.3 h, seconds up to 194 days, hours: a
/// wait that is handed on often must not grow by the rounding.
const SCALE: Scale = Scale::new();

impl Wait {
    pub(crate) fn payload(self) -> u32 {
        match self {
            Self::Configured { draw } => draw as u32,
            Self::Remaining { nanos } => DRAWS + ((SCALE.code(nanos) as u32) << 1),
            Self::Imposed { nanos } => DRAWS + ((SCALE.code(nanos) as u32) << 1 | IMPOSED),
        }
    }

    #[inline]
    pub(crate) fn from_payload(payload: u32) -> Self {
        if payload < DRAWS {
            return Self::Configured {
                draw: payload as u16,
            };
        }
        let own = payload - DRAWS;
        let nanos = SCALE.nanos(u64::from(own >> 1));
        if own & IMPOSED == 0 {
            Self::Remaining { nanos }
        } else {
            Self::Imposed { nanos }
        }
    }

    /// Nanoseconds from the opening to the first probe, before the clock's
    /// resolution is added.
    #[inline]
    pub(crate) fn nanos(self, config: &Config, reopenings: u8) -> u64 {
        match self {
            Self::Configured { draw } => {
                let plain = plain(config, reopenings);
                plain.saturating_add(share(plain, config.jitter_q31(), draw))
            }
            Self::Remaining { nanos } => nanos.min(plain(config, reopenings)),
            Self::Imposed { nanos } => nanos,
        }
    }
}

/// `reset`, times `backoff` for each reopening, at most `max_reset`.
#[inline]
pub(crate) fn plain(config: &Config, reopenings: u8) -> u64 {
    let reset = config.reset_nanos();
    if reopenings == 0 || config.backoff() == 1.0 {
        return reset;
    }
    // Rounded to the nearest nanosecond, exact below 104 days (2^53 ns) for the
    // factors that people write; the cast saturates.
    let wait = (reset as f64 * power(config.backoff(), reopenings) + 0.5) as u64;
    wait.max(reset).min(config.max_reset_nanos())
}

fn power(base: f64, exponent: u8) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

/// `wait` x jitter x draw / 65,536, with jitter in 31 binary places.
#[inline]
fn share(wait: u64, jitter_q31: u32, draw: u16) -> u64 {
    let share = (u64::from(jitter_q31) * u64::from(draw)) >> 16;
    let (high, low) = (wait >> 32, wait & 0xFFFF_FFFF);
    ((high * share) << 1) + ((low * share) >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use core::time::Duration;

    fn config(settings: Settings) -> Config {
        settings.build().unwrap()
    }

    #[test]
    fn a_wait_of_its_own_is_never_cut_and_as_exact_as_its_scale_says() {
        let finest = |nanos: u64| {
            let fits = SCALE
                .ranges
                .iter()
                .find(|range| nanos + range.unit.get() < range.end());
            fits.map_or(HOUR, |range| range.unit).get()
        };
        let mut nanos = 0_u64;
        while nanos < u64::MAX / 4 {
            for at in [nanos, nanos + 1, nanos.saturating_sub(1)] {
                for wait in [Wait::Imposed { nanos: at }, Wait::Remaining { nanos: at }] {
                    let payload = wait.payload();
                    assert!(payload < 1 << PAYLOAD_BITS);
                    let kept = match (wait, Wait::from_payload(payload)) {
                        (Wait::Imposed { .. }, Wait::Imposed { nanos })
                        | (Wait::Remaining { .. }, Wait::Remaining { nanos }) => nanos,
                        (wait, back) => panic!("{wait:?} came back as {back:?}"),
                    };
                    assert!(kept >= at, "{at} was cut to {kept}");
                    assert!(kept - at < finest(at), "{at} became {kept}");
                }
            }
            nanos = nanos * 2 + 1;
        }
    }

    #[test]
    fn a_scale_has_neither_gaps_nor_overlaps() {
        let mut border = 0;
        for range in &SCALE.ranges {
            border += range.codes;
            for code in border.saturating_sub(3)..border + 3 {
                assert!(SCALE.nanos(code + 1) > SCALE.nanos(code), "code {code}");
                assert_eq!(SCALE.code(SCALE.nanos(code)), code);
            }
        }
        assert_eq!(SCALE.nanos(SCALE.code(u64::MAX)), u64::MAX);
        assert!(SCALE.code(u64::MAX) < SCALE.codes());
    }

    #[test]
    fn whole_milliseconds_are_exact_up_to_hours() {
        for ms in [1, 999, 16_000_000] {
            let nanos = ms * MILLI.get();
            for wait in [Wait::Imposed { nanos }, Wait::Remaining { nanos }] {
                assert_eq!(Wait::from_payload(wait.payload()), wait);
            }
        }
    }

    #[test]
    fn draws_and_own_waits_share_the_payload_without_meeting() {
        for draw in [0, 1, u16::MAX] {
            let wait = Wait::Configured { draw };
            assert_eq!(Wait::from_payload(wait.payload()), wait);
        }
        assert_eq!(
            Wait::from_payload(Wait::Imposed { nanos: 0 }.payload()),
            Wait::Imposed { nanos: 0 }
        );
    }

    #[test]
    fn backoff_is_exact_where_people_look() {
        let second = Duration::from_secs(1);
        for (factor, reopenings, millis) in [
            (2.0, 1, 2_000),
            (2.0, 10, 1_024_000),
            (3.0, 3, 27_000),
            (2.5, 2, 6_250),
            (1.1, 1, 1_100),
            (1.1, 3, 1_331),
            (1.5, 4, 5_062),
            (10.0, 4, 10_000_000),
        ] {
            let wait = plain(
                &config(Settings::new().reset(second).backoff(factor)),
                reopenings,
            );
            assert_eq!(wait / MILLI, millis, "{factor}^{reopenings}");
        }
    }

    #[test]
    fn backoff_saturates_and_is_capped() {
        let settings = Settings::new().reset(Duration::from_secs(1)).backoff(1e300);
        assert_eq!(plain(&config(settings), 255), u64::MAX);
        let capped = settings.max_reset(Duration::from_secs(7));
        assert_eq!(plain(&config(capped), 255), 7 * SECOND.get());
        assert_eq!(plain(&config(capped), 0), SECOND.get());
    }

    #[test]
    fn jitter_only_adds_and_stays_within_its_share() {
        let jittered = config(Settings::new().reset(Duration::from_secs(10)).jitter(0.5));
        let at = |draw| Wait::Configured { draw }.nanos(&jittered, 0);
        assert_eq!(at(0), 10 * SECOND.get());
        assert_eq!(at(1 << 15), 12_500 * MILLI.get());
        assert!(at(u16::MAX) < 15 * SECOND.get());
        assert!(at(u16::MAX) > 14_999 * MILLI.get());
    }

    #[test]
    fn jitter_over_the_longest_wait_saturates() {
        let settings = Settings::new()
            .reset(Duration::from_nanos(u64::MAX))
            .jitter(1.0);
        let wait = Wait::Configured { draw: u16::MAX }.nanos(&config(settings), 0);
        assert_eq!(wait, u64::MAX);
    }
}
