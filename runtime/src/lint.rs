#![doc = include_str!("lint/clients.md")]

mod clients;
mod complete;
mod dialect;
mod disjoint;
mod find;
mod formats;
mod inline;
mod merge;
mod nulls;
mod offered;
mod portable;

use std::{borrow::Cow, fmt};

use serde_json::{Map, Value};

pub(crate) use self::offered::finding;
pub use self::{
    clients::{FACTS, Fact},
    find::lint,
    offered::{lint_prompt, lint_resource, lint_resource_template},
    portable::portable,
};

/// How the schemas of tools are advertised.
///
/// The usual profile depends on who wrote the schema: [`Portable`](Self::Portable) for schemas that `#[tool]` makes of Rust types,
/// [`AsWritten`](Self::AsWritten) for those of a [`DynamicTool`](crate::DynamicTool).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// As the author or the Rust types define it, with `properties` at the root of an input schema.
    AsWritten,
    /// Rewritten by [`portable`], for clients that support less.
    Portable,
}

impl Profile {
    /// Returns the form in which this profile advertises `schema`. Except for `null` in input schemas, it accepts the same values; see
    /// [`portable`].
    #[must_use]
    pub fn apply(self, schema: &Value, position: Position) -> Cow<'_, Value> {
        match self {
            Self::AsWritten => Cow::Borrowed(schema),
            Self::Portable => Cow::Owned(portable(schema, position)),
        }
    }
}

/// Adds `"properties": {}` to an object schema that has no `properties`, right after `type`: several clients refuse tools whose
/// input schema lacks them. It accepts the same values. Returns whether anything was added.
pub(crate) fn add_properties(schema: &mut Map<String, Value>) -> bool {
    if schema.contains_key("properties") {
        return false;
    }
    let place = schema.keys().position(|keyword| keyword == "type");
    let after = place.map_or(0, |place| place + 1);
    schema.shift_insert(after, "properties".to_owned(), Value::Object(Map::new()));
    true
}

/// The schema of a tool that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// `inputSchema`.
    Input,
    /// `outputSchema`.
    Output,
}

/// A property of a schema, or of the definition of a prompt, resource or resource template, that known clients do not support.
///
/// `Display` is one line, with the clients in brackets.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the rule, such as `boolean-subschema`.
    pub code: &'static str,
    /// JSON pointer into the schema or the definition.
    pub pointer: String,
    /// The effect and its cause.
    pub reason: String,
    /// Severity of the effect.
    pub effect: Effect,
    /// The clients known to behave like this, from [`FACTS`].
    pub clients: Vec<&'static str>,
}

/// Effect of a [`Finding`] on a client, mildest first.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It complains on every list or call, or ignores the keyword.
    Noise,
    /// It drops the tool, prompt or resource, or fails requests that name it.
    LosesItem,
    /// It drops every tool of the server.
    LosesServer,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "(root)"
        } else {
            &self.pointer
        };
        write!(
            f,
            "{place}: {} [{}: {}]",
            self.reason,
            self.code,
            self.clients.join(", ")
        )
    }
}
