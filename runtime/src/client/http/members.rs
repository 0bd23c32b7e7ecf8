//! The members of a JSON object as they are written, to change one of them and none of the others.

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use trueform_schema::RawMembers;

/// The members of an object, in their order. One that comes twice is kept twice, so that the reader of the object sees both.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    /// Returns `None` if `text` is not an object.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let RawMembers(members) = serde_json::from_slice(text).ok()?;
        let members = members.into_iter();
        Some(Self(
            members
                .map(|(name, value)| (name, value.to_owned()))
                .collect(),
        ))
    }

    /// The text of the first member `name`.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut members = self.0.iter();
        let (_, value) = members.find(|(member, _)| member == name)?;
        Some(value.get())
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets the member `name`, wherever it is, and at the end if it is not there. `None` if `value` has no JSON form.
    pub(super) fn with(mut self, name: &str, value: &impl Serialize) -> Option<Self> {
        let value = to_raw_value(value).ok()?;
        let mut found = false;
        for (member, old) in &mut self.0 {
            if member == name {
                old.clone_from(&value);
                found = true;
            }
        }
        if !found {
            self.0.push((name.to_owned(), value));
        }
        Some(self)
    }

    /// Leaves out each member `name`.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(member, _)| member != name);
        self
    }

    pub(super) fn write(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_is_changed() {
        for (text, expected) in [
            (r#"{}"#, r#"{"id":7}"#),
            (
                r#"{ "b": 1e2, "id": null, "a": [1.0, 12345678901234567890123] }"#,
                r#"{"b":1e2,"id":7,"a":[1.0, 12345678901234567890123]}"#,
            ),
            (
                r#"{"id":1,"a":1,"a":2,"\u0069d":2}"#,
                r#"{"id":7,"a":1,"a":2,"id":7}"#,
            ),
        ] {
            let members = Members::read(text.as_bytes()).unwrap();
            let changed = members.with("id", &7).unwrap().write().unwrap();
            assert_eq!(String::from_utf8(changed).unwrap(), expected, "{text}");
        }
        for odd in ["", "[]", "7", "{", r#"{"a":}"#] {
            assert!(Members::read(odd.as_bytes()).is_none(), "{odd}");
        }
    }
}
