//! Arguments that HTTP headers repeat: the `x-mcp-header` annotations of an input schema (Z-8, Z-9, TRAP-15).

use serde_json::{Map, Value};
use trueform_schema::{ErrorObject, Json, pointer::escape};

use crate::{
    gate::{HeaderValue, Headers, PARAM_HEADER_PREFIX, decode_header},
    jsonrpc::header_mismatch,
};

/// The annotation.
const KEYWORD: &str = "x-mcp-header";

/// An argument that the header `Mcp-Param-{name}` repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderParam {
    /// The name, as the schema writes it.
    pub(crate) name: Box<str>,
    /// Property names from the arguments' root to the argument.
    pub(crate) path: Vec<Box<str>>,
    /// How the value is compared.
    pub(crate) kind: HeaderKind,
}

/// The type of such an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    /// Sent in decimal, compared as a number.
    Integer,
    /// Sent as it is, or Base64 between markers.
    String,
    /// `true` or `false`.
    Boolean,
}

/// Reads the annotations of `schema`.
///
/// # Errors
/// All annotations that break a rule, one sentence each with the pointer: a name that is not an HTTP token or is already used, a type that
/// cannot be sent, a place that is not reached only through `properties`.
pub(crate) fn header_params(schema: &Value) -> Result<Vec<HeaderParam>, Vec<String>> {
    let mut found = Found::default();
    found.root(schema);
    if found.problems.is_empty() {
        Ok(found.params)
    } else {
        Err(found.problems)
    }
}

/// Compares headers with the arguments that they repeat (F-28, GAP-9).
pub(crate) fn check(
    headers: &dyn Headers,
    params: &[HeaderParam],
    arguments: Option<&str>,
) -> Result<(), ErrorObject> {
    if params.is_empty() {
        return Ok(());
    }
    // Converted like a `Json`: numbers that a value cannot represent are null.
    let arguments = arguments.and_then(|text| Json::from_text(text).ok());
    let arguments = arguments.map_or(Value::Null, |json| json.to_value());
    for param in params {
        let value = param
            .path
            .iter()
            .try_fold(&arguments, |value, key| value.get(&**key))
            .filter(|value| !value.is_null());
        let name = format!("{PARAM_HEADER_PREFIX}{}", param.name.to_ascii_lowercase());
        let complain = |problem: String| {
            Err(header_mismatch(format!(
                "`Mcp-Param-{}` {problem}",
                param.name
            )))
        };
        let sent = match (headers.get(&name), value) {
            (HeaderValue::Absent, None) => continue,
            (HeaderValue::Absent, Some(_)) => {
                return complain("is missing, and the argument it repeats is there".to_owned());
            }
            (HeaderValue::Bad, _) => {
                return complain("is repeated or has illegal characters".to_owned());
            }
            (HeaderValue::One(_), None) => {
                return complain("is there, and the argument it repeats is not".to_owned());
            }
            (HeaderValue::One(sent), Some(_)) => sent,
        };
        let sent = match decode_header(sent) {
            Ok(sent) => sent,
            Err(problem) => return complain(problem),
        };
        if !value.is_some_and(|value| agrees(&sent, value, param.kind)) {
            return complain("differs from the argument it repeats".to_owned());
        }
    }
    Ok(())
}

fn agrees(sent: &str, value: &Value, kind: HeaderKind) -> bool {
    match (kind, value) {
        (HeaderKind::String, Value::String(text)) => sent == text,
        (HeaderKind::Boolean, Value::Bool(flag)) => sent == if *flag { "true" } else { "false" },
        (HeaderKind::Integer, Value::Number(number)) => {
            let float = sent.parse::<f64>().ok();
            // 42.0 and 42 are the same integer, in both notations.
            let sent = sent.parse().ok().or(float.and_then(whole));
            let found = number.as_i128().or(number.as_f64().and_then(whole));
            match (sent, found) {
                (None, None) => float.is_some() && float == number.as_f64(),
                (sent, found) => sent == found,
            }
        }
        // The argument has a type that its schema forbids: the argument check reports that better than a header error.
        _ => true,
    }
}

