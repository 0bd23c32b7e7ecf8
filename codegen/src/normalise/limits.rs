//! Reads the limits of a type: bounds, counts, and the values of a string.

use serde_json::{Map, Value};

use super::{
    Bounds, Schema, Text,
    combine::{distinct, limited},
};
use crate::problem::{Problem, child};

/// Returns the bounds of a number, and the value of `const`.
pub(super) fn bounds(map: &Map<String, Value>, at: &str) -> Result<Bounds, Problem> {
    let number = |keyword: &str| match map.get(keyword) {
        Some(Value::Number(number)) => Ok(Some(number.clone())),
        Some(_) => Err(Problem::at(
            child(at, keyword),
            format!("`{keyword}` must be a number"),
        )),
        None => Ok(None),
    };
    let bounds = Bounds {
        minimum: number("minimum")?,
        maximum: number("maximum")?,
    };
    let Some(constant) = map.get("const") else {
        return Ok(bounds);
    };
    match constant.as_f64() {
        Some(number) if number.fract() == 0.0 => {}
        _ => {
            let message = "`const` of an integer must be an integer";
            return Err(Problem::at(child(at, "const"), message));
        }
    }
    let only = constant.as_number().cloned();
    Ok(bounds.and(Bounds {
        minimum: only.clone(),
        maximum: only,
    }))
}

/// Reads a keyword that counts, such as `maxItems`.
pub(super) fn count(
    map: &Map<String, Value>,
    keyword: &str,
    at: &str,
) -> Result<Option<u64>, Problem> {
    /// Up to this value, a double represents every integer exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Some(value) = map.get(keyword) else {
        return Ok(None);
    };
    let count = value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a natural number within 2^53"
        )]
        (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
    });
    // Also where `usize` has 32 bits.
    match count.filter(|count| u32::try_from(*count).is_ok()) {
        Some(count) => Ok(Some(count)),
        None => Err(Problem::at(
            child(at, keyword),
            format!("`{keyword}` must be a natural number below 2^32"),
        )),
    }
}

pub(super) fn text(map: &Map<String, Value>, at: &str) -> Result<Text, Problem> {
    let one = |value: &Value, keyword: &str| {
        value.as_str().map(str::to_owned).ok_or_else(|| {
            Problem::at(
                child(at, keyword),
                format!("`{keyword}` of a string must be strings"),
            )
        })
    };
    let several = match map.get("enum") {
        Some(values) => {
            let at = child(at, "enum");
            let values = array(values, &at)?
                .iter()
                .map(|value| one(value, "enum"))
                .collect::<Result<Vec<_>, _>>()?;
            Some(distinct(values))
        }
        None => None,
    };
    let values = match (map.get("const"), several) {
        (Some(value), None) => Some(vec![one(value, "const")?]),
        (Some(value), Some(several)) => {
            let only = one(value, "const")?;
            Some(several.into_iter().filter(|value| *value == only).collect())
        }
        (None, several) => several,
    };
    let format = match map.get("format") {
        Some(format) => Some(one(format, "format")?),
        None => None,
    };
    let text = Text {
        format,
        values,
        min_length: count(map, "minLength", at)?,
        max_length: count(map, "maxLength", at)?,
    };
    match limited(text) {
        Schema::String(text) => Ok(text),
        _ => {
            let keyword = match map.contains_key("enum") {
                true => "enum",
                false => "const",
            };
            let message = format!("`{keyword}` has no value that the other keywords allow");
            Err(Problem::at(child(at, keyword), message))
        }
    }
}

pub(super) fn array<'a>(value: &'a Value, at: &str) -> Result<&'a Vec<Value>, Problem> {
    match value.as_array() {
        Some(list) => Ok(list),
        None => Err(Problem::at(at, "must be an array")),
    }
}
