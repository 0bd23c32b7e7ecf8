//! JSON values as JSON Schema sees them: `1` and `1.0` are one number, and an integer.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Returns whether two values are equal under JSON Schema.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => order(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let other = |name, a| b.get(name).is_some_and(|b| equal(a, b));
            a.len() == b.len() && a.iter().all(|(name, a)| other(name, a))
        }
        (a, b) => a == b,
    }
}

/// Compares two numbers. Integers are compared exactly.
pub(crate) fn order(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(a), None) => Some(order_mixed(a, b.as_f64()?)),
        (None, Some(b)) => Some(order_mixed(b, a.as_f64()?).reverse()),
        (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Compares a 64-bit integer with a float, which is finite in JSON.
fn order_mixed(integer: i128, float: f64) -> Ordering {
    // The conversion saturates, far beyond 64 bits.
    match integer.cmp(&(float.floor() as i128)) {
        Ordering::Equal if float.fract() != 0.0 => Ordering::Less,
        order => order,
    }
}

/// Returns the most specific JSON type of a value.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) => {
            let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            match is_whole {
                true => "integer",
                false => "number",
            }
        }
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns whether a type includes another one.
pub(crate) fn includes(wide: &str, narrow: &str) -> bool {
    wide == narrow || (wide == "number" && narrow == "integer")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers() {
        assert!(equal(&json!([{ "a": 1 }]), &json!([{ "a": 1.0 }])));
        assert!(!equal(&json!({ "a": 1 }), &json!({ "b": 1 })));
        assert!(!equal(
            &json!(18_446_744_073_709_551_615_u64),
            &json!(18_446_744_073_709_551_614_u64)
        ));
        for (integer, float, expected) in [
            (
                9_007_199_254_740_993_u64,
                9_007_199_254_740_992.0,
                Ordering::Greater,
            ),
            (
                9_007_199_254_740_992,
                9_007_199_254_740_992.0,
                Ordering::Equal,
            ),
            (u64::MAX, 18_446_744_073_709_551_616.0, Ordering::Less),
            (2, 2.5, Ordering::Less),
            (3, 2.5, Ordering::Greater),
            (0, 1e300, Ordering::Less),
            (0, -1e300, Ordering::Greater),
        ] {
            let (integer, float) = (
                Number::from(integer),
                Number::from_f64(float).expect("finite"),
            );
            assert_eq!(order(&integer, &float), Some(expected), "{integer} {float}");
            assert_eq!(
                order(&float, &integer),
                Some(expected.reverse()),
                "{integer} {float}"
            );
        }
        assert_eq!(
            [kind(&json!(1.0)), kind(&json!(1.5))],
            ["integer", "number"]
        );
    }
}
