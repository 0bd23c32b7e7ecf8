//! The formats that only schemars writes: those of Rust's types that JSON Schema does not define.

use serde_json::{Map, Value};

/// Formats of numbers, of `IpAddr`, and of the types for local dates and times of `chrono` and `jiff`.
const FORMATS: [&str; 18] = [
    "double",
    "float",
    "int",
    "int128",
    "int16",
    "int32",
    "int64",
    "int8",
    "ip",
    "partial-date-time",
    "partial-time",
    "uint",
    "uint128",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "zoned-date-time",
];

/// Returns the `format` of a schema, if only schemars writes it. None of them restricts a value, because the checks do not know them.
pub(super) fn foreign_format(members: &Map<String, Value>) -> Option<&str> {
    let format = members.get("format")?.as_str()?;
    FORMATS.contains(&format).then_some(format)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::{CompileOptions, Schema};

    // They may be removed only because they are annotations.
    #[test]
    fn no_such_format_is_checked() {
        for format in FORMATS {
            let schema = json!({"format": format});
            assert_eq!(foreign_format(schema.as_object().unwrap()), Some(format));
            let schema = Schema::compile(&schema, CompileOptions::default()).unwrap();
            for value in [json!("?"), json!(-1), json!(0.5), json!(1e300)] {
                assert!(schema.accepts(&value), "{format} {value}");
            }
        }
        for known in ["date-time", "ipv4", "uuid", "password"] {
            assert_eq!(
                foreign_format(json!({"format": known}).as_object().unwrap()),
                None
            );
        }
    }
}
