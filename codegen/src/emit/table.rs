//! The table of types: what is known of each at run time.

use std::fmt::Write as _;

use super::Context;
use crate::model::{Bits, Shape};

/// Writes the table as text of its own; the formatter would give every number a line.
pub(super) fn emit(cx: &Context<'_>, out: &mut String) {
    out.push_str(
        "\n/// Every type of this module with the revisions that have it and its members, in the order of names.\n\
         pub static TYPES: &[support::TypeInfo] = &[\n",
    );
    for ty in cx.model.types.values() {
        let (kind, members): (&str, Vec<(&str, Bits, Bits)>) = match &ty.shape {
            Shape::Struct { fields } => (
                "Struct",
                fields
                    .iter()
                    .map(|field| (field.json_name.as_str(), field.known, field.required))
                    .collect(),
            ),
            Shape::Union { variants, .. } => (
                "Union",
                variants
                    .iter()
                    .map(|variant| (variant.name.as_str(), variant.known, Bits(0)))
                    .collect(),
            ),
            Shape::Enum { values } => (
                "Enum",
                values
                    .iter()
                    .map(|value| (value.value.as_str(), value.known, Bits(0)))
                    .collect(),
            ),
        };
        let _ = write!(
            out,
            "    support::TypeInfo::new({:?}, support::TypeKind::{kind}, 0b{:05b}, &[",
            ty.name, ty.known.0
        );
        for (name, known, required) in members {
            let _ = write!(
                out,
                "\n        ({name:?}, 0b{:05b}, 0b{:05b}),",
                known.0, required.0
            );
        }
        out.push_str("\n    ]),\n");
    }
    out.push_str("];\n");
}
