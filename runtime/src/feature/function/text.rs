//! Functions whose arguments are text: those of prompts and resource templates. A parameter that is not text is read from its
//! text: `3` for a number, `true` for a flag.

use std::borrow::Cow;

use serde_json::{Map, Value};
use trueform_schema::{ErrorObject, pointer};

use super::{
    Function,
    arguments::ArgumentMismatch,
    input::Input,
    invocation::Reason,
    report::{ArgumentFailure, in_lines},
};
use crate::{
    check::{CompileOptions, Schema, SchemaError, Violation, contradictions, did_you_mean},
    exchange::Context,
    feature::{callable::Step, failure::ToolError},
    jsonrpc::{self, ErrorDetail},
};

/// A function that is called with texts by name.
#[derive(Debug)]
pub(crate) struct TextFunction<R> {
    function: Function<R>,
    parameters: Vec<TextParameter>,
    /// What arguments are held to.
    schema: Schema,
    /// Whether decoding them enforces the schema.
    is_plain: bool,
}

/// One argument that a function takes.
#[derive(Debug)]
pub(crate) struct TextParameter {
    pub(crate) name: Box<str>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) required: bool,
    /// The values of an enumeration; empty for other types.
    pub(crate) values: Vec<String>,
    /// Whether a text stands for the number or flag that it spells.
    is_scalar: bool,
    /// Whether no text can be its value: it is a list, a map or a struct.
    is_structured: bool,
}

/// What the callers' words for a function are: `prompt`, and where its arguments stand in the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wording<'a> {
    pub(crate) kind: &'static str,
    pub(crate) name: &'a str,
    /// JSON pointer to the arguments in the request.
    pub(crate) pointer: &'static str,
    /// Whether they are parts of one string, such as a URI, and have no pointers of their own.
    pub(crate) in_one_string: bool,
}

impl Wording<'_> {
    /// The error for the value of `argument`, which the function refused; `problem` is its author's.
    #[cold]
    pub(crate) fn wrong_argument(self, argument: &str, problem: &str) -> ErrorObject {
        let pointer = self.pointer_to(&format!("/{}", pointer::escape(argument)));
        let detail = ErrorDetail::new(pointer, "argument", problem.to_owned(), "another value");
        misfit(self, &format!("`{argument}`: {problem}"), &detail)
    }

    /// JSON pointer to what `inner` points to within the arguments.
    fn pointer_to(&self, inner: &str) -> String {
        match self.in_one_string {
            true => self.pointer.to_owned(),
            false => format!("{}{}", self.pointer, jsonrpc::shortened(inner)),
        }
    }
}

impl<R> TextFunction<R> {
    /// The function with the parameters `input`.
    ///
    /// # Errors
    /// What the schema compiler has against the schemas of its parameters, or bounds in them that contradict each other.
    pub(crate) fn new(
        input: &Input,
        function: Function<R>,
        options: CompileOptions,
    ) -> Result<Self, Vec<SchemaError>> {
        let checked = match &input.enforced {
            super::Enforced::Bounded(bounds) => bounds.to_value(),
            super::Enforced::Decoded | super::Enforced::Advertised => {
                Value::Object(input.schema.clone())
            }
        };
        let contradictory = contradictions(&checked);
        if !contradictory.is_empty() {
            return Err(contradictory);
        }
        Ok(Self {
            parameters: parameters(&input.schema),
            schema: Schema::compile(&checked, options.exact_integers(true))?,
            is_plain: !input.enforced.is_checked(),
            function,
        })
    }

    /// The parameters that no text can fill.
    pub(crate) fn structured(&self) -> impl Iterator<Item = &str> {
        let structured = self.parameters.iter().filter(|one| one.is_structured);
        structured.map(|one| &*one.name)
    }

    /// The arguments that the function takes, in order.
    pub(crate) fn parameters(&self) -> &[TextParameter] {
        &self.parameters
    }

