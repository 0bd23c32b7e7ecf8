//! The members of an object while it is read: one after the other, or replayed after a union has looked ahead.

use std::borrow::Cow;

use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, Visitor};

use super::{
    distinct,
    scalars::{Constant, Integral, Key, NullableIntegral},
    within,
};
use crate::{DecodeError, Extras, Json, Map, View, decode, support::ObjectWriter};

/// The members of an object, some of which may have been read already.
#[derive(Debug)]
pub struct Members<'de, A> {
    pub(super) map: A,
    /// Members read before the variant was known, in reverse order: the next one is last.
    replay: Vec<(Cow<'de, str>, Json)>,
    pub(super) ahead: Ahead<'de>,
    /// The value of the last key, if it was read already.
    pending: Pending<'de>,
    pub(super) exhausted: bool,
    /// True if the next member comes from `map`: nothing was read ahead, or all of it has been replayed.
    plain: bool,
}

/// The member at which looking ahead stopped, of which only the key, or key and tag, were read.
#[derive(Debug)]
pub(super) enum Ahead<'de> {
    None,
    Key(Cow<'de, str>),
    Tag(&'static str, Cow<'de, str>),
}

#[derive(Debug)]
enum Pending<'de> {
    None,
    Json(Json),
    Tag(Cow<'de, str>),
}

