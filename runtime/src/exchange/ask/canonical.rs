//! Params in one spelling, so that a client may write them in another way when it sends a request again.

use serde_json::value::RawValue;
use trueform_schema::Map;

/// `params` in one spelling, without the members that differ from one round to the next: members are sorted, and numbers that are
/// integers have no fraction. What cannot be read in full stays as it is.
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
            Ok(tree) if is_exact(&tree) => write_sorted(&tree, &mut out),
            _ => out.push_str(value.get()),
        }
    }
    out.push('}');
    out
}

/// 2^53: from there on different integers have the same float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether no two different numbers in the place of those of `value` would be read as the same.
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
            // Two of these would be the same float.
            (
                r#"{"a":[18446744073709551616,1.0]}"#,
                r#"{"a":[18446744073709551616,1.0]}"#,
            ),
            (
                r#"{"a":{"b":9007199254740993.0}}"#,
                r#"{"a":{"b":9007199254740993.0}}"#,
            ),
            (r#"{"a":"\ud800"}"#, r#"{"a":"\ud800"}"#),
        ] {
            assert_eq!(canonical(params), expected);
        }
    }
}