    /// Calls the function with `arguments`, whose names differ. Arguments that do not fit are an error of the protocol (K-2).
    pub(crate) fn call<'a>(
        &self,
        context: &Context,
        arguments: impl Iterator<Item = (&'a str, &'a str)>,
        wording: Wording<'_>,
    ) -> Step<Result<R, ToolError>> {
        let text = self.as_json(arguments);
        let failure = match self.checked(context, &text) {
            Ok(()) => match self.function.decode(context, &text, None) {
                Ok(step) => return step,
                Err(failure) => failure,
            },
            Err(failure) => failure,
        };
        Step::Ready(Err(self.refusal(context, &text, failure, wording)))
    }

    /// The arguments as the text of a JSON object.
    fn as_json<'a>(&self, arguments: impl Iterator<Item = (&'a str, &'a str)>) -> String {
        // Enough for what is usual, so that it need not grow.
        let mut out = String::with_capacity(96);
        out.push('{');
        for (name, value) in arguments {
            let parameter = self.parameters.iter().find(|one| *one.name == *name);
            if value.is_empty() && parameter.is_some_and(|one| one.is_scalar && !one.required) {
                // A field of a form that was left empty.
                continue;
            }
            if 1 < out.len() {
                out.push(',');
            }
            push_quoted(&mut out, name);
            out.push(':');
            match parameter.filter(|one| one.is_scalar && is_scalar(value.trim())) {
                Some(_) => out.push_str(value.trim()),
                None => push_quoted(&mut out, value),
            }
        }
        out.push('}');
        out
    }

    fn checked(&self, context: &Context, text: &str) -> Result<(), ArgumentFailure> {
        if self.is_plain {
            return Ok(());
        }
        let most = context.0.host.settings.max_check_steps;
        match self.schema.check_str_up_to(text, most) {
            Ok(()) => Ok(()),
            Err(_) => Err(ArgumentFailure::Unchecked),
        }
    }

    /// What is wrong with the arguments `text`, or the error of what could not be injected.
    #[cold]
    fn refusal(
        &self,
        context: &Context,
        text: &str,
        failure: ArgumentFailure,
        wording: Wording<'_>,
    ) -> ToolError {
        if let ArgumentFailure::Parameter(Reason::Injected(error)) = failure {
            return error;
        }
        let most = context.0.host.settings.max_check_steps;
        if let ArgumentFailure::Names(ArgumentMismatch::Unknown) = &failure
            && let Some(error) = self.unknown_name(text, wording)
        {
            return ToolError::protocol(error);
        }
        let error = match self.schema.check_str_up_to(text, most) {
            Err(violations) if violations.iter().len() != 0 => {
                let lines = in_lines(&violations, Violation::to_string);
                let first = &violations.iter().as_slice()[0];
                let found = first.found.for_log().to_string();
                let detail = ErrorDetail::new(
                    wording.pointer_to(&first.pointer),
                    first.keyword,
                    first.expected.clone(),
                    found,
                );
                misfit(wording, &lines.replace('\n', "; "), &detail)
            }
            // The type is stricter than its schema.
            _ => {
                let at = match &failure {
                    ArgumentFailure::Parameter(Reason::Argument { index, .. }) => {
                        pointer::escape(&self.function.names.parameters[*index]).into_owned()
                    }
                    _ => String::new(),
                };
                let pointer = match at.as_str() {
                    "" => wording.pointer.to_owned(),
                    name => wording.pointer_to(&format!("/{name}")),
                };
                let problem = failure.worded(text, &self.function.names);
                let expected = format!("what the {} takes", wording.kind);
                let detail = ErrorDetail::new(pointer, "type", expected, "something else");
                misfit(wording, &problem, &detail)
            }
        };
        ToolError::protocol(error)
    }

    /// The error for an argument that the function does not take.
    fn unknown_name(&self, text: &str, wording: Wording<'_>) -> Option<ErrorObject> {
        let sent: Map<String, Value> = serde_json::from_str(text).ok()?;
        let known = |name: &str| self.parameters.iter().any(|one| *one.name == *name);
        let name = sent.keys().find(|name| !known(name))?;
        let names = || self.parameters.iter().map(|one| &*one.name);
        let mut problem = format!("there is no argument `{}`", jsonrpc::shortened(name));
        match did_you_mean(name, names()) {
            Some(near) => problem.push_str(&format!("; did you mean `{near}`?")),
            None if self.parameters.is_empty() => problem.push_str("; it takes none"),
            None => {
                let names: Vec<String> = names().map(|name| format!("`{name}`")).collect();
                problem.push_str(&format!("; it takes {}", names.join(", ")));
            }
        }
        let pointer = wording.pointer_to(&format!("/{}", pointer::escape(name)));
        let detail = ErrorDetail::new(
            pointer,
            "known-argument",
            "the name of an argument",
            "another",
        );
        Some(misfit(wording, &problem, &detail))
    }
}

