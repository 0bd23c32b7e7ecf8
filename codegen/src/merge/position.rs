//! Merges one position from the nodes of the revisions.

use super::{Kind, Merger, Node};
use crate::{
    model::TypeRef,
    names::pascal,
    normalise::{Object, Schema},
    problem::{Problem, child},
};

/// Most lists, maps and nullable values that may lie inside each other without an object in between.
const DEEPEST: usize = 32;

/// Most members of a union.
pub(super) const MOST_MEMBERS: usize = 1_000;

impl<'a> Merger<'a> {
    /// Returns the type at position `at`. Adds the nodes to the entries of that type. `default` is the name of a type that has no name in
    /// any revision.
    pub(super) fn position(
        &mut self,
        at: &str,
        default: Option<&str>,
        nodes: Vec<Node<'a>>,
    ) -> Result<TypeRef, Problem> {
        let nodes: Vec<Node<'a>> = nodes.into_iter().map(|node| self.resolve(node)).collect();
        if let (Some(node), true) = (nodes.first(), DEEPEST <= self.depth) {
            let message = format!(
                "more than {DEEPEST} lists, maps and nullable values lie inside each other here; one that contains itself needs an \
                 object in between"
            );
            return Err(self.problem(node, message));
        }
        self.depth += 1;
        let ty = self.merged(at, default, &nodes);
        self.depth -= 1;
        let ty = ty?;
        for node in &nodes {
            for name in &node.names {
                self.definitions
                    .insert((node.revision, (*name).to_owned()), ty.clone());
            }
        }
        Ok(ty)
    }

    fn merged(
        &mut self,
        at: &str,
        default: Option<&str>,
        nodes: &[Node<'a>],
    ) -> Result<TypeRef, Problem> {
        let leaves = &self.sources.overlay.leaves;
        if let Some(leaf) = leaves.get(at).filter(|_| self.sources.core.is_none()) {
            self.used.insert(at.to_owned());
            return Ok(TypeRef::Leaf(leaf.clone()));
        }
        if let Some(ty) = self.shared(nodes) {
            return Ok(ty);
        }
        let impossible = nodes.iter().find(|node| *node.schema == Schema::Never);
        if let (Some(node), true) = (impossible, self.sources.core.is_some()) {
            return Err(self.problem(node, "no value is allowed here, so no type can hold one"));
        }
        // A definition with a hand-written type decides, even if other revisions have a free object here.
        if let Some(leaf) = nodes.iter().find_map(|node| self.leaf_of(node)) {
            let compatible = |node: &Node<'a>| match node.schema {
                Schema::Object(object) => leaf == "JsonObject" && object.is_free(),
                _ => false,
            };
            match nodes
                .iter()
                .find(|node| self.leaf_of(node) != Some(leaf) && !compatible(node))
            {
                None => return Ok(TypeRef::Leaf(leaf.to_owned())),
                Some(other) => return Err(self.incompatible(at, nodes, other)),
            }
        }
        match self.kind(at, nodes)? {
            Shape::Any => Ok(TypeRef::Leaf("Json".to_owned())),
            Shape::Bool => Ok(TypeRef::Bool),
            Shape::Number => Ok(self.number(at, nodes)),
            Shape::Text => self.text(at, default, nodes),
            Shape::Array => {
                let items = nodes
                    .iter()
                    .filter_map(|node| match node.schema {
                        Schema::Array(array) => Some(node.down(&array.items, "items")),
                        _ => None,
                    })
                    .collect();
                let default = default.map(|name| format!("{name}Item"));
                let item = self.position(&format!("{at}[]"), default.as_deref(), items)?;
                Ok(TypeRef::Vec(Box::new(plain(item))))
            }
            Shape::Object => self.object(at, default, nodes),
            Shape::Union => self.union(at, default, nodes),
        }
    }

