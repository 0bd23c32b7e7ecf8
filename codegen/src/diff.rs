//! The changes between two schemas, classified, in the terms of the protocol.
//!
//! Defines the vocabulary of methods and named types. [`trueform_compare`] finds the changes of a single schema; it is also used for other
//! contracts.

mod methods;
mod render;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::Value;
use trueform_compare::Document;

pub use trueform_compare::Impact;

use crate::problem::Problem;

/// Kind of a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "change",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum What {
    /// A method is new.
    MethodAdded {
        /// Who may send it, as the names of the unions that list it.
        senders: BTreeSet<String>,
    },
    /// A method is gone.
    MethodRemoved,
    /// A method may be sent in one more way: the name of the union that lists it now.
    SenderAdded {
        /// Such as `ServerRequest`.
        sender: String,
    },
    /// A method may no longer be sent in one way: the name of the union that no longer lists it.
    SenderRemoved {
        /// Such as `ServerRequest`.
        sender: String,
    },
    /// A method has one more possible result.
    ResultAdded {
        /// Name of the result type.
        result: String,
    },
    /// A method lost a possible result.
    ResultRemoved {
        /// Name of the result type.
        result: String,
    },
    /// A named type is new.
    TypeAdded,
    /// A named type is gone.
    TypeRemoved,
    /// The set of legal values there changed.
    #[serde(untagged)]
    Schema(trueform_compare::What),
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// A method (`tools/call`), a type (`Tool`) or a place below one: `Tool.icons[].sizes`, `tools/call params.name`.
    pub subject: String,
    /// Kind of the change.
    #[serde(flatten)]
    pub what: What,
    /// The severity of the change.
    pub impact: Impact,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render::change(self, f)
    }
}

/// All changes between two schemas: methods first, then types, each in order of name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The changes.
    pub changes: Vec<Change>,
}

impl Diff {
    /// Returns whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the number of changes of this severity.
    #[must_use]
    pub fn count(&self, impact: Impact) -> usize {
        self.changes
            .iter()
            .filter(|change| change.impact == impact)
            .count()
    }

    /// Returns the severity of the worst change; `None` if nothing changed.
    #[must_use]
    pub fn worst(&self) -> Option<Impact> {
        self.changes.iter().map(|change| change.impact).max()
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render::diff(self, f)
    }
}

/// Returns the changes between two schema files in [normal form](crate::import).
///
/// If a type only gets a name (its content was inline before), or the same content is written in another way, that is not a change. Changes
/// inside a named type are reported once, under that type.
///
/// # Errors
/// One of the documents has no `$defs`, or refers to a definition it does not have.
pub fn diff(old: &Value, new: &Value) -> Result<Diff, Problem> {
    let (old, new) = (document(old)?, document(new)?);
    Ok(Diff {
        changes: methods::compare(&old, &new),
    })
}

/// Returns a schema file in normal form. Its definition of "any JSON" omits two JSON types; that is a fault of the official file and not a
/// constraint.
fn document(file: &Value) -> Result<Document<'_>, Problem> {
    if !file.get("$defs").is_some_and(Value::is_object) {
        return Err(Problem::at(
            "",
            "no `$defs`: not a schema file in normal form",
        ));
    }
    let document = Document::new(file).with_free(&["JSONValue"]);
    match document.unresolved() {
        None => Ok(document),
        Some(reference) => Err(Problem::at(
            reference.pointer,
            format!("`{}` is not defined in this file", reference.target),
        )),
    }
}
