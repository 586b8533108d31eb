//! Symbols as people read them.

/// A function as a profile names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// Its path, without hashes, generics and what a trait's name adds.
    pub(crate) path: String,
    /// Whether it is one of Rust's own libraries.
    pub(crate) is_of_rust: bool,
}

impl Name {
    pub(crate) fn of(symbol: &str) -> Self {
        // What the linker's names have at their end: `.llvm.123`, `@@GLIBC_2.34`.
        let symbol = symbol.split_once(".llvm.").map_or(symbol, |cut| cut.0);
        let symbol = symbol.split_once("@@").map_or(symbol, |cut| cut.0);
        let path = format!("{:#}", rustc_demangle::demangle(symbol));
        Self {
            path: shorten(&path),
            is_of_rust: is_of_rust(&path),
        }
    }
}

fn is_of_rust(path: &str) -> bool {
    if dropped(path).is_some() {
        return false;
    }
    let Some((of_type, _)) = enclosed(path) else {
        return is_in_rust(path);
    };
    let (of_type, of_trait) = split_as(of_type);
    // Of a type without a path, like `u64`, whose trait it is.
    match of_trait {
        Some(of_trait) if !of_type.contains("::") => is_in_rust(of_trait),
        None if !of_type.contains("::") => true,
        _ => is_in_rust(of_type.trim_start_matches('&').trim_start_matches("mut ")),
    }
}

fn is_in_rust(path: &str) -> bool {
    ["core::", "alloc::", "std::"]
        .iter()
        .any(|library| path.starts_with(library))
}

/// `<a::B<C> as d::E>::f::<G>` is `a::B::f`.
fn shorten(path: &str) -> String {
    // Here only the type says something.
    if let Some(of_type) = dropped(path) {
        return format!("drop of {}", shorten(of_type));
    }
    let mut short = String::new();
    let mut rest = path;
    if let Some((of_type, behind)) = enclosed(path) {
        let of_type = of_type.trim_start_matches("&mut ").trim_start_matches('&');
        short = shorten(split_as(of_type).0);
        rest = behind;
    }
    let mut depth = 0_usize;
    let mut before = ' ';
    for c in rest.chars() {
        match c {
            '<' => depth += 1,
            // Of an arrow.
            '>' if before == '-' && depth > 0 => {}
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ if depth == 0 => short.push(c),
            _ => {}
        }
        before = c;
    }
    // `f::<G>` left its `::` behind.
    while short.contains("::::") {
        short = short.replace("::::", "::");
    }
    let short = short.trim_end_matches("::");
    let mut parts: Vec<&str> = Vec::new();
    for part in short.split("::") {
        let part = match part {
            "{{closure}}" => "{closure}",
            part if part.starts_with("{closure#") => "{closure}",
            part if part.starts_with("{impl#") => continue,
            part => part,
        };
        parts.push(part);
    }
    parts.join("::")
}

fn dropped(path: &str) -> Option<&str> {
    let path = path.strip_prefix("core::ptr::drop_in_place")?;
    let path = path.strip_prefix("::").unwrap_or(path);
    Some(enclosed(path)?.0)
}

/// What stands between the first `<`, if the path begins with it, and its `>`; and what follows.
fn enclosed(path: &str) -> Option<(&str, &str)> {
    let inner = path.strip_prefix('<')?;
    let mut depth = 1_usize;
    let mut before = ' ';
    for (at, c) in inner.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&inner[..at], &inner[at + 1..]));
        }
        before = c;
    }
    None
}

/// Both in `Type as Trait`.
fn split_as(of_type: &str) -> (&str, Option<&str>) {
    const AS: &str = " as ";
    let mut depth = 0_usize;
    for (at, c) in of_type.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && of_type[at..].starts_with(AS) => {
                return (&of_type[..at], Some(&of_type[at + AS.len()..]));
            }
            _ => {}
        }
    }
    (of_type, None)
}

#[cfg(test)]
mod tests {
    use super::{Name, is_of_rust, shorten};

    #[test]
    fn symbols_lose_their_hashes_and_generics() {
        for (symbol, path) in [
            (
                "_ZN12breaker_core7circuit16Circuit$LT$P$GT$5enter17hbe5d6e418d941445E.llvm.83747",
                "breaker_core::circuit::Circuit::enter",
            ),
            (
                "_RNvMNtCsjrHSEGnQ3l9_3std4timeNtB2_7Instant7elapsed",
                "std::time::Instant::elapsed",
            ),
            ("clock_gettime@@GLIBC_2.17", "clock_gettime"),
            ("(below main)", "(below main)"),
        ] {
            assert_eq!(Name::of(symbol).path, path);
        }
    }

    #[test]
    fn a_method_stands_beside_its_type() {
        for (path, short) in [
            ("a::b", "a::b"),
            ("<a::B<C> as d::E<F>>::f::<G>", "a::B::f"),
            ("<&mut a::B as d::E>::f", "a::B::f"),
            ("<a::B<<C as D>::E>>::f", "a::B::f"),
            ("a::B<fn(C) -> D>::f", "a::B::f"),
            ("<fn() -> a::B as c::D>::e", "fn() -> a::B::e"),
            ("a::{impl#0}::f::{closure#1}", "a::f::{closure}"),
            ("a::f::{{closure}}", "a::f::{closure}"),
            ("a::f<B>", "a::f"),
            ("core::ptr::drop_in_place<a::B<C>>", "drop of a::B"),
            (
                "core::ptr::drop_in_place::<a::f::{closure#0}>",
                "drop of a::f::{closure}",
            ),
            ("core::ptr::drop_in_place", "core::ptr::drop_in_place"),
            ("<a::B", ""),
            ("", ""),
        ] {
            assert_eq!(shorten(path), short, "{path}");
        }
    }

    #[test]
    fn what_is_of_rusts_own_libraries() {
        for (path, own) in [
            ("core::hint::black_box", true),
            ("std::time::Instant::now", true),
            ("<u64 as core::cmp::PartialOrd>::lt", true),
            ("<T as core::convert::Into<U>>::into", true),
            ("<[T]>::len", true),
            ("<&core::option::Option<T> as a::B>::f", true),
            ("breaker_core::core::x", false),
            ("<bool as a::Verdict>::outcome", false),
            ("<a::B as core::cmp::PartialEq>::eq", false),
            ("core::ptr::drop_in_place<a::B>", false),
            ("(below main)", false),
        ] {
            assert_eq!(is_of_rust(path), own, "{path}");
        }
    }
}
