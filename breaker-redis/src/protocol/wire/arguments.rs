//! What the script is called with, beside its key.

use super::super::record::LONGEST_WAIT;
use super::super::{Caller, Cause, Command, Limits, Place, Quorum, Shared, Version};
use super::fields::{declared_text, version_text};
use std::time::Duration;

/// In milliseconds: a year.
const LONGEST_LIFE: u64 = 365 * 86_400_000;

/// The script's arguments after its key, [`Place::key`]. `lives`: how long the key stays without any
/// use; it is 1 s at least, and a year at most.
///
/// Numbers beyond what can be told are sent as the largest that can.
///
/// ```
/// use breaker_redis::protocol::{Caller, Command, Place, Prefix, Who, arguments};
/// use std::time::Duration;
///
/// let place = Place::new(&Prefix::default(), "pms", None);
/// let caller = Caller { who: Who::new("web-1")?, alive: 15_000_000, present: false, longest_lease: 60_000_000, declared: None };
/// let lives = Duration::from_secs(7 * 86_400);
/// assert_eq!(
///     arguments(&place, &caller, lives, &Command::Read { known: None }),
///     ["web-1", "15000000", "0", "60000000", "breakerbox:pms", "-", "604800000", "read", "-", "-"],
/// );
/// # Ok::<(), breaker_redis::protocol::NoName>(())
/// ```
#[must_use]
pub fn arguments(
    place: &Place,
    caller: &Caller,
    lives: Duration,
    command: &Command,
) -> Vec<String> {
    let lives = u64::try_from(lives.as_millis()).unwrap_or(u64::MAX);
    let mut arguments = vec![
        caller.who.as_str().to_owned(),
        // More than a day counts as a day.
        caller.alive.min(LONGEST_WAIT).to_string(),
        flag(caller.present),
        caller.longest_lease().to_string(),
        place.channel().to_owned(),
        place.label().to_owned(),
        lives.clamp(1000, LONGEST_LIFE).to_string(),
        word(command).to_owned(),
        version_text(command.known().map(Version::bounded)),
        declared_text(caller.declared),
    ];
    match *command {
        Command::Read { .. } | Command::Release { .. } | Command::Leave { .. } => {}
        Command::Change {
            to, cause, again, ..
        } => {
            push_shared(&mut arguments, to);
            push_cause(&mut arguments, cause);
            arguments.push(flag(again));
        }
        Command::Lease { lasts, .. } | Command::Renew { lasts, .. } => {
            arguments.push(lasts.min(LONGEST_WAIT).to_string());
        }
        Command::Vote {
            open, to, quorum, ..
        } => {
            arguments.push(flag(open));
            push_quorum(&mut arguments, quorum);
            push_shared(&mut arguments, to);
        }
        Command::Count {
            counts,
            limits,
            quorum,
            to,
            ..
        } => {
            for count in [counts.calls, counts.failures, counts.slow] {
                arguments.push(count.to_string());
            }
            push_limits(&mut arguments, limits);
            push_quorum(&mut arguments, quorum);
            push_shared(&mut arguments, to);
        }
        Command::Offer { to, cause, .. } => {
            push_shared(&mut arguments, to);
            push_cause(&mut arguments, cause);
        }
    }
    arguments
}

fn word(command: &Command) -> &'static str {
    match command {
        Command::Read { .. } => "read",
        Command::Change { .. } => "change",
        Command::Lease { .. } => "lease",
        Command::Renew { .. } => "renew",
        Command::Release { .. } => "release",
        Command::Leave { .. } => "leave",
        Command::Vote { .. } => "vote",
        Command::Count { .. } => "count",
        Command::Offer { .. } => "offer",
    }
}

fn flag(flag: bool) -> String {
    u8::from(flag).to_string()
}

fn push_shared(arguments: &mut Vec<String>, shared: Shared) {
    let Shared {
        state,
        wait,
        imposed,
        reopenings,
    } = shared.bounded();
    arguments.extend([
        state.as_str().to_owned(),
        wait.to_string(),
        flag(imposed),
        reopenings.to_string(),
    ]);
}

fn push_cause(arguments: &mut Vec<String>, cause: Cause) {
    let (word, number) = cause.as_words();
    arguments.extend([word.to_owned(), number.to_string()]);
}

fn push_quorum(arguments: &mut Vec<String>, quorum: Quorum) {
    let (kind, least) = quorum.as_number();
    arguments.extend([kind.to_owned(), least.to_string()]);
}

/// Always four: a kind and three numbers.
fn push_limits(arguments: &mut Vec<String>, limits: Limits) {
    let (kind, numbers) = limits.as_numbers();
    arguments.push(kind.to_owned());
    arguments.extend(numbers.map(|number| number.to_string()));
}
