//! Two schemas at one position: what changed, and which way it moves the set of legal values.
//!
//! Knows nothing of methods. A reference to the same definition on both sides ends the walk where definitions are compared
//! on their own, and is followed once where they are not.

use std::collections::BTreeSet;

use serde_json::Value;

use super::shape::{Document, Shape, reference};
use super::{Change, Effect, Flow, What};

/// What to do at a reference to the same name on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// Someone else compares the definitions.
    Apart,
    /// Nobody else does.
    Followed,
}

pub(super) struct Compare<'a> {
    old: &'a Document<'a>,
    new: &'a Document<'a>,
    flow: Flow,
    named: Named,
    /// Pairs of references that were followed, so that each is reported once and recursion ends.
    followed: BTreeSet<(Option<String>, Option<String>, String)>,
    /// Definitions of the old and the new document that stood against something without that name, and so were compared.
    pub(super) compared: BTreeSet<String>,
    pub(super) changes: Vec<Change>,
}

impl<'a> Compare<'a> {
    pub(super) fn new(
        old: &'a Document<'a>,
        new: &'a Document<'a>,
        flow: Flow,
        named: Named,
    ) -> Self {
        Compare {
            old,
            new,
            flow,
            named,
            followed: BTreeSet::new(),
            compared: BTreeSet::new(),
            changes: Vec::new(),
        }
    }

    pub(super) fn report(&mut self, subject: &str, what: What, effect: Effect) {
        let severity = effect.severity(self.flow);
        self.changes.push(Change {
            subject: subject.to_owned(),
            what,
            severity,
        });
    }

    /// Compares what two schemas allow at `subject`.
    pub(super) fn position(&mut self, subject: &str, old: &'a Value, new: &'a Value) {
        let (old_name, new_name) = (reference(old), reference(new));
        if old_name.is_some() || new_name.is_some() {
            let same = old_name == new_name;
            if same && self.named == Named::Apart {
                return;
            }
            // A pair met again below itself is recursion; met elsewhere it is worth reporting there too, unless it has a
            // name that the reader can look up.
            let place = if same {
                String::new()
            } else {
                root(subject).to_owned()
            };
            if !self
                .followed
                .insert((old_name.clone(), new_name.clone(), place))
            {
                return;
            }
            if !same {
                return self.renamed(subject, (old_name, old), (new_name, new));
            }
        }
        self.definition(subject, old, new);
    }

