//! A look into `params` before its type is known: the protocol version in `_meta`, and the member that a header repeats.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::jsonrpc::Text;

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// What the gate needs of `params`.
#[derive(Debug, Default)]
pub(crate) struct Peek<'a> {
    version: Option<&'a RawValue>,
    capabilities: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
}

/// Looks for the modern members of `_meta`, and for `name_member` beside it. What is no object has none.
pub(crate) fn peek<'a>(
    params: Option<&'a RawValue>,
    name_member: Option<&'static str>,
) -> Peek<'a> {
    let mut peek = Peek::default();
    if let Some(params) = params.filter(|params| params.get().starts_with('{')) {
        let seed = Params {
            peek: &mut peek,
            name_member,
        };
        // Params come from a frame that was parsed, so they are JSON; what is not of the expected form is simply not found.
        let _ = seed.deserialize(&mut serde_json::Deserializer::from_str(params.get()));
    }
    peek
}

impl<'a> Peek<'a> {
    /// Whether the request says it is modern, whatever version it names.
    pub(crate) fn is_modern(&self) -> bool {
        self.version.is_some()
    }

    /// The protocol version in `_meta`; `None` if absent or no string.
    pub(crate) fn version(&self) -> Option<Cow<'a, str>> {
        text(self.version?)
    }

    /// The member of `_meta` that is to name the protocol version, whatever it is.
    pub(crate) fn raw_version(&self) -> Option<&'a RawValue> {
        self.version
    }

    /// The member of `_meta` that is to hold the client's capabilities, whatever it is.
    pub(crate) fn raw_capabilities(&self) -> Option<&'a RawValue> {
        self.capabilities
    }

    /// Whether `_meta` has client capabilities, as an object.
    pub(crate) fn has_capabilities(&self) -> bool {
        self.capabilities
            .is_some_and(|raw| raw.get().starts_with('{'))
    }

    /// The member that `Mcp-Name` repeats; `None` if absent or no string.
    pub(crate) fn name(&self) -> Option<Cow<'a, str>> {
        text(self.name?)
    }
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if text.contains('\\') {
        return serde_json::from_str::<String>(raw.get())
            .ok()
            .map(Cow::Owned);
    }
    Some(Cow::Borrowed(text))
}

struct Params<'p, 'a> {
    peek: &'p mut Peek<'a>,
    name_member: Option<&'static str>,
}

impl<'de> DeserializeSeed<'de> for Params<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Params<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("params")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(key)) = map.next_key()? {
            if key == "_meta" {
                map.next_value_seed(Meta(self.peek))?;
            } else if self.name_member.is_some_and(|member| member == key) {
                self.peek.name = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Meta<'p, 'a>(&'p mut Peek<'a>);

impl<'de> DeserializeSeed<'de> for Meta<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Meta<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`_meta`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(key)) = map.next_key()? {
            match &*key {
                PROTOCOL_VERSION => self.0.version = Some(map.next_value()?),
                CLIENT_CAPABILITIES => self.0.capabilities = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn look(params: &str) -> (Option<String>, bool, Option<String>) {
        let raw: Box<RawValue> = serde_json::from_str(params).unwrap();
        let peek = peek(Some(&raw), Some("name"));
        (
            peek.version().map(Cow::into_owned),
            peek.has_capabilities(),
            peek.name().map(Cow::into_owned),
        )
    }

    #[test]
    fn finds_in_any_order_and_form() {
        let version = Some("2026-07-28".to_owned());
        let meta = r#""_meta":{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        assert_eq!(
            look(&format!(r#"{{"name":"a\u0064d",{meta}}}"#)),
            (version.clone(), true, Some("add".to_owned()))
        );
        assert_eq!(
            look(&format!(
                r#"{{{meta},"name":"add","arguments":{{"name":"x"}}}}"#
            )),
            (version, true, Some("add".to_owned()))
        );
        for none in [
            "[1]",
            "5",
            "{}",
            r#"{"_meta":5,"name":5}"#,
            r#"{"_meta":[{}]}"#,
        ] {
            assert_eq!(look(none), (None, false, None), "{none}");
        }
    }
}
