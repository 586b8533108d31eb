//! `classify::retry_after` on dates and text at random.

use std::time::{Duration, SystemTime};

use breakerbox::classify::retry_after;
use http::HeaderMap;
use http::header::{DATE, HeaderValue, RETRY_AFTER};

/// A generator of random numbers, the same in each run (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn of<'a>(&mut self, some: &'a [String]) -> &'a str {
        &some[self.below(some.len() as u64) as usize]
    }
}

/// A second since 1970 in HTTP's three formats.
fn formats(second: u64) -> [String; 3] {
    let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(second));
    let [weekday, day, month, year, time, _] = date.split_whitespace().collect::<Vec<_>>()[..]
    else {
        panic!("{date}")
    };
    let weekday = weekday.trim_end_matches(',');
    let long = match weekday {
        "Tue" => "Tuesday".to_owned(),
        "Wed" => "Wednesday".to_owned(),
        "Thu" => "Thursday".to_owned(),
        "Sat" => "Saturday".to_owned(),
        other => format!("{other}day"),
    };
    let before = format!("{long}, {day}-{month}-{} {time} GMT", &year[2..]);
    let day: u8 = day.parse().unwrap();
    let of_c = format!("{weekday} {month} {day:2} {time} {year}");
    [date, before, of_c]
}

fn wait(retry_after_text: &[u8], date: &str) -> Option<Duration> {
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, HeaderValue::from_bytes(retry_after_text).ok()?);
    headers.insert(DATE, date.parse().unwrap());
    retry_after(&headers)
}

/// Until 2069, since one of the formats has a year of two digits.
const END: u64 = 3_124_137_600;

#[test]
fn of_any_two_dates_it_is_what_lies_between() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let (from, to) = (random.below(END), random.below(END));
        let (from_texts, to_texts) = (formats(from), formats(to));
        let (date, text) = (random.of(&from_texts), random.of(&to_texts));
        let between = to.checked_sub(from).filter(|seconds| *seconds > 0);
        let expected = between.map(Duration::from_secs);
        assert_eq!(wait(text.as_bytes(), date), expected, "{date} {text}");
    }
}

#[test]
fn of_any_number_of_seconds_it_is_that() {
    let mut random = Random(2);
    for bits in 1..64 {
        for _ in 0..100 {
            let seconds = random.below(1 << bits).max(1);
            let text = seconds.to_string();
            let expected = Some(Duration::from_secs(seconds));
            assert_eq!(wait(text.as_bytes(), "soon"), expected, "{text}");
        }
    }
}

#[test]
fn text_at_random_never_panics_and_is_never_no_wait() {
    let mut random = Random(3);
    for _ in 0..200_000 {
        let mut text = match random.below(4) {
            0 => random.below(u64::MAX).to_string(),
            kind => formats(random.below(END))[kind as usize - 1].clone(),
        }
        .into_bytes();
        for _ in 0..=random.below(4) {
            let at = random.below(text.len() as u64) as usize;
            match random.below(4) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, b'0' + random.below(10) as u8),
                2 => text[at] = b'0' + random.below(10) as u8,
                _ => text[at] = random.below(256) as u8,
            }
            if text.is_empty() {
                text.push(b'9');
            }
        }
        let date = &formats(random.below(END))[0];
        assert_ne!(wait(&text, date), Some(Duration::ZERO), "{text:?}");
    }
}

/// HTTP/1 clients strip it; in HTTP/2 nobody does.
#[test]
fn space_around_a_value_is_none_of_it() {
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATER: &str = "Sun, 06 Nov 1994 08:50:37 GMT";
    let seconds = |number| Some(Duration::from_secs(number));
    for (before, after) in [("", ""), (" ", ""), ("", "\t"), ("\t ", "  ")] {
        let spaced = |text: &str| format!("{before}{text}{after}");
        assert_eq!(wait(spaced("20").as_bytes(), &spaced(DATE)), seconds(20));
        assert_eq!(wait(spaced(LATER).as_bytes(), &spaced(DATE)), seconds(60));
    }
    assert_eq!(wait(b"  ", DATE), None);
    assert_eq!(wait(b"2 0", DATE), None);
}
