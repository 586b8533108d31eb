//! Whether MessagePack tells a value from every other of its type.
//!
//! It has one `nil`, which stands for `None` and for `()`; so `Some(None)` and
//! `Some(())` are written like `None`, and would be read back as that. Nor may a
//! value be nested so deep that writing or reading it would need a larger stack
//! than a thread has.

use core::fmt::{self, Display};
use serde::ser::{self, Serialize};

/// # Errors
/// Why a value can't be written: what it says itself, or an option in it.
pub(super) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), Lossy> {
    Nil { deeper: DEEPEST }.inside(value).map(|_| ())
}

/// How deep a value may be nested, as in `serde_json`.
const DEEPEST: u8 = 128;

/// Why a value can't be written.
#[derive(Debug)]
pub(super) struct Lossy(Box<str>);

impl Display for Lossy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Lossy {}

impl ser::Error for Lossy {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string().into())
    }
}

/// A serializer that only finds out whether a value is written as `nil`, and
/// refuses a `Some` of one that is.
#[derive(Clone, Copy, Debug)]
struct Nil {
    /// How much deeper what is in the value may be nested.
    deeper: u8,
}

impl Nil {
    fn inside<T: Serialize + ?Sized>(self, value: &T) -> IsNil {
        match self.deeper.checked_sub(1) {
            Some(deeper) => value.serialize(Self { deeper }),
            None => Err(ser::Error::custom(format_args!(
                "it is nested deeper than {DEEPEST} times"
            ))),
        }
    }
}

type IsNil = Result<bool, Lossy>;

macro_rules! never_nil {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        fn $method(self, _: $type) -> IsNil {
            Ok(false)
        }
    )*};
}

impl ser::Serializer for Nil {
    type Ok = bool;
    type Error = Lossy;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    never_nil!(
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    );

    fn serialize_none(self) -> IsNil {
        Ok(true)
    }

    fn serialize_unit(self) -> IsNil {
        Ok(true)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> IsNil {
        if self.inside(value)? {
            Err(ser::Error::custom(
                "`Some(None)` would be read back as `None`",
            ))
        } else {
            Ok(false)
        }
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> IsNil {
        self.inside(value)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> IsNil {
        Ok(false)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> IsNil {
        self.inside(value).map(|_| false)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Lossy> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Lossy> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Lossy> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Lossy> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Lossy> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Lossy> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Lossy> {
        Ok(self)
    }

    // As the writer has it: some types are written differently to people.
    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! of_elements {
    ($($trait:ident: $method:ident),* $(,)?) => {$(
        impl ser::$trait for Nil {
            type Ok = bool;
            type Error = Lossy;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Lossy> {
                self.inside(value).map(|_| ())
            }

            fn end(self) -> IsNil {
                Ok(false)
            }
        }
    )*};
}

of_elements!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
);

macro_rules! of_fields {
    ($($trait:ident),* $(,)?) => {$(
        impl ser::$trait for Nil {
            type Ok = bool;
            type Error = Lossy;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                _: &'static str,
                value: &T,
            ) -> Result<(), Lossy> {
                self.inside(value).map(|_| ())
            }

            fn end(self) -> IsNil {
                Ok(false)
            }
        }
    )*};
}

of_fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Nil {
    type Ok = bool;
    type Error = Lossy;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Lossy> {
        self.inside(key).map(|_| ())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Lossy> {
        self.inside(value).map(|_| ())
    }

    fn end(self) -> IsNil {
        Ok(false)
    }
}
