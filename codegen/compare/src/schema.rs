//! One position of a document: the schemas that a value there must meet, all of them.

use serde_json::Value;

use crate::document::definition_name;

/// The schemas of one position. Usually one; several if an object is described in parts that have rules for the same member; none
/// if every value is legal.
#[derive(Clone, Debug, Default)]
pub struct Schema<'a>(Vec<&'a Value>);

/// Place of a value in a document; equal for the same place only.
pub(crate) type Place = usize;

impl<'a> Schema<'a> {
    /// Creates a position at which every value is legal.
    #[must_use]
    pub const fn anything() -> Self {
        Self(Vec::new())
    }

    /// Returns the definition that it refers to, if it is a single reference.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        match self.0.as_slice() {
            [one] => definition_name(one),
            _ => None,
        }
    }

    pub(crate) fn parts(&self) -> &[&'a Value] {
        &self.0
    }

    pub(crate) fn is_anything(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the schemas of `other`.
    pub(crate) fn and(&mut self, other: &Schema<'a>) {
        for part in &other.0 {
            if !self.0.iter().any(|known| std::ptr::eq(*known, *part)) {
                self.0.push(part);
            }
        }
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&Value) -> bool) {
        self.0.retain(|part| keep(part));
    }

    /// Returns the key that identifies the position in its document.
    pub(crate) fn place(&self) -> Vec<Place> {
        self.0.iter().map(|part| place(part)).collect()
    }
}

pub(crate) fn place(value: &Value) -> Place {
    std::ptr::from_ref(value) as Place
}

impl<'a> From<&'a Value> for Schema<'a> {
    fn from(schema: &'a Value) -> Self {
        let is_anything = match schema {
            Value::Bool(anything) => *anything,
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        match is_anything {
            true => Self::anything(),
            false => Self(vec![schema]),
        }
    }
}

/// Returns whether a schema is a way to write `false`.
pub(crate) fn is_nothing(schema: &Value) -> bool {
    match schema {
        Value::Bool(anything) => !anything,
        // Some generators cannot write it otherwise.
        Value::Object(members) => {
            members.len() == 1
                && members.get("not").is_some_and(|not| match not {
                    Value::Bool(anything) => *anything,
                    Value::Object(members) => members.is_empty(),
                    _ => false,
                })
        }
        _ => false,
    }
}
