//! `Deserialize` of unions: by the value of one member, by which member is present, by conditions, by JSON type.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{Error, MapAccess, SeqAccess, Unexpected, Visitor},
};

use super::{
    members::{Ahead, Members},
    scalars::Key,
};

/// A union whose variants differ in the value of one member.
pub trait Tagged: Sized {
    /// Name of that member.
    const TAG: &'static str;
    /// Reads the variant that `tag` names.
    fn pick<'de, A: MapAccess<'de>>(
        tag: Option<&str>,
        members: &mut Members<'de, A>,
    ) -> Result<Self, A::Error>;
}

/// Implements `Deserialize` for a [`Tagged`] union.
pub fn tagged<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);

    impl<'de, T: Tagged> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            let mut members = Members::new(map);
            while let Some(Key(key)) = members.map.next_key()? {
                if key == T::TAG {
                    let Key(tag) = members.map.next_value()?;
                    members.ahead = Ahead::Tag(T::TAG, tag.clone());
                    members.rewind();
                    return T::pick(Some(&tag), &mut members);
                }
                members.buffer(key)?;
            }
            members.exhausted = true;
            members.rewind();
            T::pick(None, &mut members)
        }
    }

    deserializer.deserialize_map(Union(PhantomData))
}

/// A union whose variants differ in which member is present.
pub trait Present: Sized {
    /// The members whose presence selects the variant.
    const DECIDERS: &'static [&'static str];
    /// Reads the variant that has `member`, the first of [`Self::DECIDERS`] that was found.
    fn pick<'de, A: MapAccess<'de>>(
        member: Option<&str>,
        members: &mut Members<'de, A>,
    ) -> Result<Self, A::Error>;
}

/// Implements `Deserialize` for a [`Present`] union.
pub fn present<'de, T: Present, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);

    impl<'de, T: Present> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            let mut members = Members::new(map);
            while let Some(Key(key)) = members.map.next_key()? {
                if let Some(decider) = T::DECIDERS.iter().find(|decider| **decider == key) {
                    members.ahead = Ahead::Key(key);
                    members.rewind();
                    return T::pick(Some(decider), &mut members);
                }
                members.buffer(key)?;
            }
            members.exhausted = true;
            members.rewind();
            T::pick(None, &mut members)
        }
    }

    deserializer.deserialize_map(Union(PhantomData))
}

/// A union whose variant is selected by conditions on several members.
pub trait Cases: Sized {
    /// Reads the variant of the first case that holds.
    fn pick<'de, A: MapAccess<'de>>(members: &mut Members<'de, A>) -> Result<Self, A::Error>;
}

/// Implements `Deserialize` for a [`Cases`] union.
pub fn cases<'de, T: Cases, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);

    impl<'de, T: Cases> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            let mut members = Members::new(map);
            while let Some(Key(key)) = members.map.next_key()? {
                members.buffer(key)?;
            }
            members.exhausted = true;
            members.rewind();
            T::pick(&mut members)
        }
    }

    deserializer.deserialize_map(Union(PhantomData))
}

/// A union whose variants differ in JSON type.
pub trait ByType: Sized {
    /// The JSON types of the variants, for the error message.
    const EXPECTED: &'static str;

    /// Reads a string.
    #[must_use]
    fn string(_: &str) -> Option<Self> {
        None
    }

    /// Reads a number.
    #[must_use]
    fn number(_: f64) -> Option<Self> {
        None
    }

    /// Reads an integer that is written without a fraction; `None` if [`number`](Self::number) reads it.
    #[must_use]
    fn integer(_: i64) -> Option<Self> {
        None
    }

    /// Reads a boolean.
    #[must_use]
    fn boolean(_: bool) -> Option<Self> {
        None
    }

    /// Reads an array.
    fn array<'de, A: SeqAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &Self::EXPECTED))
    }

    /// Reads an object.
    fn object<'de, A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }
}

/// Expectation in the error for an integer that no double represents exactly: rounding would change it without notice.
const A_DOUBLE: &str = "a number that a double holds exactly, such as an integer up to ±2^53";

/// Implements `Deserialize` for a [`ByType`] union.
pub fn by_type<'de, T: ByType, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);

    impl<'de, T: ByType> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            T::string(text).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
        }

        fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
            T::boolean(value).ok_or_else(|| E::invalid_type(Unexpected::Bool(value), &self))
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
            T::number(number).ok_or_else(|| E::invalid_type(Unexpected::Float(number), &self))
        }

        #[expect(
            clippy::cast_precision_loss,
            reason = "a value that changes is refused"
        )]
        fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
            if let Some(value) = T::integer(number) {
                return Ok(value);
            }
            let double = number as f64;
            if double as i128 != i128::from(number) {
                return Err(E::invalid_value(Unexpected::Signed(number), &A_DOUBLE));
            }
            self.visit_f64(double)
        }

        #[expect(
            clippy::cast_precision_loss,
            reason = "a value that changes is refused"
        )]
        fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
            if let Some(value) = i64::try_from(number).ok().and_then(T::integer) {
                return Ok(value);
            }
            let double = number as f64;
            if double as i128 != i128::from(number) {
                return Err(E::invalid_value(Unexpected::Unsigned(number), &A_DOUBLE));
            }
            self.visit_f64(double)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
            T::array(items)
        }

        fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
            T::object(members)
        }
    }

    deserializer.deserialize_any(Union(PhantomData))
}
