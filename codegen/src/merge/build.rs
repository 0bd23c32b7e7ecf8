//! From entries to types: the members of structs, the variants of unions, the values of enumerations.

use std::collections::{BTreeMap, BTreeSet};

use super::{Kind, Merger, Node};
use crate::{
    model::{
        Bits, Constraints, EnumValue, Field, MethodDef, Model, Older, RequiredIf, Rule, Shape,
        TypeDef, TypeRef, Variant,
    },
    names::{pascal, snake},
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
            types.insert(
                name.clone(),
                TypeDef {
                    name,
                    known,
                    shape,
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
                return Err(Problem::at("", message).in_file("overlay.toml"));
            }
        }
        for name in self.sources.unions.keys() {
            if !self.entries.contains_key(name) {
                let message =
                    format!("the rule `unions.{name}` is for a union that is not generated");
                return Err(Problem::at("", message).in_file("overlay.toml"));
            }
        }
        Ok(())
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
        for member in members {
            let at = format!("{name}.{member}");
            if self.sources.overlay.drop.contains_key(&at) {
                self.used.insert(at);
                continue;
            }
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
            let first = at_member[0].clone();
            let ty = match (
                self.position(&at, None, at_member.clone())?,
                self.constant(name, member),
            ) {
                (TypeRef::String, Some(value)) => TypeRef::Constant(value),
                (ty, _) => ty,
            };
            let needs = self.needs(&at, &ty, &at_member)?;
            let required = Bits(known.0 & !optional.0);
            let default = self.sources.overlay.defaults.get(member).cloned();
            let rust_name = match self.sources.overlay.fields.get(member) {
                Some(name) => name.clone(),
                None => snake(member),
            };
            if fields.iter().any(|field| field.rust_name == rust_name) {
                let message = format!("two members of `{name}` would be called `{rust_name}`");
                return Err(self.problem(&first, message));
            }
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
        let Some(rule) = self.sources.unions.get(name) else {
            let message =
                format!("the union `{name}` has no rule in the overlay (`unions.{name}`)");
            return Err(self.problem(&nodes[0], message));
        };
        if let Some(item) = &rule.many {
            return self.one_or_many(name, item, nodes);
        }
        // Newest revision first, so that the variants have the order of the newest revision.
        let mut keys: Vec<String> = Vec::new();
        let mut members: BTreeMap<String, Vec<Node<'a>>> = BTreeMap::new();
        let mut newest_first = nodes.to_vec();
        newest_first.sort_by_key(|node| std::cmp::Reverse(node.revision));
        for member in newest_first.iter().flat_map(Node::members) {
            let member = self.resolve(member);
            for key in self.member_keys(name, rule, &member)? {
                if !keys.contains(&key) {
                    keys.push(key.clone());
                }
                members.entry(key).or_default().push(member.clone());
            }
        }
        let mut variants = Vec::new();
        for key in &keys {
            let mut known = Bits::default();
            for node in &members[key] {
                known.add(node.revision);
            }
            let at = format!("{name}#{key}");
            let ty = self.position(&at, Some(key), members[key].clone())?;
            let needs = self.needs(&at, &ty, &members[key])?;
            let variant = match rule.variants.get(key) {
                Some(name) => name.clone(),
                None => pascal(key.strip_suffix(&rule.strip).unwrap_or(key)),
            };
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
            return Err(Problem::at("", message).in_file("overlay.toml"));
        }
        let index = |key: &String| {
            keys.iter().position(|k| k == key).ok_or_else(|| {
                let message =
                    format!("the rule names `{key}`, which is not a member of the union `{name}`");
                Problem::at("", message).in_file("overlay.toml")
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
                        continue;
                    };
                    let constant = object.properties.get(tag).and_then(Schema::constant);
                    match constant
                        .map(str::to_owned)
                        .or_else(|| self.constant(key, tag))
                    {
                        Some(value) => {
                            values.insert(value, i);
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
                return Err(Problem::at("", message).in_file("overlay.toml"));
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
                return Err(Problem::at("", message).in_file("overlay.toml"));
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
            let key = match member.schema {
                Schema::Bool => "boolean",
                Schema::Integer(_) | Schema::Number(_) => "number",
                Schema::String(_) => "string",
                Schema::Array(_) => "array",
                Schema::Object(_) => "object",
                _ => {
                    return Err(self.problem(
                        member,
                        format!("a member of `{name}` has no single JSON type"),
                    ));
                }
            };
            return Ok(vec![key.to_owned()]);
        }
        if let Some(definition) = member.names.first() {
            return Ok(self.aliases(member.revision, definition));
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
        for member in nodes.iter().flat_map(Node::members) {
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
    let mut values: Vec<EnumValue> = Vec::new();
    for node in nodes.iter().rev() {
        let Schema::String(text) = node.schema else {
            continue;
        };
        for value in text.values.iter().flatten() {
            match values.iter_mut().find(|known| known.value == *value) {
                Some(known) => known.known.add(node.revision),
                None => values.push(EnumValue {
                    value: value.clone(),
                    name: pascal(value),
                    known: Bits::of(node.revision),
                }),
            }
        }
    }
    values.sort_by(|a, b| a.value.cmp(&b.value));
    values
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
