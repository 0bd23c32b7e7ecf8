//! Ids that pair messages: the type and the bytes a peer chose are what it gets back.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::value::RawValue;

use crate::{Encode, View, support};

/// The id of a request: a string or an integer.
///
/// Integers keep the bytes they were written with, so `1.0` and 2⁸⁰ are echoed unchanged. `1`, `1.0` and `"1"` are
/// three different ids.
///
/// ```
/// use trueform_schema::RequestId;
///
/// let id: RequestId = serde_json::from_str("1.0")?;
/// assert_eq!(id.to_string(), "1.0");
/// assert_ne!(id, RequestId::from(1));
/// assert!(serde_json::from_str::<RequestId>("1.5").is_err());
/// assert!(serde_json::from_str::<RequestId>("null").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// An integer written in the usual way.
    Integer(i64),
    /// A string.
    Text(Box<str>),
    /// An integer beyond 64 bits or written in another way; the text is the JSON number.
    Number(Box<str>),
}

/// Ties progress notifications to the request they tell of. A string or an integer, as [`RequestId`].
pub type ProgressToken = RequestId;

/// The longest number taken as an id, in bytes.
const MAX_NUMBER: usize = 64;

/// The largest exponent: that of the largest double.
const MAX_EXPONENT: i32 = 308;

impl RequestId {
    /// The id that the JSON `text` holds.
    ///
    /// # Errors
    /// A sentence naming what was found, if `text` is neither a string nor an integer.
    pub fn from_json(text: &str) -> Result<Self, String> {
        if let Some(integer) = plain_integer(text) {
            return Ok(Self::Integer(integer));
        }
        match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str::<String>(text)
                .map(|text| Self::Text(text.into()))
                .map_err(|_| "a string that is not Unicode".to_owned()),
            Some(b'-' | b'0'..=b'9') if text.len() <= MAX_NUMBER && is_integral(text) => {
                Ok(Self::Number(text.into()))
            }
            Some(b'-' | b'0'..=b'9') if MAX_NUMBER < text.len() => Err(format!(
                "expected a number of at most {MAX_NUMBER} characters"
            )),
            Some(b'-' | b'0'..=b'9') => {
                Err("expected a string or an integer, found another number".to_owned())
            }
            _ => Err(format!(
                "expected a string or an integer, found {}",
                crate::JsonKind::of(text)
            )),
        }
    }
}

/// The value of `text` if writing that value gives `text` again. One pass: every message has an id.
fn plain_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_negative = digits.len() < text.len();
    match digits {
        [] => None,
        [b'0', ..] => (text == "0").then_some(0),
        digits => digits.iter().try_fold(0_i64, |value, byte| {
            let digit = byte.wrapping_sub(b'0');
            if 9 < digit {
                return None;
            }
            let value = value.checked_mul(10)?;
            match is_negative {
                true => value.checked_sub(digit.into()),
                false => value.checked_add(digit.into()),
            }
        }),
    }
}

/// Whether the JSON number `text` has no fraction.
fn is_integral(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().unwrap_or(i32::MAX)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let significant = fraction.trim_end_matches('0').len();
    if exponent >= 0 {
        return significant <= exponent.unsigned_abs() as usize && exponent <= MAX_EXPONENT;
    }
    let zeros = whole.len() - whole.trim_end_matches('0').len();
    significant == 0 && zeros >= exponent.unsigned_abs() as usize
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Number(text) => f.write_str(text),
        }
    }
}

/// Writes the id as its JSON text, so that `1` and `"1"` can be told apart in logs.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl From<i64> for RequestId {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl Encode for RequestId {
    fn encode(&self, _: View<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Integer(integer) => support::write_integer(*integer, out),
            Self::Text(text) => support::write_str(text, out),
            Self::Number(text) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        support::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Raw, because every other way to read a number loses its bytes.
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(raw.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A-2
    #[test]
    fn ids_keep_type_and_bytes() {
        for text in [
            "0",
            "-1",
            "9223372036854775807",
            "9223372036854775808",
            "1.0",
            "10e-1",
            "1e3",
            "1.9186950687442522e+242",
            "\"1\"",
            "\"a\\\"b\"",
            "-0",
        ] {
            let id = RequestId::from_json(text).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), text);
        }
    }

    // A-2
    #[test]
    fn integers_of_64_bits_are_integers() {
        for integer in [i64::MIN, -10, -9, -1, 0, 9, 10, i64::MAX] {
            let id = RequestId::from_json(&integer.to_string()).unwrap();
            assert!(
                matches!(id, RequestId::Integer(found) if found == integer),
                "{id:?}"
            );
        }
        for text in ["-9223372036854775809", "9223372036854775808", "-0", "1e1"] {
            let id = RequestId::from_json(text).unwrap();
            assert!(matches!(id, RequestId::Number(_)), "{id:?}");
        }
    }

    #[test]
    fn what_is_no_id() {
        for text in [
            "1.5",
            "1e-1",
            "15e-1",
            "null",
            "true",
            "{}",
            "[]",
            "1e999999999",
        ] {
            assert!(RequestId::from_json(text).is_err(), "{text}");
        }
    }
}
