//! Integral floats where the schema requires an integer: `30.0` becomes `30`, and nothing else changes.
//!
//! Only the schema decides. A value that may also be a fraction is not changed.

use serde_json::{Number, Value};

use super::{
    MAX_CHECK_DEPTH,
    node::{NodeId, TypeSet},
    number::EXACT,
    path::Path,
    run::Run,
    violation::MAX_VIOLATIONS,
    walk::Walk,
};

/// Rewrites `value` in place. Returns the pointers of the changes, of at most [`MAX_VIOLATIONS`] places.
///
/// Once the steps are spent, the rest of the value is not changed.
pub(super) fn integral_floats(run: &Run<'_>, value: &mut Value) -> Vec<String> {
    let mut coerce = Coerce {
        run,
        changed: Vec::new(),
    };
    coerce.node(run.nodes.root, value, &Path::Root, 0);
    coerce.changed
}

struct Coerce<'s> {
    run: &'s Run<'s>,
    changed: Vec<String>,
}

impl Coerce<'_> {
    fn node(&mut self, id: NodeId, value: &mut Value, at: &Path<'_>, depth: usize) {
        let run = self.run;
        let Some(rules) = run.nodes.rules(id).filter(|_| depth < MAX_CHECK_DEPTH) else {
            return;
        };
        if !run.steps.take(1) {
            return;
        }
        let depth = depth + 1;
        match value {
            Value::Number(number) => {
                if let Some(integer) = as_integer(number).filter(|_| rules.types.is_integral()) {
                    *number = integer;
                    if self.changed.len() < MAX_VIOLATIONS {
                        self.changed.push(at.pointer());
                    }
                }
            }
            Value::Array(items) => {
                if let Some(rules) = &rules.array {
                    for (i, item) in items.iter_mut().enumerate() {
                        let id = rules.prefix.get(i).copied().unwrap_or(rules.items);
                        self.node(id, item, &at.index(i), depth);
                    }
                }
            }
            Value::Object(members) => {
                if let Some(rules) = &rules.object {
                    for (name, member) in members {
                        let at = at.key(name);
                        let own = rules.member(name).and_then(|member| member.schema);
                        let matching = rules
                            .patterns
                            .iter()
                            .filter(|(pattern, _)| pattern.matches(name));
                        let mut ids: Vec<NodeId> =
                            own.into_iter().chain(matching.map(|&(_, id)| id)).collect();
                        if ids.is_empty() {
                            ids.push(rules.additional);
                        }
                        for id in ids {
                            self.node(id, member, &at, depth);
                        }
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
        let Some(apply) = &rules.apply else { return };
        for &id in apply.reference.iter().chain(&apply.all) {
            self.node(id, value, at, depth);
        }
        // For the schema, an integral float is an integer, so the intended branch accepts the value as it is.
        let branches = apply.any.iter().flatten().chain(apply.one.iter().flatten());
        let mut accepting = branches
            .copied()
            .filter(|&id| Walk::new(run).passes(id, value));
        let Some(first) = accepting.next() else {
            return;
        };
        let fraction = |id| Walk::new(run).types(id).intersects(TypeSet::FRACTION);
        let is_number_too = value.is_f64() && (fraction(first) || accepting.any(fraction));
        drop(accepting);
        if !is_number_too {
            let id = first;
            self.node(id, value, at, depth);
        }
    }
}

fn as_integer(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() < EXACT).then(|| Number::from(float as i64))
}