impl<'de, A: MapAccess<'de>> Members<'de, A> {
    pub(super) fn new(map: A) -> Self {
        Self {
            map,
            replay: Vec::new(),
            ahead: Ahead::None,
            pending: Pending::None,
            exhausted: false,
            plain: true,
        }
    }

    pub(super) fn buffer(&mut self, key: Cow<'de, str>) -> Result<(), A::Error> {
        let value = self.map.next_value()?;
        self.replay.push((key, value));
        Ok(())
    }

    pub(super) fn rewind(&mut self) {
        self.replay.reverse();
        self.plain = false;
    }

    /// The next member's name.
    #[inline]
    pub fn key(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        match self.plain {
            true => Ok(self.map.next_key()?.map(|Key(key)| key)),
            false => self.replayed_key(),
        }
    }

    #[inline(never)]
    fn replayed_key(&mut self) -> Result<Option<Cow<'de, str>>, A::Error> {
        if let Some((key, value)) = self.replay.pop() {
            self.pending = Pending::Json(value);
            return Ok(Some(key));
        }
        match std::mem::replace(&mut self.ahead, Ahead::None) {
            Ahead::Tag(key, tag) => {
                self.pending = Pending::Tag(tag);
                Ok(Some(Cow::Borrowed(key)))
            }
            Ahead::Key(key) => {
                self.plain = true;
                Ok(Some(key))
            }
            Ahead::None if self.exhausted => Ok(None),
            Ahead::None => {
                self.plain = true;
                self.key()
            }
        }
    }

    #[inline]
    fn value<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, A::Error> {
        let read = match self.plain {
            true => None,
            false => self.replayed_value()?,
        };
        match read {
            None => self.map.next_value().map_err(|error| within(name, error)),
            Some(json) => replayed(name, &json),
        }
    }

    /// The value of the last key, if it was read already. Apart from [`value`](Self::value), so that it is compiled once for all types.
    #[inline(never)]
    fn replayed_value(&mut self) -> Result<Option<Json>, A::Error> {
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::None => Ok(None),
            Pending::Json(json) => Ok(Some(json)),
            Pending::Tag(tag) => Json::from_value(&*tag).map(Some).map_err(A::Error::custom),
        }
    }

    /// Reads the member `name` into `slot`.
    pub fn put<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        slot: &mut Option<T>,
    ) -> Result<(), A::Error> {
        self.put_as::<T, T>(name, slot)
    }

    /// Reads the integer `name` into `slot`; it may be written as `1.0`.
    pub fn integer(&mut self, name: &'static str, slot: &mut Option<i64>) -> Result<(), A::Error> {
        self.put_as::<Integral, i64>(name, slot)
    }

    /// Reads the integer or null `name` into `slot`.
    pub fn nullable_integer(
        &mut self,
        name: &'static str,
        slot: &mut Option<Option<i64>>,
    ) -> Result<(), A::Error> {
        self.put_as::<NullableIntegral, Option<i64>>(name, slot)
    }

    fn put_as<T: DeserializeOwned + Into<U>, U>(
        &mut self,
        name: &'static str,
        slot: &mut Option<U>,
    ) -> Result<(), A::Error> {
        if slot.is_some() {
            return Err(A::Error::duplicate_field(name));
        }
        *slot = Some(self.value::<T>(name)?.into());
        Ok(())
    }

    /// Reads the member `name`, which must be `value`.
    pub fn constant(
        &mut self,
        name: &'static str,
        value: &'static str,
        seen: &mut bool,
    ) -> Result<(), A::Error> {
        if std::mem::replace(seen, true) {
            return Err(A::Error::duplicate_field(name));
        }
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::None => self.map.next_value_seed(Constant(value)),
            Pending::Tag(tag) => Constant(value).visit_str(&tag),
            Pending::Json(json) => {
                let mut text = serde_json::Deserializer::from_str(json.get());
                Constant(value)
                    .deserialize(&mut text)
                    .map_err(|error| relocated(name, &json, &error))
            }
        }
    }

    /// Keeps the member `key`, for which the type has no field.
    pub fn extra(&mut self, key: Cow<'de, str>, extras: &mut Extras) -> Result<(), A::Error> {
        let value = match self.replayed_value()? {
            None => self.map.next_value()?,
            Some(json) => json,
        };
        extras.map_mut().push(key.into(), value);
        Ok(())
    }

    /// All members as one JSON object, for a variant that no known revision defines.
    pub fn unknown(&mut self) -> Result<Json, A::Error> {
        let mut extras = Extras::default();
        while let Some(key) = self.key()? {
            self.extra(key, &mut extras)?;
        }
        let extras = distinct(extras)?;
        let mut out = Vec::with_capacity(64);
        ObjectWriter::new(View::ALL, &mut out).end(&extras, &[]);
        let text = String::from_utf8(out).map_err(A::Error::custom)?;
        Json::from_text(text).map_err(A::Error::custom)
    }

    /// The error for a union whose tag is missing.
    pub fn untagged(&self, tag: &'static str) -> A::Error {
        A::Error::missing_field(tag)
    }

    /// Whether the buffered members have `path`, names joined by `/`.
    pub fn has(&self, path: &str) -> bool {
        let (name, rest) = match path.split_once('/') {
            Some((name, rest)) => (name, Some(rest)),
            None => (path, None),
        };
        match (self.buffered(name), rest) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(json), Some(rest)) => {
                let inner: Option<Map> = json.parse().ok();
                inner.is_some_and(|inner| inner.contains_key(rest))
            }
        }
    }

    /// Whether the buffered member `name` is one of `values`.
    pub fn is(&self, name: &str, values: &[&str]) -> bool {
        let text: Option<String> = self.buffered(name).and_then(|json| json.parse().ok());
        text.is_some_and(|text| values.contains(&&*text))
    }

    fn buffered(&self, name: &str) -> Option<&Json> {
        self.replay
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, json)| json)
    }
}

fn replayed<T: DeserializeOwned, E: Error>(name: &str, json: &Json) -> Result<T, E> {
    // It is one JSON value, so nothing is left to look for after it.
    T::deserialize(&mut serde_json::Deserializer::from_str(json.get()))
        .map_err(|error| relocated(name, json, &error))
}

/// The error of a replayed member. It carries its own pointer, because the reader has moved on.
#[cold]
fn relocated<E: Error>(name: &str, json: &Json, error: &serde_json::Error) -> E {
    E::custom(decode::in_member(
        name,
        &DecodeError::locate(json.get(), error),
    ))
}
