//! Other attributes that can't stand beside this one, or only on its other side.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker]
#[track_caller]
fn tracked_below() -> Answer {
    Ok(1)
}

#[inline]
#[track_caller]
#[circuit_breaker(threshold = 0)]
fn tracked_above() -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(shared)]
    #[track_caller]
    fn tracked(&self) -> Answer {
        Ok(1)
    }
}

// A plain function by now.
#[tokio::main(flavor = "current_thread")]
#[circuit_breaker(timeout = "2s")]
async fn below_one_that_takes_the_async_away() -> Answer {
    Ok(1)
}

macro_rules! tracked {
    ($(#[$attr:meta])*) => {
        #[circuit_breaker]
        $(#[$attr])*
        fn tracked_by_a_macro() -> Answer {
            Ok(1)
        }
    };
}

tracked! { #[track_caller] }

fn main() {}
