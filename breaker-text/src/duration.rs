//! Durations as people write them: `"30s"`, `"250ms"`, `"1m30s"`, `"1.5s"`.

/// The units, from large to small, with the nanoseconds in each.
const UNITS: [(&str, u64); 7] = [
    ("d", 24 * 3600 * NANOS_PER_SEC),
    ("h", 3600 * NANOS_PER_SEC),
    ("m", 60 * NANOS_PER_SEC),
    ("s", NANOS_PER_SEC),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// Other spellings of a unit, and what to write.
const SPELLINGS: [(&str, &str); 32] = [
    ("day", "d"),
    ("days", "d"),
    ("hr", "h"),
    ("hrs", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("min", "m"),
    ("mins", "m"),
    ("minute", "m"),
    ("minutes", "m"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("milli", "ms"),
    ("millis", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("\u{b5}s", "us"),
    ("\u{3bc}s", "us"),
    ("usec", "us"),
    ("usecs", "us"),
    ("micros", "us"),
    ("microsecond", "us"),
    ("microseconds", "us"),
    ("nsec", "ns"),
    ("nsecs", "ns"),
    ("nanos", "ns"),
    ("nanosecond", "ns"),
    ("nanoseconds", "ns"),
];

/// Nanoseconds of a duration such as `1m30s`.
///
/// ```
/// use breaker_text::duration::parse;
///
/// assert_eq!(parse("1m30s"), Ok(90_000_000_000));
/// assert_eq!(parse("1m30").unwrap_err(), "`30` has no unit: write \"1m30s\"");
/// ```
///
/// # Errors
/// What is wrong with it, and what to write instead.
pub fn parse(text: &str) -> Result<u64, String> {
    if text.trim().is_empty() {
        return Err("an empty duration: write for example \"30s\"".to_owned());
    }
    if text.trim_start().starts_with('-') {
        return Err("a duration can't be negative: write for example \"30s\"".to_owned());
    }

    if text.contains(char::is_whitespace) {
        return match suggestion(text) {
            Some(write) => Err(format!("a duration has no spaces: write \"{write}\"")),
            // More is wrong than the spaces.
            None => parse(&text.split_whitespace().collect::<String>()),
        };
    }

    let mut rest = text;
    let mut total = 0_u64;
    let mut last_unit = None;
    let mut had_fraction = false;
    while !rest.is_empty() {
        let (number, unit, after) = first_part(rest);
        rest = after;

        if number.is_empty() {
            return Err(format!(
                "expected a number before `{unit}` in \"{text}\": write for example \"30s\""
            ));
        }
        if had_fraction {
            return Err(format!(
                "only the last part of \"{text}\" may have a fraction: write for example \"1m1.5s\""
            ));
        }
        let position = find_unit(number, unit, text)?;
        if last_unit.is_some_and(|last| last >= position) {
            return Err(format!(
                "the parts of \"{text}\" go from the largest unit to the smallest, each once, as in \"1m30s\""
            ));
        }
        last_unit = Some(position);
        had_fraction = number.contains('.');

        let (_, nanos_per_unit) = UNITS[position];
        let nanos = scale(number, nanos_per_unit)?;
        total = total.checked_add(nanos).ok_or_else(too_long)?;
    }
    Ok(total)
}

/// `text` in two, before the first character that `ends`.
fn split_at_first(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

/// The first number of `text`, its unit, and the rest.
fn first_part(text: &str) -> (&str, &str, &str) {
    let (number, after) = split_at_first(text, |c| !c.is_ascii_digit() && c != '.');
    let (unit, after) = split_at_first(after, |c| c.is_ascii_digit() || c == '.');
    (number, unit, after)
}

/// The position of `unit` in [`UNITS`].
fn find_unit(number: &str, unit: &str, text: &str) -> Result<usize, String> {
    if let Some(position) = UNITS.iter().position(|(name, _)| *name == unit) {
        return Ok(position);
    }
    let write = suggestion(text);
    if unit.is_empty() {
        return Err(match write {
            Some(write) => format!("`{number}` has no unit: write \"{write}\""),
            None => format!("`{number}` has no unit: write for example \"30s\""),
        });
    }
    Err(match (meant(unit), write) {
        (Some(position), Some(write)) => {
            let (meant, _) = UNITS[position];
            format!("unknown unit `{unit}`: write `{meant}`, as in \"{write}\"")
        }
        _ => format!(
            "unknown unit `{unit}`: the units are d, h, m, s, ms, us and ns; write for example \"30s\""
        ),
    })
}

/// The position in [`UNITS`] of what `unit` is another spelling of.
fn meant(unit: &str) -> Option<usize> {
    let plain = unit.to_lowercase();
    let name = SPELLINGS
        .iter()
        .find(|(spelling, _)| *spelling == plain)
        .map_or(plain.as_str(), |(_, unit)| unit);
    UNITS.iter().position(|(unit, _)| *unit == name)
}

/// What was probably meant by `text`, as [`parse`] reads it: without spaces, with our units, and
/// where the last has none with the next smaller one.
///
/// ```
/// use breaker_text::duration::suggestion;
///
/// assert_eq!(suggestion("1 hour 30").as_deref(), Some("1h30m"));
/// ```
#[must_use]
pub fn suggestion(text: &str) -> Option<String> {
    let together: String = text.split_whitespace().collect();
    let mut rest = together.as_str();
    let mut write = String::new();
    let mut last_unit = None;
    while !rest.is_empty() {
        let (number, unit, after) = first_part(rest);
        rest = after;
        let position = match (unit, last_unit) {
            ("", None) => UNITS.iter().position(|(name, _)| *name == "s")?,
            ("", Some(last)) => last + 1,
            (unit, _) => meant(unit)?,
        };
        let (unit, _) = UNITS.get(position)?;
        write.push_str(number);
        write.push_str(unit);
        last_unit = Some(position);
    }
    // No duration may be zero either.
    parse(&write).is_ok_and(|nanos| nanos > 0).then_some(write)
}

/// `number` (digits, perhaps with a fraction) times `nanos_per_unit`, exactly.
fn scale(number: &str, nanos_per_unit: u64) -> Result<u64, String> {
    let (whole, fraction) = match number.split_once('.') {
        None => (number, ""),
        Some((whole, fraction)) => {
            if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
                return Err(format!(
                    "`{number}` is not a number: write for example \"1.5s\""
                ));
            }
            (whole, fraction)
        }
    };
    // Digits only, so the one way to fail is to be too large.
    let whole: u64 = whole.parse().map_err(|_| too_long())?;
    let nanos = whole.checked_mul(nanos_per_unit).ok_or_else(too_long)?;

    let fraction = fraction.trim_end_matches('0');
    let too_fine = || format!("`{number}` is finer than a nanosecond: write fewer decimals");
    if fraction.is_empty() {
        return Ok(nanos);
    }
    // A day has 13 decimal places down to a nanosecond; no unit has more.
    if fraction.len() > 14 {
        return Err(too_fine());
    }
    let scale = 10_u128.pow(fraction.len() as u32);
    let digits: u128 = fraction.parse().map_err(|_| too_fine())?;
    let parts = digits * u128::from(nanos_per_unit);
    if !parts.is_multiple_of(scale) {
        return Err(too_fine());
    }
    u64::try_from(parts / scale)
        .ok()
        .and_then(|part| nanos.checked_add(part))
        .ok_or_else(too_long)
}

fn too_long() -> String {
    "too long: write less than 584 years, which is what 64 bits of nanoseconds hold".to_owned()
}

/// Nanoseconds as a person would write them, and as [`parse`] reads them.
///
/// ```
/// assert_eq!(breaker_text::duration::display(90_000_000_000), "1m30s");
/// ```
#[must_use]
pub fn display(nanos: u64) -> String {
    let mut rest = nanos;
    let mut text = String::new();
    for (unit, nanos_per_unit) in UNITS {
        let count = rest / nanos_per_unit;
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
            rest %= nanos_per_unit;
        }
    }
    if text.is_empty() {
        text.push_str("0s");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{display, parse, suggestion};

    #[test]
    fn reads_what_people_write() {
        for (text, nanos) in [
            ("30s", 30_000_000_000),
            ("250ms", 250_000_000),
            ("1m30s", 90_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0.5m", 30_000_000_000),
            ("1.50s", 1_500_000_000),
            ("1.000000001s", 1_000_000_001),
            ("100us", 100_000),
            ("7ns", 7),
            ("2h", 7_200_000_000_000),
            ("1d", 86_400_000_000_000),
            ("1d2h3m4s5ms6us7ns", 93_784_005_006_007),
            ("1m1.5s", 61_500_000_000),
            ("0s", 0),
            ("0.0s", 0),
            ("007s", 7_000_000_000),
            ("1.0ns", 1),
            ("0.00000000000125d", 108),
            ("18446744073709551615ns", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn the_largest_fits_and_one_more_does_not() {
        assert_eq!(parse("18446744073s709ms551us615ns"), Ok(u64::MAX));
        for text in [
            "18446744073s709ms551us616ns",
            "18446744073709551616ns",
            "18446744073.709551616s",
            "99999999999999999999d",
            "300000d",
        ] {
            assert!(parse(text).unwrap_err().contains("584 years"), "{text}");
        }
        assert_eq!(parse("18446744073.709551615s"), Ok(u64::MAX));
    }

    #[test]
    fn says_what_to_write_instead() {
        for (text, part) in [
            ("", "write for example \"30s\""),
            ("30", "`30` has no unit: write \"30s\""),
            ("1m30", "`30` has no unit: write \"1m30s\""),
            ("s", "expected a number before `s`"),
            ("-5s", "negative"),
            ("30 s", "no spaces: write \"30s\""),
            (" 1m 30s ", "no spaces: write \"1m30s\""),
            (" ", "an empty duration: write for example \"30s\""),
            (" - 5 s", "negative"),
            ("1h30", "`30` has no unit: write \"1h30m\""),
            ("1 h 30", "no spaces: write \"1h30m\""),
            ("1d12", "write \"1d12h\""),
            ("1ns5", "`5` has no unit: write for example \"30s\""),
            ("0", "`0` has no unit: write for example \"30s\""),
            ("30 sec", "no spaces: write \"30s\""),
            ("5 minutes", "no spaces: write \"5m\""),
            ("1 hour 30 min", "no spaces: write \"1h30m\""),
            ("1hr30sec", "write `h`, as in \"1h30s\""),
            ("two minutes", "expected a number before `twominutes`"),
            ("2 fortnights", "write for example \"30s\""),
            ("1 hour and 30 minutes", "write for example \"30s\""),
            ("1:30", "write for example \"30s\""),
            ("30S", "write `s`, as in \"30s\""),
            ("30sec", "write `s`"),
            ("5min", "write `m`"),
            ("5minutes", "write `m`"),
            ("2H", "write `h`"),
            ("3\u{b5}s", "write `us`"),
            ("30x", "the units are d, h, m, s, ms, us and ns"),
            ("30s1m", "largest unit to the smallest"),
            ("1s1s", "each once"),
            ("1.5m30s", "only the last part"),
            ("1.s", "not a number"),
            (".5s", "not a number"),
            ("1.2.3s", "not a number"),
            (".s", "not a number"),
            ("1.5ns", "finer than a nanosecond"),
            ("0.1234567891s", "finer than a nanosecond"),
            ("0.000000000000000000000000000000000001d", "finer"),
            ("+5s", "expected a number before `+`"),
            ("1e3s", "unknown unit `e`"),
            ("\u{663}s", "expected a number"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn every_word_for_a_unit_is_understood() {
        for (text, write) in [
            ("30sec", "30s"),
            ("30secs", "30s"),
            ("1second", "1s"),
            ("30seconds", "30s"),
            ("5min", "5m"),
            ("5mins", "5m"),
            ("1minute", "1m"),
            ("5minutes", "5m"),
            ("1hr", "1h"),
            ("2hrs", "2h"),
            ("1hour", "1h"),
            ("2Hours", "2h"),
            ("250msec", "250ms"),
            ("250millis", "250ms"),
            ("250milliseconds", "250ms"),
            ("1day", "1d"),
            ("2days", "2d"),
            ("1.5hours", "1.5h"),
        ] {
            assert_eq!(suggestion(text).as_deref(), Some(write));
            let message = parse(text).unwrap_err();
            assert!(message.contains(&format!("as in \"{write}\"")), "{message}");
        }
    }

    #[test]
    fn what_is_suggested_can_be_read() {
        let pieces = [
            "", " ", "0", "1", "30", "1.5", ".", "h", "min", "S", "x", "-", "ns",
        ];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    for d in pieces {
                        let text = [a, b, c, d].concat();
                        let suggested = suggestion(&text);
                        assert!(suggested.is_none_or(|text| parse(&text).is_ok()), "{text}");
                        let Err(message) = parse(&text) else { continue };
                        for quoted in message.split('"').skip(1).step_by(2) {
                            let repeated = quoted == text.split_whitespace().collect::<String>();
                            assert!(repeated || parse(quoted).is_ok(), "{text}: {message}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn displays_what_it_read() {
        for text in ["30s", "250ms", "1m30s", "1d2h3m4s5ms6us7ns", "0s"] {
            assert_eq!(display(parse(text).unwrap()), text);
        }
    }
}
