//! What an instance declares of a circuit that others declare, too.

use super::record::LONGEST_WAIT;
use super::{Limits, Quorum, Share};

/// The longest text of one, in bytes.
const LONGEST: usize = 64;

/// By what an instance goes. Goes along with what it has stored, so that others see where they go by
/// something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// What opens the circuit.
    pub opens: Limits,
    /// How long it is open first, in microseconds: at most a day is told.
    pub reset: u64,
    /// Whether failures of all instances count together.
    pub counting: bool,
    /// How many instances must see a failure.
    pub quorum: Quorum,
}

impl Declared {
    /// As others are told it.
    pub(crate) fn bounded(self) -> Self {
        Self {
            reset: self.reset.min(LONGEST_WAIT),
            ..self
        }
    }

    /// One word of visible ASCII: the rule and its three numbers, `reset`, counting, the quorum.
    pub(super) fn text(self) -> String {
        let (rule, [first, second, third]) = self.opens.as_numbers();
        let (rule, counting) = (&rule[..1], u8::from(self.counting));
        let (quorum, least) = self.quorum.as_number();
        let (quorum, reset) = (&quorum[..1], self.bounded().reset);
        format!("{rule}:{first}:{second}:{third}:{reset}:{counting}:{quorum}:{least}")
    }

    /// What [`text`](Self::text) gave.
    pub(super) fn read(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut fields = text.split(':');
        let rule = fields.next()?;
        let (first, second) = (number(fields.next()?)?, number(fields.next()?)?);
        let third = number(fields.next()?)?;
        let opens = match rule {
            "c" if second == 0 && third == 0 => Limits::Consecutive { threshold: first },
            "r" => Limits::Rate {
                failures: share(first)?,
                slow: share(second)?,
                min_calls: third,
            },
            _ => return None,
        };
        let reset = digits(fields.next()?)?;
        let counting = match fields.next()? {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        let quorum = match (fields.next()?, number(fields.next()?)?) {
            ("i", least) => Quorum::Instances(least),
            ("s", least) => Quorum::Share(Share::of_billionths(least)?),
            _ => return None,
        };
        let is_whole = reset <= LONGEST_WAIT && fields.next().is_none();
        is_whole.then_some(Self {
            opens,
            reset,
            counting,
            quorum,
        })
    }
}

/// 0 where there is none.
fn share(billionths: u32) -> Option<Option<Share>> {
    match billionths {
        0 => Some(None),
        some => Share::of_billionths(some).map(Some),
    }
}

fn number(text: &str) -> Option<u32> {
    u32::try_from(digits(text)?).ok()
}

/// Of at most 16 digits, as in everything that is told.
fn digits(text: &str) -> Option<u64> {
    let is_number =
        (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}
