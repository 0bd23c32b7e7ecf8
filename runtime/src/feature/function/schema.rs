//! JSON Schemas from Rust types: the output of schemars, adapted for all clients.

use schemars::{
    SchemaGenerator,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Number, Value};

/// Returns a generator for types that are deserialized.
pub(crate) fn input_generator() -> SchemaGenerator {
    settings().for_deserialize().into_generator()
}

/// Returns a generator for types that are serialized.
pub(crate) fn output_generator() -> SchemaGenerator {
    settings().for_serialize().into_generator()
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None)
}

/// Finishes the schema of a type: moves definitions to its root, and removes formats that only Rust has.
pub(crate) fn finished(schema: Value, generator: &mut SchemaGenerator) -> Value {
    without_number_formats(with_definitions(schema, generator), Bounds::Narrow)
}

/// Like [`finished`], and also returns the same schema with the bounds of all integer types.
pub(crate) fn with_bounds(schema: Value, generator: &mut SchemaGenerator) -> (Value, Value) {
    let schema = with_definitions(schema, generator);
    let bounded = without_number_formats(schema.clone(), Bounds::All);
    (without_number_formats(schema, Bounds::Narrow), bounded)
}

fn with_definitions(schema: Value, generator: &mut SchemaGenerator) -> Value {
    let definitions = generator.take_definitions(true);
    let mut schema = as_object(schema);
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Value::Object(schema)
}

fn without_number_formats(mut schema: Value, bounds: Bounds) -> Value {
    if let Ok(schema) = <&mut schemars::Schema>::try_from(&mut schema) {
        WithoutNumberFormats(bounds).transform(schema);
    }
    schema
}

/// Returns the object form of a schema, also for `true` and `false`.
pub(crate) fn as_object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => Map::from_iter([("not".to_owned(), Value::Object(Map::new()))]),
        _ => Map::new(),
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

/// Removes `uint32` and similar formats, which JSON Schema does not have; strict clients reject schemas with them. `type`, `minimum` and
/// `maximum` express the same: schemars writes the bounds of small types, and the others are added here.
#[derive(Clone)]
struct WithoutNumberFormats(Bounds);

/// Which bounds of integer types are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounds {
    /// Those of types up to 32 bits. Not all JSON readers read the bounds of wider types exactly.
    Narrow,
    All,
}

impl Bounds {
    /// Returns the least and the greatest number of the type with this format, if schemars does not write them.
    fn of(self, format: &str) -> [Option<Number>; 2] {
        match (self, format) {
            (_, "int32") => [Some(i32::MIN.into()), Some(i32::MAX.into())],
            (_, "uint32") => [None, Some(u32::MAX.into())],
            (Self::All, "int64") => [Some(i64::MIN.into()), Some(i64::MAX.into())],
            (Self::All, "uint64") => [None, Some(u64::MAX.into())],
            (Self::All, "int") => [Some(isize::MIN.into()), Some(isize::MAX.into())],
            (Self::All, "uint") => [None, Some(usize::MAX.into())],
            // The nearest number that a JSON value can represent.
            (Self::All, "int128") => [
                Number::from_f64(i128::MIN as f64),
                Number::from_f64(i128::MAX as f64),
            ],
            (Self::All, "uint128") => [None, Number::from_f64(u128::MAX as f64)],
            _ => [None, None],
        }
    }
}

impl Transform for WithoutNumberFormats {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        if schema.get("format").is_some_and(is_number_format) {
            let format = schema.remove("format");
            let format = format.as_ref().and_then(Value::as_str).unwrap_or_default();
            let bounds = self.0.of(format);
            for (keyword, bound) in ["minimum", "maximum"].into_iter().zip(bounds) {
                if let (Some(bound), None) = (bound, schema.get(keyword)) {
                    schema.insert(keyword.to_owned(), Value::Number(bound));
                }
            }
        }
        transform_subschemas(self, schema);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
