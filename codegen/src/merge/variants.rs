//! The variants of unions, and how they are distinguished.

use std::collections::BTreeMap;

use super::{Kind, Merger, Node, distinguish::json_type};
use crate::{
    model::{Bits, Older, Rule, TypeRef, Variant},
    names::{self, pascal},
    normalise::Schema,
    overlay::UnionRule,
    problem::Problem,
};

impl<'a> Merger<'a> {
    /// Returns the variants of the union `name`, with its rule.
    pub(super) fn variants(
        &mut self,
        name: &str,
        nodes: &[Node<'a>],
    ) -> Result<(Vec<Variant>, Rule), Problem> {
        let Some(rule) = self.rule(name).cloned() else {
            let message = format!(
                "the union `{name}` has no rule in `{}` (`unions.{name}`)",
                self.sources.facts
            );
            return Err(self.problem(&nodes[0], message));
        };
        let rule = &rule;
        if let Some(item) = &rule.many {
            return self.one_or_many(name, item, nodes);
        }
        // Newest revision first, so that the variants have the order of the newest revision.
        let mut keys: Vec<String> = Vec::new();
        let mut members: BTreeMap<String, Vec<Node<'a>>> = BTreeMap::new();
        let mut newest_first = nodes.to_vec();
        newest_first.sort_by_key(|node| std::cmp::Reverse(node.revision));
        let all: Vec<Node<'a>> = newest_first
            .iter()
            .flat_map(|node| self.members(node))
            .collect();
        for member in all {
            let member = self.resolve(member);
            if *member.schema == Schema::Null && self.sources.core.is_some() {
                continue; // The union is nullable as a whole.
            }
            for key in self.member_keys(name, rule, &member)? {
                let is_second = members.get(&key).is_some_and(|nodes| {
                    nodes.iter().any(|other| other.revision == member.revision)
                });
                if !keys.contains(&key) {
                    keys.push(key.clone());
                } else if rule.json && is_second && self.sources.core.is_some() {
                    let message = format!("two members of `{name}` are of the JSON type {key}");
                    return Err(self.problem(&member, message));
                }
                members.entry(key).or_default().push(member.clone());
            }
        }
        let mut variants = Vec::new();
        let names: Vec<&str> = keys
            .iter()
            .map(|key| match rule.variants.get(key) {
                Some(name) => name.as_str(),
                None => match key.strip_suffix(&rule.strip) {
                    Some("") | None => key,
                    Some(stripped) => stripped,
                },
            })
            .collect();
        let names = names::variants(&names);
        for (key, variant) in keys.iter().zip(names) {
            let mut known = Bits::default();
            for node in &members[key] {
                known.add(node.revision);
            }
            let at = format!("{name}#{key}");
            // A JSON type or a constant names a variant, but not a type of its own.
            let default = match self.sources.core.is_some() && members[key][0].names.is_empty() {
                true => format!("{name}{}", pascal(key)),
                false => key.clone(),
            };
            let ty =
                super::position::plain(self.position(&at, Some(&default), members[key].clone())?);
            // Raw JSON is read from text, but a union by JSON type passes on the members of an object one by one.
            let ty = match ty {
                TypeRef::Leaf(leaf)
                    if rule.json && self.sources.core.is_some() && leaf != "Json" =>
                {
                    TypeRef::Map(Box::new(TypeRef::Leaf("Json".to_owned())))
                }
                ty => ty,
            };
            let needs = self.needs(&at, &ty, &members[key])?;
            variants.push(Variant {
                name: variant,
                ty,
                known,
                needs,
                older: match rule.rewritten.contains(key) {
                    true => Older::Rewritten,
                    false => Older::Nothing,
                },
            });
        }
        if let Some(key) = rule.rewritten.iter().find(|key| !keys.contains(key)) {
            let message =
                format!("the rule names `{key}`, which is not a member of the union `{name}`");
            return Err(self.sources.problem(message));
        }
        let index = |key: &String| {
            keys.iter().position(|k| k == key).ok_or_else(|| {
                let message =
                    format!("the rule names `{key}`, which is not a member of the union `{name}`");
                self.sources.problem(message)
            })
        };
        let index_all = |map: &BTreeMap<String, String>| {
            map.iter()
                .map(|(member, key)| Ok((member.clone(), index(key)?)))
                .collect::<Result<BTreeMap<_, _>, Problem>>()
        };
        let rule = if let Some(tag) = &rule.tag {
            let absent = rule.absent.as_ref().map(index).transpose()?;
            let mut values = BTreeMap::new();
            for (i, key) in keys.iter().enumerate() {
                for node in &members[key] {
                    let Schema::Object(object) = node.schema else {
                        if self.sources.core.is_none() {
                            continue;
                        }
                        let message =
                            format!("a member of `{name}` is not an object, so it has no `{tag}`");
                        return Err(self.problem(node, message));
                    };
                    let constant = object.properties.get(tag).and_then(Schema::constant);
                    match constant
                        .map(str::to_owned)
                        .or_else(|| self.constant(key, tag))
                    {
                        Some(value) => {
                            if let Some(other) = values.insert(value.clone(), i)
                                && other != i
                            {
                                let message = format!(
                                    "two members of `{name}` have the `{tag}` {value:?}, by which it distinguishes them"
                                );
                                return Err(self.problem(node, message));
                            }
                        }
                        None if absent == Some(i) => {}
                        None => {
                            let message = format!(
                                "`{key}` has no constant `{tag}`, by which `{name}` distinguishes its members"
                            );
                            return Err(self.problem(node, message));
                        }
                    }
                }
            }
            Rule::Tag {
                member: tag.clone(),
                values,
                absent,
            }
        } else if !rule.present.is_empty() {
            let present = index_all(&rule.present)?;
            if let Some(i) = (0..keys.len()).find(|i| present.values().all(|v| v != i)) {
                let message = format!(
                    "the rule of `{name}` does not say how `{}` is recognised",
                    keys[i]
                );
                return Err(self.sources.problem(message));
            }
            Rule::Present(present)
        } else if rule.json {
            Rule::Json(
                keys.iter()
                    .enumerate()
                    .map(|(i, key)| (key.clone(), i))
                    .collect(),
            )
        } else {
            let mut cases = Vec::new();
            for case in &rule.cases {
                cases.push((case.clone(), index(&case.variant)?));
            }
            if let Some(i) = (0..keys.len()).find(|i| cases.iter().all(|(_, v)| v != i)) {
                let message = format!(
                    "the rule of `{name}` does not say how `{}` is recognised",
                    keys[i]
                );
                return Err(self.sources.problem(message));
            }
            Rule::Cases(cases)
        };
        Ok((variants, rule))
    }

    /// Returns the key of a union member: its definition, its JSON type, or the variant for an absent tag.
    fn member_keys(
        &mut self,
        name: &str,
        rule: &UnionRule,
        member: &Node<'a>,
    ) -> Result<Vec<String>, Problem> {
        if rule.json {
            return match json_type(member.schema) {
                Some(key) => Ok(vec![key.to_owned()]),
                None => Err(self.problem(
                    member,
                    format!("a member of `{name}` has no single JSON type"),
                )),
            };
        }
        if let Some(definition) = member.names.first() {
            return Ok(self.aliases(member.revision, definition));
        }
        // A member without a name is called by its constant; the sign distinguishes it from definitions.
        if let (Some(tag), Schema::Object(object), true) =
            (&rule.tag, member.schema, self.sources.core.is_some())
            && let Some(value) = object.properties.get(tag).and_then(Schema::constant)
        {
            return Ok(vec![format!("={value}")]);
        }
        match &rule.absent {
            Some(absent) => Ok(vec![absent.clone()]),
            None => Err(self.problem(
                member,
                format!("a member of the union `{name}` has no name"),
            )),
        }
    }

    fn one_or_many(
        &mut self,
        name: &str,
        item: &str,
        nodes: &[Node<'a>],
    ) -> Result<(Vec<Variant>, Rule), Problem> {
        let (mut one, mut many) = (Bits::default(), Bits::default());
        let mut items = Vec::new();
        let all: Vec<Node<'a>> = nodes.iter().flat_map(|node| self.members(node)).collect();
        for member in all {
            match member.schema {
                Schema::Array(array) => {
                    many.add(member.revision);
                    items.push(member.down(&array.items, "items"));
                }
                _ => {
                    one.add(member.revision);
                    self.add(item, Kind::Union, member)?;
                }
            }
        }
        let ty = self.position(&format!("{name}#many"), Some(item), items)?;
        let single = TypeRef::Named(item.to_owned());
        let variants = vec![
            Variant {
                name: "Single".to_owned(),
                ty: single,
                known: one,
                needs: Vec::new(),
                older: Older::Nothing,
            },
            Variant {
                name: "Many".to_owned(),
                ty: TypeRef::Vec(Box::new(ty)),
                known: many,
                needs: Vec::new(),
                older: Older::Item,
            },
        ];
        let rule = [("array".to_owned(), 1), ("object".to_owned(), 0)]
            .into_iter()
            .collect();
        Ok((variants, Rule::Json(rule)))
    }
}
