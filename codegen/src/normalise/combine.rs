//! Combines schemas: the values that all of several allow, and the values that one of several allows.

use std::collections::BTreeSet;

use serde_json::{Number, Value};

use super::{
    Array, Bounds, Object, Schema, Text,
    read::{Reader, possible, text_size},
};
use crate::problem::{Problem, child};

impl Reader<'_> {
    /// Returns the intersection of both, with references resolved; [`Schema::Never`] if no value satisfies both.
    pub(super) fn intersect(&self, a: Schema, b: Schema, at: &str) -> Result<Schema, Problem> {
        self.spend(1, at)?;
        if a == Schema::Any {
            return self.open(b, at, &|schema| Ok(schema));
        }
        if b == Schema::Any {
            return self.open(a, at, &|schema| Ok(schema));
        }
        if !matches!((&a, &b), (Schema::Ref(_), _) | (_, Schema::Ref(_))) {
            return self.deeper(at, || self.intersect_opened(a, b, at));
        }
        self.open(a, at, &|a| {
            self.open(b.clone(), at, &|b| {
                self.deeper(at, || self.intersect_opened(a.clone(), b, at))
            })
        })
    }

    fn intersect_opened(&self, a: Schema, b: Schema, at: &str) -> Result<Schema, Problem> {
        Ok(match (a, b) {
            (Schema::Any, other) | (other, Schema::Any) => other,
            (Schema::Union(members), other) | (other, Schema::Union(members)) => {
                let size = size(&other);
                let mut both = Vec::new();
                for member in members {
                    self.spend_size(size, at)?;
                    both.push(self.intersect(member, other.clone(), at)?);
                }
                union(both)
            }
            (Schema::Object(a), Schema::Object(b)) => self.intersect_objects(*a, *b, at)?,
            (Schema::Array(a), Schema::Array(b)) => Schema::Array(Box::new(Array {
                items: self.intersect_member(a.items, b.items, at)?,
                min_items: a.min_items.max(b.min_items),
                max_items: least(a.max_items, b.max_items),
            })),
            (a, b) => narrower(a, b),
        })
    }

    fn intersect_objects(&self, mut a: Object, mut b: Object, at: &str) -> Result<Schema, Problem> {
        // The members of `a` are not copied: a long `allOf` adds a few members at a time to many.
        let mut properties = std::mem::take(&mut a.properties);
        if b.additional != Schema::Any {
            // A member that the other part does not name is covered by its `additionalProperties`.
            let size = size(&b.additional);
            for (name, first) in &mut properties {
                if !b.properties.contains_key(name) {
                    self.spend_size(size, at)?;
                    let alone = std::mem::replace(first, Schema::Never);
                    *first = self.intersect_member(alone, b.additional.clone(), at)?;
                    possible(name, first, || at.to_owned())?;
                }
            }
        }
        let size = size(&a.additional);
        for (name, second) in std::mem::take(&mut b.properties) {
            let first = match properties.remove(&name) {
                Some(first) => first,
                None if a.additional == Schema::Any => Schema::Any,
                None => {
                    self.spend_size(size, at)?;
                    a.additional.clone()
                }
            };
            let both = self.intersect_member(first, second, at)?;
            possible(&name, &both, || at.to_owned())?;
            properties.insert(name, both);
        }
        let mut required = a.required;
        required.extend(b.required);
        let additional = self.intersect_member(a.additional, b.additional, at)?;
        if !properties.is_empty() && !matches!(additional, Schema::Any | Schema::Never) {
            let message = "typed `additionalProperties` beside the `properties` of another part is not supported";
            return Err(Problem::at(at, message));
        }
        Ok(Schema::Object(Box::new(Object {
            properties,
            required,
            additional,
        })))
    }

    /// Counts a copy of a schema of this size against the limits.
    fn spend_size(&self, size: Size, at: &str) -> Result<(), Problem> {
        self.spend(size.schemas, at)?;
        self.spend_text(size.text, at)
    }

    /// Like `intersect`, but keeps the reference if one side allows everything that the other allows.
    fn intersect_member(&self, a: Schema, b: Schema, at: &str) -> Result<Schema, Problem> {
        match (&a, &b) {
            (Schema::Any, _) => Ok(b),
            (_, Schema::Any) => Ok(a),
            (Schema::Never, _) | (_, Schema::Never) => Ok(Schema::Never),
            (Schema::Object(free), _) if free.is_free() && self.is_object(&b) => Ok(b),
            (_, Schema::Object(free)) if free.is_free() && self.is_object(&a) => Ok(a),
            _ if a == b => Ok(a),
            _ => self.intersect(a, b, at),
        }
    }

    /// Returns whether `schema` allows only objects, judged by its own keywords.
    fn is_object(&self, schema: &Schema) -> bool {
        match schema {
            Schema::Object(_) => true,
            Schema::Ref(name) => {
                self.raw[name].get("type").and_then(Value::as_str) == Some("object")
            }
            _ => false,
        }
    }

    /// Passes `schema`, with a reference resolved, to `inside`.
    fn open(
        &self,
        schema: Schema,
        at: &str,
        inside: &dyn Fn(Schema) -> Result<Schema, Problem>,
    ) -> Result<Schema, Problem> {
        let Schema::Ref(name) = schema else {
            return inside(schema);
        };
        if self.opened.borrow().contains(&name) {
            let message = format!(
                "`{name}` is combined with a part of itself here; the bindings would have to copy it without end"
            );
            return Err(Problem::at(at, message));
        }
        self.opened.borrow_mut().push(name.clone());
        let opened = self.deeper(at, || {
            let inner = self.read(&self.raw[&name], &child("/$defs", &name))?;
            self.open(inner, at, inside)
        });
        self.opened.borrow_mut().pop();
        opened
    }
}

