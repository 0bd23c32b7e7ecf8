//! Member names, constants and integers.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, Unexpected, Visitor},
};

/// A member name or tag, borrowed where it has no escapes.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl<'de> Visitor<'de> for Name {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(Name)
    }
}

/// Reads a string and refuses any other than this one.
pub(super) struct Constant(pub(super) &'static str);

impl<'de> DeserializeSeed<'de> for Constant {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Constant {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match text == self.0 {
            true => Ok(()),
            false => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// An integer of 64 bits in any JSON notation: `1`, `1.0`, `1e0`.
pub(super) struct Integral(i64);

impl From<Integral> for i64 {
    fn from(integer: Integral) -> Self {
        integer.0
    }
}

/// Returns `number` as an integer, if it is one that a double represents exactly.
#[must_use]
pub fn integral(number: f64) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be integral and in range"
    )]
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

/// 2^53. A smaller double represents only one integer. This double is also read from `9007199254740993.0`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// An [`Integral`] or null.
pub(super) struct NullableIntegral(Option<i64>);

impl From<NullableIntegral> for Option<i64> {
    fn from(integer: NullableIntegral) -> Self {
        integer.0
    }
}

impl<'de> Deserialize<'de> for NullableIntegral {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<Integral>::deserialize(deserializer).map(|integer| Self(integer.map(i64::from)))
    }
}

impl<'de> Deserialize<'de> for Integral {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = Integral;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }

            fn visit_i64<E: Error>(self, integer: i64) -> Result<Integral, E> {
                Ok(Integral(integer))
            }

            fn visit_u64<E: Error>(self, integer: u64) -> Result<Integral, E> {
                i64::try_from(integer).map(Integral).map_err(|_| {
                    E::invalid_value(Unexpected::Unsigned(integer), &"an integer of 64 bits")
                })
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Integral, E> {
                if let Some(integer) = integral(number) {
                    return Ok(Integral(integer));
                }
                let expected = match number.fract() == 0.0 {
                    true => "an integer of 64 bits, in digits alone from ±2^53 on",
                    false => "an integer",
                };
                Err(E::invalid_value(Unexpected::Float(number), &expected))
            }
        }

        deserializer.deserialize_any(Number)
    }
}
