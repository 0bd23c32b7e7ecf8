//! Reading objects, unions and enumerations: the algorithms behind every generated `Deserialize`.
//!
//! Only JSON objects are read as objects. A repeated member is an error; an unknown member is kept. A union reads
//! members until it knows the variant; the members read before that are replayed to the variant.

mod members;
mod scalars;
mod unions;

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{Error, MapAccess, Visitor},
};

pub use self::{
    members::Members,
    scalars::integral,
    unions::{ByType, Cases, Present, Tagged, by_type, cases, present, tagged},
};
use crate::{DecodeError, Extras, decode};

/// A type read from the members of an object.
pub trait Record: Sized {
    /// Reads all members.
    fn read<'de, A: MapAccess<'de>>(members: &mut Members<'de, A>) -> Result<Self, A::Error>;
}

/// Implements `Deserialize` for a [`Record`].
pub fn record<'de, T: Record, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Record> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::read(&mut Members::new(map))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// Implements `Deserialize` for an open enumeration.
pub fn text<'de, T: for<'a> From<&'a str>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);

    impl<T: for<'a> From<&'a str>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from(text))
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

/// Returns the value of a required member.
#[inline]
pub fn need<T, E: Error>(name: &'static str, slot: Option<T>) -> Result<T, E> {
    slot.ok_or_else(|| E::missing_field(name))
}

/// Checks that a required constant was present.
pub fn seen<E: Error>(name: &'static str, seen: bool) -> Result<(), E> {
    match seen {
        true => Ok(()),
        false => Err(E::missing_field(name)),
    }
}

/// Returns `extras`, or an error if a member occurs in it twice.
#[inline]
pub fn distinct<E: Error>(extras: Extras) -> Result<Extras, E> {
    match extras.repeated() {
        None => Ok(extras),
        Some(key) => Err(E::custom(format_args!("duplicate member `{key}`"))),
    }
}

/// Adds the member's name to the error of its value, unless the reader has already recorded a position.
#[cold]
pub(crate) fn within<E: Error>(name: &str, error: E) -> E {
    let text = error.to_string();
    match text.contains(" at line ") {
        true => error,
        false => E::custom(decode::in_member(name, &DecodeError::new("", text))),
    }
}
