//! Known problems of clients with a tool's schemas: clients that drop the tool, clients that drop the whole list, and why.
//!
//! The facts come from bug reports against those clients. A finding does not mean that the schema is wrong.

mod merge;
mod portable;

use std::{borrow::Cow, fmt};

use serde_json::{Map, Value};
use trueform_schema::pointer::push;

pub use self::portable::portable;
use crate::check::{
    MAX_SCHEMA_DEPTH,
    positions::{Holds, holds},
};

/// How the schemas of tools are advertised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Unchanged, in JSON Schema 2020-12.
    #[default]
    Strict2020,
    /// Rewritten by [`portable`], for clients that support less.
    Portable,
}

impl Profile {
    /// The form in which this profile advertises `schema`. It accepts the same values.
    #[must_use]
    pub fn apply(self, schema: &Value) -> Cow<'_, Value> {
        match self {
            Self::Strict2020 => Cow::Borrowed(schema),
            Self::Portable => Cow::Owned(portable(schema)),
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

/// A property of a schema that known clients do not support.
///
/// `Display` is one line, with the clients in brackets.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the rule, such as `boolean-subschema`.
    pub code: &'static str,
    /// JSON pointer into the schema.
    pub pointer: String,
    /// The effect and its cause.
    pub reason: String,
    /// Severity of the effect.
    pub effect: Effect,
    /// The clients known to behave like this.
    pub clients: &'static [&'static str],
}

/// Effect of a [`Finding`] on a client, mildest first.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It complains on every list or call, or ignores the keyword.
    Noise,
    /// It drops the tool or fails its calls.
    LosesTool,
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

/// Clients that compile every schema with zod or zod-like types when they list tools.
const ZOD: &[&str] = &["TypeScript SDK 1.x clients", "MCP Inspector", "Go SDK"];

const AJV: &[&str] = &["ajv-based clients", "OpenCode"];

const NO_REFERENCES: &[&str] = &["Copilot CLI", "Claude Code", "LM Studio"];

const ALL_CLIENTS: &[&str] = &["every client that follows the specification"];

/// The problems of known clients with a schema, in document order; empty if all of them accept it.
///
/// ```
/// use trueform::lint::{Position, lint, portable};
/// let schema = serde_json::json!({"type": "object", "properties": {"any": true}});
/// assert_eq!(lint(&schema, Position::Output)[0].code, "boolean-subschema");
/// assert!(lint(&portable(&schema), Position::Output).is_empty());
/// ```
#[must_use]
pub fn lint(schema: &Value, position: Position) -> Vec<Finding> {
    let mut lint = Lint {
        root: schema,
        findings: Vec::new(),
    };
    lint.root(position);
    lint.below(schema, "", 0);
    lint.findings
}

/// Deeper subschemas are not checked; the compiler refuses them anyway.
const DEEPEST: usize = MAX_SCHEMA_DEPTH;

struct Lint<'v> {
    root: &'v Value,
    findings: Vec<Finding>,
}

