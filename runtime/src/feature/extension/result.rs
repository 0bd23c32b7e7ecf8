//! Results of extensions with what their handlers added to the `_meta`, and with the `resultType` that the modern era requires.

use trueform_schema::{
    Conform, Encode, Era, ErrorObject, Json, Map, Meta, View,
    conform::{Flow, Path, Walk},
};

use crate::{gate, jsonrpc};

/// A result of an extension and its final text. The types of the extension need not have the members that are added.
pub(super) struct Amended<'a> {
    result: &'a dyn Conform,
    written: Json,
}

impl<'a> Amended<'a> {
    /// Writes `result` as `view` shows it, with those members of `meta` that its own `_meta` lacks. In the modern era it gets the
    /// `resultType` of a complete result unless it already has one.
    ///
    /// # Errors
    /// -32603 for a key that is not allowed in `_meta`, and for a result that is not an object. The log has the reason.
    pub(super) fn new(
        result: &'a dyn Conform,
        meta: Option<Box<Meta>>,
        view: View<'_>,
        method: &'static str,
    ) -> Result<Self, ErrorObject> {
        let held_back = || jsonrpc::internal(format!("the result of `{method}` cannot be sent"));
        let illegal = |key: &&str| gate::is_illegal_meta_key(key);
        if let Some(key) = meta.as_ref().and_then(|meta| meta.keys().find(illegal)) {
            tracing::error!(
                method,
                key,
                "a result whose `_meta` has a key that is reserved or illegal was held back"
            );
            return Err(held_back());
        }
        let is_typed = view.revision().is_some_and(|at| at.era() == Era::Modern);
        let mut text = Vec::with_capacity(128);
        result.encode(view, &mut text);
        match amended(&text, meta, is_typed) {
            Ok(written) => Ok(Self { result, written }),
            Err(error) => {
                tracing::error!(method, %error, "a result that is not an object was held back");
                Err(held_back())
            }
        }
    }
}

/// Returns the object `text` with those members of `meta` that its own `_meta` lacks, and with a `resultType` if `is_typed`.
fn amended(text: &[u8], meta: Option<Box<Meta>>, is_typed: bool) -> serde_json::Result<Json> {
    let mut members: Map<Json> = serde_json::from_slice(text)?;
    if is_typed && !members.contains_key("resultType") {
        members.insert("resultType", Json::from_value("complete")?);
    }
    if let Some(meta) = meta {
        let mut own: Meta = match members.get("_meta") {
            Some(own) => own.parse()?,
            None => Meta::new(),
        };
        for (key, value) in *meta {
            if !own.contains_key(&key) {
                own.insert(key, value);
            }
        }
        members.insert("_meta", Json::from_value(&own)?);
    }
    Json::from_value(&members)
}

impl Encode for Amended<'_> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        self.written.encode(view, out);
    }
}

impl Conform for Amended<'_> {
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        self.result.conform(walk, path)
    }
}
