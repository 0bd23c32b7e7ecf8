//! The check of a value that is a tree: one walk that either stops at the first violation or collects all.
//!
//! Recursion follows the value and the schema, so it is bounded by depth and by steps; a check that exceeds a bound fails.

mod explain;
pub(super) mod leaf;
pub(super) mod members;

use serde_json::{Map, Value};

use self::{
    leaf::{literals, numbers, strings, type_words},
    members::{object_size, unknown_member},
};
use super::{
    MAX_CHECK_DEPTH,
    describe::describe,
    equal::{first_repeat, size},
    node::{ArrayRules, Node, NodeId, Nodes, ObjectRules, Rules, TypeSet},
    number::Num,
    path::Path,
    run::{Limit, Run},
    violation::{Found, MAX_VIOLATIONS, Violation, Violations, counted},
};

/// Checks `value` against the root. Returns all violations, or none.
pub(super) fn check(run: &Run<'_>, value: &Value) -> Result<(), Violations> {
    // Most values pass, and the verdict alone is cheaper than collecting violations.
    let root = run.nodes.root;
    let mut walk = Walk::new(run);
    let ok = walk.accepts(root, value, &Path::Root);
    match walk.exceeded {
        Some(limit) => return Err(limit.violation(run.steps, Found::size(value))),
        None if ok => return Ok(()),
        None => {}
    }
    // The verdict is known; finding the violations gets the same work again.
    let steps = run.steps.anew();
    let again = Run::new(run.nodes, &steps);
    let mut walk = Walk::new(&again);
    let mut out = Out::collect();
    walk.node(root, value, &Path::Root, &mut out);
    match (out, walk.exceeded) {
        // The caller needs the violations found before the limit.
        (Out::Collect { kept, more }, _) if !kept.is_empty() => Err(Violations::new(kept, more)),
        (_, Some(Limit::Depth)) => Err(Limit::Depth.violation(run.steps, Found::size(value))),
        (_, Some(Limit::Steps) | None) => {
            run.steps.spend();
            Err(Limit::Steps.violation(run.steps, Found::size(value)))
        }
    }
}

/// The destination of violations.
enum Out {
    /// Violations are not collected: the walk stops at the first.
    First,
    Collect {
        kept: Vec<Violation>,
        more: usize,
    },
}

impl Out {
    fn collect() -> Self {
        Self::Collect {
            kept: Vec::new(),
            more: 0,
        }
    }

    fn stops(&self) -> bool {
        matches!(self, Self::First)
    }

    /// Always returns `false`, which the caller returns as its verdict.
    fn push(&mut self, violation: impl FnOnce() -> Violation) -> bool {
        match self {
            Self::First => {}
            Self::Collect { kept, more } if MAX_VIOLATIONS <= kept.len() => *more += 1,
            Self::Collect { kept, .. } => {
                let violation = violation();
                // Two branches of `allOf` often report the same violation.
                if !kept.contains(&violation) {
                    kept.push(violation);
                }
            }
        }
        false
    }
}

