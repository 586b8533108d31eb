//! `crate`: where the library is, if not at `::breakerbox`.

mod vendor {
    pub mod circuits {
        #[doc(hidden)]
        pub use breakerbox::__private;
        pub use breakerbox::*;
    }
}

use vendor::circuits;
use vendor::circuits::{CallError, breaker, circuit_breaker};

#[circuit_breaker(
    crate = circuits,
    timeout = "2s",
    classify = |_| true,
    fallback = |_| None,
    open_error = CallError::Open,
    on_cancel = failure,
)]
async fn by_name() -> Result<u8, CallError<()>> {
    Ok(1)
}

#[circuit_breaker(crate = crate::vendor::circuits, breaker = PMS)]
fn by_path() -> Result<u8, CallError<()>> {
    Ok(1)
}

#[circuit_breaker(crate = ::breakerbox)]
fn by_global_path() -> Result<u8, CallError<()>> {
    Ok(1)
}

mod deeper {
    #[super::circuit_breaker(crate = super::circuits)]
    pub fn by_relative_path() -> Result<u8, super::CallError<()>> {
        Ok(1)
    }
}

breaker! { static PMS = { threshold: 2, crate: vendor::circuits } }

fn main() {
    drop(by_name());
    let _ = (by_path(), by_global_path(), deeper::by_relative_path());
}
