//! A string map that keeps the order in which members were written.

use std::{collections::HashSet, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
};

use crate::{Encode, Json, View, support};

/// An ordered map from member name to value: `_meta`, prompt arguments, capability settings.
///
/// Lookup is linear, which is fastest for the few members of such objects. Decoding takes linear time too, even for hostile input. A
/// repeated member is refused when decoding; [`Map::insert`] replaces.
///
/// ```
/// use trueform_schema::{Json, Map};
///
/// let mut map = Map::new();
/// map.insert("b", Json::null());
/// map.insert("a", Json::null());
/// assert_eq!(map.keys().collect::<Vec<_>>(), ["b", "a"]);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Map<V = Json>(Vec<(Box<str>, V)>);

/// An open `_meta` object for which the schema defines no members.
pub type Meta = Map<Json>;

impl<V> Map<V> {
    /// Creates a map without members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&V> {
        self.0.iter().find(|(k, _)| **k == *key).map(|(_, v)| v)
    }

    /// Returns the value of `key`, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.0.iter_mut().find(|(k, _)| **k == *key).map(|(_, v)| v)
    }

    /// Sets `key` to `value` and returns the previous value; a new key goes to the end.
    pub fn insert(&mut self, key: impl Into<Box<str>>, value: V) -> Option<V> {
        let key = key.into();
        match self.get_mut(&key) {
            Some(old) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((key, value));
                None
            }
        }
    }

    /// Removes `key` and returns its value, keeping the order of the others.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let at = self.0.iter().position(|(k, _)| **k == *key)?;
        Some(self.0.remove(at).1)
    }

    /// Returns whether there is a member `key`.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(k, v)| (&**k, v))
    }

    /// Returns the names in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(k, _)| &**k)
    }

    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends a member without looking for an earlier one of that name.
    pub(crate) fn push(&mut self, key: Box<str>, value: V) {
        self.0.push((key, value));
    }

    /// Returns a member name that occurs twice.
    pub(crate) fn repeated(&self) -> Option<&str> {
        /// Up to this size, comparing all pairs is cheaper than hashing.
        const PAIRS: usize = 12;
        if self.0.len() <= PAIRS {
            return (1..self.0.len())
                .find(|i| self.0[..*i].iter().any(|(k, _)| *k == self.0[*i].0))
                .map(|i| &*self.0[i].0);
        }
        let mut seen = HashSet::with_capacity(self.0.len());
        self.0
            .iter()
            .find(|(k, _)| !seen.insert(&**k))
            .map(|(k, _)| &**k)
    }
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: fmt::Debug> fmt::Debug for Map<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<Box<str>>, V> FromIterator<(K, V)> for Map<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let mut map = Self::new();
        for (key, value) in members {
            map.insert(key, value);
        }
        map
    }
}

impl<V> IntoIterator for Map<V> {
    type Item = (Box<str>, V);
    type IntoIter = std::vec::IntoIter<(Box<str>, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<V: Encode> Encode for Map<V> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        out.push(b'{');
        for (i, (key, value)) in self.0.iter().enumerate() {
            if i != 0 {
                out.push(b',');
            }
            support::write_str(key, out);
            out.push(b':');
            value.encode(view, out);
        }
        out.push(b'}');
    }
}

impl<V: Encode> Serialize for Map<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        support::serialize(self, serializer)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Map<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
            type Value = Map<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Map<V>, A::Error> {
                let mut map = Map::new();
                while let Some(key) = members.next_key::<Box<str>>()? {
                    let value = members
                        .next_value()
                        .map_err(|error| support::within(&key, error))?;
                    map.push(key, value);
                }
                match map.repeated() {
                    Some(key) => Err(A::Error::custom(format_args!("duplicate member `{key}`"))),
                    None => Ok(map),
                }
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// The unknown members of an open object, in the order of arrival.
///
/// Boxed, because it is nearly always empty: then it takes one word in every message type.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Extras(Option<Box<Map<Json>>>);

impl Extras {
    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|map| map.is_empty())
    }

    /// Returns the value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.as_ref()?.get(key)
    }

    /// Sets `key` to `value` and returns the previous value.
    pub fn insert(&mut self, key: impl Into<Box<str>>, value: Json) -> Option<Json> {
        self.0.get_or_insert_default().insert(key, value)
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.0.as_mut()?.remove(key)
    }

    /// Returns the members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().flat_map(|map| map.iter())
    }

    /// Returns the members, to change.
    pub(crate) fn map_mut(&mut self) -> &mut Map<Json> {
        self.0.get_or_insert_default()
    }

    /// Returns a member name that occurs twice.
    pub(crate) fn repeated(&self) -> Option<&str> {
        self.0.as_ref()?.repeated()
    }
}

impl fmt::Debug for Extras {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_replacement() {
        let mut map: Map<i64> = [("b", 1), ("a", 2)].into_iter().collect();
        assert_eq!(map.insert("b", 3), Some(1));
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"b":3,"a":2}"#);
        assert_eq!(map.remove("b"), Some(3));
        assert_eq!(map.len(), 1);
    }

    #[test]
    fn repeated_members_are_refused_at_any_size() {
        for size in [2, 40] {
            let members: Vec<_> = (0..size)
                .map(|i| format!("\"k{}\":1", i % (size - 1)))
                .collect();
            let text = format!("{{{}}}", members.join(","));
            let error = serde_json::from_str::<Map<Json>>(&text).unwrap_err();
            assert!(
                error.to_string().contains("duplicate member `k0`"),
                "{error}"
            );
        }
    }
}