/// The size of a copy of a schema.
#[derive(Clone, Copy, Default)]
struct Size {
    schemas: usize,
    /// Bytes of names and strings.
    text: usize,
}

/// Returns the size of a copy of `schema`.
fn size(schema: &Schema) -> Size {
    let mut size = Size::default();
    add_size(schema, &mut size);
    size
}

fn add_size(schema: &Schema, size: &mut Size) {
    size.schemas += 1;
    match schema {
        Schema::Array(array) => add_size(&array.items, size),
        Schema::Object(object) => {
            size.text += object
                .required
                .iter()
                .map(|name| text_size(name))
                .sum::<usize>();
            for (name, member) in &object.properties {
                size.text += text_size(name);
                add_size(member, size);
            }
            add_size(&object.additional, size);
        }
        Schema::Union(members) => members.iter().for_each(|member| add_size(member, size)),
        Schema::Ref(name) => size.text += text_size(name),
        Schema::String(text) => {
            let values = text.values.iter().flatten();
            size.text += values.map(|value| text_size(value)).sum::<usize>();
        }
        _ => {}
    }
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Returns the scalars that both allow.
fn narrower(a: Schema, b: Schema) -> Schema {
    match (a, b) {
        (Schema::String(a), Schema::String(b)) => {
            // Only one format is kept, so two different formats cannot be combined.
            if a.format.is_some() && b.format.is_some() && a.format != b.format {
                return Schema::Never;
            }
            let values = match (a.values, b.values) {
                (Some(a), Some(b)) => {
                    let b: BTreeSet<String> = b.into_iter().collect();
                    Some(a.into_iter().filter(|value| b.contains(value)).collect())
                }
                (a, b) => a.or(b),
            };
            limited(Text {
                format: a.format.or(b.format),
                values,
                min_length: a.min_length.max(b.min_length),
                max_length: least(a.max_length, b.max_length),
            })
        }
        (Schema::Integer(a), Schema::Integer(b) | Schema::Number(b))
        | (Schema::Number(a), Schema::Integer(b)) => Schema::Integer(a.and(b)),
        (Schema::Number(a), Schema::Number(b)) => Schema::Number(a.and(b)),
        (a, b) if a == b => a,
        _ => Schema::Never,
    }
}

/// Returns `text` with the values that its limits allow.
pub(super) fn limited(mut text: Text) -> Schema {
    let (least, most) = (text.min_length, text.max_length);
    if let Some(values) = &mut text.values {
        values.retain(|value| {
            let length = value.chars().count() as u64;
            least.is_none_or(|least| least <= length) && most.is_none_or(|most| length <= most)
        });
        (text.min_length, text.max_length) = (None, None);
        if values.is_empty() {
            return Schema::Never;
        }
    }
    Schema::String(text)
}

impl Bounds {
    /// Returns the numbers within both.
    pub(super) fn and(self, other: Self) -> Self {
        let pick = |a: Option<Number>, b: Option<Number>, first: fn(f64, f64) -> bool| match (a, b)
        {
            (Some(a), Some(b)) => match (a.as_f64(), b.as_f64()) {
                (Some(x), Some(y)) if first(y, x) => Some(b),
                _ => Some(a),
            },
            (a, b) => a.or(b),
        };
        Self {
            minimum: pick(self.minimum, other.minimum, |a, b| a > b),
            maximum: pick(self.maximum, other.maximum, |a, b| a < b),
        }
    }
}

/// Returns a union with nested unions flattened and constants folded into one enumeration.
pub(super) fn union(members: Vec<Schema>) -> Schema {
    let mut flat: Vec<Schema> = Vec::new();
    for member in members {
        match member {
            Schema::Union(inner) => flat.extend(inner),
            Schema::Never => {}
            other => flat.push(other),
        }
    }
    match flat.len() {
        0 => return Schema::Never,
        1 => return flat.remove(0),
        _ => {}
    }
    let mut constants: Vec<String> = Vec::new();
    for member in &flat {
        match member {
            Schema::String(Text {
                format: None,
                values: Some(values),
                ..
            }) if values.len() == 1 => constants.extend(values.iter().cloned()),
            _ => return Schema::Union(flat),
        }
    }
    Schema::String(Text {
        values: Some(distinct(constants)),
        ..Text::default()
    })
}

pub(super) fn distinct(values: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut values = values;
    values.retain(|value| seen.insert(value.clone()));
    values
}
