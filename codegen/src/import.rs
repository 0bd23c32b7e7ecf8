//! Official schema file to normal form: the structure of the official file without its prose.
//!
//! The normal form is draft 2020-12 with every definition under `$defs`, every key sorted, and every annotation that is
//! prose removed. It accepts exactly the values that the official file accepts, so it serves as the oracle of the tests too.
//! Walks *schemas*, not JSON: a property named `description` or `const` is a property. A keyword that this module does not know is an
//! error, because dropping it could change a verdict and keeping it could keep prose.

use serde_json::{Map, Value};

use crate::problem::{Problem, child, reference, referred};

const DRAFT_07: [&str; 2] = [
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
];
const DRAFT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";

/// Returns the normal form of an official schema file, as the text that is committed: pretty JSON with a final newline.
///
/// Normalising a normal form returns the same bytes.
///
/// # Errors
/// The first place that is not JSON, a draft other than the two that the specification has used, an unknown keyword, or a reference to a
/// definition that the file does not have.
///
/// ```
/// let official = r##"{
///     "$schema": "http://json-schema.org/draft-07/schema#",
///     "definitions": { "Ping": { "description": "prose", "type": "object" } }
/// }"##;
/// let normal = trueform_codegen::import::normal_form(official)?;
/// assert!(normal.contains("$defs") && !normal.contains("prose"));
/// # Ok::<(), trueform_codegen::problem::Problem>(())
/// ```
pub fn normal_form(official: &str) -> Result<String, Problem> {
    let document: Value = serde_json::from_str(official)
        .map_err(|error| Problem::at("", format!("not JSON: {error}")))?;
    let normal = normalise(&document)?;
    let mut text = serde_json::to_string_pretty(&normal)
        .map_err(|error| Problem::at("", error.to_string()))?;
    text.push('\n');
    Ok(text)
}

/// Normalises parsed JSON, like [`normal_form`].
///
/// # Errors
/// As for [`normal_form`].
pub fn normalise(document: &Value) -> Result<Value, Problem> {
    let root = document
        .as_object()
        .ok_or_else(|| Problem::at("", "a schema file is a JSON object"))?;
    let draft = Draft::of(root)?;
    let (holder, definitions) = definitions(root)?;
    let walk = Walk { draft, definitions };

    let mut normal = Map::new();
    for (name, schema) in definitions {
        let at = child(&format!("/{holder}"), name);
        normal.insert(name.clone(), walk.schema(schema, &at)?);
    }
    normal.sort_keys();

    let mut out = Map::new();
    out.insert("$defs".into(), Value::Object(normal));
    out.insert("$schema".into(), DRAFT_2020_12.into());
    Ok(Value::Object(out))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Draft {
    V07,
    V2020_12,
}

impl Draft {
    fn of(root: &Map<String, Value>) -> Result<Draft, Problem> {
        let allowed = format!("`{}` or `{DRAFT_2020_12}`", DRAFT_07[0]);
        let Some(named) = root.get("$schema") else {
            return Err(Problem::at(
                "",
                format!("`$schema` is missing, expected {allowed}"),
            ));
        };
        match named.as_str() {
            Some(DRAFT_2020_12) => Ok(Draft::V2020_12),
            Some(uri) if DRAFT_07.contains(&uri) => Ok(Draft::V07),
            _ => Err(Problem::at(
                "/$schema",
                format!("`{named}` is not a known draft, expected {allowed}"),
            )),
        }
    }
}

/// Returns the definitions of the file and the member that holds them. Other members of the root must not restrict values.
fn definitions(root: &Map<String, Value>) -> Result<(&'static str, &Map<String, Value>), Problem> {
    for key in root.keys() {
        match key.as_str() {
            "$schema" | "$id" | "$defs" | "definitions" => {}
            key if is_prose(key) => {}
            // The root of an official file is a container, never a schema for values of its own.
            key => {
                return Err(Problem::at(
                    child("", key),
                    format!("`{key}` beside the definitions would be lost"),
                ));
            }
        }
    }
    let (holder, value) = match (root.get("$defs"), root.get("definitions")) {
        (Some(_), Some(_)) => {
            return Err(Problem::at(
                "",
                "both `$defs` and `definitions`, expected one of them",
            ));
        }
        (Some(value), None) => ("$defs", value),
        (None, Some(value)) => ("definitions", value),
        (None, None) => {
            return Err(Problem::at(
                "",
                "neither `$defs` nor `definitions`: the file defines nothing",
            ));
        }
    };
    match value.as_object() {
        Some(definitions) => Ok((holder, definitions)),
        None => Err(Problem::at(
            child("", holder),
            format!("`{holder}` is not an object"),
        )),
    }
}

/// Returns whether a keyword is an annotation that is prose, or that neither restricts values nor helps a generator. `default` is not among
/// them: it is data (the value that absence means), and dropping it could not be undone. Keywords that start with `x-` are annotations of
/// tools. `discriminator`, of OpenAPI, repeats what the members of a union say.
fn is_prose(keyword: &str) -> bool {
    matches!(
        keyword,
        "$comment"
            | "$anchor"
            | "deprecated"
            | "description"
            | "discriminator"
            | "examples"
            | "markdownDescription"
            | "readOnly"
            | "title"
            | "writeOnly"
    ) || keyword.starts_with("x-")
}

/// Kind of a keyword's value. A walk needs it to find the schemas in the value.
enum Holds {
    Data,
    Schema,
    Schemas,
    NamedSchemas,
}

fn holds(keyword: &str) -> Option<Holds> {
    let holds = match keyword {
        "const" | "contentEncoding" | "contentMediaType" | "default" | "dependentRequired"
        | "enum" | "exclusiveMaximum" | "exclusiveMinimum" | "format" | "maxContains"
        | "maxItems" | "maxLength" | "maxProperties" | "maximum" | "minContains" | "minItems"
        | "minLength" | "minProperties" | "minimum" | "multipleOf" | "pattern" | "required"
        | "type" | "uniqueItems" => Holds::Data,
        "additionalProperties"
        | "contains"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::Schemas,
        "dependentSchemas" | "patternProperties" | "properties" => Holds::NamedSchemas,
        _ => return None,
    };
    Some(holds)
}

struct Walk<'a> {
    draft: Draft,
    definitions: &'a Map<String, Value>,
}

