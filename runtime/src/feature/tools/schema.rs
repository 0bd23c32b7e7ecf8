//! JSON Schemas from Rust types: what schemars writes, made fit for every client.

use schemars::{
    SchemaGenerator,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value};

/// A generator for what is read.
pub(super) fn input_generator() -> SchemaGenerator {
    settings().for_deserialize().into_generator()
}

/// A generator for what is written.
pub(super) fn output_generator() -> SchemaGenerator {
    settings().for_serialize().into_generator()
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None)
}

/// Finishes the schema of a type: definitions to its root, no formats that only Rust knows.
pub(super) fn finished(schema: Value, generator: &mut SchemaGenerator) -> Value {
    let definitions = generator.take_definitions(true);
    let mut schema = as_object(schema);
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    let mut schema = Value::Object(schema);
    if let Ok(schema) = <&mut schemars::Schema>::try_from(&mut schema) {
        WithoutNumberFormats.transform(schema);
    }
    schema
}

/// The object form of a schema: `true` and `false` have one too.
pub(super) fn as_object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => Map::from_iter([("not".to_owned(), Value::Object(Map::new()))]),
        _ => Map::new(),
    }
}

/// Whether deserialising enforces everything that `schema`, as schemars wrote it, says. If not, values are checked
/// against the schema as well.
pub(super) fn is_enforced_by_type(schema: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return true;
    };
    schema
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "type" | "description" | "title" | "default" | "examples" | "required" | "$ref"
            | "deprecated" => true,
            keyword if keyword.starts_with("x-") => true,
            "properties" | "$defs" => value
                .as_object()
                .is_some_and(|all| all.values().all(is_enforced_by_type)),
            "items" | "additionalProperties" => is_enforced_by_type(value),
            // `Option` of a reference; serde tries no other alternatives without an enum, and those come with `const`.
            "anyOf" | "prefixItems" => value
                .as_array()
                .is_some_and(|all| all.iter().all(is_enforced_by_type)),
            "format" => is_number_format(value),
            "minimum" | "maximum" => schema
                .get("format")
                .and_then(Value::as_str)
                .and_then(|format| bound(format, keyword))
                .is_some_and(|bound| value.as_i64() == Some(bound)),
            _ => false,
        })
}

/// The bound that the Rust integer type has by itself, as schemars writes it.
fn bound(format: &str, keyword: &str) -> Option<i64> {
    match (format, keyword) {
        ("uint8" | "uint16" | "uint32" | "uint64" | "uint128" | "uint", "minimum") => Some(0),
        ("uint8", _) => Some(u8::MAX.into()),
        ("uint16", _) => Some(u16::MAX.into()),
        ("int8", "minimum") => Some(i8::MIN.into()),
        ("int8", _) => Some(i8::MAX.into()),
        ("int16", "minimum") => Some(i16::MIN.into()),
        ("int16", _) => Some(i16::MAX.into()),
        _ => None,
    }
}

fn is_number_format(format: &Value) -> bool {
    let Some(format) = format.as_str() else {
        return false;
    };
    let digits = format.trim_start_matches('u').strip_prefix("int");
    matches!(digits, Some("" | "8" | "16" | "32" | "64" | "128"))
        || matches!(format, "float" | "double")
}

/// `uint32` and the like are no formats of JSON Schema; strict clients reject schemas that have them. What they say is said in
/// `type`, `minimum` and `maximum`: schemars writes the bounds of smaller types, those of 32 bits are added here. Wider types hold
/// what other readers of JSON hold.
#[derive(Clone)]
struct WithoutNumberFormats;

impl Transform for WithoutNumberFormats {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        if schema.get("format").is_some_and(is_number_format) {
            let bounds = match schema.remove("format").as_ref().and_then(Value::as_str) {
                Some("int32") => [Some(i64::from(i32::MIN)), Some(i64::from(i32::MAX))],
                Some("uint32") => [None, Some(i64::from(u32::MAX))],
                _ => [None, None],
            };
            for (keyword, bound) in ["minimum", "maximum"].into_iter().zip(bounds) {
                if let (Some(bound), None) = (bound, schema.get(keyword)) {
                    schema.insert(keyword.to_owned(), bound.into());
                }
            }
        }
        transform_subschemas(self, schema);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(JsonSchema)]
    struct Plain {
        a: u8,
        b: Option<Box<Plain>>,
        c: Vec<(i16, f64)>,
        d: BTreeMap<String, usize>,
    }

    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(JsonSchema)]
    struct Ranged {
        #[schemars(range(min = 1))]
        a: u32,
    }

    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(JsonSchema)]
    struct RangedDouble {
        #[schemars(range(min = 1e-9))]
        a: f64,
    }

    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(JsonSchema)]
    struct RangedWide {
        #[schemars(range(max = 10_000_000_000_000_000_000_u64))]
        a: u64,
    }

    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(JsonSchema)]
    struct Long {
        #[schemars(length(max = 9))]
        a: String,
    }

    fn of<T: JsonSchema>() -> Value {
        let mut generator = input_generator();
        let schema = T::json_schema(&mut generator).to_value();
        let mut schema = as_object(schema);
        schema.insert(
            "$defs".to_owned(),
            Value::Object(generator.take_definitions(true)),
        );
        Value::Object(schema)
    }

    #[test]
    fn what_types_enforce() {
        for (schema, enforced) in [
            (of::<i64>(), true),
            (of::<u64>(), true),
            (of::<i8>(), true),
            (of::<Option<u16>>(), true),
            (of::<Plain>(), false), // the tuple has a length
            (of::<Vec<Option<Ranged>>>(), false),
            (of::<Ranged>(), false),
            (of::<RangedDouble>(), false),
            (of::<RangedWide>(), false),
            (of::<Long>(), false),
            (of::<BTreeSet<u8>>(), false),
        ] {
            assert_eq!(is_enforced_by_type(&schema), enforced, "{schema}");
        }
    }

    #[test]
    fn number_formats_go() {
        let mut generator = input_generator();
        let schema = Plain::json_schema(&mut generator).to_value();
        let finished = finished(schema, &mut generator).to_string();
        assert!(
            !finished.contains("format") && finished.contains(r#""maximum":255"#),
            "{finished}"
        );
        assert_eq!(
            as_object(json!(false)),
            *json!({"not": {}}).as_object().unwrap()
        );
    }
}
