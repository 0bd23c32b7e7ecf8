//! Arguments that HTTP headers repeat: the `x-mcp-header` annotations of an input schema (Z-8, Z-9, TRAP-15).

use serde_json::{Map, Value};
use trueform_schema::pointer::escape;

/// The annotation.
const KEYWORD: &str = "x-mcp-header";

/// An argument that the header `Mcp-Param-{name}` repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParam {
    /// The name, as the schema spells it.
    pub name: Box<str>,
    /// Property names from the arguments' root to the argument.
    pub path: Vec<Box<str>>,
    /// How the value is compared.
    pub kind: HeaderKind,
}

/// The type of such an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderKind {
    /// Sent in decimal, compared as a number.
    Integer,
    /// Sent as it is, or Base64 between markers.
    String,
    /// `true` or `false`.
    Boolean,
}

/// The annotations of `schema`.
///
/// # Errors
/// All annotations that break a rule, a sentence each with its pointer: a name that is no HTTP token or is taken, a type
/// that cannot be sent, a place that is not reached through `properties` alone.
pub fn header_params(schema: &Value) -> Result<Vec<HeaderParam>, Vec<String>> {
    let mut found = Found::default();
    found.root(schema);
    if found.problems.is_empty() {
        Ok(found.params)
    } else {
        Err(found.problems)
    }
}

#[derive(Default)]
struct Found {
    params: Vec<HeaderParam>,
    problems: Vec<String>,
}

impl Found {
    fn root(&mut self, schema: &Value) {
        let Value::Object(members) = schema else {
            return;
        };
        if members.contains_key(KEYWORD) {
            self.problems.push(format!(
                "/{KEYWORD}: the arguments as a whole cannot be sent as a header"
            ));
        }
        self.object(members, &mut Vec::new(), "");
    }

    /// Looks at the properties of an object schema, and for annotations everywhere else, where none may be.
    fn object(&mut self, schema: &Map<String, Value>, path: &mut Vec<Box<str>>, pointer: &str) {
        for (keyword, value) in schema {
            let pointer = format!("{pointer}/{}", escape(keyword));
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        let Value::Object(property) = property else {
                            continue;
                        };
                        let pointer = format!("{pointer}/{}", escape(name));
                        path.push(name.as_str().into());
                        if let Some(header) = property.get(KEYWORD) {
                            self.annotated(header, property, path, &pointer);
                        }
                        self.object(property, path, &pointer);
                        path.pop();
                    }
                }
                // Values are no schemas.
                ("const" | "default" | "enum" | "examples", _) => {}
                (_, value) => self.nowhere(value, &pointer),
            }
        }
    }

    fn annotated(
        &mut self,
        header: &Value,
        property: &Map<String, Value>,
        path: &[Box<str>],
        pointer: &str,
    ) {
        let mut complain = |problem: &str| {
            self.problems
                .push(format!("{pointer}/{KEYWORD}: {problem}"))
        };
        let Value::String(name) = header else {
            return complain("expected a header name");
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            return complain(&format!(
                "`{name}` is no header name: use letters, digits and `!#$%&'*+-.^_`|~`"
            ));
        }
        let kind = match property.get("type").and_then(Value::as_str) {
            Some("integer") => HeaderKind::Integer,
            Some("string") => HeaderKind::String,
            Some("boolean") => HeaderKind::Boolean,
            Some(other) => {
                return complain(&format!(
                    "a value of type `{other}` cannot be sent; only integer, string and boolean can"
                ));
            }
            None => return complain("the type must be `integer`, `string` or `boolean`"),
        };
        if let Some(taken) = self
            .params
            .iter()
            .find(|param| param.name.eq_ignore_ascii_case(name))
        {
            let first = taken.path.join("/");
            return complain(&format!(
                "`{name}` is taken by `{first}`; header names do not differ by case"
            ));
        }
        self.params.push(HeaderParam {
            name: name.as_str().into(),
            path: path.to_vec(),
            kind,
        });
    }

    /// Complains of annotations anywhere below `value`.
    fn nowhere(&mut self, value: &Value, pointer: &str) {
        match value {
            Value::Object(members) => {
                if members.contains_key(KEYWORD) {
                    self.problems.push(format!(
                        "{pointer}/{KEYWORD}: only arguments reached through `properties` alone can be sent as headers"
                    ));
                }
                for (name, value) in members {
                    self.nowhere(value, &format!("{pointer}/{}", escape(name)));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.nowhere(item, &format!("{pointer}/{index}"));
                }
            }
            _ => {}
        }
    }
}

/// Characters of an HTTP token.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // Z-8, Z-9, TRAP-15
    #[test]
    fn annotations() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        }});
        let params = header_params(&schema).unwrap();
        assert_eq!(params.len(), 2);
        assert_eq!(
            (params[1].path.join("/").as_str(), params[1].kind),
            ("deep/n", HeaderKind::Integer)
        );
        for (property, problem) in [
            (
                json!({"type": "string", "x-mcp-header": ""}),
                "no header name",
            ),
            (
                json!({"type": "string", "x-mcp-header": "a b"}),
                "no header name",
            ),
            (
                json!({"type": "string", "x-mcp-header": "é"}),
                "no header name",
            ),
            (
                json!({"type": "number", "x-mcp-header": "N"}),
                "`number` cannot be sent",
            ),
            (
                json!({"type": ["string"], "x-mcp-header": "N"}),
                "type must be",
            ),
            (
                json!({"type": "string", "x-mcp-header": "REGION"}),
                "taken by `region`",
            ),
            (
                json!({"type": "array", "items": {"type": "string", "x-mcp-header": "I"}}),
                "only arguments reached",
            ),
            (
                json!({"anyOf": [{"type": "string", "x-mcp-header": "I"}]}),
                "only arguments reached",
            ),
        ] {
            let mut bad = schema.clone();
            bad["properties"]["bad"] = property;
            let problems = header_params(&bad).unwrap_err();
            assert!(
                problems.len() == 1 && problems[0].contains(problem),
                "{problems:?}"
            );
        }
    }
}
