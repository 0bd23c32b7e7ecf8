//! Short names for schemas, for use in the text of changes.

use serde_json::Value;

use crate::{document::Document, schema::Schema, shape::Shape};

/// Depth to which a name describes a schema.
const DEPTH: usize = 6;

impl<'a> Document<'a> {
    /// Returns a short name for `schema`: the definition that it refers to, or its type.
    #[must_use]
    pub fn describe(&self, schema: impl Into<Schema<'a>>) -> String {
        self.describe_within(&schema.into(), DEPTH)
    }

    fn describe_within(&self, schema: &Schema<'a>, depth: usize) -> String {
        let Some(below) = depth.checked_sub(1) else {
            return "…".to_owned();
        };
        if let Some(name) = schema.name() {
            return name;
        }
        self.shape_within(&self.shape(schema.clone()), below)
    }

    fn shape_within(&self, shape: &Shape<'a>, depth: usize) -> String {
        if let [union, ..] = &*shape.unions {
            let names = union.alternatives.iter();
            let names = names.map(|schema| self.describe_within(schema, depth));
            return joined(names);
        }
        self.kinds_within(shape, depth)
    }

    /// Returns a short name for the types and constants, without the alternatives beside them.
    pub(crate) fn describe_kinds(&self, shape: &Shape<'a>) -> String {
        self.kinds_within(shape, DEPTH)
    }

    fn kinds_within(&self, shape: &Shape<'a>, depth: usize) -> String {
        match &shape.values {
            Some(values) if values.is_empty() => return "nothing".to_owned(),
            Some(values) => return joined(values.iter().map(ToString::to_string)),
            None => {}
        }
        let Some(types) = &shape.types else {
            return "any JSON".to_owned();
        };
        joined(types.iter().map(|name| match *name {
            "array" if !shape.items.is_anything() => {
                format!("array of {}", self.describe_within(&shape.items, depth))
            }
            "object" if !shape.members.is_empty() => self.describe_object(shape),
            "object" if !shape.rest.is_anything() && !shape.is_closed() => {
                format!("map of {}", self.describe_within(&shape.rest, depth))
            }
            name => name.to_owned(),
        }))
    }

    /// Inline objects are named by their constant members, by which readers also distinguish them.
    fn describe_object(&self, shape: &Shape<'a>) -> String {
        let constant = |(name, schema): (&&'a str, &Schema<'a>)| {
            let [value]: [&Value; 1] = self.shape(schema.clone()).values?.try_into().ok()?;
            Some(format!("{name} {value}"))
        };
        let constants: Vec<String> = shape.members.iter().filter_map(constant).collect();
        match constants.is_empty() {
            true => "object".to_owned(),
            false => format!("object with {}", constants.join(", ")),
        }
    }
}

fn joined(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(" | ")
}