fn misfit(wording: Wording<'_>, problem: &str, detail: &ErrorDetail) -> ErrorObject {
    let Wording { kind, name, .. } = wording;
    let name = jsonrpc::shortened(name);
    jsonrpc::invalid_params(
        format!("the arguments of {kind} `{name}` do not fit: {problem}"),
        detail,
    )
}

fn push_quoted(out: &mut String, text: &str) {
    // Nearly every text is written as it is.
    if text
        .bytes()
        .all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\')
    {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}

/// Whether `text` is the JSON text of a number or of a flag.
fn is_scalar(text: &str) -> bool {
    matches!(text, "true" | "false")
        || (text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok())
}

/// The arguments that `schema`, the schema of an object, names.
fn parameters(schema: &Map<String, Value>) -> Vec<TextParameter> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    properties
        .map(|(name, property)| {
            let text = |keyword: &str| {
                let text = property.get(keyword).and_then(Value::as_str);
                text.map(str::to_owned)
            };
            TextParameter {
                name: name.as_str().into(),
                title: text("title"),
                description: text("description"),
                required: required.contains(&name.as_str()),
                values: values(property, schema),
                is_scalar: matches!(kind(property, schema, DEEPEST), Kind::Scalar),
                is_structured: matches!(kind(property, schema, DEEPEST), Kind::Structured),
            }
        })
        .collect()
}

/// Longest chain of references that is followed within the schema of a parameter.
const DEEPEST: usize = 8;

/// What texts a schema stands for.
enum Kind {
    /// It allows a string, or says nothing.
    Text,
    /// It allows numbers or flags, and no string.
    Scalar,
    /// It allows lists or objects, and none of the above.
    Structured,
    /// It allows `null` alone.
    Null,
}

fn kind(schema: &Value, root: &Map<String, Value>, left: usize) -> Kind {
    let Some(left) = left.checked_sub(1) else {
        return Kind::Text;
    };
    let schema = resolved(schema, root);
    let of_type = |name: &str| match name {
        "integer" | "number" | "boolean" => Kind::Scalar,
        "null" => Kind::Null,
        "array" | "object" => Kind::Structured,
        _ => Kind::Text,
    };
    let of_value = |value: &Value| match value {
        Value::Number(_) | Value::Bool(_) => Kind::Scalar,
        Value::Null => Kind::Null,
        Value::Array(_) | Value::Object(_) => Kind::Structured,
        Value::String(_) => Kind::Text,
    };
    if let Some(one) = schema.get("const") {
        return of_value(one);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return together(values.iter().map(of_value));
    }
    match schema.get("type") {
        Some(Value::String(name)) => return of_type(name),
        Some(Value::Array(names)) => {
            return together(names.iter().filter_map(Value::as_str).map(of_type));
        }
        _ => {}
    }
    for combined in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(parts)) = schema.get(combined) {
            return together(parts.iter().map(|part| kind(part, root, left)));
        }
    }
    Kind::Text
}

fn together(kinds: impl Iterator<Item = Kind>) -> Kind {
    kinds.fold(Kind::Null, |all, one| match (all, one) {
        (Kind::Text, _) | (_, Kind::Text) => Kind::Text,
        (Kind::Scalar, _) | (_, Kind::Scalar) => Kind::Scalar,
        (Kind::Structured, _) | (_, Kind::Structured) => Kind::Structured,
        (Kind::Null, Kind::Null) => Kind::Null,
    })
}

