//! From entries to types: the members of structs, the variants of unions, the values of enumerations.

use std::collections::{BTreeMap, BTreeSet};

use super::{Kind, Merger, Node, distinguish::json_type};
use crate::{
    model::{
        Bits, Constraints, EnumValue, Field, MethodDef, Model, Older, RequiredIf, Rule, Shape,
        TypeDef, TypeRef, Variant,
    },
    names::pascal,
    normalise::{Bounds, Object, Schema},
    overlay::UnionRule,
    problem::{Problem, child},
};

impl<'a> Merger<'a> {
    /// Walks on from all nodes of the type `name`.
    pub(super) fn expand(&mut self, name: &str) -> Result<(), Problem> {
        self.shape(name).map(drop)
    }

    /// The model, after the fixpoint is reached.
    pub(super) fn finish(mut self, methods: BTreeMap<String, MethodDef>) -> Result<Model, Problem> {
        let names: Vec<String> = self.entries.keys().cloned().collect();
        let mut types = BTreeMap::new();
        for name in names {
            let shape = self.shape(&name)?;
            let mut known = Bits::default();
            let sources: Vec<(usize, String)> = self.entries[&name].nodes.keys().cloned().collect();
            for (revision, _) in &sources {
                known.add(*revision);
            }
            let closed = self.closed(&name)?;
            types.insert(
                name.clone(),
                TypeDef {
                    name,
                    known,
                    shape,
                    closed,
                    sources,
                },
            );
        }
        self.check_used()?;
        Ok(Model {
            revisions: self.sources.names.clone(),
            unreached: self.unreached(),
            external: external(&types, &methods, self.sources.core),
            types,
            methods,
            definitions: self.definitions,
            decisions: self.decisions.into_iter().collect(),
            extensions: BTreeMap::new(),
        })
    }

    fn check_used(&self) -> Result<(), Problem> {
        let overlay = self.sources.overlay;
        let core = self.sources.core.is_none();
        let lines = self
            .sources
            .type_names
            .keys()
            .chain(overlay.leaves.keys().filter(|_| core))
            .chain(overlay.aliases.keys().filter(|_| core))
            .chain(overlay.drop.keys().filter(|_| core));
        for line in lines {
            if !self.used.contains(line) {
                let message = format!("the line `{line}` is not needed by any position");
                return Err(self.sources.problem(message));
            }
        }
        for name in self.sources.unions.keys() {
            if !self.entries.contains_key(name) {
                let message =
                    format!("the rule `unions.{name}` is for a union that is not generated");
                return Err(self.sources.problem(message));
            }
        }
        Ok(())
    }

    /// The revisions in which the struct `name` has no members but those that it names.
    fn closed(&self, name: &str) -> Result<Bits, Problem> {
        let mut closed = Bits::default();
        let entry = &self.entries[name];
        for node in entry.nodes.values() {
            if let (Kind::Struct, Schema::Object(object)) = (entry.kind, node.schema)
                && object.additional == Schema::Never
            {
                closed.add(node.revision);
                if self.sources.core.is_some() && 1 < entry.nodes.len() {
                    let message = format!(
                        "`{name}` stands for several schemas, so `additionalProperties: false` of one cannot be checked"
                    );
                    return Err(self.problem(node, message));
                }
            }
        }
        Ok(closed)
    }

    fn shape(&mut self, name: &str) -> Result<Shape, Problem> {
        let nodes: Vec<Node<'a>> = self.entries[name].nodes.values().cloned().collect();
        match self.entries[name].kind {
            Kind::Struct => Ok(Shape::Struct {
                fields: self.fields(name, &nodes)?,
            }),
            Kind::Enum => Ok(Shape::Enum {
                values: values(&nodes),
            }),
            Kind::Union => {
                let (variants, rule) = self.variants(name, &nodes)?;
                Ok(Shape::Union { variants, rule })
            }
        }
    }

