//! What can be a key.

use core::fmt;
use core::hash::Hash;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

/// What can be a key: text, whole numbers, `bool`, `char`, addresses, what leads
/// to a key (a reference, `Box`, `Rc`, `Arc`), and tuples of up to six keys, also of
/// none, which is one and the same key. A key is looked up as it stands, borrowed; it is
/// copied when it is seen for the first time.
///
/// For a type of one's own:
///
/// ```
/// use breakerbox::{AnyBreaker, Config, Key, KeyedBreakers};
///
/// #[derive(Clone, PartialEq, Eq, Hash)]
/// struct Tenant(u32);
///
/// impl Key for Tenant {
///     type Owned = Tenant;
///
///     fn to_key(&self) -> Tenant {
///         self.clone()
///     }
///
///     fn is(&self, owned: &Tenant) -> bool {
///         self == owned
///     }
///
///     fn label(owned: &Tenant, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "tenant-{}", owned.0)
///     }
/// }
///
/// let tenants = KeyedBreakers::<Tenant>::new("tenants", Config::DEFAULT);
/// let tenant = tenants.get(&Tenant(7));
/// tenant.force_open();
/// let refused = tenant.admit().unwrap_err();
/// assert_eq!(refused.to_string(), "circuit `tenants[tenant-7]` is held open by an operator");
/// ```
///
/// Two keys that are the same give the same hash, also where one is borrowed. Where
/// many give one hash, each takes as long to be found as all of them to be compared.
///
/// Nothing of a key runs while anything is locked: it may use breakers, and panic.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a key",
    label = "expected text, a whole number, an address, a reference to a key, or a tuple of keys",
    note = "for a type of your own write `impl breakerbox::Key for {Self}`; of somebody else's make text or a number: `key = id.to_string()`"
)]
pub trait Key: Hash {
    /// The key as it is kept.
    type Owned: Send + Sync + 'static;

    /// The key to keep.
    fn to_key(&self) -> Self::Owned;

    /// Whether it is that one.
    fn is(&self, owned: &Self::Owned) -> bool;

    /// What errors and events call it. Kinds of keys that are kept as one type
    /// call it the same.
    ///
    /// # Errors
    /// Only those of the formatter.
    fn label(owned: &Self::Owned, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// What leads to a key.
macro_rules! leads_to {
    ($($way:ty),*) => {$(
        impl<K: Key + ?Sized> Key for $way {
            type Owned = K::Owned;

            fn to_key(&self) -> K::Owned {
                (**self).to_key()
            }

            #[inline]
            fn is(&self, owned: &K::Owned) -> bool {
                (**self).is(owned)
            }

            fn label(owned: &K::Owned, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                K::label(owned, f)
            }
        }
    )*};
}

leads_to!(&K, &mut K, Box<K>, Rc<K>, Arc<K>);

impl Key for str {
    type Owned = String;

    fn to_key(&self) -> String {
        self.into()
    }

    #[inline]
    fn is(&self, owned: &String) -> bool {
        same(self.as_bytes(), owned.as_bytes())
    }

    fn label(owned: &String, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(owned)
    }
}

/// Whether two texts are the same. Those of 8 to 16 bytes, as many keys are, are
/// compared by their ends, which overlap, without a call of `memcmp`.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    if one.len() <= 16
        && let (Some(start), Some(end)) = (one.first_chunk::<8>(), one.last_chunk::<8>())
    {
        return Some(start) == other.first_chunk() && Some(end) == other.last_chunk();
    }
    one == other
}

/// Text, whoever owns it.
macro_rules! text {
    ($($type:ty),*) => {$(
        impl Key for $type {
            type Owned = String;

            fn to_key(&self) -> String {
                str::to_key(self)
            }

            #[inline]
            fn is(&self, owned: &String) -> bool {
                str::is(self, owned)
            }

            fn label(owned: &String, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                str::label(owned, f)
            }
        }
    )*};
}

text!(String, Cow<'_, str>);

/// Small values that display.
macro_rules! value {
    ($($type:ty),*) => {$(
        impl Key for $type {
            type Owned = Self;

            fn to_key(&self) -> Self {
                *self
            }

            #[inline]
            fn is(&self, owned: &Self) -> bool {
                self == owned
            }

            fn label(owned: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(owned, f)
            }
        }
    )*};
}

value!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, bool, char
);
value!(IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr);

/// Tuples: the parts, with a `/` between.
macro_rules! tuple {
    ($first:ident $(, $name:ident $index:tt)*) => {
        impl<$first: Key $(, $name: Key)*> Key for ($first, $($name,)*) {
            type Owned = ($first::Owned, $($name::Owned,)*);

            fn to_key(&self) -> Self::Owned {
                (self.0.to_key(), $(self.$index.to_key(),)*)
            }

            #[inline]
            fn is(&self, owned: &Self::Owned) -> bool {
                self.0.is(&owned.0) $(&& self.$index.is(&owned.$index))*
            }

            fn label(owned: &Self::Owned, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $first::label(&owned.0, f)?;
                $(
                    f.write_str("/")?;
                    $name::label(&owned.$index, f)?;
                )*
                Ok(())
            }
        }
    };
}

/// Where there is one alone.
impl Key for () {
    type Owned = Self;

    fn to_key(&self) {}

    #[inline]
    fn is(&self, (): &Self) -> bool {
        true
    }

    fn label((): &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("()")
    }
}

tuple!(A);
tuple!(A, B 1);
tuple!(A, B 1, C 2);
tuple!(A, B 1, C 2, D 3);
tuple!(A, B 1, C 2, D 3, E 4);
tuple!(A, B 1, C 2, D 3, E 4, F 5);
