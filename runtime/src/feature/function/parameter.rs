//! The parameters of a function: arguments, all arguments as one struct, and injected values. The type decides which.

use std::any::Any;

use schemars::JsonSchema;
use serde::{
    de::{
        DeserializeOwned, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor,
        value::MapAccessDeserializer,
    },
    forward_to_deserialize_any,
};
use trueform_schema::support;

use super::{
    injected::FromContext,
    input::InputSchema,
    invocation::{Invocation, ParameterError},
    plain::is_plain,
};

/// All arguments of a tool as one struct, instead of a parameter for each.
///
/// The schema of `T` is the input schema of the tool.
///
/// ```
/// use serde::Deserialize;
/// use trueform::{prelude::*, schemars::JsonSchema};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// }
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(Args(Add { a, b }): Args<Add>) -> i64 {
///     a + b
/// }
/// # assert_eq!(add(Args(Add { a: 1, b: 2 })), 3);
/// ```
///
/// Unknown arguments are refused. A struct in a field of `T` accepts unknown members, as its derived schema states, unless it has
/// `#[serde(deny_unknown_fields)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Args<T>(pub T);

/// What may be a parameter of a tool, a prompt or a resource.
///
/// `Kind` distinguishes an argument, all arguments ([`Args`]), and an injected value ([`FromContext`]), and is always inferred. The trait
/// is implemented for all types that can be one of them. Do not implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool, prompt or resource",
    label = "neither an argument nor injected",
    note = "an argument derives `Deserialize` and `JsonSchema`, and of `Args<T>` it is `T` that derives both: \
            `#[derive(Deserialize, JsonSchema)]` with the prelude, or \
            `#[derive(serde::Deserialize, schemars::JsonSchema)]`; both need a dependency: `cargo add serde --features derive`",
    note = "without `serde` as a dependency: `#[derive(trueform::serde::Deserialize, trueform::schemars::JsonSchema)] #[serde(crate = \"trueform::serde\")] \
            #[schemars(crate = \"trueform::schemars\")]`",
    note = "`trueform::schemars` is schemars 1.x; `JsonSchema` of another version is another trait",
    note = "a value that was registered by `Server::state` is taken as `State<T>`, such as `State<Db>` for a `Db`; calls share it, so `T` is \
            `Send + Sync`: what changes is behind `std::sync::Mutex` or an atomic, and `Arc` stands in place of `Rc`",
    note = "other types that no caller sends implement `trueform::FromContext`, as `Context` and `Principal` do"
)]
pub trait Parameter<Kind>: Sized {
    #[doc(hidden)]
    fn describe(input: &mut InputSchema);

    #[doc(hidden)]
    fn take(call: &Invocation<'_>, index: usize) -> Result<Self, ParameterError>;
}

/// The kinds of parameters.
#[derive(Debug)]
pub enum Argument {}
#[derive(Debug)]
pub enum Attributed {}
#[derive(Debug)]
pub enum Whole {}
#[derive(Debug)]
pub enum Injected {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + 'static> Parameter<Argument> for T {
    fn describe(input: &mut InputSchema) {
        let schema = input.generator().subschema_for::<T>();
        input.argument(schema, absent::<T>().is_err(), is_plain::<T>());
    }

    fn take(call: &Invocation<'_>, index: usize) -> Result<Self, ParameterError> {
        let decoded = match call.slots[index] {
            Some(text) => match long_text(text) {
                Some(value) => return Ok(value),
                None => serde_json::from_str(text),
            },
            None => absent(),
        };
        decoded.map_err(|error| ParameterError::argument(index, error))
    }
}

/// Length from which an argument that is a `String` is not read by `serde_json`, in bytes: 4 KiB.
const LONG: usize = 4 << 10;

/// Returns the value of `text` if it is a long string and `T` is `String`.
#[inline]
fn long_text<T: 'static>(text: &str) -> Option<T> {
    if text.len() < LONG {
        return None;
    }
    let mut value = None::<T>;
    let string = (&mut value as &mut dyn Any).downcast_mut::<Option<String>>()?;
    *string = support::read_long(text);
    value
}

#[diagnostic::do_not_recommend]
impl<T: FromContext> Parameter<Injected> for T {
    fn describe(input: &mut InputSchema) {
        T::require(input.injected());
    }

