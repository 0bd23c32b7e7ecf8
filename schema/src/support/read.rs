//! Reading objects, unions and enumerations: the algorithms behind every generated `Deserialize`.
//!
//! Only maps are read as objects, a repeated member is refused, an unknown one is kept. A union reads members until it
//! knows which variant they belong to; what it had to read before that is replayed to the variant.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, SeqAccess, Unexpected, Visitor},
};

use crate::{DecodeError, Extras, Json, decode};

/// A type read from the members of an object.
pub trait Record: Sized {
    /// Reads all members.
    fn read<'de, A: MapAccess<'de>>(members: &mut Members<'de, A>) -> Result<Self, A::Error>;
}

/// `Deserialize` of a [`Record`].
pub fn record<'de, T: Record, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Record> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::read(&mut Members::new(map))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// A union told apart by the value of one member.
pub trait Tagged: Sized {
    /// The member.
    const TAG: &'static str;
    /// Reads the variant that `tag` names.
    fn pick<'de, A: MapAccess<'de>>(
        tag: Option<&str>,
        members: &mut Members<'de, A>,
    ) -> Result<Self, A::Error>;
}

/// `Deserialize` of a [`Tagged`] union.
pub fn tagged<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);

    impl<'de, T: Tagged> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            let mut members = Members::new(map);
            while let Some(Key(key)) = members.map.next_key()? {
                if key == T::TAG {
                    let Key(tag) = members.map.next_value()?;
                    members.ahead = Ahead::Tag(T::TAG, tag.clone());
                    members.rewind();
                    return T::pick(Some(&tag), &mut members);
                }
                members.buffer(key)?;
            }
            members.exhausted = true;
            members.rewind();
            T::pick(None, &mut members)
        }
    }

    deserializer.deserialize_map(Union(PhantomData))
}

/// A union told apart by which member it has.
pub trait Present: Sized {
    /// The members that decide.
    const DECIDERS: &'static [&'static str];
    /// Reads the variant that has `member`, the first of the deciders there was.
    fn pick<'de, A: MapAccess<'de>>(
        member: Option<&str>,
        members: &mut Members<'de, A>,
    ) -> Result<Self, A::Error>;
}

/// `Deserialize` of a [`Present`] union.
pub fn present<'de, T: Present, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);

    impl<'de, T: Present> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            let mut members = Members::new(map);
            while let Some(Key(key)) = members.map.next_key()? {
                if let Some(decider) = T::DECIDERS.iter().find(|decider| **decider == key) {
                    members.ahead = Ahead::Key(key);
                    members.rewind();
                    return T::pick(Some(decider), &mut members);
                }
                members.buffer(key)?;
            }
            members.exhausted = true;
            members.rewind();
            T::pick(None, &mut members)
        }
    }

    deserializer.deserialize_map(Union(PhantomData))
}

/// A union told apart by conditions on several members.
pub trait Cases: Sized {
    /// Reads the variant of the first case that holds.
    fn pick<'de, A: MapAccess<'de>>(members: &mut Members<'de, A>) -> Result<Self, A::Error>;
}

/// `Deserialize` of a [`Cases`] union.
pub fn cases<'de, T: Cases, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);

    impl<'de, T: Cases> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            let mut members = Members::new(map);
            while let Some(Key(key)) = members.map.next_key()? {
                members.buffer(key)?;
            }
            members.exhausted = true;
            members.rewind();
            T::pick(&mut members)
        }
    }

    deserializer.deserialize_map(Union(PhantomData))
}

/// A union told apart by JSON type.
pub trait ByType: Sized {
    /// The types it may have, for the error.
    const EXPECTED: &'static str;

    /// From a string.
    #[must_use]
    fn string(_: &str) -> Option<Self> {
        None
    }

    /// From a number.
    #[must_use]
    fn number(_: f64) -> Option<Self> {
        None
    }

    /// From a boolean.
    #[must_use]
    fn boolean(_: bool) -> Option<Self> {
        None
    }

