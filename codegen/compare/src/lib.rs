//! What changed between two JSON Schemas, and how much each change can hurt.
//!
//! This is the one comparison behind `trueform-codegen diff`, which adds the protocol's methods to it, and behind the contract
//! snapshots of `trueform::testing`, which add a server's tools. It knows schemas and nothing of either.
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
//! # What can be relied on
//!
//! Where the flow is [`Flow::In`] and a value that was legal is no longer, some change is [`Impact::Breaking`]. Where it is
//! [`Flow::Out`] and a value is legal that was not, some change is [`Impact::Risky`] or worse. A schema has no change from
//! itself. One thing is exempt, by the custom of everybody who publishes schemas: objects that allow members they do not know
//! may come to know one more, although that member held anything before.
//!
//! The vocabulary is that of 2020-12 and, where it differs, of draft-07. Keywords that are not looked into (`not`, `if`,
//! `pattern`, …) and keywords that nobody knows are restrictions that came, went or changed; the last is breaking, which is
//! the safe side. `format` restricts.

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

/// What changed between two schemas, each of which may have its own `$defs`, in the order of a walk through the new one.
///
/// Places begin with `place`. Named types are followed, and what changed in a pair of them is reported at the first place that
/// leads to it. References that lead nowhere in the schema are not followed.
#[must_use]
pub fn compare(place: &str, old: &Value, new: &Value, flow: Flow) -> Vec<Change> {
    let (before, after) = (Document::new(old), Document::new(new));
    let mut comparison = Comparison::new(&before, &after, flow, Named::Followed);
    comparison.position(place, old, new);
    comparison.take()
}
