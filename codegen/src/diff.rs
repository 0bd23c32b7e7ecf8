//! What changed between two schemas, as a list of classified changes in the protocol's own terms.
//!
//! [`diff`] compares two schema files in normal form: methods, then types. [`diff_schemas`] compares two single schemas and
//! is what anything else with a contract uses. Both sit on one comparison of positions; this file owns the vocabulary.

mod compare;
mod methods;
mod render;
mod shape;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::problem::Problem;

/// How much a change can hurt someone who was right before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Everyone who was right stays right.
    Additive,
    /// Who reads such values may meet one that was impossible before.
    Risky,
    /// What was legal, or could be relied on, no longer is.
    Breaking,
}

/// Which way values of a schema travel, seen from the side that publishes it. It decides which changes hurt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Others write them, the publisher reads them: arguments of a tool.
    In,
    /// The publisher writes them, others read them: results of a tool.
    Out,
    /// Both, as for a protocol that everyone speaks from either side.
    Both,
}

/// What a change does to the set of legal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Narrows,
    Widens,
    /// Some values come, some go.
    Moves,
    /// Only new, optional things come.
    Adds,
    /// A known member is no longer known; where unknown members are allowed its values stay legal, but mean nothing.
    Forgets,
}

impl Effect {
    fn severity(self, flow: Flow) -> Severity {
        match (self, flow) {
            (Effect::Adds, _) | (Effect::Widens, Flow::In) | (Effect::Narrows, Flow::Out) => {
                Severity::Additive
            }
            (Effect::Widens, Flow::Out | Flow::Both) | (Effect::Forgets, Flow::In) => {
                Severity::Risky
            }
            (Effect::Narrows | Effect::Forgets | Effect::Moves, _) => Severity::Breaking,
        }
    }
}

/// What happened to a subject.
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
    /// A method may no longer be sent that way.
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
    /// An object has one more member.
    MemberAdded {
        /// Whether it must be present.
        required: bool,
        /// Its type.
        #[serde(rename = "type")]
        ty: String,
    },
    /// An object no longer has a member.
    MemberRemoved {
        /// Whether it had to be present.
        required: bool,
        /// Its type.
        #[serde(rename = "type")]
        ty: String,
    },
    /// A member must now be present.
    BecameRequired,
    /// A member may now be absent.
    BecameOptional,
    /// A union has one more alternative.
    VariantAdded {
        /// Its type.
        variant: String,
    },
    /// A union lost an alternative.
    VariantRemoved {
        /// Its type.
        variant: String,
    },
    /// One more constant is legal.
    ValueAdded {
        /// The constant.
        value: Value,
    },
    /// A constant is no longer legal.
    ValueRemoved {
        /// The constant.
        value: Value,
    },
    /// The type is another one.
    TypeChanged {
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// A bound, format or other restriction changed.
    LimitChanged {
        /// The keyword of JSON Schema.
        keyword: String,
        /// Before; absent if it was not limited.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<Value>,
        /// After; absent if it is not limited.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<Value>,
    },
    /// Unknown members are now refused.
    Closed,
    /// Unknown members are now allowed.
    Opened,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// A method (`tools/call`), a type (`Tool`) or a place below one: `Tool.icons[].sizes`, `tools/call params.name`.
    pub subject: String,
    /// What happened to it.
    #[serde(flatten)]
    pub what: What,
    /// How much it can hurt.
    pub severity: Severity,
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
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// How many changes have this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.changes
            .iter()
            .filter(|change| change.severity == severity)
            .count()
    }

    /// The worst severity; `None` if nothing changed.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.changes.iter().map(|change| change.severity).max()
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render::diff(self, f)
    }
}

/// What changed between two schema files in [normal form](crate::import).
///
/// A type that merely got a name (its content was written inline before) is not a change, nor is another spelling of the
/// same thing. What changed inside a named type is reported once, under that type.
///
/// # Errors
/// One of the documents has no `$defs`, or refers to a definition it does not have.
pub fn diff(old: &Value, new: &Value) -> Result<Diff, Problem> {
    let (old, new) = (shape::Document::new(old)?, shape::Document::new(new)?);
    Ok(Diff {
        changes: methods::compare(&old, &new),
    })
}

/// What changed between two single schemas, each of which may have its own `$defs`; named types are followed, and what
/// changed in one is reported at the first place that leads to it.
///
/// # Errors
/// One of the schemas refers to a definition it does not have.
///
/// ```
/// use serde_json::json;
/// use trueform_codegen::diff::{Flow, Severity, diff_schemas};
///
/// let old = json!({ "type": "object", "properties": { "unit": { "enum": ["C", "F"] } } });
/// let new = json!({ "type": "object", "properties": { "unit": { "enum": ["C", "F", "K"] } } });
/// let sent_to_us = diff_schemas("weather", &old, &new, Flow::In)?;
/// let sent_by_us = diff_schemas("weather", &old, &new, Flow::Out)?;
/// assert_eq!(sent_to_us.changes[0].to_string(), "additive  weather.unit: value \"K\" added");
/// assert_eq!(sent_by_us.worst(), Some(Severity::Risky));
/// # Ok::<(), trueform_codegen::problem::Problem>(())
/// ```
pub fn diff_schemas(subject: &str, old: &Value, new: &Value, flow: Flow) -> Result<Diff, Problem> {
    let (old_document, new_document) = (
        shape::Document::of_schema(old)?,
        shape::Document::of_schema(new)?,
    );
    let mut compare =
        compare::Compare::new(&old_document, &new_document, flow, compare::Named::Followed);
    compare.position(subject, old, new);
    Ok(Diff {
        changes: compare.changes,
    })
}
