//! The rules of the lint.

use serde_json::{Map, Value};
use trueform_schema::pointer::push;

use super::{
    Effect, Finding, Position,
    clients::clients,
    complete::allows,
    dialect::{is_default_dialect, is_draft_07},
    formats::foreign_format,
    inline::own_fragment,
    merge::is_null,
};
use crate::check::{
    MAX_SCHEMA_DEPTH,
    positions::{Holds, holds},
};

/// Returns the problems of known clients with a schema, in document order; empty if all of them accept it.
///
/// ```
/// use trueform::lint::{Position, lint, portable};
/// let schema = serde_json::json!({"type": "object", "properties": {"any": true}});
/// assert_eq!(lint(&schema, Position::Output)[0].code, "boolean-subschema");
/// assert!(lint(&portable(&schema, Position::Output), Position::Output).is_empty());
/// ```
#[must_use]
pub fn lint(schema: &Value, position: Position) -> Vec<Finding> {
    let mut lint = Lint {
        root: schema,
        position,
        findings: Vec::new(),
    };
    lint.root();
    lint.below(schema, "", 0);
    lint.findings
}

/// Deeper subschemas are not checked; the compiler refuses them anyway.
const DEEPEST: usize = MAX_SCHEMA_DEPTH;

struct Lint<'v> {
    root: &'v Value,
    position: Position,
    findings: Vec<Finding>,
}

impl Lint<'_> {
    fn add(
        &mut self,
        code: &'static str,
        pointer: impl Into<String>,
        effect: Effect,
        reason: impl Into<String>,
    ) {
        self.findings.push(Finding {
            code,
            pointer: pointer.into(),
            reason: reason.into(),
            effect,
            clients: clients(code),
        });
    }

    fn root(&mut self) {
        let Some(root) = self.root.as_object() else {
            let reason = "the root of a tool's schema must be an object, not a boolean";
            return self.add("root-type", "", Effect::LosesServer, reason);
        };
        let is_object = root.get("type").and_then(Value::as_str) == Some("object");
        match self.position {
            // Z-5
            Position::Input if !is_object => {
                let reason = "`inputSchema` needs `\"type\": \"object\"` at its root";
                self.add("root-type", "", Effect::LosesServer, reason);
            }
            // Z-6
            Position::Output if !is_object => {
                let reason = "an `outputSchema` without `\"type\": \"object\"` at its root loses all tools of the server";
                self.add("root-type", "", Effect::LosesServer, reason);
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
                    Effect::LosesItem,
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
        if is_default_dialect(self.root) {
            return;
        }
        let reason = match is_draft_07(dialect) {
            true => "some validators support 2020-12 only, and refuse a schema that names draft-07"
                .to_owned(),
            false => format!(
                "the dialect `{dialect}` is unknown to validators, and some try to fetch it"
            ),
        };
        self.add("dialect", "/$schema", Effect::LosesItem, reason);
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
            return self.add("boolean-subschema", pointer, Effect::LosesServer, reason);
        }
        self.below(schema, &pointer, depth + 1);
    }

    fn own(&mut self, members: &Map<String, Value>, pointer: &str) {
        if let Some(format) = foreign_format(members) {
            let reason = format!(
                "the format `{format}` is unknown to JSON Schema; validators warn at every call or refuse it"
            );
            let at = format!("{pointer}/format");
            self.add("unknown-format", at, Effect::Noise, reason);
        }
        if let Some(target) = members.get("$ref").and_then(Value::as_str) {
            self.reference(target, format!("{pointer}/$ref"));
        }
        if members.contains_key("nullable") {
            let reason =
                "`nullable` is OpenAPI, not JSON Schema, and is ignored; add \"null\" to `type`";
            let at = format!("{pointer}/nullable");
            self.add("nullable", at, Effect::Noise, reason);
        }
        if self.position == Position::Input {
            self.limits_of_models(members, pointer);
        }
    }

    fn reference(&mut self, target: &str, at: String) {
        // The document's own name: the reader already has the document, and fetches nothing.
        if self.root.get("$id").and_then(Value::as_str) == Some(target) {
            return;
        }
        if own_fragment(self.root, target).is_some() {
            let reason = format!(
                "some clients do not follow the reference `{target}`: they show the value without its schema, or lose the tool; write the schema out in its place, or take a type that does not contain itself"
            );
            self.add("reference", at, Effect::LosesItem, reason);
        } else {
            // Z-3
            let reason =
                format!("`{target}` refers to another document, which clients do not fetch");
            self.add("remote-reference", at, Effect::LosesItem, reason);
        }
    }

    /// The model services behind clients get only the input schema.
    fn limits_of_models(&mut self, members: &Map<String, Value>, pointer: &str) {
        let mut add = |code, keyword: &str, reason: String| {
            let at = match keyword {
                "" => pointer.to_owned(),
                keyword => format!("{pointer}/{keyword}"),
            };
            self.add(code, at, Effect::LosesItem, reason);
        };
        if let Some(keyword) = keyword_with_null(members) {
            let reason = "a value that may be null loses its type, or fails the request".to_owned();
            add("null", keyword, reason);
        }
        if members.get("default").is_some_and(Value::is_null) {
            let reason = "the default null makes the argument a required one".to_owned();
            add("null-default", "default", reason);
        }
        if allows(members, "object") && !members.contains_key("properties") {
            let reason = "an object schema without `properties` is refused".to_owned();
            add("no-properties", "", reason);
        }
        if allows(members, "array") && !members.contains_key("items") {
            let reason = "an array schema without `items` is refused".to_owned();
            add("no-items", "", reason);
        }
        for keyword in ["exclusiveMinimum", "exclusiveMaximum"] {
            if members.contains_key(keyword) {
                let reason = format!("`{keyword}` is refused");
                add("exclusive-bound", keyword, reason);
            }
        }
    }
}

