//! The compiled form of a schema: an arena of nodes. Each node has its keywords sorted by what they apply to.
//!
//! Data only. `compile` creates it; `walk`, `stream`, `describe` and `coerce` read it.

use serde_json::Value;

use super::{format::Format, number::Num, pattern::Pattern};

/// Index of a node in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(pub(super) u32);

impl NodeId {
    /// The schema `true`.
    pub(super) const ANY: Self = Self(0);
    /// The schema `false`.
    pub(super) const NEVER: Self = Self(1);
}

#[derive(Debug)]
pub(super) enum Node {
    Any,
    Never,
    Rules(Box<Rules>),
}

#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) types: TypeSet,
    pub(super) constant: Option<Value>,
    pub(super) options: Option<Box<[Value]>>,
    pub(super) number: Option<Box<NumberRules>>,
    pub(super) string: Option<Box<StringRules>>,
    pub(super) array: Option<Box<ArrayRules>>,
    pub(super) object: Option<Box<ObjectRules>>,
    pub(super) apply: Option<Box<Applicators>>,
    pub(super) plan: Plan,
}

/// How the streaming check treats a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Plan {
    /// The value is read as a tree and walked.
    #[default]
    Tree,
    /// The rules are applied while the value is read.
    Stream,
    /// Branches of `anyOf` or `oneOf` whose types are disjoint: the value's type selects the only candidate.
    ByType,
}

/// The kinds of JSON value that are allowed, of seven. `number` is two bits, so that `integer` is a subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

impl TypeSet {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const FRACTION: Self = Self(8);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);
    pub(super) const NONE: Self = Self(0);

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    /// Returns the single kind of this value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if Num::of(number).is_integral() => Self::INTEGER,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether the only numbers that are allowed are integers.
    pub(super) fn is_integral(self) -> bool {
        self.intersects(Self::INTEGER) && !self.intersects(Self::FRACTION)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Default for TypeSet {
    fn default() -> Self {
        Self::ALL
    }
}

#[derive(Debug, Default)]
pub(super) struct NumberRules {
    pub(super) minimum: Option<Num>,
    pub(super) maximum: Option<Num>,
    pub(super) exclusive_minimum: Option<Num>,
    pub(super) exclusive_maximum: Option<Num>,
    pub(super) multiple_of: Option<Num>,
    /// Whether integers that are written as floats must be below 2^53 and above −2^53.
    pub(super) exact: bool,
}

impl NumberRules {
    /// Returns whether the bounds are beyond 64 bits. Integers beyond 64 bits are read as floats, however they are written.
    pub(super) fn is_beyond_64_bits(&self) -> bool {
        let (least, greatest) = (Num::Int(i64::MIN.into()), Num::Int(u64::MAX.into()));
        let below = |bound: &Option<Num>| bound.is_some_and(|bound| bound.order(least).is_lt());
        let above = |bound: &Option<Num>| bound.is_some_and(|bound| bound.order(greatest).is_gt());
        below(&self.minimum) || above(&self.maximum)
    }
}

#[derive(Debug, Default)]
pub(super) struct StringRules {
    pub(super) min: usize,
    pub(super) max: Option<usize>,
    pub(super) pattern: Option<Pattern>,
    pub(super) format: Option<Format>,
}

impl StringRules {
    /// Returns how many bytes of `text` are matched against a pattern.
    pub(super) fn cost(&self, text: &str) -> usize {
        match self.pattern {
            Some(_) => text.len(),
            None => 0,
        }
    }
}

#[derive(Debug)]
pub(super) struct ArrayRules {
    pub(super) prefix: Box<[NodeId]>,
    /// The schema for the items after the prefix.
    pub(super) items: NodeId,
    pub(super) min: usize,
    pub(super) max: Option<usize>,
    pub(super) unique: bool,
    pub(super) contains: Option<Contains>,
}

#[derive(Debug)]
pub(super) struct Contains {
    pub(super) item: NodeId,
    pub(super) min: usize,
    pub(super) max: Option<usize>,
}

#[derive(Debug)]
pub(super) struct ObjectRules {
    /// Every name in `properties` or `required`, sorted.
    pub(super) members: Box<[Member]>,
    /// Names in `properties`, in the author's order.
    pub(super) names: Box<[Box<str>]>,
    /// The required names, in the author's order.
    pub(super) required: Box<[Box<str>]>,
    pub(super) patterns: Box<[(Pattern, NodeId)]>,
    /// The schema for members that neither `properties` nor `patternProperties` matches.
    pub(super) additional: NodeId,
    pub(super) property_names: Option<NodeId>,
    pub(super) min: usize,
    pub(super) max: Option<usize>,
    pub(super) dependent: Box<[Dependent]>,
}

/// If the member with the first name is present, the others must be too.
pub(super) type Dependent = (Box<str>, Box<[Box<str>]>);

#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: Box<str>,
    /// `None`: required, but not in `properties`.
    pub(super) schema: Option<NodeId>,
    /// Its place in `required`.
    pub(super) required: Option<u32>,
}

