//! The outline of a document that another engine checks: the part that nodes can express.
//!
//! All other parts are left out without a report, so an outline gives no verdict. It finds the faults that both engines report with the
//! same wording, and provides the places and descriptions for violations.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    super::{
        CompileOptions, SchemaError,
        SchemaErrorKind::TooLarge,
        node::{NodeId, Nodes},
    },
    Compiler, Dialect, Extent, OtherDialect, Place, compiled, other_dialect,
};

/// The nodes of the covered part.
pub(crate) struct Outline {
    pub(crate) nodes: Nodes,
    /// The node of each subschema, by its place in the document. Empty if places are ambiguous.
    pub(crate) places: HashMap<String, NodeId>,
}

/// Compiles the outline of a document.
///
/// # Errors
/// Faults in the covered part.
pub(crate) fn outline(root: &Value, options: &CompileOptions) -> Result<Outline, Vec<SchemaError>> {
    let named = root.get("$schema");
    let other = named.and_then(other_dialect);
    let dialect = match other {
        Some(OtherDialect::Draft2019) => Dialect::Draft2020,
        Some(OtherDialect::Draft06) => Dialect::Draft07,
        // Bounds have another notation in this dialect, so constraints on numbers are omitted.
        Some(OtherDialect::Draft04) => return Ok(empty(options)),
        None => Dialect::of(root).map_err(|error| vec![error])?,
    };
    let without_references = has_resources(root);
    let extent = Extent::Outline { without_references };
    match compiled(root, options, dialect, extent) {
        Ok((nodes, pointers)) => {
            let ids = (0_u32..).map(NodeId);
            let places = pointers.into_iter().zip(ids).skip(CONSTANTS);
            Ok(Outline {
                nodes,
                places: if without_references {
                    HashMap::new()
                } else {
                    places.collect()
                },
            })
        }
        // In other dialects only the size can be checked.
        Err(errors) if other.is_some() && errors.iter().all(|error| error.kind != TooLarge) => {
            Ok(empty(options))
        }
        Err(errors) => Err(errors),
    }
}

/// The number of nodes without a place: `true` and `false`.
const CONSTANTS: usize = 2;

fn empty(options: &CompileOptions) -> Outline {
    Outline {
        nodes: Nodes::anything(options.max_steps),
        places: HashMap::new(),
    }
}

/// Returns whether parts of the document are documents of their own, with an `$id` or a dialect by which references are resolved.
fn has_resources(root: &Value) -> bool {
    let mut todo = vec![root];
    while let Some(value) = todo.pop() {
        match value {
            Value::Object(members) => {
                let own_id = members
                    .get("$id")
                    .and_then(Value::as_str)
                    .is_some_and(|id| !id.starts_with('#'));
                let own_dialect = members.get("$schema").is_some_and(Value::is_string);
                if !std::ptr::eq(value, root) && (own_id || own_dialect) {
                    return true;
                }
                todo.extend(
                    members
                        .iter()
                        .filter(|(name, _)| !super::refs::is_data(name))
                        .map(|(_, value)| value),
                );
            }
            Value::Array(items) => todo.extend(items),
            _ => {}
        }
    }
    false
}

impl<'v> Compiler<'v> {
    /// Compiles subschemas of uncovered keywords, so that faults in them are found. Returns the target of a dynamic reference.
    pub(super) fn below_outline(&mut self, at: Place<'v, '_>) -> Option<NodeId> {
        for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
            if let Some(schema) = at.get(keyword) {
                self.enqueue(schema, at.below(keyword));
            }
        }
        // Within one resource a dynamic reference has only one possible target.
        self.reference(at, "$dynamicRef")
    }
}
