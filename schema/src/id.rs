//! Ids that match messages with each other. They are echoed with the type and the bytes that the peer chose.

use std::{
    borrow::Cow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::value::RawValue;

use crate::{Encode, View, support};

/// The id of a request: a string or an integer. Ids of peers may have at most [`RequestId::MAX_BYTES`].
///
/// Integers keep the bytes they were written with, so `1.0` and 2⁸⁰ are echoed unchanged. They are compared by their value: `1`
/// and `1.0` are the same id, and hash alike. A string is never a number: `"1"` is another id.
///
/// ```
/// use trueform_schema::RequestId;
///
/// let id: RequestId = serde_json::from_str("1.0")?;
/// assert_eq!(id.to_string(), "1.0");
/// assert_eq!(id, RequestId::from(1));
/// assert_ne!(id, RequestId::from("1"));
/// assert!(serde_json::from_str::<RequestId>("1.5").is_err());
/// assert!(serde_json::from_str::<RequestId>("null").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub enum RequestId {
    /// An integer in canonical form.
    Integer(i64),
    /// A string.
    Text(Box<str>),
    /// An integer beyond 64 bits or in another notation; the text is the JSON number.
    Number(Box<str>),
}

/// Connects progress notifications to their request. A string or an integer, like [`RequestId`].
pub type ProgressToken = RequestId;

/// The longest number accepted as an id, in bytes.
const MAX_NUMBER: usize = 64;

impl RequestId {
    /// Longest string, in bytes of UTF-8, that is read as an id or as a progress token: 1 KiB. Both are kept and repeated while a
    /// request is in flight, so their size is bounded. (A number has at most 64 characters.)
    pub const MAX_BYTES: usize = 1024;

    /// Reads the id from the JSON `text`.
    ///
    /// # Errors
    /// A sentence that says what was found, if `text` is neither a string nor an integer, or is longer than [`RequestId::MAX_BYTES`].
    pub fn from_json(text: &str) -> Result<Self, String> {
        if let Some(integer) = plain_integer(text) {
            return Ok(Self::Integer(integer));
        }
        match text.as_bytes().first() {
            Some(b'"') => match serde_json::from_str::<String>(text) {
                Ok(text) if text.len() <= Self::MAX_BYTES => Ok(Self::Text(text.into())),
                Ok(_) => Err(format!(
                    "expected a string of at most {} bytes",
                    Self::MAX_BYTES
                )),
                Err(_) => Err("a string that is not Unicode".to_owned()),
            },
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

/// Returns the value of `text` if writing the value yields `text` again. One pass, because every message has an id.
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

/// Returns whether the JSON number `text` has no fraction, and is within the range of doubles.
fn is_integral(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().unwrap_or(i32::MAX)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let significant = fraction.trim_end_matches('0').len();
    if exponent >= 0 {
        // A larger number would be echoed, but many peers could not read it.
        let is_double = text.parse::<f64>().is_ok_and(f64::is_finite);
        return significant <= exponent.unsigned_abs() as usize && is_double;
    }
    let zeros = whole.len() - whole.trim_end_matches('0').len();
    significant == 0 && zeros >= exponent.unsigned_abs() as usize
}

/// The value by which ids are compared.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Value<'a> {
    Integer(i64),
    /// Beyond 64 bits: the sign, the digits from the first to the last that is not zero, and the number of zeros after them.
    Large(bool, Cow<'a, str>, usize),
    Text(&'a str),
}

impl RequestId {
    /// Returns the value of an integer of 64 bits, however it is written.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.value() {
            Value::Integer(integer) => Some(integer),
            Value::Large(..) | Value::Text(_) => None,
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Integer(integer) => Value::Integer(*integer),
            Self::Text(text) => Value::Text(text),
            Self::Number(text) => value_of(text),
        }
    }
}

/// Returns the value of the JSON number `text`, which has no fraction.
#[cold]
#[inline(never)]
fn value_of(text: &str) -> Value<'_> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_negative = digits.len() < text.len();
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = match fraction {
        "" => Cow::Borrowed(whole),
        fraction => Cow::Owned(format!("{whole}{fraction}")),
    };
    let significant = match digits {
        Cow::Borrowed(digits) => Cow::Borrowed(digits.trim_matches('0')),
        Cow::Owned(ref digits) => Cow::Owned(digits.trim_matches('0').to_owned()),
    };
    if significant.is_empty() {
        return Value::Integer(0);
    }
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let after_point = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    // A number with an exponent that does not fit cannot be an id.
    let shift = exponent.parse::<i64>().unwrap_or_default() - after_point;
    let zeros = usize::try_from(shift + i64::try_from(trailing).unwrap_or(i64::MAX));
    let zeros = zeros.unwrap_or_default();
    /// With more zeros, any digits exceed 64 bits.
    const MOST_ZEROS: usize = 18;
    if zeros <= MOST_ZEROS {
        let sign = if is_negative { "-" } else { "" };
        let plain = format!("{sign}{significant}{:0<zeros$}", "");
        if let Ok(integer) = plain.parse() {
            return Value::Integer(integer);
        }
    }
    Value::Large(is_negative, significant, zeros)
}

#[cold]
#[inline(never)]
fn is_same_number(one: &RequestId, other: &RequestId) -> bool {
    one.value() == other.value()
}

/// Compares by value: `1.0` equals `1`.
impl PartialEq for RequestId {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Text(_), _) | (_, Self::Text(_)) => false,
            (one, other) => is_same_number(one, other),
        }
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Integer(integer) => state.write_i64(*integer),
            Self::Text(text) => text.hash(state),
            Self::Number(text) => match value_of(text) {
                Value::Integer(integer) => state.write_i64(integer),
                value => value.hash(state),
            },
        }
    }
}