    fn take(call: &Invocation<'_>, _index: usize) -> Result<Self, ParameterError> {
        T::from_context(call.context).map_err(ParameterError::injected)
    }
}

/// A type that [`Args`] may hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold arguments",
    label = "`serde::Deserialize` or `schemars::JsonSchema` is not implemented",
    note = "derive both: `#[derive(Deserialize, JsonSchema)]` with the prelude, or \
            `#[derive(serde::Deserialize, schemars::JsonSchema)]`; both need a dependency: `cargo add serde --features derive`",
    note = "without `serde` as a dependency: `#[derive(trueform::serde::Deserialize, trueform::schemars::JsonSchema)] #[serde(crate = \"trueform::serde\")] \
            #[schemars(crate = \"trueform::schemars\")]`",
    note = "`trueform::schemars` is schemars 1.x; `JsonSchema` of another version is another trait"
)]
pub trait Arguments: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Arguments for T {}

impl<T: Arguments> Parameter<Whole> for Args<T> {
    fn describe(input: &mut InputSchema) {
        let schema = T::json_schema(input.generator());
        input.whole(schema, std::any::type_name::<T>());
    }

    fn take(call: &Invocation<'_>, _index: usize) -> Result<Self, ParameterError> {
        serde_json::from_str(call.text)
            .map(Args)
            .map_err(ParameterError::arguments)
    }
}

/// A parameter with attributes: `T` is a struct with one field that has them.
#[derive(Debug)]
pub struct Field<T>(pub T);

impl<T: DeserializeOwned + JsonSchema> Parameter<Attributed> for Field<T> {
    fn describe(input: &mut InputSchema) {
        let schema = T::json_schema(input.generator());
        input.field(schema);
    }

    fn take(call: &Invocation<'_>, index: usize) -> Result<Self, ParameterError> {
        let member = OneMember {
            name: &call.names[index],
            text: call.slots[index],
        };
        T::deserialize(MapAccessDeserializer::new(member))
            .map(Field)
            .map_err(|error| ParameterError::argument(index, error))
    }
}

/// A parameter that is a pattern, and so has no name for an argument.
#[diagnostic::on_unimplemented(
    message = "an argument needs a name",
    label = "this pattern has none",
    note = "name the parameter and take it apart in the function, or take all arguments as one `Args<T>`"
)]
pub trait UnnamedParameter<Kind>: Parameter<Kind> {
    /// See [`Parameter::describe`].
    #[doc(hidden)]
    fn describe(input: &mut InputSchema) {
        <Self as Parameter<Kind>>::describe(input);
    }

    /// See [`Parameter::take`].
    #[doc(hidden)]
    fn take(call: &Invocation<'_>, index: usize) -> Result<Self, ParameterError> {
        <Self as Parameter<Kind>>::take(call, index)
    }
}

#[diagnostic::do_not_recommend]
impl<T: FromContext> UnnamedParameter<Injected> for T {}
impl<T: Arguments> UnnamedParameter<Whole> for Args<T> {}

/// Returns the value of an absent argument: a value for `Option` and similar types, an error for others.
fn absent<T: DeserializeOwned>() -> serde_json::Result<T> {
    T::deserialize(Absent)
}

struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> serde_json::Result<V::Value> {
        Err(serde_json::Error::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> serde_json::Result<V::Value> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// An object with one member or without members.
struct OneMember<'a> {
    name: &'a str,
    text: Option<&'a str>,
}

impl<'de> MapAccess<'de> for OneMember<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: serde::de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> serde_json::Result<Option<K::Value>> {
        match self.text {
            Some(_) => seed.deserialize(self.name.into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: serde::de::DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> serde_json::Result<V::Value> {
        let text = self.text.take().unwrap_or_default();
        seed.deserialize(&mut serde_json::Deserializer::from_str(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_are_read_here() {
        let text = "é\n\"x".repeat(LONG);
        let json = serde_json::to_string(&text).expect("a string");
        assert!(long_text::<String>(&json) == Some(text));
        assert!(long_text::<String>(&json[..json.len() - 1]).is_none());
        assert!(long_text::<Option<String>>(&json).is_none());
        assert!(long_text::<Box<str>>(&json).is_none());
        assert!(long_text::<String>("\"short\"").is_none());
    }
}