/// Returns the keyword by which a schema allows `null` besides other values, or nothing but `null`.
fn keyword_with_null(members: &Map<String, Value>) -> Option<&'static str> {
    let lists_null = |keyword: &str| {
        let list = members.get(keyword).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(Value::is_null))
    };
    let has_null_branch = |keyword: &str| {
        let list = members.get(keyword).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .any(|branch| branch.as_object().is_some_and(is_null))
    };
    // The schema of such a branch is not reported a second time.
    let is_only_null = is_null(members);
    [
        ("type", !is_only_null && allows(members, "null")),
        ("enum", lists_null("enum")),
        ("const", members.get("const").is_some_and(Value::is_null)),
        ("anyOf", has_null_branch("anyOf")),
        ("oneOf", has_null_branch("oneOf")),
    ]
    .into_iter()
    .find_map(|(keyword, allows_null)| allows_null.then_some(keyword))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::FACTS, *};

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
            &json!({"type": "object", "properties": {}, "oneOf": [{}]}),
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
            &[("unknown-format", "/properties/a/format")],
        );
        check(
            &json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "https://example.com"}}, "$defs": {"A": {"format": "int8"}}}),
            Input,
            &[
                ("reference", "/properties/a/$ref"),
                ("remote-reference", "/properties/b/$ref"),
                ("unknown-format", "/$defs/A/format"),
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
        check(
            &json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {}}),
            Input,
            &[("dialect", "/$schema")],
        );
        // Issue 9, §1: a reference to the document's own `$id`, as written, is not a finding. Another spelling of it is a finding, and so
        // is a reference to a part.
        let document = json!({"$id": "https://example.com/s", "type": "object", "properties": {
            "a": {"$ref": "https://example.com/s"}, "b": {"$ref": "https://example.com/s#"}, "c": {"$ref": "#"},
            "d": {"$ref": "https://example.com/s#/properties/a"}, "e": {"$ref": "https://example.com/t"}}});
        for position in [Input, Output] {
            check(
                &document,
                position,
                &[
                    ("reference", "/properties/b/$ref"),
                    ("reference", "/properties/c/$ref"),
                    ("reference", "/properties/d/$ref"),
                    ("remote-reference", "/properties/e/$ref"),
                ],
            );
        }
        check(
            &json!({"$id": "https://example.com/s#", "type": "object", "properties": {
                "a": {"$ref": "https://example.com/s"}, "b": {"$ref": "https://example.com/s#/properties/a"}, "c": {"$ref": "https://example.com/t"}}}),
            Output,
            &[
                ("reference", "/properties/a/$ref"),
                ("reference", "/properties/b/$ref"),
                ("remote-reference", "/properties/c/$ref"),
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
    fn limits_of_models() {
        let schema = json!({"type": "object", "properties": {
            "list": {"type": "array", "items": {"type": ["string", "null"]}},
            "any": {"type": "array"},
            "map": {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "word": {"type": "string", "default": null, "enum": ["a", null]},
            "size": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "none": {"type": "null"},
            "only": {"const": null},
            "time": {"type": "string", "format": "partial-time"},
            "null": {"enum": ["null"], "default": "null"}}});
        check(
            &schema,
            Position::Input,
            &[
                ("null", "/properties/list/items/type"),
                ("no-items", "/properties/any"),
                ("no-properties", "/properties/map"),
                ("null", "/properties/map/additionalProperties/anyOf"),
                ("null", "/properties/word/enum"),
                ("null-default", "/properties/word/default"),
                ("exclusive-bound", "/properties/size/exclusiveMinimum"),
                ("exclusive-bound", "/properties/size/exclusiveMaximum"),
                ("null", "/properties/only/const"),
                ("unknown-format", "/properties/time/format"),
            ],
        );
        // Models do not see the output schema.
        check(
            &schema,
            Position::Output,
            &[("unknown-format", "/properties/time/format")],
        );
    }

    #[test]
    fn every_rule_has_facts_and_every_fact_a_rule() {
        let rules = [
            "root-type",
            "root-combinator",
            "dialect",
            "boolean-subschema",
            "unknown-format",
            "reference",
            "remote-reference",
            "nullable",
            "null",
            "null-default",
            "no-properties",
            "no-items",
            "exclusive-bound",
            "prompt-name",
            "argument-name",
            "argument-order",
            "no-description",
            "uri-case",
            "web-uri",
            "large-content",
            "huge-content",
            "form-revision",
            "form-secret",
            "form-rule",
        ];
        let mut listed: Vec<&str> = FACTS.iter().map(|fact| fact.code).collect();
        listed.dedup();
        assert_eq!(listed, rules);
        let code = [
            include_str!("find.rs"),
            include_str!("offered.rs"),
            include_str!("../feature/form/remarks.rs"),
        ];
        let code = code.map(|file| file.split("#[cfg(test)]").next().unwrap());
        for rule in rules {
            let rule = format!("\"{rule}\",");
            assert!(code.iter().any(|code| code.contains(&rule)), "{rule}");
        }
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
             [boolean-subschema: TypeScript SDK 1.x clients, Claude Code, OpenCode]"
        );
        assert_eq!(findings[0].effect, Effect::LosesServer);
    }
}
