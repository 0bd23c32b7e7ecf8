//! Converts the content of an accepted form to a value of its type.

use std::{borrow::Cow, fmt};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use trueform_schema::{DecodeError, Json, RawMembers};

use super::{ANSWER, Choice, Field, Form, Kind, Shape};
use crate::{
    check::Violations,
    feature::function::arguments::rewritten,
    jsonrpc::{self, ErrorDetail},
};

/// What is wrong with the content of an accepted form. Values are described by type and size only, because they are the user's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormFault {
    /// JSON pointer into the content.
    pub(crate) pointer: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Form {
    /// Decodes the value from `content`. This is the text that the client sent, because decoded numbers cannot represent every integer.
    /// Without content, no field is filled in.
    ///
    /// A member that is null counts as absent if its field may be left out (DEC-6); strict mode refuses it earlier. Members that are not
    /// fields are ignored, unless the type refuses them. An integral float is an integer, up to 2^53.
    ///
    /// # Errors
    /// The first violation of the form, or the reason why the type does not accept the content.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        content: Option<&Json>,
    ) -> Result<T, FormFault> {
        let text = self.checked(content)?;
        serde_json::from_str(&text).map_err(|error| self.refused(&text, &error))
    }

    /// Checks `content`, and returns the text of the value of the type.
    fn checked<'c>(&self, content: Option<&'c Json>) -> Result<Cow<'c, str>, FormFault> {
        let text = self.mended(content.map_or("{}", Json::get))?;
        match self.shape {
            Shape::Struct { .. } => Ok(text),
            Shape::Unit => Ok(Cow::Borrowed("null")),
            Shape::Single => {
                let RawMembers(members) =
                    serde_json::from_str(&text).map_err(|error| unreadable(&text, &error))?;
                let mut answers = members.iter().filter(|(name, _)| name == ANSWER);
                let answer = answers.next().map_or("null", |(_, value)| value.get());
                match answers.next() {
                    None => Ok(Cow::Owned(answer.to_owned())),
                    Some(_) => Err(FormFault::new(
                        format!("/{ANSWER}"),
                        "one such member",
                        "two",
                    )),
                }
            }
        }
    }

    /// Returns `text`, which the form allows, without nulls for optional fields, and with integers in integer fields.
    fn mended<'c>(&self, text: &'c str) -> Result<Cow<'c, str>, FormFault> {
        let steps = crate::check::Steps::new(crate::check::MAX_STEPS);
        let passed = self.held_to.accepts_str_within(text, &steps);
        if passed.is_some_and(|passed| !passed.has_integral_floats()) {
            return Ok(Cow::Borrowed(text));
        }
        let sent: Value = serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
        let mut value = sent.clone();
        if let Value::Object(members) = &mut value {
            let is_optional = |name: &str| {
                self.fields
                    .iter()
                    .any(|field| field.name == name && !field.required)
            };
            members.retain(|name, value| !(value.is_null() && is_optional(name)));
        }
        self.held_to
            .check(&value)
            .map_err(|violations| FormFault::of(&violations))?;
        self.held_to.normalise_integral_floats(&mut value);
        match (&sent, &value) {
            (Value::Object(before), Value::Object(after)) if before != after => {
                let mended = rewritten(text, before, after).unwrap_or_else(|| value.to_string());
                Ok(Cow::Owned(mended))
            }
            _ => Ok(Cow::Borrowed(text)),
        }
    }

    /// Returns why the type does not accept `text`, which the form allows.
    #[cold]
    fn refused(&self, text: &str, error: &serde_json::Error) -> FormFault {
        let prefix = match self.shape {
            Shape::Single => format!("/{ANSWER}"),
            Shape::Struct { .. } | Shape::Unit => String::new(),
        };
        let located = DecodeError::locate(text, error);
        let mut fault = FormFault::of_decoding(&located, &prefix);
        // The message comes from the type's own code, not from serde.
        if located.rule() == "form" {
            fault.expected = match located.message() {
                "number out of range" => "a number within the range of its type".to_owned(),
                message => {
                    let message = jsonrpc::sentence(message);
                    format!("a value that its type takes ({message})")
                }
            };
        }
        fault
    }
}

#[cold]
fn unreadable(text: &str, error: &serde_json::Error) -> FormFault {
    FormFault::of_decoding(&DecodeError::locate(text, error), "")
}

impl FormFault {
    fn new(pointer: impl Into<String>, expected: &str, found: &str) -> Self {
        Self {
            pointer: pointer.into(),
            expected: jsonrpc::sentence(expected).into_owned(),
            found: found.to_owned(),
        }
    }

    fn of_decoding(error: &DecodeError, prefix: &str) -> Self {
        let detail = ErrorDetail::of_decoding(error, prefix);
        Self::new(detail.pointer, &detail.expected, &detail.found)
    }

    fn of(violations: &Violations) -> Self {
        match violations.iter().next() {
            Some(first) => Self::new(
                &*first.pointer,
                &first.expected,
                &first.found.for_log().to_string(),
            ),
            None => Self::new("", "another value", "a wrong one"),
        }
    }
}

impl fmt::Display for FormFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pointer,
            expected,
            found,
        } = self;
        let place = if pointer.is_empty() {
            "(root)"
        } else {
            pointer
        };
        write!(f, "{place}: expected {expected}, found {found}")
    }
}

impl std::error::Error for FormFault {}

/// Returns the schema of the content.
pub(super) fn schema(fields: &[Field], shape: Shape) -> Value {
    let properties = fields
        .iter()
        .map(|field| (field.name.clone(), field_schema(&field.kind)));
    let required = fields.iter().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| &*field.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "required": required,
    });
    if shape == (Shape::Struct { closed: true }) {
        schema["additionalProperties"] = false.into();
    }
    schema
}

/// Returns the schema of one value.
pub(super) fn field_schema(kind: &Kind) -> Value {
    let mut schema = Map::new();
    let mut set = |keyword: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema.insert(keyword.to_owned(), value);
        }
    };
    match kind {
        Kind::Text {
            format,
            min_length,
            max_length,
            unsent,
            default: _,
        } => {
            set("type", Some("string".into()));
            set("minLength", min_length.map(Value::from));
            set("maxLength", max_length.map(Value::from));
            let format = format.as_ref().map(|format| format.as_str());
            set(
                "format",
                format.or(unsent.format.as_deref()).map(Value::from),
            );
            set("pattern", unsent.pattern.as_deref().map(Value::from));
        }
        Kind::Number {
            integer,
            minimum,
            maximum,
            default: _,
        } => {
            set(
                "type",
                Some(if *integer { "integer" } else { "number" }.into()),
            );
            set("minimum", minimum.clone().map(Value::from));
            set("maximum", maximum.clone().map(Value::from));
        }
        Kind::Boolean { default: _ } => set("type", Some("boolean".into())),
        Kind::Choice {
            options,
            default: _,
            legacy: _,
        } => set("enum", Some(values(options))),
        Kind::Choices {
            options,
            min_items,
            max_items,
            distinct,
            default: _,
        } => {
            set("type", Some("array".into()));
            set("items", Some(json!({ "enum": values(options) })));
            set("minItems", min_items.map(Value::from));
            set("maxItems", max_items.map(Value::from));
            set("uniqueItems", distinct.then_some(true.into()));
        }
    }
    Value::Object(schema)
}

fn values(options: &[Choice]) -> Value {
    options.iter().map(|option| &*option.value).collect()
}