    pub(super) fn resolve(&self, mut node: Node<'a>) -> Node<'a> {
        while let Schema::Ref(name) = node.schema {
            node.names.push(name);
            node.at = child("/$defs", name);
            node.schema = &self.sources.revisions[node.revision][name];
        }
        node
    }

    /// Returns the core's type, if the position is a definition that the core has too.
    fn shared(&self, nodes: &[Node<'a>]) -> Option<TypeRef> {
        let core = self.sources.core?;
        let node = nodes.first()?;
        let name = node.names.first()?;
        let is_alone = nodes.iter().all(|node| node.names.first() == Some(name));
        if !is_alone || !self.sources.shared.contains(*name) {
            return None;
        }
        core.definitions
            .get(&(node.revision, (*name).to_owned()))
            .cloned()
    }

    /// Returns the hand-written type of a definition through which `node` was reached.
    pub(super) fn leaf_of(&self, node: &Node<'a>) -> Option<&'a str> {
        node.names
            .iter()
            .filter(|name| self.sources.core.is_none() || self.sources.shared.contains(**name))
            .find_map(|name| self.sources.overlay.definitions.get(*name))
            .map(String::as_str)
    }

    fn incompatible(&self, at: &str, nodes: &[Node<'a>], node: &Node<'a>) -> Problem {
        let revisions: Vec<&str> = nodes
            .iter()
            .map(|node| self.sources.names[node.revision].as_str())
            .collect();
        let message = format!(
            "the shapes at `{at}` in {} cannot be merged; `{}` must say what it is (`leaves`, `names` or `drop`)",
            revisions.join(", "),
            self.sources.facts
        );
        self.problem(node, message)
    }

    fn kind(&self, at: &str, nodes: &[Node<'a>]) -> Result<Shape, Problem> {
        let mut kind = None;
        for node in nodes {
            let other = Shape::of(node.schema);
            kind = match kind {
                None => Some(other),
                Some(kind) if kind == other => Some(kind),
                // A revision with a single member, while others have a union: a union of one.
                Some(Shape::Union) if other != Shape::Any => Some(Shape::Union),
                Some(kind) if kind != Shape::Any && other == Shape::Union => Some(Shape::Union),
                Some(_) => return Err(self.incompatible(at, nodes, node)),
            };
        }
        kind.ok_or_else(|| Problem::at("", format!("no revision has the position `{at}`")))
    }

    fn number(&mut self, at: &str, nodes: &[Node<'a>]) -> TypeRef {
        let integers = nodes
            .iter()
            .filter(|node| matches!(node.schema, Schema::Integer(_)))
            .count();
        if integers == nodes.len() {
            return TypeRef::Integer;
        }
        if integers != 0 {
            self.decisions
                .insert(format!("{at}: integer and number merge as number"));
        }
        TypeRef::Number
    }

    fn text(
        &mut self,
        at: &str,
        default: Option<&str>,
        nodes: &[Node<'a>],
    ) -> Result<TypeRef, Problem> {
        let mut values: Vec<&String> = Vec::new();
        let mut plain = false;
        for node in nodes {
            if let Schema::String(text) = node.schema {
                plain |= text.values.is_none();
                values.extend(text.values.iter().flatten());
            }
        }
        let Some(first) = values.first().copied() else {
            return Ok(TypeRef::String);
        };
        if plain {
            self.decisions.insert(format!(
                "{at}: plain string in some revisions, constants in others: string"
            ));
            return Ok(TypeRef::String);
        }
        let constants = nodes.iter().all(|node| node.schema.constant().is_some());
        if constants && values.iter().all(|value| *value == first) {
            return Ok(TypeRef::Constant(first.clone()));
        }
        let name = self.name(at, default, nodes);
        for node in nodes {
            self.add(&name, Kind::Enum, node.clone())?;
        }
        Ok(TypeRef::Named(name))
    }

    fn object(
        &mut self,
        at: &str,
        default: Option<&str>,
        nodes: &[Node<'a>],
    ) -> Result<TypeRef, Problem> {
        let objects: Vec<(&Node<'a>, &'a Object)> = nodes
            .iter()
            .filter_map(|node| match node.schema {
                Schema::Object(object) => Some((node, &**object)),
                _ => None,
            })
            .collect();
        if objects.iter().all(|(_, object)| object.is_free()) && !at.starts_with('@') {
            let leaf = if at.ends_with("._meta") {
                "Meta"
            } else {
                "JsonObject"
            };
            return Ok(TypeRef::Leaf(leaf.to_owned()));
        }
        let maps: Vec<Node<'a>> = objects
            .iter()
            .filter(|(_, object)| self.is_map(object))
            .map(|(node, object)| node.down(&object.additional, "additionalProperties"))
            .collect();
        if !maps.is_empty() {
            if maps.len() != objects.len() {
                return Err(self.incompatible(at, nodes, objects[0].0));
            }
            let default = default.map(|name| format!("{name}Value"));
            let value = self.position(&format!("{at}{{}}"), default.as_deref(), maps)?;
            return Ok(TypeRef::Map(Box::new(plain(value))));
        }
        let name = self.name(at, default, nodes);
        for node in nodes {
            self.add(&name, Kind::Struct, node.clone())?;
        }
        Ok(TypeRef::Named(name))
    }

    fn union(
        &mut self,
        at: &str,
        default: Option<&str>,
        nodes: &[Node<'a>],
    ) -> Result<TypeRef, Problem> {
        let mut members: Vec<Node<'a>> = Vec::new();
        let mut nullable = false;
        let mut one_each = true;
        for node in nodes {
            let before = members.len();
            for member in self.members(node) {
                match self.resolve(member.clone()).schema {
                    Schema::Null => nullable = true,
                    _ => members.push(member),
                }
            }
            one_each &= members.len() <= before + 1;
        }
        if MOST_MEMBERS < members.len() {
            let message = format!("a union of more than {MOST_MEMBERS} members");
            return Err(self.problem(&nodes[0], message));
        }
        if members.is_empty() {
            return Err(self.problem(&nodes[0], "only null is allowed here, so no type is needed"));
        }
        if nullable && (one_each || self.sources.core.is_none()) {
            let inner = self.position(at, default, members)?;
            return Ok(nullable_of(inner));
        }
        let name = self.name(at, default, nodes);
        let nullability = |ty| match nullable {
            true => nullable_of(ty),
            false => ty,
        };
        if self.rule(&name).is_none() {
            match self.distinguish(&members) {
                Some(rule) => _ = self.rules.insert(name.clone(), rule),
                None => {
                    let message = format!(
                        "the union `{name}` (at `{at}`) has no rule in `{}` (`unions.{name}`), and its members differ neither in \
                         their JSON types nor in a constant that all of them require",
                        self.sources.facts
                    );
                    return Err(self.problem(&nodes[0], message));
                }
            }
        }
        if self.rule(&name).is_some_and(|rule| rule.collapse) {
            for member in members {
                let member = self.resolve(member);
                self.add(&name, Kind::Struct, member)?;
            }
            return Ok(nullability(TypeRef::Named(name)));
        }
        for node in nodes {
            self.add(&name, Kind::Union, node.clone())?;
        }
        Ok(nullability(TypeRef::Named(name)))
    }

    /// Returns whether `object` has no members of its own, and its values have one schema.
    fn is_map(&self, object: &Object) -> bool {
        let closed = self.sources.core.is_some() && object.additional == Schema::Never;
        object.properties.is_empty() && object.additional != Schema::Any && !closed
    }

    /// Returns the name from the overlay, otherwise that of the newest definition, otherwise one derived from the position.
    fn name(&mut self, at: &str, default: Option<&str>, nodes: &[Node<'a>]) -> String {
        if let Some(name) = self.sources.type_names.get(at) {
            self.used.insert(at.to_owned());
            return name.clone();
        }
        if let Some(name) = at.strip_prefix('@') {
            return name.to_owned();
        }
        let is_extension = self.sources.core.is_some();
        // Named by the place in the file: a schema that is reached in several ways, even through itself, has one type.
        let places: Vec<&str> = nodes.iter().map(|node| node.at.as_str()).collect();
        let place = places.join(" ");
        // The union determines the type of its variant.
        if let (Some(name), true) = (default, at.contains('#')) {
            return match self.rust_names.definitions.get(name) {
                Some(name) => name.clone(),
                None if is_extension => self.rust_names.of_place(&place, name),
                None => name.to_owned(),
            };
        }
        let newest = nodes
            .iter()
            .filter(|node| !node.names.is_empty())
            .max_by_key(|node| node.revision);
        if let Some(node) = newest {
            if let Some(name) = self.rust_names.definitions.get(node.names[0]) {
                return name.clone();
            }
            return self.aliases(node.revision, node.names[0])[0].clone();
        }
        let proposed = match default {
            Some(name) => name.to_owned(),
            None => at.split('.').map(pascal).collect(),
        };
        if !is_extension {
            return proposed;
        }
        // Params that are written in the envelope and again as a definition have the type of the definition.
        if let [node] = nodes
            && self.sources.revisions[node.revision].get(&proposed) == Some(node.schema)
            && let Some(name) = self.rust_names.definitions.get(&proposed)
        {
            return name.clone();
        }
        self.rust_names.of_place(&place, &proposed)
    }

    /// Returns the names under which `name` of `revision` is merged.
    pub(super) fn aliases(&mut self, revision: usize, name: &str) -> Vec<String> {
        let key = format!("{name}@{}", self.sources.names[revision]);
        match self.sources.overlay.aliases.get(&key) {
            Some(names) => {
                self.used.insert(key);
                names.clone()
            }
            None => vec![name.to_owned()],
        }
    }
}

/// Returns the type inside a list, a map or a nullable value: a constant is a string there, which [`needs`](Merger::needs) restricts.
pub(super) fn plain(ty: TypeRef) -> TypeRef {
    match ty {
        TypeRef::Constant(_) => TypeRef::String,
        other => other,
    }
}

fn nullable_of(ty: TypeRef) -> TypeRef {
    match plain(ty) {
        nullable @ TypeRef::Nullable(_) => nullable,
        other => TypeRef::Nullable(Box::new(other)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Any,
    Bool,
    Number,
    Text,
    Array,
    Object,
    Union,
}

impl Shape {
    fn of(schema: &Schema) -> Self {
        match schema {
            Schema::Any | Schema::Never | Schema::Ref(_) => Self::Any,
            Schema::Bool => Self::Bool,
            Schema::Integer(_) | Schema::Number(_) => Self::Number,
            Schema::String(_) => Self::Text,
            Schema::Array(_) => Self::Array,
            Schema::Object(_) => Self::Object,
            Schema::Union(_) | Schema::Null => Self::Union,
        }
    }
}

impl<'a> Node<'a> {
    /// Returns a part of the node.
    pub(super) fn down(&self, schema: &'a Schema, step: &str) -> Self {
        Self {
            revision: self.revision,
            schema,
            at: format!("{}/{step}", self.at),
            names: Vec::new(),
        }
    }

    /// Returns the members of a union; for any other node, the node itself.
    pub(super) fn members(&self) -> Vec<Self> {
        match self.schema {
            Schema::Union(members) => members
                .iter()
                .enumerate()
                .map(|(i, member)| self.down(member, &format!("anyOf/{i}")))
                .collect(),
            _ => vec![self.clone()],
        }
    }
}
