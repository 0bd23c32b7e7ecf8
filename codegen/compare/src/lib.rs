//! Compares two JSON Schemas: lists the changes and the severity of each.
//!
//! `trueform-codegen diff` uses this comparison and adds the protocol's methods. The contract snapshots of `trueform::testing` use it too
//! and add a server's tools. It knows only schemas.
//!
//! ```
//! use serde_json::json;
//! use trueform_compare::{Flow, Impact, compare};
//!
//! let old = json!({ "type": "object", "properties": { "unit": { "enum": ["C", "F"] } } });
//! let new = json!({ "type": "object", "properties": { "unit": { "enum": ["C", "F", "K"] } } });
//! let sent_to_us = compare("weather", &old, &new, Flow::In);
//! let sent_by_us = compare("weather", &old, &new, Flow::Out);
//! assert_eq!(sent_to_us[0].to_string(), "additive  weather.unit: value \"K\" added");
//! assert_eq!(sent_by_us[0].impact, Impact::Risky);
//! ```
//!
//! # Guarantees
//!
//! With [`Flow::In`], if a legal value became illegal, at least one change is [`Impact::Breaking`]. With [`Flow::Out`], if an
//! illegal value became legal, at least one change is [`Impact::Risky`] or worse. A schema compared with itself has no changes.
//! There is one exception, which is common practice of publishers of schemas: an object that allows unknown members may get a new known
//! member, although the member could have any value before.
//!
//! The vocabulary is that of 2020-12 and, where it differs, of draft-07. Keywords that are not analysed (`not`, `if`, `pattern`, …) and
//! unknown keywords count as restrictions that were added, removed or changed. A changed one counts as breaking, to be safe. `format`
//! counts as a restriction.

mod change;
mod describe;
mod document;
mod effect;
mod fold;
mod json;
mod kinds;
mod limits;
mod members;
mod schema;
mod shape;
mod surroundings;
mod unions;
mod walk;

use serde_json::Value;

pub use self::{
    change::{Change, What, shortened},
    document::{Document, Unresolved},
    effect::{Flow, Impact},
    schema::Schema,
    shape::Shape,
    walk::{Comparison, Named},
};

/// Returns the changes between two schemas, each of which may have its own `$defs`, in the order of a walk through the new one.
///
/// Places begin with `place`. Named types are followed, and the changes in a pair of them are reported at the first place that
/// refers to it. References that cannot be resolved are not followed.
#[must_use]
pub fn compare(place: &str, old: &Value, new: &Value, flow: Flow) -> Vec<Change> {
    let (before, after) = (Document::new(old), Document::new(new));
    let mut comparison = Comparison::new(&before, &after, flow, Named::Followed);
    comparison.position(place, old, new);
    comparison.take()
}
