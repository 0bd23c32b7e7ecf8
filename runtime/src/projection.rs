#![doc = include_str!("projection.md")]

// The encoder leaves out what older revisions do not have, and rewrites content blocks that did not exist yet, wherever they occur. This
// module does the rewrites that need more than the value: schemas with a narrower form in older revisions, and the results that belong to
// them.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use trueform_schema::{
    CallToolResult, CreateMessageRequestParams, JsonObject, Revision, Revisions, Tool,
    projection::{self, Becomes},
    rewrite::Wrapped,
};

use crate::{
    check::positions::{Holds, holds},
    lint::add_properties,
};

#[doc(inline)]
pub use trueform_schema::projection::Rule;

/// The member that wraps other values if only objects are allowed (GAP-15).
const RESULT: &str = Wrapped::MEMBER;

/// Returns all rules: those of the bindings, and those of schemas and their results, which this module applies.
pub fn rules() -> impl Iterator<Item = Rule> {
    projection::rules().chain(RULES.iter().copied())
}

/// The rules that this module applies. Members that a revision does not have are left out afterwards.
const RULES: &[Rule] = &[
    // GAP-15, TRAP-11
    Rule::new(
        "tools",
        "Tool",
        "outputSchema",
        WRAPPED,
        Becomes::Rewritten(
            "an object with the schema as member `result`, if its root is not an object schema",
        ),
    ),
    Rule::new(
        "tools",
        "CallToolResult",
        "structuredContent",
        WRAPPED,
        Becomes::Rewritten(
            "`{\"result\": …}` if the output schema is wrapped too, or if there is no output schema and the value is not an object, such as `null`",
        ),
    ),
    // I-10
    Rule::new(
        "tools",
        "Tool",
        "inputSchema",
        LEGACY,
        Becomes::Rewritten(BOOLEANS),
    ),
    Rule::new(
        "tools",
        "Tool",
        "outputSchema",
        WRAPPED,
        Becomes::Rewritten(BOOLEANS),
    ),
];

/// The revisions before structured results could be anything but objects.
const LEGACY: u8 = Revisions::until(Revision::LATEST_LEGACY).bits();
/// Those of them that have structured results.
const WRAPPED: u8 = Wrapped::REVISIONS.bits();
const BOOLEANS: &str = "boolean schemas directly under `properties` as `{}` and `{\"not\": {}}`";

/// Returns `tool` in a form that `revision` can decode.
pub(crate) fn tool(tool: &Tool, revision: Revision) -> Cow<'_, Tool> {
    if !Revisions::from_bits(LEGACY).contains(revision) {
        return Cow::Borrowed(tool);
    }
    let mut projected = Cow::Borrowed(tool);
    if let Some(schema) = without_boolean_properties(&tool.input_schema) {
        projected.to_mut().input_schema = schema;
    }
    if let Some(output) = &tool.output_schema {
        let object = if has_object_root(output) {
            None
        } else {
            Some(wrapped_schema(output))
        };
        let plain = without_boolean_properties(object.as_ref().unwrap_or(output));
        if let Some(schema) = plain.or(object) {
            projected.to_mut().output_schema = Some(schema);
        }
    }
    projected
}

/// Returns `params` in a form that `revision` can decode, if anything has to be rewritten. Input schemas of tools without `properties` get
/// them, like those of the server's own tools.
pub(crate) fn sampling(
    params: &CreateMessageRequestParams,
    revision: Revision,
) -> Option<CreateMessageRequestParams> {
    let tools = params.tools.as_ref()?;
    let complete = |item| {
        let mut projected = tool(item, revision);
        if let Some(schema) = with_properties(&projected.input_schema) {
            projected.to_mut().input_schema = schema;
        }
        projected
    };
    let projected: Vec<_> = tools.iter().map(complete).collect();
    if projected
        .iter()
        .all(|item| matches!(item, Cow::Borrowed(_)))
    {
        return None;
    }
    let mut older = params.clone();
    older.tools = Some(projected.into_iter().map(Cow::into_owned).collect());
    Some(older)
}

/// Returns whether `revision` gets the structured content of `result` [`Wrapped`]. `wraps` says whether the tool's output schema is wrapped
/// for older revisions. For a result without such a schema, its own value decides.
pub(crate) fn wraps(result: &CallToolResult, wraps: Option<bool>, revision: Revision) -> bool {
    Wrapped::REVISIONS.contains(revision)
        && result
            .structured_content
            .as_ref()
            .is_some_and(|structured| wraps.unwrap_or(!structured.is_object()))
}

/// Returns whether every value the schema allows is an object, according to its root.
pub(crate) fn has_object_root(schema: &JsonObject) -> bool {
    schema.to_value().get("type").and_then(Value::as_str) == Some("object")
}

/// Returns the schema of `{"result": value}` for a schema of `value`: definitions move to the new root, and references to the old root are
/// adapted.
fn wrapped_schema(schema: &JsonObject) -> JsonObject {
    let Value::Object(mut inner) = schema.to_value() else {
        return schema.clone();
    };
    let dialect = inner.remove("$schema");
    let mut definitions = Map::new();
    for keyword in ["$defs", "definitions"] {
        if let Some(found) = inner.remove(keyword) {
            definitions.insert(keyword.to_owned(), found);
        }
    }
    // An id would make the old root a separate document, to which no pointer from outside applies.
    inner.remove("$id");
    let mut inner = Value::Object(inner);
    follow_root(&mut inner);
    let mut outer = Map::new();
    if let Some(dialect) = dialect {
        outer.insert("$schema".to_owned(), dialect);
    }
    outer.insert("type".to_owned(), json!("object"));
    outer.insert("properties".to_owned(), json!({ RESULT: inner }));
    outer.insert("required".to_owned(), json!([RESULT]));
    for (keyword, mut found) in definitions {
        if let Value::Object(schemas) = &mut found {
            schemas.values_mut().for_each(follow_root);
        }
        outer.insert(keyword, found);
    }
    JsonObject::from(outer)
}

