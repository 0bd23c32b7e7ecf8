//! Builds types from entries: the members of structs, the variants of unions, the values of enumerations.

use std::collections::{BTreeMap, BTreeSet};

use super::{Kind, Merger, Node};
use crate::{
    model::{
        Bits, Constraints, EnumValue, Field, InVariants, MethodDef, Model, Shape, TypeDef, TypeRef,
    },
    normalise::{Bounds, Object, Schema},
    problem::{Problem, child},
};

impl<'a> Merger<'a> {
    /// Continues the walk from all nodes of the type `name`.
    pub(super) fn expand(&mut self, name: &str) -> Result<(), Problem> {
        self.shape(name).map(drop)
    }

    /// Returns the model, after the fixpoint is reached.
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

    /// Returns the revisions in which the struct `name` has only the members that it names.
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
                // A constant is always written. So in a user's schema, a constant that may be absent is a string.
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
                required_if: tag.as_deref().and_then(|tag| {
                    some_variants(tag, &objects, |object| object.required.contains(member))
                }),
                known_if: tag.as_deref().and_then(|tag| {
                    some_variants(tag, &objects, |object| {
                        object.properties.contains_key(member)
                    })
                }),
            });
        }
        Ok(fields)
    }

    /// Returns the tag of the variants that were collapsed into the struct `name`.
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

    pub(super) fn constant(&self, name: &str, member: &str) -> Option<String> {
        let values = self.sources.overlay.constants.get(member)?;
        values.get(name).or_else(|| values.get("*")).cloned()
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

/// Returns the variants of `objects`, distinguished by `tag`, that are in `among`; `None` if all or none of them are.
fn some_variants(
    tag: &str,
    objects: &[(&Node<'_>, &Object)],
    among: impl Fn(&Object) -> bool,
) -> Option<InVariants> {
    let mut revisions = Bits::default();
    let mut values = BTreeSet::new();
    let mut count = 0;
    for (node, object) in objects.iter().filter(|(_, object)| among(object)) {
        count += 1;
        revisions.add(node.revision);
        values.extend(
            object
                .properties
                .get(tag)
                .and_then(Schema::constant)
                .map(str::to_owned),
        );
    }
    (0 < count && count < objects.len()).then(|| InVariants {
        revisions,
        tag: tag.to_owned(),
        values: values.into_iter().collect(),
    })
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

/// Returns the core types that `types` and `methods` refer to, directly or through other core types.
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
