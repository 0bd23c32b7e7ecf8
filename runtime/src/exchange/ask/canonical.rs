//! Params in a canonical form, so that a client may write them differently when it sends a request again.

use std::{collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use trueform_schema::Map;

/// Returns `params` in a canonical form: without the members that differ between rounds, with sorted members, and without fractions of
/// integral numbers. Text that cannot be read completely is not changed. Neither is text with an object that has two members of the same
/// name, because the type that reads it decides which of them counts.
pub(super) fn canonical(params: &str) -> String {
    let Ok(mut members) = serde_json::from_str::<Map<&RawValue>>(params) else {
        return params.to_owned();
    };
    for name in ["_meta", "inputResponses", "requestState"] {
        members.remove(name);
    }
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    let mut out = String::from("{");
    for (name, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        write_text(name, &mut out);
        out.push(':');
        match serde_json::from_str(value.get()) {
            Ok(tree) if is_exact(&tree) && is_unambiguous(value.get()) => {
                write_sorted(&tree, &mut out)
            }
            _ => out.push_str(value.get()),
        }
    }
    out.push('}');
    out
}

/// 2^53: from there on different integers have the same float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns whether all numbers of `value` are exact: no two different numbers are read as the same number.
fn is_exact(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Number(number) => {
            number.is_i64()
                || number.is_u64()
                || number.as_f64().is_some_and(|number| number.abs() < EXACT)
        }
        serde_json::Value::Array(items) => items.iter().all(is_exact),
        serde_json::Value::Object(members) => members.values().all(is_exact),
        _ => true,
    }
}

/// Returns whether no object in `text` has two members with the same name.
fn is_unambiguous(text: &str) -> bool {
    serde_json::from_str::<Unambiguous>(text).is_ok()
}

/// Any value whose objects have no repeated members.
struct Unambiguous;

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("each member once")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name) {
                return Err(de::Error::custom("a member occurs twice"));
            }
            map.next_value::<Self>()?;
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}

fn write_sorted(value: &serde_json::Value, out: &mut String) {
    use std::fmt::Write as _;
    match value {
        serde_json::Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(name, out);
                out.push(':');
                write_sorted(value, out);
            }
            out.push('}');
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_sorted(item, out);
            }
            out.push(']');
        }
        serde_json::Value::Number(number) => {
            let float = number
                .as_f64()
                .filter(|float| number.is_f64() && float.fract() == 0.0);
            let _ = match float {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "below 2^53 and without a fraction"
                )]
                Some(float) => write!(out, "{}", float as i64),
                None => write!(out, "{number}"),
            };
        }
        serde_json::Value::String(text) => write_text(text, out),
        serde_json::Value::Bool(_) | serde_json::Value::Null => {
            let _ = write!(out, "{value}");
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    // T-9
    #[test]
    fn params_in_one_spelling() {
        for (params, expected) in [
            (
                r#"{"name":"a","arguments":{"b":1,"a":[2.0,{"d":null,"c":"x"}]}}"#,
                r#"{"arguments":{"a":[2,{"c":"x","d":null}],"b":1},"name":"a"}"#,
            ),
            (
                r#"{ "_meta": {"a":1}, "inputResponses": {}, "requestState": "s", "name": "\u0061" }"#,
                r#"{"name":"a"}"#,
            ),
            (
                r#"{"a":1e3,"b":-0.0,"c":1.5,"d":18446744073709551615}"#,
                r#"{"a":1000,"b":0,"c":1.5,"d":18446744073709551615}"#,
            ),
            // Two of these are the same float.
            (
                r#"{"a":[18446744073709551616,1.0]}"#,
                r#"{"a":[18446744073709551616,1.0]}"#,
            ),
            (
                r#"{"a":{"b":9007199254740993.0}}"#,
                r#"{"a":{"b":9007199254740993.0}}"#,
            ),
            (r#"{"a":"\ud800"}"#, r#"{"a":"\ud800"}"#),
            // Types read the first of two members, or the last, or neither.
            (
                r#"{"b":1.0,"a":{"d":1,"c":{"x":1,"\u0078":2}}}"#,
                r#"{"a":{"d":1,"c":{"x":1,"\u0078":2}},"b":1}"#,
            ),
            (r#"{"a":[ {"x":1,"x":1} ]}"#, r#"{"a":[ {"x":1,"x":1} ]}"#),
            (r#"{"a":[{"x":1},{"x":1.0}]}"#, r#"{"a":[{"x":1},{"x":1}]}"#),
        ] {
            assert_eq!(canonical(params), expected);
        }
    }
}
