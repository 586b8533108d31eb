//! `name`: a string, or a constant one; else the path.

use breakerbox::{CallError, breaker, circuit_breaker, find};

type Answer = Result<u8, CallError<()>>;

const NAME: &str = "constant";

#[circuit_breaker(name = "literal")]
fn literal() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = NAME)]
fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = concat!("pms", "/", "rooms"))]
fn from_a_macro() -> Answer {
    Ok(1)
}

mod inside {
    #[breakerbox::circuit_breaker]
    pub fn r#match() -> super::Answer {
        Ok(1)
    }
}

struct Client;

impl Client {
    #[circuit_breaker(shared)]
    fn method(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared, name = "named")]
    fn named(&self) -> Answer {
        Ok(1)
    }
}

breaker! {
    static PMS = {}
    static NAMED = { name: "named static" }
}

fn main() {
    let _ = (literal(), constant(), from_a_macro(), inside::r#match());
    let _ = (Client.method(), Client.named());
    let _ = (PMS.admit(), NAMED.admit());
    for name in [
        "literal",
        "constant",
        "pms/rooms",
        concat!(module_path!(), "::inside::match"),
        concat!(module_path!(), "::Client::method"),
        "named",
        concat!(module_path!(), "::PMS"),
        "named static",
    ] {
        assert!(find(name).is_some(), "{name}");
    }
}