    fn fields(&mut self, name: &str, nodes: &[Node<'a>]) -> Result<Vec<Field>, Problem> {
        let objects: Vec<(&Node<'a>, &'a Object)> = nodes
            .iter()
            .filter_map(|node| match node.schema {
                Schema::Object(object) => Some((node, &**object)),
                _ => None,
            })
            .collect();
        let members: BTreeSet<&String> = objects
            .iter()
            .flat_map(|(_, object)| object.properties.keys())
            .collect();
        let mut revisions = Bits::default();
        for node in nodes {
            revisions.add(node.revision);
        }
        let tag = self.tag_of_collapsed(name, &objects);
        let mut fields: Vec<Field> = Vec::new();
        let mut kept: Vec<&String> = Vec::new();
        for member in members {
            let at = format!("{name}.{member}");
            match self.sources.overlay.drop.contains_key(&at) && self.sources.core.is_none() {
                true => _ = self.used.insert(at),
                false => kept.push(member),
            }
        }
        let names: Vec<&str> = kept.iter().map(|member| member.as_str()).collect();
        let fixed = &self.sources.overlay.fields;
        let rust_names = crate::names::members(&names, |member| fixed.get(member).cloned());
        for (member, rust_name) in kept.into_iter().zip(rust_names) {
            let at = format!("{name}.{member}");
            let mut known = Bits::default();
            let mut optional = Bits::default();
            let mut at_member = Vec::new();
            let mut constraints: BTreeMap<usize, Constraints> = BTreeMap::new();
            for (node, object) in &objects {
                if !object.required.contains(member) {
                    optional.add(node.revision);
                }
                if let Some(schema) = object.properties.get(member) {
                    known.add(node.revision);
                    let mut member_node = node.down(schema, "properties");
                    member_node.at = child(&member_node.at, member);
                    constraints
                        .entry(node.revision)
                        .or_default()
                        .tighten(self.resolve(member_node.clone()).schema);
                    at_member.push(member_node);
                }
            }
            let required = Bits(known.0 & !optional.0);
            let ty = match (
                self.position(&at, None, at_member.clone())?,
                self.constant(name, member),
            ) {
                (TypeRef::String, Some(value)) => TypeRef::Constant(value),
                // A constant is always written, so one that may be absent is a string for a user's schema.
                (TypeRef::Constant(_), _) if self.sources.core.is_some() && required.is_empty() => {
                    TypeRef::String
                }
                (ty, _) => ty,
            };
            let needs = self.needs(&at, &ty, &at_member)?;
            let default = self.sources.overlay.defaults.get(member).cloned();
            // A node whose type is narrower than the merged one becomes a constraint.
            let wide =
                matches!(&ty, TypeRef::Leaf(leaf) if leaf == "Json") || ty == TypeRef::Number;
            for constraint in constraints.values_mut() {
                if !wide {
                    constraint.json_type = None;
                }
            }
            constraints.retain(|_, constraint| *constraint != Constraints::default());
            fields.push(Field {
                json_name: member.clone(),
                rust_name,
                // A member that the encoder can fill in stays optional even if every revision requires it.
                always: required.covers(revisions)
                    && !(default.is_some() && matches!(ty, TypeRef::Integer | TypeRef::Named(_))),
                default,
                ty,
                known,
                required,
                constraints,
                needs,
                required_if: tag
                    .as_deref()
                    .and_then(|tag| required_if(tag, member, &objects)),
            });
        }
        Ok(fields)
    }

    /// The tag of the variants that were collapsed into the struct `name`.
    fn tag_of_collapsed(&self, name: &str, objects: &[(&Node<'a>, &'a Object)]) -> Option<String> {
        if !self.sources.unions.get(name)?.collapse {
            return None;
        }
        let (_, first) = objects.first()?;
        let tags = |member: &str| -> Option<BTreeSet<&str>> {
            objects
                .iter()
                .map(|(_, object)| object.properties.get(member)?.constant())
                .collect()
        };
        let tag = first
            .properties
            .keys()
            .find(|member| tags(member).is_some_and(|values| 1 < values.len()));
        tag.cloned()
    }

    fn constant(&self, name: &str, member: &str) -> Option<String> {
        let values = self.sources.overlay.constants.get(member)?;
        values.get(name).or_else(|| values.get("*")).cloned()
    }

    fn variants(
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
                if !keys.contains(&key) {
                    keys.push(key.clone());
                } else if rule.json && self.sources.core.is_some() {
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
        let names = crate::names::variants(&names);
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

    /// The key of a union member: its definition, its JSON type, or the variant for an absent tag.
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
        // A member without a name is called by its constant; the sign keeps it apart from definitions.
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

fn values(nodes: &[Node<'_>]) -> Vec<EnumValue> {
    let mut known: BTreeMap<&str, Bits> = BTreeMap::new();
    for node in nodes {
        let Schema::String(text) = node.schema else {
            continue;
        };
        for value in text.values.iter().flatten() {
            known.entry(value).or_default().add(node.revision);
        }
    }
    let values: Vec<&str> = known.keys().copied().collect();
    let names = crate::names::variants(&values);
    let values = known.into_iter().zip(names);
    let values = values.map(|((value, known), name)| EnumValue {
        value: value.to_owned(),
        name,
        known,
    });
    values.collect()
}

/// The variants among `objects`, distinguished by `tag`, that require `member`; `None` if all or none of them do.
fn required_if(tag: &str, member: &str, objects: &[(&Node<'_>, &Object)]) -> Option<RequiredIf> {
    let mut revisions = Bits::default();
    let mut values = BTreeSet::new();
    let requiring = objects
        .iter()
        .filter(|(_, object)| object.required.contains(member));
    for (node, object) in requiring.clone() {
        revisions.add(node.revision);
        values.extend(
            object
                .properties
                .get(tag)
                .and_then(Schema::constant)
                .map(str::to_owned),
        );
    }
    match requiring.count() {
        0 => None,
        count if count == objects.len() => None,
        _ => Some(RequiredIf {
            revisions,
            tag: tag.to_owned(),
            values: values.into_iter().collect(),
        }),
    }
}

impl Constraints {
    fn tighten(&mut self, schema: &Schema) {
        match schema {
            Schema::Integer(bounds) => {
                self.json_type = Some("integer".to_owned());
                self.bound(bounds);
            }
            Schema::Number(bounds) => self.bound(bounds),
            Schema::String(text) => self.format.clone_from(&text.format),
            Schema::Array(array) => {
                self.min_items = array.min_items;
                self.max_items = array.max_items;
            }
            Schema::Object(_) => self.json_type = Some("object".to_owned()),
            _ => {}
        }
    }

    fn bound(&mut self, bounds: &Bounds) {
        self.minimum = bounds.minimum.as_ref().map(ToString::to_string);
        self.maximum = bounds.maximum.as_ref().map(ToString::to_string);
    }
}

/// The core types that `types` and `methods` refer to, directly or through other core types.
fn external(
    types: &BTreeMap<String, TypeDef>,
    methods: &BTreeMap<String, MethodDef>,
    core: Option<&Model>,
) -> BTreeMap<String, TypeDef> {
    let Some(core) = core else {
        return BTreeMap::new();
    };
    let mut names: Vec<String> = Vec::new();
    for ty in types.values() {
        ty.each_ref(&mut |ty| names.extend(ty.named().map(str::to_owned)));
    }
    for method in methods.values() {
        names.extend(method.params.named().map(str::to_owned));
        names.extend(
            method
                .result
                .as_ref()
                .and_then(TypeRef::named)
                .map(str::to_owned),
        );
    }
    let mut external = BTreeMap::new();
    for name in names {
        if !types.contains_key(&name)
            && let Some(ty) = core.types.get(&name)
        {
            external.insert(name, ty.clone());
        }
    }
    external
}