impl ObjectRules {
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        if self.members.len() <= 8 {
            return self.members.iter().find(|member| *member.name == *name);
        }
        let place = self
            .members
            .binary_search_by(|member| (*member.name).cmp(name))
            .ok()?;
        self.members.get(place)
    }
}

impl Rules {
    /// Returns whether every value passes.
    pub(super) fn is_trivial(&self) -> bool {
        self.types == TypeSet::ALL
            && self.constant.is_none()
            && self.options.is_none()
            && self.number.is_none()
            && self.string.is_none()
            && self.array.is_none()
            && self.object.is_none()
            && self.apply.is_none()
    }

    /// Returns the target, if these rules are only a reference.
    pub(super) fn alias(&self) -> Option<NodeId> {
        let target = self.apply.as_ref()?.reference?;
        let only = self.apply.as_ref()?.in_place().count() == 1;
        let bare = self.types == TypeSet::ALL
            && self.constant.is_none()
            && self.options.is_none()
            && self.number.is_none()
            && self.string.is_none()
            && self.array.is_none()
            && self.object.is_none();
        (only && bare).then_some(target)
    }

    /// Replaces every node that these rules refer to.
    pub(super) fn map_ids(&mut self, map: &dyn Fn(NodeId) -> NodeId) {
        let change = |id: &mut NodeId| *id = map(*id);
        if let Some(array) = &mut self.array {
            array.prefix.iter_mut().for_each(change);
            change(&mut array.items);
            if let Some(contains) = &mut array.contains {
                change(&mut contains.item);
            }
        }
        if let Some(object) = &mut self.object {
            object
                .members
                .iter_mut()
                .filter_map(|member| member.schema.as_mut())
                .for_each(change);
            object.patterns.iter_mut().for_each(|(_, id)| change(id));
            change(&mut object.additional);
            object.property_names.iter_mut().for_each(change);
        }
        if let Some(apply) = &mut self.apply {
            apply.reference.iter_mut().for_each(change);
            apply.all.iter_mut().for_each(change);
            apply.any.iter_mut().flatten().for_each(change);
            apply.one.iter_mut().flatten().for_each(change);
            apply.not.iter_mut().for_each(change);
            if let Some(condition) = &mut apply.condition {
                change(&mut condition.test);
                change(&mut condition.then);
                change(&mut condition.otherwise);
            }
            apply.dependent.iter_mut().for_each(|(_, id)| change(id));
        }
    }
}

/// Keywords that apply further schemas to the same value.
#[derive(Debug, Default)]
pub(super) struct Applicators {
    pub(super) reference: Option<NodeId>,
    pub(super) all: Box<[NodeId]>,
    pub(super) any: Option<Box<[NodeId]>>,
    pub(super) one: Option<Box<[NodeId]>>,
    pub(super) not: Option<NodeId>,
    pub(super) condition: Option<Condition>,
    /// The schema applies if the member is present.
    pub(super) dependent: Box<[(Box<str>, NodeId)]>,
}

#[derive(Debug)]
pub(super) struct Condition {
    pub(super) test: NodeId,
    pub(super) then: NodeId,
    pub(super) otherwise: NodeId,
}

impl Applicators {
    /// Returns every schema that applies to the same value.
    pub(super) fn in_place(&self) -> impl Iterator<Item = NodeId> + '_ {
        let condition = self
            .condition
            .iter()
            .flat_map(|c| [c.test, c.then, c.otherwise]);
        self.reference
            .into_iter()
            .chain(self.all.iter().copied())
            .chain(self.any.iter().flatten().copied())
            .chain(self.one.iter().flatten().copied())
            .chain(self.not)
            .chain(condition)
            .chain(self.dependent.iter().map(|&(_, id)| id))
    }
}

/// The arena. Only the compiler that filled it creates `NodeId`s, so every lookup succeeds.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) list: Box<[Node]>,
    pub(super) root: NodeId,
    pub(super) max_steps: u64,
}

impl Nodes {
    /// Creates the schema that every value passes.
    #[cfg(feature = "json-schema")]
    pub(super) fn anything(max_steps: u64) -> Self {
        Self {
            list: [Node::Any].into(),
            root: NodeId::ANY,
            max_steps,
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.list[id.0 as usize]
    }

    pub(super) fn rules(&self, id: NodeId) -> Option<&Rules> {
        match self.node(id) {
            Node::Rules(rules) => Some(rules),
            Node::Any | Node::Never => None,
        }
    }
}
