//! The output schema of a tool.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::feature::function::schema::{as_object, finished, output_generator};

/// Collects the schema of the result type of a tool.
#[derive(Debug)]
pub struct OutputSchema {
    generator: SchemaGenerator,
    schema: Option<Value>,
}

impl OutputSchema {
    pub(super) fn of(describe: fn(&mut Self)) -> Option<Map<String, Value>> {
        let mut this = Self {
            generator: output_generator(),
            schema: None,
        };
        describe(&mut this);
        let schema = as_object(finished(this.schema?, &mut this.generator));
        // The schema of a type that may be anything is empty.
        (!schema.is_empty()).then_some(schema)
    }

    /// Records that the result has the structure of `T`.
    pub(super) fn structured<T: JsonSchema>(&mut self) {
        self.schema = Some(T::json_schema(&mut self.generator).to_value());
    }

    /// Records that the result may also be `null`.
    pub(super) fn nullable(&mut self) {
        if let Some(schema) = self.schema.take() {
            self.schema = Some(json!({ "anyOf": [schema, { "type": "null" }] }));
        }
    }
}
