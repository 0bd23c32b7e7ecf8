//! Checks JSON text as a stream: without a tree and, for text without escapes, without an allocation.
//!
//! Only acceptance is final. If this check does not accept a text, `walk` decides on the tree and reports the violations. So this file must
//! never accept an invalid text, but may refuse a valid one.

use serde::de::{
    self, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;

use super::{
    node::{ArrayRules, Member, Node, NodeId, ObjectRules, Plan, Rules, TypeSet},
    number::Num,
    run::Run,
    walk::{
        Walk,
        leaf::{broken_bounds, broken_strings, is_inexact},
    },
};

/// Returns whether the text is JSON that the schema accepts. If `false`, the tree must be checked, unless no steps are left.
pub(super) fn accepts(run: &Run<'_>, text: &str) -> bool {
    let nodes = run.nodes;
    if nodes
        .rules(nodes.root)
        .is_some_and(|rules| rules.plan == Plan::Tree)
    {
        return false;
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = Seed {
        run,
        id: nodes.root,
    };
    seed.deserialize(&mut deserializer).is_ok() && deserializer.end().is_ok()
}

/// The key of the object in which serde_json passes numbers if its feature `arbitrary_precision` is on.
const DISGUISED: &str = "$serde_json::private::";

#[derive(Clone, Copy)]
struct Seed<'s> {
    run: &'s Run<'s>,
    id: NodeId,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let rules = match self.run.nodes.node(self.id) {
            Node::Any => return deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
            Node::Never => return Err(no()),
            Node::Rules(rules) => rules,
        };
        match rules.plan {
            Plan::Stream | Plan::ByType => {
                let literals = rules.options.as_ref().map_or(0, |options| options.len());
                if !self.run.steps.take_for_schema(literals) {
                    return Err(no());
                }
                deserializer.deserialize_any(Streamed {
                    run: self.run,
                    rules,
                })
            }
            Plan::Tree => {
                let value: Value = de::Deserialize::deserialize(deserializer)?;
                yes_if(Walk::new(self.run).passes(self.id, &value))
            }
        }
    }
}

/// Creates an error that is discarded unread, because the walk of the tree reports the violation.
fn no<E: Error>() -> E {
    E::custom("")
}

fn yes_if<E: Error>(ok: bool) -> Result<(), E> {
    if ok { Ok(()) } else { Err(no()) }
}

#[derive(Clone, Copy)]
struct Streamed<'s> {
    run: &'s Run<'s>,
    rules: &'s Rules,
}

impl<'s> Streamed<'s> {
    /// Returns the rules for a value of this kind, if the type is allowed.
    fn of_kind(&self, kind: TypeSet) -> Option<&'s Rules> {
        let own = Some(self.rules).filter(|rules| rules.types.intersects(kind))?;
        let Some(apply) = own.apply.as_ref().filter(|_| own.plan == Plan::ByType) else {
            return Some(own);
        };
        let branches = apply.any.as_ref().or(apply.one.as_ref())?;
        let mut rules = branches.iter().filter_map(|&id| self.run.nodes.rules(id));
        rules.find(|rules| rules.types.intersects(kind))
    }

    /// Returns the verdict on `number`; `float` if it was written as one.
    fn number(&self, number: Num, float: Option<f64>) -> bool {
        let kind = if number.is_integral() {
            TypeSet::INTEGER
        } else {
            TypeSet::FRACTION
        };
        self.of_kind(kind).is_some_and(|rules| {
            if float.is_some() && rules.types.is_integral() {
                self.run.integral_floats.set(true);
            }
            rules.number.as_ref().is_none_or(|rules| {
                broken_bounds(rules, number).iter().all(Option::is_none)
                    && !is_inexact(rules, float)
            }) && literals_accept(rules, |literal| match literal {
                Value::Number(literal) => Num::of(literal) == number,
                _ => false,
            })
        })
    }

    fn array(&self) -> Option<Option<&'s ArrayRules>> {
        let rules = self.of_kind(TypeSet::ARRAY)?;
        literals_accept(rules, |_| false).then_some(rules.array.as_deref())
    }

    fn object(&self) -> Option<Option<&'s ObjectRules>> {
        let rules = self.of_kind(TypeSet::OBJECT)?;
        literals_accept(rules, |_| false).then_some(rules.object.as_deref())
    }

    fn at(&self, id: NodeId) -> Seed<'s> {
        Seed { run: self.run, id }
    }
}

fn literals_accept(rules: &Rules, same: impl Fn(&Value) -> bool) -> bool {
    rules.constant.as_ref().is_none_or(&same)
        && rules
            .options
            .as_ref()
            .is_none_or(|options| options.iter().any(&same))
}

impl<'de> Visitor<'de> for Streamed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value that its schema allows")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        let rules = self.of_kind(TypeSet::NULL);
        yes_if(rules.is_some_and(|rules| literals_accept(rules, Value::is_null)))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        let rules = self.of_kind(TypeSet::BOOLEAN);
        yes_if(rules.is_some_and(|rules| {
            literals_accept(rules, |literal| literal.as_bool() == Some(value))
        }))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        yes_if(self.number(Num::Int(i128::from(value)), None))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        yes_if(self.number(Num::Int(i128::from(value)), None))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        yes_if(self.number(Num::of_f64(value), Some(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let rules = self.of_kind(TypeSet::STRING);
        yes_if(rules.is_some_and(|rules| {
            rules.string.as_ref().is_none_or(|rules| {
                self.run.steps.take_for_text(rules.cost(value))
                    && broken_strings(rules, value).iter().all(Option::is_none)
            }) && literals_accept(rules, |literal| literal.as_str() == Some(value))
        }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Some(rules) = self.array() else {
            return Err(no());
        };
        let Some(rules) = rules else {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let mut count = 0;
        loop {
            let id = rules.prefix.get(count).copied().unwrap_or(rules.items);
            if seq.next_element_seed(self.at(id))?.is_none() {
                break;
            }
            count += 1;
        }
        yes_if(rules.min <= count && rules.max.is_none_or(|max| count <= max))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some(rules) = self.object() else {
            return Err(no());
        };
        let mut missing: u64 = match rules.map_or(0, |rules| rules.required.len()) {
            64.. => u64::MAX,
            required => (1 << required) - 1,
        };
        let mut count = 0;
        while let Some(name) = map.next_key_seed(Name { rules })? {
            count += 1;
            let id = match name {
                Known::Member(member) => {
                    missing &= !member.required.map_or(0, |place| 1 << place);
                    member.schema
                }
                Known::Other => None,
                Known::Disguised => return Err(no()),
            };
            let id = id.unwrap_or_else(|| rules.map_or(NodeId::ANY, |rules| rules.additional));
            map.next_value_seed(self.at(id))?;
        }
        let fits = rules
            .and_then(|rules| rules.max)
            .is_none_or(|max| count <= max);
        yes_if(missing == 0 && fits)
    }
}

/// Reads a member's name and looks it up in the schema.
struct Name<'s> {
    rules: Option<&'s ObjectRules>,
}

enum Known<'s> {
    Member(&'s Member),
    Other,
    Disguised,
}

impl<'s, 'de> DeserializeSeed<'de> for Name<'s> {
    type Value = Known<'s>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Known<'s>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'s> Visitor<'_> for Name<'s> {
    type Value = Known<'s>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Known<'s>, E> {
        Ok(match self.rules.and_then(|rules| rules.member(name)) {
            Some(member) => Known::Member(member),
            None if name.starts_with(DISGUISED) => Known::Disguised,
            None => Known::Other,
        })
    }
}