    /// From an array.
    fn array<'de, A: SeqAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &Self::EXPECTED))
    }

    /// From an object.
    fn object<'de, A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }
}

/// What is expected of an integer that no double equals, so that none changes in silence.
const A_DOUBLE: &str = "a number that a double holds exactly, such as an integer up to ±2^53";

/// `Deserialize` of a [`ByType`] union.
pub fn by_type<'de, T: ByType, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Union<T>(PhantomData<T>);

    impl<'de, T: ByType> Visitor<'de> for Union<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            T::string(text).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
        }

        fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
            T::boolean(value).ok_or_else(|| E::invalid_type(Unexpected::Bool(value), &self))
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
            T::number(number).ok_or_else(|| E::invalid_type(Unexpected::Float(number), &self))
        }

        #[expect(clippy::cast_precision_loss, reason = "what is lost is refused")]
        fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
            let double = number as f64;
            if double as i128 != i128::from(number) {
                return Err(E::invalid_value(Unexpected::Signed(number), &A_DOUBLE));
            }
            self.visit_f64(double)
        }

        #[expect(clippy::cast_precision_loss, reason = "what is lost is refused")]
        fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
            let double = number as f64;
            if double as i128 != i128::from(number) {
                return Err(E::invalid_value(Unexpected::Unsigned(number), &A_DOUBLE));
            }
            self.visit_f64(double)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
            T::array(items)
        }

        fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
            T::object(members)
        }
    }

    deserializer.deserialize_any(Union(PhantomData))
}

/// `Deserialize` of an open enumeration.
pub fn text<'de, T: for<'a> From<&'a str>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);

    impl<T: for<'a> From<&'a str>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from(text))
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

/// The members of an object, some of which may have been read already.
#[derive(Debug)]
pub struct Members<'de, A> {
    map: A,
    /// Members read before it was known whose they are; the next one last.
    replay: Vec<(Cow<'de, str>, Json)>,
    ahead: Ahead<'de>,
    /// The value that belongs to the last key, if it was read before.
    pending: Pending<'de>,
    exhausted: bool,
    /// Nothing was read before, or all of it is replayed: the map has the next member.
    plain: bool,
}

/// A member between the replayed and the unread ones, of which only part was read.
#[derive(Debug)]
enum Ahead<'de> {
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
    fn new(map: A) -> Self {
        Self {
            map,
            replay: Vec::new(),
            ahead: Ahead::None,
            pending: Pending::None,
            exhausted: false,
            plain: true,
        }
    }

    fn buffer(&mut self, key: Cow<'de, str>) -> Result<(), A::Error> {
        let value = self.map.next_value()?;
        self.replay.push((key, value));
        Ok(())
    }

    fn rewind(&mut self) {
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
        match self.plain {
            true => self.map.next_value().map_err(|error| within(name, error)),
            false => self.replayed_value(name),
        }
    }

    #[inline(never)]
    fn replayed_value<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, A::Error> {
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::None => self.map.next_value().map_err(|error| within(name, error)),
            Pending::Json(json) => replayed(name, &json),
            Pending::Tag(tag) => {
                replayed(name, &Json::from_value(&*tag).map_err(A::Error::custom)?)
            }
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

    /// The same for an integer, which may be written as `1.0`.
    pub fn integer(&mut self, name: &'static str, slot: &mut Option<i64>) -> Result<(), A::Error> {
        self.put_as::<Integral, i64>(name, slot)
    }

    /// The same for an integer or null.
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

    /// Keeps the member `key`, which the type does not know.
    pub fn extra(&mut self, key: Cow<'de, str>, extras: &mut Extras) -> Result<(), A::Error> {
        let value = match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::None => self.map.next_value()?,
            Pending::Json(json) => json,
            Pending::Tag(tag) => Json::from_value(&*tag).map_err(A::Error::custom)?,
        };
        extras.map_mut().push(key.into(), value);
        Ok(())
    }

    /// All members as one JSON object, for a variant that no revision knows.
    pub fn unknown(&mut self) -> Result<Json, A::Error> {
        let mut extras = Extras::default();
        while let Some(key) = self.key()? {
            self.extra(key, &mut extras)?;
        }
        let extras = distinct(extras)?;
        let mut out = Vec::with_capacity(64);
        super::ObjectWriter::new(crate::View::ALL, &mut out).end(&extras, &[]);
        let text = String::from_utf8(out).map_err(A::Error::custom)?;
        Json::from_text(text).map_err(A::Error::custom)
    }

    /// The error for a union whose tag is not there.
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
                let inner: Option<crate::Map> = json.parse().ok();
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

