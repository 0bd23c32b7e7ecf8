//! The output schema of a tool.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::feature::function::schema::{as_object, finished, output_generator};

/// Collects what the result type of a tool says of itself.
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
        // A type that may be anything has nothing to say.
        (!schema.is_empty()).then_some(schema)
    }

    /// The result is structured as `T` is.
    pub(super) fn structured<T: JsonSchema>(&mut self) {
        self.schema = Some(T::json_schema(&mut self.generator).to_value());
    }

    /// The result may also be `null`.
    pub(super) fn nullable(&mut self) {
        if let Some(schema) = self.schema.take() {
            self.schema = Some(json!({ "anyOf": [schema, { "type": "null" }] }));
        }
    }
}