/// Returns the integer value of a float without a fraction.
fn whole(float: f64) -> Option<i128> {
    /// Smaller values fit.
    const LARGEST: f64 = 1e38;
    (float.fract() == 0.0 && float.abs() < LARGEST).then_some(float as i128)
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

    /// Reads the properties of an object schema, and searches for annotations everywhere else, where none are allowed.
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
                // These keywords contain values, not schemas.
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
                "`{name}` is not a header name: use letters, digits and `!#$%&'*+-.^_`|~`"
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

    /// Reports annotations anywhere below `value`.
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
                "not a header name",
            ),
            (
                json!({"type": "string", "x-mcp-header": "a b"}),
                "not a header name",
            ),
            (
                json!({"type": "string", "x-mcp-header": "é"}),
                "not a header name",
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

    struct One(&'static str, &'static str);

    impl Headers for One {
        fn get(&self, name: &str) -> HeaderValue<'_> {
            if name == self.0 {
                HeaderValue::One(self.1)
            } else {
                HeaderValue::Absent
            }
        }
    }

    /// Headers that are all repeated or have bytes that are not text.
    struct UnreadableHeader;

    impl Headers for UnreadableHeader {
        fn get(&self, _: &str) -> HeaderValue<'_> {
            HeaderValue::Bad
        }
    }

    // F-28: an unreadable header does not match any argument, not even an absent one.
    #[test]
    fn unreadable_headers() {
        let param = HeaderParam {
            name: "Region".into(),
            path: vec!["region".into()],
            kind: HeaderKind::String,
        };
        for arguments in [r#"{"region":"eu"}"#, "{}", r#"{"region":null}"#] {
            let arguments = Json::from_text(arguments).unwrap();
            let error = super::check(
                &UnreadableHeader,
                std::slice::from_ref(&param),
                Some(arguments.get()),
            )
            .unwrap_err();
            assert_eq!(error.code, -32020, "{}", error.message);
        }
    }

    // F-28, GAP-9
    #[test]
    fn params() {
        let param = |kind| HeaderParam {
            name: "Region".into(),
            path: vec!["where".into(), "region".into()],
            kind,
        };
        let check = |header: Option<&'static str>, kind, arguments: &str| {
            let headers = header.map_or(One("", ""), |value| One("mcp-param-region", value));
            let arguments = Json::from_text(arguments).unwrap();
            super::check(&headers, &[param(kind)], Some(arguments.get()))
                .map_err(|error| error.code)
        };
        assert_eq!(
            check(
                Some("eu"),
                HeaderKind::String,
                r#"{"where":{"region":"eu"}}"#
            ),
            Ok(())
        );
        assert_eq!(
            check(
                Some("us"),
                HeaderKind::String,
                r#"{"where":{"region":"eu"}}"#
            ),
            Err(-32020)
        );
        assert_eq!(
            check(None, HeaderKind::String, r#"{"where":{"region":"eu"}}"#),
            Err(-32020)
        );
        assert_eq!(
            check(
                Some("eu"),
                HeaderKind::String,
                r#"{"where":{"region":null}}"#
            ),
            Err(-32020)
        );
        assert_eq!(check(None, HeaderKind::String, "{}"), Ok(()));
        assert_eq!(
            check(
                Some("42.0"),
                HeaderKind::Integer,
                r#"{"where":{"region":42}}"#
            ),
            Ok(())
        );
        // 42.0 and 42 are the same integer. Two large integers are not the same just because their doubles are.
        for (header, argument, agrees) in [
            ("42", "42.0", true),
            ("1816189213876457", "1816189213876457.0", true),
            ("9007199254740993", "9007199254740993", true),
            ("9007199254740993", "9007199254740992.0", false),
            ("18446744073709551615", "18446744073709551615", true),
            ("18446744073709551615", "18446744073709551614", false),
            ("10000000000000000", "1e16", true),
            ("9.5", "9.5", true),
            ("9", "9.5", false),
            ("x", "9", false),
        ] {
            let arguments = format!(r#"{{"where":{{"region":{argument}}}}}"#);
            let got = check(Some(header), HeaderKind::Integer, &arguments);
            assert_eq!(got.is_ok(), agrees, "{header} and {argument}");
        }
        assert_eq!(
            check(
                Some("43"),
                HeaderKind::Integer,
                r#"{"where":{"region":42}}"#
            ),
            Err(-32020)
        );
        assert_eq!(
            check(
                Some("true"),
                HeaderKind::Boolean,
                r#"{"where":{"region":true}}"#
            ),
            Ok(())
        );
        assert_eq!(
            check(
                Some("True"),
                HeaderKind::Boolean,
                r#"{"where":{"region":true}}"#
            ),
            Err(-32020)
        );
    }
}
