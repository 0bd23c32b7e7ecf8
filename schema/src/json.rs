//! JSON that is passed on unparsed: order of members, digits of numbers and explicit nulls stay as written.

use std::{fmt, ops::Deref};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::value::RawValue;

/// One JSON value, kept as the text it was written in.
///
/// Equality is equality of that text: `1.0` and `1` differ, and so do two orders of the same members. In a message, line breaks
/// between its tokens become spaces, because a line break would end a message on a line-based transport.
///
/// ```
/// use trueform_schema::Json;
///
/// let json: Json = serde_json::from_str(r#"{"b": 1.0, "a": null}"#)?;
/// assert_eq!(json.get(), r#"{"b": 1.0, "a": null}"#);
/// assert_eq!(Json::from_value(&["x"])?.get(), r#"["x"]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Json(Box<str>);

/// Room that `serde_json` gives a text before it grows, in bytes.
const FIRST_CAPACITY: usize = 128;

/// The JSON type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number of any form.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonKind {
    /// The name of the type, as JSON Schema spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// The type of the value that `text` starts with; `text` must be valid JSON without leading white space.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }
}

impl fmt::Display for JsonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Json {
    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// The value that `text` holds.
    ///
    /// # Errors
    /// If `text` is not exactly one JSON value.
    pub fn from_text(text: impl Into<String>) -> serde_json::Result<Self> {
        RawValue::from_string(text.into()).map(Self::from)
    }

    /// Serialises `value`.
    ///
    /// # Errors
    /// If `value` does not serialise to JSON, for example a map whose keys are not strings.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        let text = serde_json::to_string(value)?;
        // Of a buffer that never grew, a copy costs less than giving back its end.
        let never_grew = text.capacity() <= FIRST_CAPACITY;
        Ok(Self(match never_grew {
            true => text.as_str().into(),
            false => text.into_boxed_str(),
        }))
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The value as `serde_json` carries raw JSON. Takes a pass over the text.
    ///
    /// # Panics
    /// Never: the text was read or written as JSON.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        serde_json::from_str(&self.0).expect("the text was read or written as JSON")
    }

    /// The JSON type.
    #[must_use]
    pub fn kind(&self) -> JsonKind {
        JsonKind::of(self.get())
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.kind() == JsonKind::Object
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// If the value does not have the form of `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.get())
    }

    /// The value as a tree.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        // This fails only for a number beyond f64 or nesting beyond serde_json's limit; such a value is shown as text.
        self.parse()
            .unwrap_or_else(|_| serde_json::Value::String(self.get().to_owned()))
    }
}

impl Default for Json {
    fn default() -> Self {
        Self::null()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Json {}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self::from_value(&value).expect("a JSON tree has string keys only, so it serialises")
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

impl From<JsonObject> for Json {
    fn from(object: JsonObject) -> Self {
        object.0
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

/// A [`Json`] known to be an object: tool arguments, JSON Schema documents, capability settings.
///
/// ```
/// use trueform_schema::{Json, JsonObject};
///
/// assert_eq!(JsonObject::empty().get(), "{}");
/// assert!(JsonObject::try_from(Json::null()).is_err());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct JsonObject(Json);

impl JsonObject {
    /// The object without members.
    #[must_use]
    pub fn empty() -> Self {
        Self(Json::from_text("{}").expect("`{}` is JSON"))
    }

    /// Serialises `value`.
    ///
    /// # Errors
    /// If the result is not JSON, or not an object.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, InvalidJson> {
        Self::try_from(Json::from_value(value).map_err(|error| InvalidJson(error.to_string()))?)
    }
}

impl Default for JsonObject {
    fn default() -> Self {
        Self::empty()
    }
}

impl Deref for JsonObject {
    type Target = Json;

    fn deref(&self) -> &Json {
        &self.0
    }
}

impl fmt::Debug for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl TryFrom<Json> for JsonObject {
    type Error = InvalidJson;

    fn try_from(json: Json) -> Result<Self, InvalidJson> {
        match json.kind() {
            JsonKind::Object => Ok(Self(json)),
            kind => Err(InvalidJson(format!("expected an object, found {kind}"))),
        }
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for JsonObject {
    fn from(map: serde_json::Map<String, serde_json::Value>) -> Self {
        Self(Json::from(serde_json::Value::Object(map)))
    }
}

impl Serialize for JsonObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        match json.kind() {
            JsonKind::Object => Ok(Self(json)),
            kind => Err(D::Error::custom(format_args!(
                "invalid type: {kind}, expected an object"
            ))),
        }
    }
}

/// A value that does not serialise to the expected JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidJson(String);

impl fmt::Display for InvalidJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidJson {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept() {
        for text in [
            r#"{"z":1,"a":[1.0,2e3,12345678901234567890123]}"#,
            "null",
            "-0.0",
            r#""\u00e9""#,
        ] {
            let json: Json = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&json).unwrap(), text);
        }
    }

    // Short texts and long ones, at any depth, are what `serde_json` makes of the value.
    #[test]
    fn values_are_written_and_passed_on() {
        let mut deep = serde_json::Value::Null;
        for _ in 0..300 {
            deep = serde_json::Value::Array(vec![deep]);
        }
        let texts = (0..3 * FIRST_CAPACITY).map(|length| "é".repeat(length).into());
        for value in texts.chain([deep, serde_json::json!({"a": [1.5, null, {}]})]) {
            let json = Json::from_value(&value).unwrap();
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(json.get(), text);
            assert_eq!(json.raw().get(), text);
            assert_eq!(serde_json::to_string(&json).unwrap(), text);
        }
    }

    #[test]
    fn kinds() {
        for (text, kind) in [
            ("null", JsonKind::Null),
            ("true", JsonKind::Bool),
            ("-1", JsonKind::Number),
            ("\"\"", JsonKind::String),
            ("[]", JsonKind::Array),
            ("{}", JsonKind::Object),
        ] {
            assert_eq!(Json::from_text(text).unwrap().kind(), kind);
        }
    }

    #[test]
    fn objects_only() {
        let error = serde_json::from_str::<JsonObject>("[1]")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("invalid type: array, expected an object"),
            "{error}"
        );
    }
}