    /// A position that names another definition than before, or names one where it named none. If it is still the same
    /// kind of thing, its content has been compared here and the names are not worth a report of their own.
    fn renamed(
        &mut self,
        subject: &str,
        (old_name, old): (Option<String>, &'a Value),
        (new_name, new): (Option<String>, &'a Value),
    ) {
        let before = self.changes.len();
        self.definition(subject, old, new);
        let replaced = self.changes[before..].iter().any(|change| {
            let whole = matches!(
                change.what,
                What::TypeChanged { .. } | What::VariantAdded { .. } | What::VariantRemoved { .. }
            );
            whole && change.subject == subject
        });
        if !replaced {
            self.compared
                .extend([old_name, new_name].into_iter().flatten());
        }
    }

    /// As [`Compare::position`], for the schemas of a definition itself.
    pub(super) fn definition(&mut self, subject: &str, old: &'a Value, new: &'a Value) {
        let (old_shape, new_shape) = (self.old.shape(old), self.new.shape(new));
        let below = match (
            old_shape.alternatives.is_empty(),
            new_shape.alternatives.is_empty(),
        ) {
            (true, true) => self.kinds(subject, &old_shape, &new_shape),
            _ => self.alternatives(subject, (old, &old_shape), (new, &new_shape)),
        };
        if below {
            self.members(subject, &old_shape, &new_shape);
            self.limits(subject, &old_shape, &new_shape);
        }
    }

    /// Alternatives of a union. Answers whether what stands beside them can still be compared.
    fn alternatives(
        &mut self,
        subject: &str,
        old: (&'a Value, &Shape<'a>),
        new: (&'a Value, &Shape<'a>),
    ) -> bool {
        // Something that becomes one of several alternatives was the only one before.
        let list = |document: &Document<'a>, (schema, shape): (&'a Value, &Shape<'a>)| {
            let schemas = if shape.alternatives.is_empty() {
                vec![schema]
            } else {
                shape.alternatives.clone()
            };
            schemas
                .into_iter()
                .map(|schema| (document.describe(schema), schema))
                .collect::<Vec<_>>()
        };
        let unions = !old.1.alternatives.is_empty() && !new.1.alternatives.is_empty();
        let (old, new) = (list(self.old, old), list(self.new, new));
        let known = |name: &String| new.iter().any(|(other, _)| other == name);
        if !unions && !old.iter().any(|(name, _)| known(name)) {
            let join = |list: &[(String, _)]| {
                list.iter()
                    .map(|(name, _)| name.as_str())
                    .collect::<Vec<_>>()
                    .join(" | ")
            };
            self.report(
                subject,
                What::TypeChanged {
                    from: join(&old),
                    to: join(&new),
                },
                Effect::Moves,
            );
            return false;
        }
        for (variant, schema) in &old {
            match new.iter().find(|(name, _)| name == variant) {
                Some((_, other)) => self.position(subject, schema, other),
                None => self.report(
                    subject,
                    What::VariantRemoved {
                        variant: variant.clone(),
                    },
                    Effect::Narrows,
                ),
            }
        }
        for (variant, _) in new
            .iter()
            .filter(|(name, _)| old.iter().all(|(other, _)| other != name))
        {
            self.report(
                subject,
                What::VariantAdded {
                    variant: variant.clone(),
                },
                Effect::Widens,
            );
        }
        unions
    }

    /// Types and constants. Answers whether what is below them can still be compared.
    fn kinds(&mut self, subject: &str, old: &Shape<'a>, new: &Shape<'a>) -> bool {
        if let (Some(before), Some(after)) = (&old.values, &new.values) {
            for value in before.iter().filter(|value| !after.contains(value)) {
                self.report(
                    subject,
                    What::ValueRemoved {
                        value: (*value).clone(),
                    },
                    Effect::Narrows,
                );
            }
            for value in after.iter().filter(|value| !before.contains(value)) {
                self.report(
                    subject,
                    What::ValueAdded {
                        value: (*value).clone(),
                    },
                    Effect::Widens,
                );
            }
            return false;
        }
        let allows = |wide: &Shape<'a>, narrow: &Shape<'a>| {
            let types = match (&wide.types, &narrow.types) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(wide), Some(narrow)) => narrow.iter().all(|name| {
                    wide.contains(name) || (*name == "integer" && wide.contains("number"))
                }),
            };
            types && wide.values.is_none()
        };
        let effect = match (allows(new, old), allows(old, new)) {
            (true, true) => return true,
            (true, false) => Effect::Widens,
            (false, true) => Effect::Narrows,
            (false, false) => Effect::Moves,
        };
        let (from, to) = (old.describe(self.old), new.describe(self.new));
        self.report(subject, What::TypeChanged { from, to }, effect);
        false
    }

    fn members(&mut self, subject: &str, old: &Shape<'a>, new: &Shape<'a>) {
        let names: BTreeSet<&str> = old
            .members
            .keys()
            .chain(new.members.keys())
            .copied()
            .collect();
        for name in names {
            let here = format!("{subject}.{name}");
            match (old.members.get(name), new.members.get(name)) {
                (Some(before), Some(after)) => {
                    match (old.required.contains(name), new.required.contains(name)) {
                        (false, true) => self.report(&here, What::BecameRequired, Effect::Narrows),
                        (true, false) => self.report(&here, What::BecameOptional, Effect::Widens),
                        _ => {}
                    }
                    self.position(&here, before, after);
                }
                (Some(before), None) => {
                    let (required, ty) = (old.required.contains(name), self.old.describe(before));
                    let effect = if new.is_closed() {
                        Effect::Narrows
                    } else {
                        Effect::Forgets
                    };
                    self.report(&here, What::MemberRemoved { required, ty }, effect);
                }
                (None, Some(after)) => {
                    let (required, ty) = (new.required.contains(name), self.new.describe(after));
                    let effect = if required {
                        Effect::Narrows
                    } else {
                        Effect::Adds
                    };
                    self.report(&here, What::MemberAdded { required, ty }, effect);
                }
                (None, None) => {}
            }
        }
        self.rest(subject, old, new);
    }

    /// Members without a name of their own, and elements.
    fn rest(&mut self, subject: &str, old: &Shape<'a>, new: &Shape<'a>) {
        const ANYTHING: &Value = &Value::Bool(true);
        match (old.is_closed(), new.is_closed()) {
            (false, true) => self.report(subject, What::Closed, Effect::Narrows),
            (true, false) => self.report(subject, What::Opened, Effect::Widens),
            (true, true) => {}
            (false, false) => match (old.rest, new.rest) {
                (None, None) => {}
                (before, after) => {
                    self.position(
                        &format!("{subject}.*"),
                        before.unwrap_or(ANYTHING),
                        after.unwrap_or(ANYTHING),
                    );
                }
            },
        }
        match (old.items, new.items) {
            (None, None) => {}
            (before, after) => {
                self.position(
                    &format!("{subject}[]"),
                    before.unwrap_or(ANYTHING),
                    after.unwrap_or(ANYTHING),
                );
            }
        }
    }

    fn limits(&mut self, subject: &str, old: &Shape<'a>, new: &Shape<'a>) {
        let keywords: BTreeSet<&str> = old
            .limits
            .keys()
            .chain(new.limits.keys())
            .copied()
            .collect();
        for keyword in keywords {
            let (from, to) = (
                old.limits.get(keyword).copied(),
                new.limits.get(keyword).copied(),
            );
            if from == to {
                continue;
            }
            let what = What::LimitChanged {
                keyword: keyword.to_owned(),
                from: from.cloned(),
                to: to.cloned(),
            };
            self.report(subject, what, limit_effect(keyword, from, to));
        }
    }
}

fn limit_effect(keyword: &str, from: Option<&Value>, to: Option<&Value>) -> Effect {
    // The value that absence stands for limits nothing, but who relied on it gets another one.
    if keyword == "default" {
        return Effect::Moves;
    }
    let raised = match (from, to) {
        (None, _) => return Effect::Narrows,
        (_, None) => return Effect::Widens,
        (Some(from), Some(to)) => match (from.as_f64(), to.as_f64()) {
            (Some(from), Some(to)) => to > from,
            _ => return Effect::Moves,
        },
    };
    match keyword {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties"
        | "minContains" => {
            if raised {
                Effect::Narrows
            } else {
                Effect::Widens
            }
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties"
        | "maxContains" => {
            if raised {
                Effect::Widens
            } else {
                Effect::Narrows
            }
        }
        _ => Effect::Moves,
    }
}

/// The method or type that a subject starts with.
fn root(subject: &str) -> &str {
    subject.split(['.', '[']).next().unwrap_or(subject)
}
