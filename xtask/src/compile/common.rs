//! What the functions use.

#![allow(dead_code, unused_imports)]

use std::fmt;
use std::num::ParseIntError;

#[derive(Clone, Debug)]
pub struct Stay {
    pub from: u32,
    pub to: u32,
}

#[derive(Clone, Debug)]
pub struct Room {
    pub number: u32,
    pub price: u32,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

#[derive(Debug)]
pub enum PmsError {
    Status(u16),
    Garbled(ParseIntError),
    Refused,
}

impl PmsError {
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Status(500..))
    }
}

impl fmt::Display for PmsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "status {status}"),
            Self::Garbled(why) => write!(f, "garbled: {why}"),
            Self::Refused => f.write_str("refused"),
        }
    }
}

impl std::error::Error for PmsError {}

impl From<ParseIntError> for PmsError {
    fn from(why: ParseIntError) -> Self {
        Self::Garbled(why)
    }
}

pub async fn get(path: &str) -> Result<Answer, PmsError> {
    Ok(Answer {
        status: 200,
        body: path.to_owned(),
    })
}

pub fn last_good(_hotel: &str, _stay: &Stay) -> Option<Result<Vec<Room>, PmsError>> {
    None
}
