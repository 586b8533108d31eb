//! The fields of a text, read one after the other.

use super::super::record::{CENSUS_HOLDS, LONGEST_WAIT};
use super::super::version::MAX_NUMBER;
use super::super::{Cause, Declared, Shared, Told, Version, Who};
use super::{FORMAT, LONGEST, Unusable};
use breakerbox::State;
use std::fmt::Write;
use std::str::Split;

/// In place of what there isn't.
pub(super) const NONE: &str = "-";

/// What is left of a text.
#[derive(Debug)]
pub(super) struct Fields<'a>(Split<'a, char>);

impl<'a> Fields<'a> {
    /// The fields after that of the format.
    pub(super) fn new(text: &'a [u8]) -> Result<Self, Unusable> {
        if text.len() > LONGEST {
            return Err(Unusable::TooLong);
        }
        if !text.iter().all(|byte| (b' '..=b'~').contains(byte)) {
            return Err(Unusable::NotText);
        }
        let text = str::from_utf8(text).map_err(|_| Unusable::NotText)?;
        let mut fields = Self(text.split(' '));
        match fields.next()? {
            FORMAT => Ok(fields),
            _ => Err(Unusable::OtherFormat),
        }
    }

    pub(super) fn next(&mut self) -> Result<&'a str, Unusable> {
        self.0.next().ok_or(Unusable::Fields)
    }

    pub(super) fn end(mut self) -> Result<(), Unusable> {
        match self.0.next() {
            None => Ok(()),
            Some(_) => Err(Unusable::Fields),
        }
    }

    fn number(&mut self, what: &'static str, most: u64) -> Result<u64, Unusable> {
        number(self.next()?, most).ok_or(Unusable::Field(what))
    }

    fn version(&mut self, what: &'static str) -> Result<Option<Version>, Unusable> {
        let text = self.next()?;
        if text == NONE {
            return Ok(None);
        }
        let read = || {
            let (epoch, counter) = text.split_once('.')?;
            Some(Version {
                epoch: number(epoch, MAX_NUMBER)?,
                counter: number(counter, MAX_NUMBER)?,
            })
        };
        read().map(Some).ok_or(Unusable::Field(what))
    }

    fn who(&mut self, what: &'static str) -> Result<Who, Unusable> {
        Who::new(self.next()?).map_err(|_| Unusable::Field(what))
    }

    /// How a circuit stands.
    pub(super) fn told(&mut self) -> Result<Told, Unusable> {
        let version = self.version("version")?.ok_or(Unusable::Field("version"))?;
        let state: State = self.next()?.parse().map_err(|_| Unusable::Field("state"))?;
        let wait = self.number("time left", LONGEST_WAIT)?;
        let imposed = match self.next()? {
            "0" => false,
            "1" => true,
            _ => return Err(Unusable::Field("imposed")),
        };
        let reopenings = u8::try_from(self.number("count of reopenings", u8::MAX.into())?)
            .map_err(|_| Unusable::Field("count of reopenings"))?;
        let cause = self.cause()?;
        let by = self.who("author")?;
        let holder = match self.0.clone().next() {
            Some(NONE) => {
                self.next()?;
                None
            }
            _ => Some(self.who("holder")?),
        };
        let left = self.number("lease", LONGEST_WAIT)?;
        let offered = self.version("offered version")?;
        if offered.is_some_and(|offered| offered >= version) {
            return Err(Unusable::Contradiction("offered version"));
        }
        let census = match self.next()? {
            NONE => None,
            text => Some(number(text, CENSUS_HOLDS).ok_or(Unusable::Field("census"))?),
        };
        let operated = self.version("operator's version")?;
        if operated.is_some_and(|operated| operated > version) {
            return Err(Unusable::Contradiction("operator's version"));
        }
        let declared = match self.next()? {
            NONE => None,
            text => Some(Declared::read(text).ok_or(Unusable::Field("declaration"))?),
        };
        if state != State::Open && (wait > 0 || imposed) {
            return Err(Unusable::Contradiction("time left"));
        }
        if holder.is_some() != (state == State::HalfOpen) || (holder.is_none() && left > 0) {
            return Err(Unusable::Contradiction("lease"));
        }
        if census.is_some() && state != State::Closed {
            return Err(Unusable::Contradiction("census"));
        }
        Ok(Told {
            version,
            shared: Shared {
                state,
                wait,
                imposed,
                reopenings,
            },
            lease: holder.map(|holder| (holder, left)),
            cause,
            by,
            offered,
            census,
            operated,
            declared,
        })
    }

    /// The last field of a reply, if there is one.
    pub(super) fn listeners(&mut self) -> Result<Option<u32>, Unusable> {
        let Some(text) = self.0.next() else {
            return Ok(None);
        };
        let listeners = number(text, u32::MAX.into()).and_then(|many| u32::try_from(many).ok());
        listeners
            .map(Some)
            .ok_or(Unusable::Field("number of listeners"))
    }

    fn cause(&mut self) -> Result<Cause, Unusable> {
        let word = self.next()?;
        let number = self.number("number of the cause", u32::MAX.into())?;
        u32::try_from(number)
            .ok()
            .and_then(|number| Cause::from_words(word, number))
            .ok_or(Unusable::Field("cause"))
    }
}

/// Of at most 16 digits, which holds all that is ever told.
fn number(text: &str, most: u64) -> Option<u64> {
    let is_number =
        (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number)?;
    (number <= most).then_some(number)
}

pub(super) fn version_text(version: Option<Version>) -> String {
    version.map_or_else(
        || NONE.to_owned(),
        |Version { epoch, counter }| format!("{epoch}.{counter}"),
    )
}

pub(super) fn number_text(number: Option<u64>) -> String {
    number.map_or_else(|| NONE.to_owned(), |number| number.to_string())
}

pub(super) fn declared_text(declared: Option<Declared>) -> String {
    declared.map_or_else(|| NONE.to_owned(), Declared::text)
}

/// Appends what [`Fields::told`] reads.
pub(super) fn push_told(text: &mut String, told: &Told) {
    let Shared {
        state,
        wait,
        imposed,
        reopenings,
    } = told.shared;
    let (cause, number) = told.cause.as_words();
    let (holder, left) = match &told.lease {
        Some((holder, left)) => (holder.as_str(), *left),
        None => (NONE, 0),
    };
    // Writing to a string never fails.
    let _ = write!(
        text,
        " {} {state} {wait} {} {reopenings} {cause} {number} {} {holder} {left} {} {} {} {}",
        version_text(Some(told.version)),
        u8::from(imposed),
        told.by,
        version_text(told.offered),
        number_text(told.census),
        version_text(told.operated),
        declared_text(told.declared),
    );
}
