//! Generated types by name: how to decode a text as one and write it again.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;
use trueform_codegen::model::TypeRef;
use trueform_schema::{DecodeError, Encode, Json, JsonObject, Map, Meta, RequestId, View, decode};

/// A module of bindings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Module {
    Core,
    Tasks,
}

/// Decodes a text and writes the value again.
type Round = fn(&str, View<'_>) -> Result<Vec<u8>, DecodeError>;

/// How to read and write values of one type.
#[derive(Clone, Copy)]
pub(crate) struct Codec(Round);

impl Codec {
    /// The codec of a type.
    pub(crate) fn of(module: Module, ty: &TypeRef) -> Codec {
        Codec(match ty {
            TypeRef::Named(name) => named(module, name),
            TypeRef::Leaf(name) => leaf(name),
            TypeRef::Bool => round::<bool>,
            TypeRef::Integer => round::<i64>,
            TypeRef::Number => round::<f64>,
            TypeRef::String => round::<String>,
            TypeRef::Map(value) => match value.named() {
                Some("InputRequest") => round::<Map<trueform_schema::InputRequest>>,
                Some("InputResponse") => round::<Map<trueform_schema::InputResponse>>,
                _ => panic!("{ty:?}: add the map to the table"),
            },
            _ => panic!("{ty:?}: add the type to the table"),
        })
    }

    /// Whether `value` decodes and is written again as an equal value.
    ///
    /// # Errors
    /// The difference, and the pointer at which decoding failed, if it did.
    pub(crate) fn keeps(self, value: &Value, view: View<'_>) -> Result<(), Broken> {
        let text = value.to_string();
        let out = (self.0)(&text, view).map_err(|error| Broken::Refused(error, text.clone()))?;
        let changed = || Broken::Changed(text.clone(), String::from_utf8_lossy(&out).into_owned());
        let again: Value = serde_json::from_slice(&out).map_err(|_| changed())?;
        if same(value, &again) {
            Ok(())
        } else {
            Err(changed())
        }
    }
}

/// Why a value did not round-trip.
pub(crate) enum Broken {
    /// It was not decoded.
    Refused(DecodeError, String),
    /// It was written as another value.
    Changed(String, String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Refused(error, text) => write!(f, "{error}\n    {text}"),
            Broken::Changed(before, after) => write!(f, "changed\n    {before}\n    {after}"),
        }
    }
}

fn round<T: DeserializeOwned + Encode>(text: &str, view: View<'_>) -> Result<Vec<u8>, DecodeError> {
    let value: T = decode::from_str(text)?;
    let mut out = Vec::new();
    value.encode(view, &mut out);
    Ok(out)
}

fn leaf(name: &str) -> Round {
    match name {
        "Json" => round::<Json>,
        "JsonObject" => round::<JsonObject>,
        "Meta" => round::<Meta>,
        "RequestId" | "ProgressToken" => round::<RequestId>,
        other => panic!("`{other}`: add the hand-written type to the table"),
    }
}

fn named(module: Module, name: &str) -> Round {
    let found = match module {
        Module::Core => core().get(name).copied(),
        // An extension uses the core's types as they are.
        Module::Tasks => tasks().get(name).or(core().get(name)).copied(),
    };
    found.unwrap_or_else(|| {
        panic!("`{name}` is not in the table: run the tests with UPDATE_EXPECT=1")
    })
}

fn core() -> BTreeMap<&'static str, Round> {
    macro_rules! table {
        ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), round::<trueform_schema::$name> as Round)),*]) };
    }
    include!("table/core.rs")
}

fn tasks() -> BTreeMap<&'static str, Round> {
    macro_rules! table {
        ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), round::<trueform_schema::ext::tasks::$name> as Round)),*]) };
    }
    include!("table/tasks.rs")
}

/// Constants that a revision allows to be absent. They are not fields, so the encoder always writes them; absence means the
/// same (a form is the default mode, a result is complete unless it says otherwise).
const ALWAYS_WRITTEN: [(&str, &str); 3] = [
    ("mode", "form"),
    ("resultType", "complete"),
    ("resultType", "input_required"),
];

/// Whether `after` is `before` as it must come out: numbers equal by value, members in any order.
pub(crate) fn same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let written = |(name, value): &(&String, &Value)| {
                ALWAYS_WRITTEN
                    .iter()
                    .any(|(key, constant)| name == key && *value == constant)
            };
            a.iter()
                .all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
                && b.iter()
                    .filter(|(name, _)| !a.contains_key(*name))
                    .all(|member| written(&member))
        }
        _ => before == after,
    }
}