impl Lint<'_> {
    fn add(
        &mut self,
        code: &'static str,
        pointer: impl Into<String>,
        effect: Effect,
        clients: &'static [&'static str],
        reason: impl Into<String>,
    ) {
        self.findings.push(Finding {
            code,
            pointer: pointer.into(),
            reason: reason.into(),
            effect,
            clients,
        });
    }

    fn root(&mut self, position: Position) {
        let Some(root) = self.root.as_object() else {
            let reason = "the root of a tool's schema must be an object, not a boolean";
            return self.add("root-type", "", Effect::LosesServer, ALL_CLIENTS, reason);
        };
        let is_object = root.get("type").and_then(Value::as_str) == Some("object");
        match position {
            // Z-5
            Position::Input if !is_object => {
                let reason = "`inputSchema` needs `\"type\": \"object\"` at its root";
                self.add("root-type", "", Effect::LosesServer, ALL_CLIENTS, reason);
            }
            // Z-6
            Position::Output if !is_object => {
                let clients = &[
                    "TypeScript SDK 1.x clients",
                    "clients of revisions before 2026-07-28",
                ];
                let reason = "an `outputSchema` without `\"type\": \"object\"` at its root loses all tools of the server";
                self.add("root-type", "", Effect::LosesServer, clients, reason);
            }
            _ => {}
        }
        for keyword in ["oneOf", "anyOf", "allOf"] {
            if root.contains_key(keyword) {
                let reason = format!(
                    "a tool whose schema has `{keyword}` at its root is dropped without a message"
                );
                self.add(
                    "root-combinator",
                    format!("/{keyword}"),
                    Effect::LosesTool,
                    &["Claude Code"],
                    reason,
                );
            }
        }
        self.dialect(root);
    }

    fn dialect(&mut self, root: &Map<String, Value>) {
        let Some(dialect) = root.get("$schema").and_then(Value::as_str) else {
            return;
        };
        if !dialect.contains("json-schema.org/draft/2020-12/")
            && !dialect.contains("json-schema.org/draft-07/")
        {
            let reason = format!(
                "the dialect `{dialect}` is unknown to validators, and some try to fetch it"
            );
            self.add(
                "dialect",
                "/$schema",
                Effect::LosesTool,
                &["VS Code", "LangGraph"],
                reason,
            );
        }
    }

    fn below(&mut self, schema: &Value, pointer: &str, depth: usize) {
        let Some(members) = schema.as_object().filter(|_| depth < DEEPEST) else {
            return;
        };
        self.own(members, pointer);
        for (keyword, value) in members {
            let mut at = pointer.to_owned();
            push(&mut at, keyword.chars());
            match (holds(keyword, value), value) {
                (Holds::One, _) => self.child(keyword, value, at, depth),
                (Holds::List, Value::Array(list)) => {
                    for (i, value) in list.iter().enumerate() {
                        self.child(keyword, value, format!("{at}/{i}"), depth);
                    }
                }
                (Holds::Map, Value::Object(map)) => {
                    for (name, value) in map.iter().filter(|(_, value)| !value.is_array()) {
                        let mut at = at.clone();
                        push(&mut at, name.chars());
                        self.child(keyword, value, at, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn child(&mut self, keyword: &str, schema: &Value, pointer: String, depth: usize) {
        let usual = matches!(
            keyword,
            "additionalProperties"
                | "additionalItems"
                | "unevaluatedProperties"
                | "unevaluatedItems"
        );
        if schema.is_boolean() && !usual {
            let reason = format!(
                "the schema `{schema}` is refused, and with it the whole list of tools; write `{{}}`"
            );
            return self.add(
                "boolean-subschema",
                pointer,
                Effect::LosesServer,
                ZOD,
                reason,
            );
        }
        self.below(schema, &pointer, depth + 1);
    }

    fn own(&mut self, members: &Map<String, Value>, pointer: &str) {
        let text = |keyword: &str| members.get(keyword).and_then(Value::as_str);
        if let Some(format) = text("format").filter(|format| is_numeric_format(format)) {
            let reason = format!(
                "the format `{format}` is unknown to JSON Schema; validators warn at every call or refuse it"
            );
            self.add(
                "numeric-format",
                format!("{pointer}/format"),
                Effect::Noise,
                AJV,
                reason,
            );
        }
        if let Some(target) = text("$ref") {
            let at = format!("{pointer}/$ref");
            if target.starts_with('#') {
                let reason = format!(
                    "the reference `{target}` is not followed: the value is shown without its schema, or the tool fails"
                );
                self.add("reference", at, Effect::LosesTool, NO_REFERENCES, reason);
            } else {
                // Z-3
                let reason =
                    format!("`{target}` refers to another document, which clients do not fetch");
                self.add(
                    "remote-reference",
                    at,
                    Effect::LosesTool,
                    ALL_CLIENTS,
                    reason,
                );
            }
        }
        if members.contains_key("nullable") {
            let reason =
                "`nullable` is OpenAPI, not JSON Schema, and is ignored; add \"null\" to `type`";
            self.add(
                "nullable",
                format!("{pointer}/nullable"),
                Effect::Noise,
                ALL_CLIENTS,
                reason,
            );
        }
    }
}

/// The numeric formats that schemars writes; JSON Schema does not define them.
fn is_numeric_format(format: &str) -> bool {
    matches!(
        format,
        "int"
            | "int8"
            | "int16"
            | "int32"
            | "int64"
            | "int128"
            | "uint"
            | "uint8"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uint128"
            | "float"
            | "double"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, position: Position, expected: &[(&str, &str)]) {
        let findings = lint(schema, position);
        let found: Vec<(&str, &str)> = findings
            .iter()
            .map(|finding| (finding.code, finding.pointer.as_str()))
            .collect();
        assert_eq!(found, expected, "{schema}");
    }

    #[test]
    fn each_rule() {
        use Position::{Input, Output};
        check(
            &json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}),
            Input,
            &[],
        );
        check(&json!({"properties": {}}), Input, &[("root-type", "")]);
        check(&json!(true), Input, &[("root-type", "")]);
        check(
            &json!({"type": ["object", "null"]}),
            Output,
            &[("root-type", "")],
        );
        check(
            &json!({"type": "object", "oneOf": [{}]}),
            Input,
            &[("root-combinator", "/oneOf")],
        );
        check(
            &json!({"type": "object", "properties": {"a/b": true, "c": {"items": false}}}),
            Output,
            &[
                ("boolean-subschema", "/properties/a~1b"),
                ("boolean-subschema", "/properties/c/items"),
            ],
        );
        check(
            &json!({"type": "object", "properties": {"a": {"type": "integer", "format": "uint32"}, "d": {"format": "date"}}}),
            Input,
            &[("numeric-format", "/properties/a/format")],
        );
        check(
            &json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "https://example.com"}}, "$defs": {"A": {"format": "int8"}}}),
            Input,
            &[
                ("reference", "/properties/a/$ref"),
                ("remote-reference", "/properties/b/$ref"),
                ("numeric-format", "/$defs/A/format"),
            ],
        );
        check(
            &json!({"$schema": "https://spec.openapis.org/oas/3.0/schema", "type": "object", "properties": {"a": {"nullable": true}}}),
            Input,
            &[
                ("dialect", "/$schema"),
                ("nullable", "/properties/a/nullable"),
            ],
        );
        // Data is not checked, and a property may have any name.
        check(
            &json!({"type": "object", "default": {"$ref": "#/x"}, "properties": {"format": {"const": {"$ref": "x"}}, "oneOf": {}}}),
            Input,
            &[],
        );
    }

    #[test]
    fn a_finding_reads_well() {
        let findings = lint(
            &json!({"type": "object", "properties": {"x": true}}),
            Position::Output,
        );
        assert_eq!(
            findings[0].to_string(),
            "/properties/x: the schema `true` is refused, and with it the whole list of tools; write `{}` \
             [boolean-subschema: TypeScript SDK 1.x clients, MCP Inspector, Go SDK]"
        );
        assert_eq!(findings[0].effect, Effect::LosesServer);
    }
}