impl Walk<'_> {
    fn schema(&self, schema: &Value, at: &str) -> Result<Value, Problem> {
        let members = match schema {
            Value::Bool(_) => return Ok(schema.clone()),
            Value::Object(members) => members,
            _ => {
                return Err(Problem::at(
                    at,
                    format!("`{schema}` is not a schema, expected an object or a boolean"),
                ));
            }
        };
        let mut out = Map::new();
        for (keyword, value) in members {
            if is_prose(keyword) {
                continue;
            }
            // Draft 7 ignores the keywords beside a reference; 2020-12 would apply them.
            if self.draft == Draft::V07 && keyword != "$ref" && members.contains_key("$ref") {
                continue;
            }
            let here = child(at, keyword);
            match keyword.as_str() {
                "$ref" => _ = out.insert(keyword.clone(), self.reference(value, &here)?),
                "$schema" => self.nested_draft(value, &here)?,
                _ => _ = out.insert(keyword.clone(), self.keyword(keyword, value, &here)?),
            }
        }
        out.sort_keys();
        Ok(Value::Object(out))
    }

    fn keyword(&self, keyword: &str, value: &Value, at: &str) -> Result<Value, Problem> {
        match holds(keyword) {
            Some(Holds::Data) => Ok(sorted(value)),
            Some(Holds::Schema) => self.schema(value, at),
            Some(Holds::Schemas) => {
                let list = value
                    .as_array()
                    .ok_or_else(|| Problem::at(at, format!("`{keyword}` is not an array")))?;
                let schemas = list
                    .iter()
                    .enumerate()
                    .map(|(i, schema)| self.schema(schema, &child(at, i)));
                Ok(Value::Array(schemas.collect::<Result<_, _>>()?))
            }
            Some(Holds::NamedSchemas) => {
                let named = value
                    .as_object()
                    .ok_or_else(|| Problem::at(at, format!("`{keyword}` is not an object")))?;
                let schemas = named.iter().map(|(name, schema)| {
                    Ok((name.clone(), self.schema(schema, &child(at, name))?))
                });
                let mut schemas: Map<String, Value> = schemas.collect::<Result<_, Problem>>()?;
                schemas.sort_keys();
                Ok(Value::Object(schemas))
            }
            None => Err(Problem::at(
                at,
                format!(
                    "`{keyword}` is not a keyword of JSON Schema that the generator knows, and only those that start with `x-` are ignored"
                ),
            )),
        }
    }

    fn reference(&self, target: &Value, at: &str) -> Result<Value, Problem> {
        match target.as_str().and_then(referred) {
            Some(name) if self.definitions.contains_key(&name) => Ok(reference(&name).into()),
            Some(name) => Err(Problem::at(
                at,
                format!("`{name}` is not defined in this file"),
            )),
            None => Err(Problem::at(
                at,
                format!("`{target}` does not name a definition, expected `#/$defs/NAME`"),
            )),
        }
    }

    /// Checks a repeated `$schema`. Some generators repeat the draft in every definition; that is harmless as long as it is the same draft.
    fn nested_draft(&self, value: &Value, at: &str) -> Result<(), Problem> {
        let same = value.as_str().is_some_and(|uri| match self.draft {
            Draft::V07 => DRAFT_07.contains(&uri),
            Draft::V2020_12 => uri == DRAFT_2020_12,
        });
        if same {
            Ok(())
        } else {
            Err(Problem::at(
                at,
                format!("`{value}` differs from the draft of the file"),
            ))
        }
    }
}

fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(definitions: &Value) -> Value {
        json!({ "$schema": DRAFT_2020_12, "$defs": definitions })
    }

    #[test]
    fn prose_goes_and_properties_of_the_same_name_stay() {
        let schema = json!({ "A": {
            "type": "object", "title": "A", "description": "p", "deprecated": true, "examples": [1], "$comment": "c",
            "required": ["description"],
            "properties": {
                "title": { "type": "string", "description": "p" },
                "description": { "$ref": "#/$defs/B", "description": "p" },
                "const": { "const": { "z": 1, "description": "data", "a": 2 } },
                "default": { "default": "kept" },
                "$ref": true,
            },
        }, "B": { "enum": ["z", "a"], "title": "B" } });
        let expected = json!({
            "$defs": {
                "A": {
                    "properties": {
                        "$ref": true,
                        "const": { "const": { "a": 2, "description": "data", "z": 1 } },
                        "default": { "default": "kept" },
                        "description": { "$ref": "#/$defs/B" },
                        "title": { "type": "string" },
                    },
                    "required": ["description"],
                    "type": "object",
                },
                "B": { "enum": ["z", "a"] },
            },
            "$schema": DRAFT_2020_12,
        });
        let normal = normalise(&document(&schema)).unwrap();
        assert_eq!(
            normal.to_string(),
            expected.to_string(),
            "compared as text: order counts"
        );
        assert_eq!(normalise(&normal).unwrap(), normal);
    }

    #[test]
    fn draft_7_is_read_with_its_own_rules() {
        let official = json!({ "$schema": DRAFT_07[0], "definitions": {
            "A": { "$ref": "#/definitions/B", "minLength": 7 },
            "B": { "$schema": DRAFT_07[0], "type": "string" },
        } });
        let normal = normalise(&official).unwrap();
        assert_eq!(
            normal["$defs"],
            json!({ "A": { "$ref": "#/$defs/B" }, "B": { "type": "string" } })
        );
    }

    #[test]
    fn problems_name_the_place() {
        let cases = [
            (json!([]), "a schema file is a JSON object"),
            (json!({ "$defs": {} }), "`$schema` is missing"),
            (
                json!({ "$schema": "draft-04", "$defs": {} }),
                "at `/$schema`: `\"draft-04\"` is not a known draft",
            ),
            (
                json!({ "$schema": DRAFT_2020_12 }),
                "neither `$defs` nor `definitions`",
            ),
            (
                json!({ "$schema": DRAFT_2020_12, "$defs": {}, "definitions": {} }),
                "both `$defs` and `definitions`",
            ),
            (
                json!({ "$schema": DRAFT_2020_12, "$defs": [] }),
                "at `/$defs`: `$defs` is not an object",
            ),
            (
                json!({ "$schema": DRAFT_2020_12, "$defs": {}, "type": "object" }),
                "at `/type`: `type` beside the definitions",
            ),
            (
                document(&json!({ "A": 1 })),
                "definition `A`, at `/$defs/A`: `1` is not a schema",
            ),
            (
                document(&json!({ "A": { "frmat": "uri" } })),
                "definition `A`, at `/$defs/A/frmat`: `frmat` is not a keyword",
            ),
            (
                document(&json!({ "A": { "items": { "$ref": "#/$defs/No" } } })),
                "at `/$defs/A/items/$ref`: `No` is not defined",
            ),
            (
                document(&json!({ "A": { "$ref": "other.json" } })),
                "at `/$defs/A/$ref`: `\"other.json\"` does not name",
            ),
            (
                document(&json!({ "A": { "anyOf": {} } })),
                "at `/$defs/A/anyOf`: `anyOf` is not an array",
            ),
            (
                document(&json!({ "A": { "properties": { "a/b": { "$schema": DRAFT_07[0] } } } })),
                "at `/$defs/A/properties/a~1b/$schema`",
            ),
        ];
        for (document, expected) in cases {
            let problem = normalise(&document).unwrap_err().to_string();
            assert!(problem.contains(expected), "{problem}\nlacks\n{expected}");
        }
    }
}
