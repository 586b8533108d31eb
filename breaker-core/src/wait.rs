//! How long an opening lasts: `reset`, `backoff`, `max_reset`, `jitter`, and
//! the waits that an overload, an operator or a snapshot sets.

use crate::config::Config;
use crate::word::PAYLOAD_BITS;

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

// A wait of its own: milliseconds up to 9.3 h, then seconds up to 194 days,
// then hours, enough for every `u64` of nanoseconds (584 years).
const IN_MILLIS: u64 = 1 << 25;
const IN_SECONDS: u64 = 1 << 24;

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLI;
const HOUR: u64 = 3_600 * SECOND;

/// The first whole second, and the first whole hour, above the range before.
const FIRST_SECOND: u64 = (IN_MILLIS * MILLI).div_ceil(SECOND);
const FIRST_HOUR: u64 = ((FIRST_SECOND + IN_SECONDS) * SECOND).div_ceil(HOUR);

const LAST_CODE: u64 = IN_MILLIS + IN_SECONDS + u64::MAX.div_ceil(HOUR) - FIRST_HOUR;
const _: () = assert!(LAST_CODE < ((1 << PAYLOAD_BITS) - DRAWS as u64) >> 1);

/// Rounded up, so that no wait ends early.
const fn code(nanos: u64) -> u64 {
    let millis = nanos.div_ceil(MILLI);
    if millis < IN_MILLIS {
        return millis;
    }
    let seconds = nanos.div_ceil(SECOND) - FIRST_SECOND;
    if seconds < IN_SECONDS {
        return IN_MILLIS + seconds;
    }
    let hours = nanos.div_ceil(HOUR) - FIRST_HOUR;
    IN_MILLIS + IN_SECONDS + hours
}

const fn decode(code: u64) -> u64 {
    if code < IN_MILLIS {
        return code * MILLI;
    }
    let code = code - IN_MILLIS;
    if code < IN_SECONDS {
        return (FIRST_SECOND + code) * SECOND;
    }
    (FIRST_HOUR + (code - IN_SECONDS)).saturating_mul(HOUR)
}

impl Wait {
    pub(crate) const fn payload(self) -> u32 {
        match self {
            Self::Configured { draw } => draw as u32,
            Self::Remaining { nanos } => DRAWS + ((code(nanos) as u32) << 1),
            Self::Imposed { nanos } => DRAWS + ((code(nanos) as u32) << 1 | IMPOSED),
        }
    }

    pub(crate) const fn from_payload(payload: u32) -> Self {
        if payload < DRAWS {
            return Self::Configured {
                draw: payload as u16,
            };
        }
        let own = payload - DRAWS;
        let nanos = decode((own >> 1) as u64);
        if own & IMPOSED == 0 {
            Self::Remaining { nanos }
        } else {
            Self::Imposed { nanos }
        }
    }

    /// Nanoseconds from the opening to the first probe, before the clock's
    /// resolution is added.
    pub(crate) fn nanos(self, config: &Config, reopenings: u8) -> u64 {
        match self {
            Self::Configured { draw } => {
                let plain = plain(config, reopenings);
                plain.saturating_add(share(plain, config.jitter_q32(), draw))
            }
            Self::Remaining { nanos } => nanos.min(plain(config, reopenings)),
            Self::Imposed { nanos } => nanos,
        }
    }
}

/// `reset`, times `backoff` for each reopening, at most `max_reset`.
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

/// `wait` x jitter x draw / 65,536, with jitter in 32 binary places.
fn share(wait: u64, jitter_q32: u64, draw: u16) -> u64 {
    let share = (jitter_q32 * u64::from(draw)) >> 16;
    let (high, low) = (wait >> 32, wait & 0xFFFF_FFFF);
    high * share + ((low * share) >> 32)
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
    fn a_wait_of_its_own_is_never_cut_and_exact_in_milliseconds() {
        let mut nanos = 0_u64;
        while nanos < u64::MAX / 2 {
            for at in [nanos, nanos + 1, nanos.saturating_sub(1)] {
                for wait in [Wait::Imposed { nanos: at }, Wait::Remaining { nanos: at }] {
                    let payload = wait.payload();
                    assert!(payload < 1 << PAYLOAD_BITS);
                    let back = Wait::from_payload(payload);
                    let (Wait::Imposed { nanos: kept } | Wait::Remaining { nanos: kept }) = back
                    else {
                        panic!("{wait:?} came back as {back:?}");
                    };
                    assert_eq!(
                        matches!(wait, Wait::Imposed { .. }),
                        matches!(back, Wait::Imposed { .. })
                    );
                    assert!(kept >= at, "{at} was cut to {kept}");
                    let unit = if at <= 33_554_431 * MILLI {
                        MILLI
                    } else if at < 16_000_000 * SECOND {
                        SECOND
                    } else {
                        HOUR
                    };
                    assert!(kept - at < unit, "{at} became {kept}");
                }
            }
            nanos = nanos * 2 + 1;
        }
    }

    #[test]
    fn codes_grow_with_the_wait_across_the_borders_of_the_ranges() {
        let borders = [IN_MILLIS, IN_MILLIS + IN_SECONDS];
        for border in borders {
            for code_at in border - 3..border + 3 {
                assert!(decode(code_at + 1) > decode(code_at), "code {code_at}");
            }
        }
        assert_eq!(code(u64::MAX), LAST_CODE);
        assert_eq!(decode(LAST_CODE), u64::MAX);
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
        assert_eq!(plain(&config(capped), 255), 7 * SECOND);
        assert_eq!(plain(&config(capped), 0), SECOND);
    }

    #[test]
    fn jitter_only_adds_and_stays_within_its_share() {
        let jittered = config(Settings::new().reset(Duration::from_secs(10)).jitter(0.5));
        let at = |draw| Wait::Configured { draw }.nanos(&jittered, 0);
        assert_eq!(at(0), 10 * SECOND);
        assert_eq!(at(1 << 15), 12 * SECOND + SECOND / 2);
        assert!(at(u16::MAX) < 15 * SECOND);
        assert!(at(u16::MAX) > 14_999 * MILLI);
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