/// An arbitrary order that agrees with equality.
impl Ord for RequestId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value().cmp(&other.value())
    }
}

impl PartialOrd for RequestId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
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

/// Writes the id as its JSON text, so that logs distinguish `1` from `"1"`.
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
    fn ids_are_numbers_that_a_double_can_hold() {
        for (mantissa, exponent, is_id) in [
            ("1", 308, true),
            ("1", 309, false),
            ("1.7976931348623157", 308, true),
            ("1.7976931348623159", 308, false),
            ("33333333333333333333333333333", 279, true),
            ("33333333333333333333333333333", 280, false),
            ("0", 400, true),
        ] {
            for text in [
                format!("{mantissa}e{exponent}"),
                format!("-{mantissa}E+{exponent}"),
            ] {
                assert_eq!(RequestId::from_json(&text).is_ok(), is_id, "{text}");
            }
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

    // DEC-5
    #[test]
    fn ids_are_compared_by_value() {
        use std::hash::BuildHasher;
        let id = |text: &str| RequestId::from_json(text).unwrap();
        let hashes = std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default();
        let classes: [&[&str]; 12] = [
            &["0", "-0", "0.0", "0e5", "-0.00e-0"],
            &["1", "1.0", "10e-1", "1e0", "1.00E+0", "100e-2"],
            &["-1", "-1.0", "-10e-1"],
            &["\"1\"", "\"\\u0031\""],
            &["\"1.0\""],
            &["10", "1e1", "10.0", "0.1e2"],
            &[
                "9223372036854775807",
                "9223372036854775807.0",
                "9223372036854775807e0",
            ],
            &[
                "9223372036854775808",
                "9223372036854775808.0",
                "9.223372036854775808e18",
            ],
            &["-9223372036854775808", "-9.223372036854775808e18"],
            &["1000000000000000000", "1e18", "0.01e20"],
            &["1e19", "10000000000000000000", "10.0e18"],
            &["1e20", "100000000000000000000", "1.0E+20"],
        ];
        for (at, class) in classes.iter().enumerate() {
            for (other_at, other) in classes.iter().enumerate() {
                for (one, other) in class
                    .iter()
                    .flat_map(|one| other.iter().map(move |two| (one, two)))
                {
                    let (first, second) = (id(one), id(other));
                    assert_eq!(first == second, at == other_at, "{one} and {other}");
                    assert_eq!(
                        first.cmp(&second).is_eq(),
                        at == other_at,
                        "{one} and {other}"
                    );
                    if at == other_at {
                        assert_eq!(
                            hashes.hash_one(&first),
                            hashes.hash_one(&second),
                            "{one}, {other}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn long_ids() {
        let longest = "\"".to_owned() + &"é".repeat(RequestId::MAX_BYTES / 2) + "\"";
        assert!(RequestId::from_json(&longest).is_ok());
        // The limit applies to the text itself, not to its escaped form.
        let escaped = "\"".to_owned() + &"\\u0061".repeat(RequestId::MAX_BYTES) + "\"";
        assert!(RequestId::from_json(&escaped).is_ok());
        let longer = longest.replacen('é', "éa", 1);
        let problem = RequestId::from_json(&longer).unwrap_err();
        assert_eq!(problem, "expected a string of at most 1024 bytes");
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
