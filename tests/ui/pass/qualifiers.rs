//! Unsafe functions, and macros that hand over whole functions.

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

/// # Safety
/// `x` must be valid.
#[circuit_breaker]
async unsafe fn not_safe(x: *const u8) -> Answer {
    // SAFETY: the caller's promise.
    Ok(unsafe { *x })
}

/// # Safety
/// `x` must be valid.
#[circuit_breaker(fallback = not_safe_fallback(x))]
unsafe fn not_safe_plain(x: *const u8) -> Answer {
    // SAFETY: the caller's promise.
    Ok(unsafe { *x })
}

fn not_safe_fallback(_: *const u8) -> Answer {
    Ok(0)
}

macro_rules! whole {
    ($(#[$attr:meta])* $vis:vis async fn $name:ident($($p:ident: $t:ty),*) -> $r:ty $body:block) => {
        #[circuit_breaker]
        $(#[$attr])* $vis async fn $name($($p: $t),*) -> $r $body
    };
    ($f:item) => {
        #[circuit_breaker]
        $f
    };
}

whole! {
    /// In pieces.
    pub async fn in_pieces(x: &str, y: Option<&str>) -> Answer {
        Ok((x.len() + y.map_or(0, str::len)) as u8)
    }
}

whole! { fn as_an_item() -> Answer { Ok(1) } }

fn main() {
    let x = 5;
    // SAFETY: `x` is alive.
    unsafe {
        drop(not_safe(&x));
        assert!(matches!(not_safe_plain(&x), Ok(5)));
    }
    drop(in_pieces("", None));
    let _ = as_an_item();
}
