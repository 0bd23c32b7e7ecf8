//! The functions that generated code calls. Not part of the public interface.

mod escape;
mod read;
mod unescape;
mod write;

pub(crate) use self::read::within;
pub use self::{
    escape::{write_raw, write_str},
    read::{
        ByType, Cases, Members, Present, Record, Tagged, by_type, cases, distinct, integral, need,
        present, record, seen, tagged, text,
    },
    unescape::read_long,
    write::ObjectWriter,
};
pub(crate) use crate::{
    projection::{Becomes, Rule},
    rewrite::ITEM,
};
pub use crate::{
    rewrite::{many, rewritten},
    types::{TypeInfo, TypeKind},
};

use std::future::{Future, Ready, ready};

// Generated code uses it through this path, so that another crate needs no dependency on serde.
pub use serde;
use serde::{Serialize, Serializer};

use crate::{
    Conform, DecodeError, Encode, ErrorObject, Json, JsonObject, Revision, View,
    methods::{BoxFuture, Direction, Response, Rules},
};

/// Appends `integer`.
pub fn write_integer(integer: i64, out: &mut Vec<u8>) {
    serde_json::to_writer(out, &integer).expect("writing an integer to memory cannot fail");
}

/// Appends `number`. Integral values have no fraction, because they were most likely sent without one. A value that is not finite has no
/// JSON form and becomes `null`; `conform` reports it before a message gets here.
pub fn write_number(number: f64, out: &mut Vec<u8>) {
    /// Up to this value, `f64` represents every integer exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0
        && number.abs() <= EXACT
        && !(number == 0.0 && number.is_sign_negative())
    {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be an integer within 2^53"
        )]
        return write_integer(number as i64, out);
    }
    serde_json::to_writer(out, &number).expect("writing a number to memory cannot fail");
}

/// Returns `value` as raw JSON.
pub fn to_json<T: Encode + ?Sized>(value: &T, view: View<'_>) -> Json {
    let mut out = Vec::with_capacity(128);
    value.encode(view, &mut out);
    let text = String::from_utf8(out).expect("encoders write UTF-8");
    Json::from_text(text).expect("encoders write one JSON value")
}

/// Implements `Serialize` for every generated type: writes the superset, as raw JSON.
pub fn serialize<T: Encode + ?Sized, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    to_json(value, View::ALL).serialize(serializer)
}

impl Encode for Json {
    fn encode(&self, _: View<'_>, out: &mut Vec<u8>) {
        write_raw(self.get(), out);
    }
}

impl Encode for JsonObject {
    fn encode(&self, _: View<'_>, out: &mut Vec<u8>) {
        write_raw(self.get(), out);
    }
}

impl Encode for String {
    #[inline]
    fn encode(&self, _: View<'_>, out: &mut Vec<u8>) {
        write_str(self, out);
    }
}

impl Encode for bool {
    fn encode(&self, _: View<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl Encode for i64 {
    fn encode(&self, _: View<'_>, out: &mut Vec<u8>) {
        write_integer(*self, out);
    }
}

impl Encode for f64 {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        if view.is_closed() {
            serde_json::to_writer(out, self).expect("writing a number to memory cannot fail");
        } else {
            write_number(*self, out);
        }
    }
}

/// `None` is written as null: for members that are required but nullable.
impl<T: Encode> Encode for Option<T> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.encode(view, out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

impl<T: Encode + ?Sized> Encode for Box<T> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        (**self).encode(view, out);
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        out.push(b'[');
        for (i, item) in self.iter().enumerate() {
            if i != 0 {
                out.push(b',');
            }
            item.encode(view, out);
        }
        out.push(b']');
    }
}

/// Returns the rules of one revision for one method, for tables outside this crate.
#[must_use]
pub const fn rules(
    direction: Direction,
    capability: Option<&'static str>,
    header_name: Option<&'static str>,
    input_required: bool,
    params_required: bool,
    results: &'static [&'static str],
) -> Rules {
    Rules {
        direction,
        capability,
        header_name,
        input_required,
        params_required,
        results,
    }
}

/// Returns the params to decode. Absent params are an empty object, unless `method` requires params at `revision`.
pub fn params<'a>(
    rules: Option<&Rules>,
    method: &str,
    revision: Revision,
    params: Option<&'a str>,
) -> Result<&'a str, DecodeError> {
    match (params, rules) {
        (Some(params), _) => Ok(params),
        (None, Some(rules)) if rules.params_required => {
            let message = format!("missing `params`, which `{method}` needs at {revision}");
            Err(DecodeError::new("", message))
        }
        (None, _) => Ok("{}"),
    }
}

/// Returns the error for a method that `sender` never sends.
#[cold]
#[must_use]
pub fn foreign(sender: &str, method: &str) -> DecodeError {
    DecodeError::new(
        "",
        format!("`{method}` is not sent by the {sender} in this form"),
    )
}

/// Returns the error for a method that a binding does not have at `revision`.
#[cold]
#[must_use]
pub fn absent(method: &str, revision: Revision) -> DecodeError {
    DecodeError::new("", format!("`{method}` does not exist at {revision}"))
}

/// Returns the response of a handler that does not implement `method`.
pub fn method_not_found<T>(method: &str) -> Ready<Result<T, ErrorObject>> {
    ready(Err(ErrorObject::new(
        -32601,
        format!("method not found: `{method}`"),
    )))
}

/// Ignores a notification that a handler does not implement.
pub fn ignored() -> Ready<()> {
    ready(())
}

/// Returns the response of `future`, with its result boxed.
pub fn respond<T: Conform + Send + 'static>(
    future: impl Future<Output = Result<T, ErrorObject>> + Send + 'static,
) -> BoxFuture<'static, Response> {
    Box::pin(async move {
        let result = future.await?;
        Ok(Box::new(result) as Box<dyn Conform + Send>)
    })
}

/// `Serialize` and `Deserialize` of generated types: written through `Encode`, read by the named algorithm.
///
/// Exported because code that other crates generate uses it too.
#[doc(hidden)]
#[macro_export]
macro_rules! __wire {
    ($read:ident: $($name:ident),* $(,)?) => {$(
        impl $crate::support::serde::Serialize for $name {
            fn serialize<S: $crate::support::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::support::serialize(self, serializer)
            }
        }
        impl<'de> $crate::support::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::support::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::support::$read(deserializer)
            }
        }
    )*};
}
pub use crate::__wire as wire;