/// The texts of the enumeration that `schema` is; none if it is another type.
fn values(schema: &Value, root: &Map<String, Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    };
    let schema = resolved(schema, root);
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.iter().filter_map(text).collect();
    }
    if schema.get("type").and_then(Value::as_str) == Some("boolean") {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    // What schemars writes for `Option`, and for an enumeration whose variants have descriptions.
    for combined in ["oneOf", "anyOf"] {
        let Some(Value::Array(parts)) = schema.get(combined) else {
            continue;
        };
        let mut found = Vec::new();
        for part in parts {
            let part = resolved(part, root);
            match (part.get("const"), part.get("enum")) {
                (Some(one), _) => found.extend(text(one)),
                (None, Some(Value::Array(values))) => found.extend(values.iter().filter_map(text)),
                (None, _) if part.get("type").and_then(Value::as_str) == Some("null") => {}
                // A value that is not listed fits too.
                _ => return Vec::new(),
            }
        }
        return found;
    }
    Vec::new()
}

/// `schema`, or what it refers to in the `$defs` of `root`.
fn resolved<'a>(mut schema: &'a Value, root: &'a Map<String, Value>) -> &'a Value {
    for _ in 0..DEEPEST {
        let referred = schema.get("$ref").and_then(Value::as_str);
        let Some(name) = referred.and_then(|name| name.strip_prefix("#/$defs/")) else {
            break;
        };
        let name: Cow<'_, str> = pointer::unescape(name);
        match root.get("$defs").and_then(|all| all.get(&*name)) {
            Some(definition) => schema = definition,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "expectations read better inline"
    )]
    fn check(property: Value, scalar: bool, values: &[&str]) {
        let schema = json!({
            "properties": {"x": property},
            "$defs": {"Color": {"type": "string", "enum": ["red", "green"]}, "Loop": {"$ref": "#/$defs/Loop"}},
        });
        let found = parameters(schema.as_object().unwrap());
        assert_eq!(found[0].is_scalar, scalar, "{schema}");
        assert_eq!(found[0].values, values, "{schema}");
    }

    #[test]
    fn what_a_text_stands_for() {
        check(json!({}), false, &[]);
        check(json!({"type": "string"}), false, &[]);
        check(json!({"type": "integer"}), true, &[]);
        check(json!({"type": ["number", "null"]}), true, &[]);
        check(json!({"type": ["number", "string"]}), false, &[]);
        check(json!({"type": "boolean"}), true, &["true", "false"]);
        check(json!({"$ref": "#/$defs/Color"}), false, &["red", "green"]);
        check(json!({"$ref": "#/$defs/Loop"}), false, &[]);
        check(
            json!({"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}]}),
            false,
            &["red", "green"],
        );
        check(
            json!({"oneOf": [{"const": "a", "description": "A."}, {"const": "b"}]}),
            false,
            &["a", "b"],
        );
        check(
            json!({"oneOf": [{"const": 1}, {"const": 2}]}),
            true,
            &["1", "2"],
        );
        check(
            json!({"anyOf": [{"const": "a"}, {"type": "string"}]}),
            false,
            &[],
        );
        check(json!({"enum": ["a", 1]}), false, &["a", "1"]);
    }

    #[test]
    fn what_no_text_stands_for() {
        for (property, structured) in [
            (json!({"type": "array", "items": {}}), true),
            (json!({"type": ["object", "null"]}), true),
            (
                json!({"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]}),
                true,
            ),
            (json!({"type": ["array", "string"]}), false),
            (json!({"enum": [[1]]}), true),
            (json!({}), false),
            (json!(true), false),
        ] {
            let schema =
                json!({"properties": {"x": property}, "$defs": {"Point": {"type": "object"}}});
            let found = parameters(schema.as_object().unwrap());
            assert_eq!(found[0].is_structured, structured, "{schema}");
        }
    }

    #[test]
    fn scalars() {
        for text in ["0", "-1", "1.5e3", "true", "18446744073709551616"] {
            assert!(is_scalar(text), "{text}");
        }
        for text in [
            "",
            "+1",
            "01",
            "1 2",
            "NaN",
            "truex",
            "\"1\"",
            "null",
            "-",
            "1,\"x\":2",
        ] {
            assert!(!is_scalar(text), "{text}");
        }
    }

    #[test]
    fn quotes() {
        for text in [
            "", "plain", "é", "a\"b", "a\\b", "a\nb", "\u{7f}", "\u{2028}",
        ] {
            let mut out = String::new();
            push_quoted(&mut out, text);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }
}
