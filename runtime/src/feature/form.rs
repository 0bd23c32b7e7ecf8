//! Forms that users of clients fill in, derived from Rust types: what an elicitation asks for, and how its answer becomes a value.
//!
//! This module does not handle requests and answers: the caller sends [`Form::at`] and passes the content of an accepted answer to
//! [`Form::decode`].

mod answer;
mod asked;
#[cfg(test)]
mod properties;
mod read;
mod remarks;
#[cfg(test)]
mod tests;
mod wire;

use std::{
    any::type_name,
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use schemars::JsonSchema;
use serde_json::{Number, Value};
use trueform_schema::StringSchemaFormat;

pub use self::asked::Askable;
pub(crate) use self::{
    answer::FormFault,
    asked::{AsksFor, Forms},
};
/// Items that the expansions of macros use.
pub(crate) mod macro_support {
    pub use super::asked::{AskCall, AskedForm, OtherCall, form};
}

use self::read::{Purpose, Reader};
use super::function::schema::{input_generator, with_bounds};
use crate::check::{CompileOptions, Schema};

/// The name of the only field of a form for a type that is not a struct.
pub(crate) const ANSWER: &str = "answer";

/// A form, and the schema that its answer is checked against.
#[derive(Debug)]
pub(crate) struct Form {
    fields: Vec<Field>,
    shape: Shape,
    /// The schema that an answer is checked against. It has bounds of Rust types that the form does not show.
    held_to: Schema,
}

/// How the fields make up the Rust type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A struct: the content is its value.
    Struct {
        /// Whether the type refuses members that are not fields.
        closed: bool,
    },
    /// Another type: the field [`ANSWER`] is its value.
    Single,
    /// `()` and similar types: there are no fields, and an accepted form is the value.
    Unit,
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    name: String,
    title: Option<String>,
    description: Option<String>,
    required: bool,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Text {
        format: Option<StringSchemaFormat>,
        min_length: Option<i64>,
        max_length: Option<i64>,
        default: Option<String>,
        /// A format and a pattern that forms cannot express. Answers are still checked against them.
        unsent: Unsent,
    },
    Number {
        integer: bool,
        minimum: Option<Number>,
        maximum: Option<Number>,
        default: Option<Number>,
    },
    Boolean {
        default: Option<bool>,
    },
    Choice {
        options: Vec<Choice>,
        default: Option<String>,
        /// Whether the titles are sent as `enumNames` at every revision.
        legacy: bool,
    },
    Choices {
        options: Vec<Choice>,
        min_items: Option<i64>,
        max_items: Option<i64>,
        default: Option<Vec<String>>,
        /// Whether the type is a set: an option may be chosen only once.
        distinct: bool,
    },
}

/// Rules for a text that are not sent to clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Unsent {
    format: Option<String>,
    // GAP-10
    pattern: Option<String>,
}

/// One of several options.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    value: String,
    title: Option<String>,
}

/// How many forms the process keeps. For further types, the form is created again for each question.
const MAX_KEPT: usize = 4096;

/// Identifies a type, as far as this is possible without `'static`: by its path, its schemars id, and the address of the function that
/// creates its form. Two types within blocks of the same function differ only in the last.
type Key = (&'static str, Cow<'static, str>, usize);
type Made = Arc<Result<Form, Vec<String>>>;

impl Form {
    /// Like [`of`](Self::of). The form is created for the first question and then kept, because it needs two schemas of the type, and one
    /// is compiled.
    pub(crate) fn kept<T: JsonSchema>() -> Made {
        static KEPT: LazyLock<RwLock<HashMap<Key, Made>>> = LazyLock::new(RwLock::default);
        let maker: fn() -> Result<Self, Vec<String>> = Self::of::<T>;
        let key = (type_name::<T>(), T::schema_id(), maker as usize);
        // No code that can panic runs under the lock.
        let kept = KEPT.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = kept.get(&key) {
            return made.clone();
        }
        drop(kept);
        let made = Arc::new(Self::of::<T>());
        let mut kept = KEPT.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_KEPT {
            kept.insert(key, made.clone());
        }
        made
    }

    /// Creates the form of `T`.
    ///
    /// # Errors
    /// What no form can express, each with the field and what was expected.
    pub(crate) fn of<T: JsonSchema>() -> Result<Self, Vec<String>> {
        let mut generator = input_generator();
        let schema = T::json_schema(&mut generator).to_value();
        let (shown, bounded) = with_bounds(schema, &mut generator);
        Self::of_schemas(&shown, &bounded)
    }

    /// Creates the form of a type whose schema is `shown`, and `bounded` with the bounds of all integer types.
    fn of_schemas(shown: &Value, bounded: &Value) -> Result<Self, Vec<String>> {
        let (shape, fields) = Reader::read(shown, Purpose::Send)?;
        let (_, held) = Reader::read(bounded, Purpose::Hold)?;
        let options = CompileOptions::default().exact_integers(true);
        let held_to = Schema::compile(&answer::schema(&held, shape), options)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        Ok(Self {
            fields,
            shape,
            held_to,
        })
    }
}