/// Makes references to the root of a schema point to its place in the wrapper. References to definitions do not change, because the
/// definitions moved too.
fn follow_root(schema: &mut Value) {
    let Value::Object(members) = schema else {
        return;
    };
    for (keyword, value) in members.iter_mut() {
        match (holds(keyword, value), value) {
            (Holds::One, schema) => follow_root(schema),
            (Holds::List, Value::Array(schemas)) => schemas.iter_mut().for_each(follow_root),
            (Holds::Map, Value::Object(schemas)) => schemas.values_mut().for_each(follow_root),
            (_, Value::String(target)) if keyword == "$ref" => {
                let moved = target == "#"
                    || target.strip_prefix("#/").is_some_and(|path| {
                        !path.starts_with("$defs/") && !path.starts_with("definitions/")
                    });
                if moved {
                    target.insert_str(1, "/properties/result");
                }
            }
            // Other values are not schemas, whatever they look like.
            _ => {}
        }
    }
}

/// Returns the schema with `properties` at its root, if it has none.
pub(crate) fn with_properties(schema: &JsonObject) -> Option<JsonObject> {
    let Value::Object(mut root) = schema.to_value() else {
        return None;
    };
    add_properties(&mut root).then(|| JsonObject::from(root))
}

/// Returns the schema without boolean schemas directly under `properties`, which clients of older revisions refuse; `None` if there is
/// nothing to change.
fn without_boolean_properties(schema: &JsonObject) -> Option<JsonObject> {
    let Value::Object(mut root) = schema.to_value() else {
        return None;
    };
    let properties = root.get_mut("properties")?.as_object_mut()?;
    let mut changed = false;
    for property in properties.values_mut() {
        if let Value::Bool(allowed) = property {
            *property = if *allowed {
                json!({})
            } else {
                json!({ "not": {} })
            };
            changed = true;
        }
    }
    changed.then(|| JsonObject::from(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: &Value) -> JsonObject {
        JsonObject::from_value(value).unwrap()
    }

    // GAP-15, TRAP-11, I-10
    #[test]
    fn schemas() {
        let mut newest = Tool::new(
            object(&json!({"type": "object", "properties": {"x": true, "y": false, "z": {}}})),
            "t",
        );
        newest.output_schema = Some(object(&json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "array",
            "items": {"anyOf": [
                {"$ref": "#"}, {"$ref": "#/$defs/leaf"}, {"const": {"$ref": "#"}},
                // Names of properties and definitions, not keywords.
                {"properties": {"const": {"$ref": "#"}, "$ref": {"$ref": "#"}}},
            ]},
            "$defs": {"leaf": {"$ref": "#/items"}, "default": {"$ref": "#"}},
        })));
        assert!(matches!(
            tool(&newest, Revision::V2026_07_28),
            Cow::Borrowed(_)
        ));
        let older = tool(&newest, Revision::V2025_11_25);
        assert_eq!(
            older.input_schema.to_value()["properties"],
            json!({"x": {}, "y": {"not": {}}, "z": {}})
        );
        assert_eq!(
            older.output_schema.as_ref().unwrap().to_value(),
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {"result": {
                    "type": "array",
                    "items": {"anyOf": [
                        {"$ref": "#/properties/result"}, {"$ref": "#/$defs/leaf"}, {"const": {"$ref": "#"}},
                        {"properties": {
                            "const": {"$ref": "#/properties/result"}, "$ref": {"$ref": "#/properties/result"},
                        }},
                    ]},
                }},
                "required": ["result"],
                "$defs": {
                    "leaf": {"$ref": "#/properties/result/items"}, "default": {"$ref": "#/properties/result"},
                },
            })
        );
    }

    // I-10: a tool that a model may call is rewritten wherever it is listed.
    #[test]
    fn tools_for_sampling() {
        let boolean = json!({"type": "object", "properties": {"x": true}});
        let mut params = CreateMessageRequestParams::new(1, []);
        assert!(sampling(&params, Revision::V2025_11_25).is_none());
        params.tools = Some(vec![Tool::new(object(&boolean), "t")]);
        assert!(sampling(&params, Revision::V2026_07_28).is_none());
        let older = sampling(&params, Revision::V2025_11_25).unwrap();
        assert_eq!(
            older.tools.unwrap()[0].input_schema.to_value()["properties"],
            json!({"x": {}})
        );
        let bare = json!({"type": "object", "additionalProperties": false});
        params.tools = Some(vec![Tool::new(object(&bare), "t")]);
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let complete = sampling(&params, revision).unwrap().tools.unwrap();
            assert_eq!(
                complete[0].input_schema.get(),
                r#"{"type":"object","properties":{},"additionalProperties":false}"#
            );
        }
    }

    // GAP-15, TRAP-11
    #[test]
    fn results() {
        let result = |structured| {
            CallToolResult::new(vec![])
                .with_structured_content(trueform_schema::Json::from(structured))
        };
        let (list, object) = (result(json!([1])), result(json!({"a": 1})));
        for revision in Revision::ALL {
            let wanted = Wrapped::REVISIONS.contains(revision);
            assert_eq!(wraps(&list, None, revision), wanted, "{revision}");
            assert_eq!(wraps(&object, Some(true), revision), wanted, "{revision}");
            assert!(!wraps(&object, None, revision), "{revision}");
            assert!(!wraps(&object, Some(false), revision), "{revision}");
            assert!(!wraps(&CallToolResult::new(vec![]), Some(true), revision));
        }
    }
}