/// The value of a required member.
#[inline]
pub fn need<T, E: Error>(name: &'static str, slot: Option<T>) -> Result<T, E> {
    slot.ok_or_else(|| E::missing_field(name))
}

/// Checks that a required constant was there.
pub fn seen<E: Error>(name: &'static str, seen: bool) -> Result<(), E> {
    match seen {
        true => Ok(()),
        false => Err(E::missing_field(name)),
    }
}

/// `extras`, if no member is in it twice.
#[inline]
pub fn distinct<E: Error>(extras: Extras) -> Result<Extras, E> {
    match extras.repeated() {
        None => Ok(extras),
        Some(key) => Err(E::custom(format_args!("duplicate member `{key}`"))),
    }
}

fn replayed<T: DeserializeOwned, E: Error>(name: &str, json: &Json) -> Result<T, E> {
    serde_json::from_str(json.get()).map_err(|error| relocated(name, json, &error))
}

/// The error of a replayed member, carrying its own pointer: the reader has gone on since.
#[cold]
fn relocated<E: Error>(name: &str, json: &Json, error: &serde_json::Error) -> E {
    E::custom(decode::in_member(
        name,
        &DecodeError::locate(json.get(), error),
    ))
}

/// The error of a member's value, carrying the member's name unless the reader has noted a place already.
#[cold]
pub(crate) fn within<E: Error>(name: &str, error: E) -> E {
    let text = error.to_string();
    match text.contains(" at line ") {
        true => error,
        false => E::custom(decode::in_member(name, &DecodeError::new("", text))),
    }
}

/// A member name or tag, borrowed where it has no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl<'de> Visitor<'de> for Name {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(Name)
    }
}

/// A string that must be this one.
struct Constant(&'static str);

impl<'de> DeserializeSeed<'de> for Constant {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Constant {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match text == self.0 {
            true => Ok(()),
            false => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// An integer, written in any form that is one.
struct Integral(i64);

impl From<Integral> for i64 {
    fn from(integer: Integral) -> Self {
        integer.0
    }
}

struct NullableIntegral(Option<i64>);

impl From<NullableIntegral> for Option<i64> {
    fn from(integer: NullableIntegral) -> Self {
        integer.0
    }
}

impl<'de> Deserialize<'de> for NullableIntegral {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<Integral>::deserialize(deserializer).map(|integer| Self(integer.map(i64::from)))
    }
}

impl<'de> Deserialize<'de> for Integral {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = Integral;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer")
            }

            fn visit_i64<E: Error>(self, integer: i64) -> Result<Integral, E> {
                Ok(Integral(integer))
            }

            fn visit_u64<E: Error>(self, integer: u64) -> Result<Integral, E> {
                i64::try_from(integer).map(Integral).map_err(|_| {
                    E::invalid_value(Unexpected::Unsigned(integer), &"an integer of 64 bits")
                })
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Integral, E> {
                /// Up to here every integer has an exact double.
                const EXACT: f64 = 9_007_199_254_740_992.0;
                if number.fract() == 0.0 && number.abs() <= EXACT {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "checked to be integral and in range"
                    )]
                    return Ok(Integral(number as i64));
                }
                let expected = match number.fract() == 0.0 {
                    true => "an integer of 64 bits, in digits alone where it is beyond ±2^53",
                    false => "an integer",
                };
                Err(E::invalid_value(Unexpected::Float(number), &expected))
            }
        }

        deserializer.deserialize_any(Number)
    }
}