/// One check in progress.
pub(super) struct Walk<'s> {
    run: &'s Run<'s>,
    nodes: &'s Nodes,
    depth: usize,
    /// Nesting of the reports on branches that are being created.
    explaining: usize,
    /// The limit that was exceeded. Then the verdict is a failure, whatever the other results are.
    exceeded: Option<Limit>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(run: &'s Run<'s>) -> Self {
        Self {
            run,
            nodes: run.nodes,
            depth: 0,
            explaining: 0,
            exceeded: None,
        }
    }

    /// Returns whether the value passes and no limit was exceeded.
    pub(super) fn passes(&mut self, id: NodeId, value: &Value) -> bool {
        self.accepts(id, value, &Path::Root) && self.exceeded.is_none()
    }

    fn accepts(&mut self, id: NodeId, value: &Value, at: &Path<'_>) -> bool {
        self.node(id, value, at, &mut Out::First)
    }

    /// Returns the verdict on `value`; violations go to `out`.
    fn node(&mut self, id: NodeId, value: &Value, at: &Path<'_>, out: &mut Out) -> bool {
        let rules = match self.nodes.node(id) {
            Node::Any => return true,
            Node::Never => {
                return out
                    .push(|| violation(at, "false", "no value".to_owned(), Found::value(value)));
            }
            Node::Rules(rules) => rules,
        };
        let literals = rules.options.as_ref().map_or(0, |options| options.len());
        if self.exceeded.is_some() || !self.step_for_schema(literals) {
            return false;
        }
        if MAX_CHECK_DEPTH <= self.depth {
            self.exceeded = Some(Limit::Depth);
            return false;
        }
        self.depth += 1;
        let ok = self.rules(rules, value, at, out);
        self.depth -= 1;
        ok
    }

    fn step_for_schema(&mut self, literals: usize) -> bool {
        let taken = self.run.steps.take_for_schema(literals);
        self.unless_spent(taken)
    }

    fn step(&mut self, steps: u64) -> bool {
        let taken = self.run.steps.take(steps);
        self.unless_spent(taken)
    }

    /// Subtracts the steps for `bytes` that are matched against a pattern.
    fn step_for_text(&mut self, bytes: usize) -> bool {
        let taken = self.run.steps.take_for_text(bytes);
        self.unless_spent(taken)
    }

    fn unless_spent(&mut self, taken: bool) -> bool {
        if !taken {
            self.exceeded = Some(Limit::Steps);
        }
        taken
    }

    fn rules(&mut self, rules: &'s Rules, value: &Value, at: &Path<'_>, out: &mut Out) -> bool {
        let mut ok = literals(rules, value, at, out);
        // A wrong literal of a wrong type counts once, not twice.
        if ok && !rules.types.intersects(TypeSet::of(value)) {
            ok = out.push(|| violation(at, "type", type_words(rules), Found::value(value)));
        }
        if !ok && out.stops() {
            return false;
        }
        ok &= match value {
            Value::Number(number) => {
                if number.is_f64() && rules.types.is_integral() {
                    self.run.integral_floats.set(true);
                }
                rules
                    .number
                    .as_ref()
                    .is_none_or(|rules| numbers(rules, Num::of(number), value, at, out))
            }
            Value::String(text) => match &rules.string {
                Some(rules) => {
                    self.step_for_text(rules.cost(text)) && strings(rules, text, value, at, out)
                }
                None => true,
            },
            Value::Array(items) => match &rules.array {
                Some(rules) => self.array(rules, items, value, at, out),
                None => true,
            },
            Value::Object(members) => match &rules.object {
                Some(rules) => self.object(rules, members, value, at, out),
                None => true,
            },
            Value::Null | Value::Bool(_) => true,
        };
        if rules.apply.is_none() || (!ok && out.stops()) {
            return ok;
        }
        ok & self.applicators(rules, value, at, out)
    }

    fn array(
        &mut self,
        rules: &'s ArrayRules,
        items: &[Value],
        value: &Value,
        at: &Path<'_>,
        out: &mut Out,
    ) -> bool {
        let mut ok = true;
        if items.len() < rules.min {
            let words = || format!("at least {}", counted(rules.min, "item"));
            ok = out.push(|| violation(at, "minItems", words(), Found::size(value)));
        }
        if rules.max.is_some_and(|max| max < items.len()) {
            let words = || format!("at most {}", counted(rules.max.unwrap_or(0), "item"));
            ok = out.push(|| violation(at, "maxItems", words(), Found::size(value)));
        }
        if rules.unique {
            // Hashing reads the whole content of the items.
            if !self.step(items.iter().map(size).sum()) {
                return false;
            }
            if let Some((earlier, later)) = first_repeat(items) {
                let words = || format!("an item that differs from item {earlier}");
                ok = out.push(|| {
                    violation(
                        &at.index(later),
                        "uniqueItems",
                        words(),
                        Found::value(&items[later]),
                    )
                });
            }
        }
        for (i, item) in items.iter().enumerate() {
            if !ok && out.stops() {
                return false;
            }
            let id = rules.prefix.get(i).copied().unwrap_or(rules.items);
            if id == NodeId::NEVER {
                let words = || format!("at most {}", counted(rules.prefix.len(), "item"));
                return out.push(|| violation(at, "items", words(), Found::size(value)));
            }
            ok &= self.node(id, item, &at.index(i), out);
        }
        if let Some(contains) = &rules.contains {
            let mut count = 0;
            for (i, item) in items.iter().enumerate() {
                count += usize::from(self.accepts(contains.item, item, &at.index(i)));
            }
            let (keyword, bound, limit) = match contains.max {
                _ if count < contains.min => ("contains", "at least", contains.min),
                Some(max) if max < count => ("maxContains", "at most", max),
                _ => return ok,
            };
            if self.exceeded.is_some() {
                return false;
            }
            let nodes = self.nodes;
            ok = out.push(|| {
                let words = format!(
                    "{bound} {} ({})",
                    counted(limit, "matching item"),
                    describe(nodes, contains.item)
                );
                violation(at, keyword, words, Found::size(value))
            });
        }
        ok
    }

    fn object(
        &mut self,
        rules: &'s ObjectRules,
        members: &Map<String, Value>,
        value: &Value,
        at: &Path<'_>,
        out: &mut Out,
    ) -> bool {
        let mut ok = true;
        for name in rules
            .required
            .iter()
            .filter(|name| !members.contains_key(&***name))
        {
            let nodes = self.nodes;
            ok = out.push(|| {
                let schema = rules.member(name).and_then(|member| member.schema);
                let words =
                    schema.map_or_else(|| "a value".to_owned(), |schema| describe(nodes, schema));
                violation(&at.key(name), "required", words, Found::NOTHING)
            });
            if out.stops() {
                return false;
            }
        }
        ok &= object_size(rules, members.len(), value, at, out);
        for (name, wanted) in &rules.dependent {
            if members.contains_key(&**name) {
                for missing in wanted
                    .iter()
                    .filter(|wanted| !members.contains_key(&***wanted))
                {
                    let words = || format!("a value, since `{name}` is present");
                    ok = out.push(|| {
                        violation(
                            &at.key(missing),
                            "dependentRequired",
                            words(),
                            Found::NOTHING,
                        )
                    });
                }
            }
        }
        for (name, member) in members {
            if !ok && out.stops() {
                return false;
            }
            ok &= self.member(rules, members, name, member, at, out);
        }
        ok
    }

    fn member(
        &mut self,
        rules: &'s ObjectRules,
        members: &Map<String, Value>,
        name: &str,
        value: &Value,
        parent: &Path<'_>,
        out: &mut Out,
    ) -> bool {
        let at = &parent.key(name);
        let mut ok = true;
        let mut known = false;
        if let Some(schema) = rules.member(name).and_then(|member| member.schema) {
            known = true;
            ok &= self.node(schema, value, at, out);
        }
        for (pattern, schema) in &rules.patterns {
            if !self.step_for_text(name.len()) {
                return false;
            }
            if pattern.matches(name) {
                known = true;
                ok &= self.node(*schema, value, at, out);
            }
        }
        if !known && rules.additional == NodeId::NEVER {
            ok = out.push(|| unknown_member(rules, members, name, at));
        } else if !known {
            ok &= self.node(rules.additional, value, at, out);
        }
        if let Some(schema) = rules.property_names
            && !self.accepts(schema, &Value::String(name.to_owned()), at)
        {
            let nodes = self.nodes;
            ok = out.push(|| {
                let words = format!("a property name that is a {}", describe(nodes, schema));
                violation(at, "propertyNames", words, Found::unknown_property(name))
            });
        }
        ok
    }

    fn applicators(
        &mut self,
        rules: &'s Rules,
        value: &Value,
        at: &Path<'_>,
        out: &mut Out,
    ) -> bool {
        let Some(apply) = &rules.apply else {
            return true;
        };
        let mut ok = true;
        for id in apply.reference.iter().chain(&apply.all) {
            ok &= self.node(*id, value, at, out);
            if !ok && out.stops() {
                return false;
            }
        }
        if let Some(branches) = &apply.any {
            ok &= branches.iter().any(|&id| self.accepts(id, value, at))
                || self.explain("anyOf", branches, value, at, out);
        }
        if let Some(branches) = &apply.one {
            ok &= self.exactly_one(branches, value, at, out);
        }
        if let Some(id) = apply.not
            && self.accepts(id, value, at)
        {
            let nodes = self.nodes;
            ok = out.push(|| {
                violation(
                    at,
                    "not",
                    format!("anything but {}", describe(nodes, id)),
                    Found::value(value),
                )
            });
        }
        if let Some(condition) = &apply.condition {
            let chosen = if self.accepts(condition.test, value, at) {
                condition.then
            } else {
                condition.otherwise
            };
            ok &= self.node(chosen, value, at, out);
        }
        for (name, id) in &apply.dependent {
            if value
                .as_object()
                .is_some_and(|members| members.contains_key(&**name))
            {
                ok &= self.node(*id, value, at, out);
            }
        }
        ok
    }

    fn exactly_one(
        &mut self,
        branches: &'s [NodeId],
        value: &Value,
        at: &Path<'_>,
        out: &mut Out,
    ) -> bool {
        let mut matching = (0..branches.len()).filter(|&i| self.accepts(branches[i], value, at));
        match (matching.next(), matching.next()) {
            (Some(_), None) => true,
            (Some(first), Some(second)) => out.push(|| {
                let count = branches.len();
                let both = format!("{} and {} both do", first + 1, second + 1);
                let words =
                    format!("a value that only one of {count} alternatives accepts ({both})");
                violation(at, "oneOf", words, Found::value(value))
            }),
            (None, _) => {
                drop(matching);
                self.explain("oneOf", branches, value, at, out)
            }
        }
    }
}

fn violation(at: &Path<'_>, keyword: &'static str, expected: String, found: Found) -> Violation {
    Violation {
        pointer: at.pointer(),
        keyword,
        expected,
        found,
        suggestion: None,
    }
}
