//! What a request states about itself, read before the rest of it: the protocol version and the capabilities in `params._meta`, and the
//! member that a header repeats.
//!
//! If the params were decoded together with the envelope, the claims come from them. Otherwise a tolerant reader finds the claims, because
//! they are checked before the params (GAP-2).

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use trueform_schema::{ClientCapabilities, ClientRequest, ErrorObject, Method, Revision, decode};

use super::{
    Inbound,
    quick::{self, Quick},
    remembered::Remembered,
};
use crate::jsonrpc::{self, EarlyParams, Incoming, Malformed, Message};

impl<'a> EarlyParams<'a> for ClientRequest {
    type Seed = trueform_schema::ClientRequestSeed;

    fn seed(method: &str) -> Option<Self::Seed> {
        let method = Method::from_wire(method)?;
        Self::has(method).then(|| Self::seed(method))
    }
}

/// The contents of one line or one body, with the claims of a single request.
pub(crate) enum Read<'a> {
    Single(Message<'a>, Claims<'a>),
    Batch(Vec<Result<Message<'a>, Malformed>>),
}

impl<'a> Read<'a> {
    /// Splits `bytes` into its messages. Looks up the `_meta` of a single request in `remembered`, and stores it there.
    ///
    /// # Errors
    /// As [`jsonrpc::parse`]; also the parts of an envelope that `inbound` refuses.
    #[inline]
    pub(crate) fn from_bytes(
        bytes: &'a [u8],
        inbound: Inbound,
        remembered: &Remembered,
    ) -> Result<Self, Malformed> {
        if remembered.is_on()
            && let Some((id, method, quick)) = quick::read(bytes, remembered)
        {
            let method = Cow::Borrowed(method);
            let params = None;
            let message = Message::Request { id, method, params };
            return Ok(Self::Single(message, Claims::Quick(quick)));
        }
        Self::carefully(bytes, inbound, remembered)
    }

    #[inline(never)]
    fn carefully(
        bytes: &'a [u8],
        inbound: Inbound,
        remembered: &Remembered,
    ) -> Result<Self, Malformed> {
        let (incoming, decoded) = match inbound.needs_text() {
            false => jsonrpc::parse_early(bytes)?,
            true => (jsonrpc::parse(bytes)?, None),
        };
        match (incoming, decoded) {
            (Incoming::Single(message), Some(request)) => {
                remembered.learn(bytes, &request, inbound);
                Ok(Self::Single(message, Claims::Decoded(request)))
            }
            (Incoming::Single(message), None) => {
                inbound.envelope(&message, bytes)?;
                let claims = Claims::of(&message, inbound);
                Ok(Self::Single(message, claims))
            }
            (Incoming::Batch(messages), _) => Ok(Self::Batch(inbound.batch(messages, bytes))),
        }
    }
}

/// What a request states about itself.
#[derive(Debug)]
pub(crate) enum Claims<'a> {
    /// The request was read in one pass.
    Quick(Quick<'a>),
    /// The params have the form of their method.
    Decoded(ClientRequest),
    /// What the tolerant reader found.
    Undecoded(RawClaims<'a>),
}

impl<'a> Claims<'a> {
    /// Returns the claims of a message whose params are raw.
    pub(crate) fn of(message: &Message<'a>, inbound: Inbound) -> Self {
        let (params, name_member) = match message {
            Message::Request { method, params, .. } => {
                // The member is the same at all revisions that have one.
                let rules = Method::from_wire(method).and_then(|method| {
                    Revision::ALL
                        .into_iter()
                        .rev()
                        .find_map(|at| method.rules(at))
                });
                (*params, rules.and_then(|rules| rules.header_name))
            }
            Message::Notification { params, .. } => (*params, None),
            Message::Response { .. } => (None, None),
        };
        let mut raw = raw_claims(params, name_member);
        // DEC-6
        if inbound.takes_nulls() {
            raw.version = raw.version.filter(|version| version.get() != "null");
        }
        Self::Undecoded(raw)
    }

    /// Returns the method, if the params were decoded as those of a core method.
    pub(crate) fn method(&self) -> Option<Method> {
        match self {
            Self::Quick(quick) => Some(quick.method()),
            Self::Decoded(request) => Some(request.method()),
            Self::Undecoded(_) => None,
        }
    }

    /// Returns whether `_meta` has a protocol version, whatever its form.
    pub(crate) fn is_modern(&self) -> bool {
        match self {
            Self::Quick(quick) => quick.stated.is_some(),
            Self::Decoded(request) => {
                let meta = request.meta();
                meta.is_some_and(|meta| meta.protocol_version.is_some())
            }
            Self::Undecoded(raw) => raw.version.is_some(),
        }
    }

    /// Returns the protocol version in `_meta`; `None` if it is absent or not a string.
    pub(crate) fn version(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Quick(quick) => {
                let stated = quick.stated.as_ref()?;
                Some(Cow::Borrowed(stated.revision.as_str()))
            }
            Self::Decoded(request) => {
                let version = request.meta()?.protocol_version.as_deref()?;
                Some(Cow::Borrowed(version))
            }
            Self::Undecoded(raw) => text(raw.version?),
        }
    }

    /// Returns the revision that `_meta` names; `None` if it names none that this library knows.
    #[inline]
    pub(crate) fn revision(&self) -> Option<Revision> {
        match self {
            Self::Quick(quick) => quick.stated.as_ref().map(|stated| stated.revision),
            _ => Revision::from_wire(&self.version()?),
        }
    }

    /// Returns the raw value of the protocol version in `_meta`.
    pub(crate) fn raw_version(&self) -> Option<&RawValue> {
        match self {
            Self::Quick(_) | Self::Decoded(_) => None,
            Self::Undecoded(raw) => raw.version,
        }
    }

    /// Returns whether `_meta` has client capabilities, as an object.
    pub(crate) fn has_capabilities(&self) -> bool {
        match self {
            Self::Quick(quick) => quick.stated.is_some(),
            Self::Decoded(request) => {
                let meta = request.meta();
                meta.is_some_and(|meta| meta.client_capabilities.is_some())
            }
            Self::Undecoded(raw) => raw
                .capabilities
                .is_some_and(|raw| raw.get().starts_with('{')),
        }
    }

    /// Returns the raw value of the client capabilities in `_meta`.
    pub(crate) fn raw_capabilities(&self) -> Option<&RawValue> {
        match self {
            Self::Quick(_) | Self::Decoded(_) => None,
            Self::Undecoded(raw) => raw.capabilities,
        }
    }

    /// Returns the client capabilities in `_meta`, whatever else it contains; `None` if they are absent or malformed.
    pub(crate) fn capabilities(&self) -> Option<Cow<'_, ClientCapabilities>> {
        match self {
            Self::Quick(quick) => {
                let stated = quick.stated.as_ref()?;
                Some(Cow::Borrowed(&stated.facts.capabilities))
            }
            Self::Decoded(request) => {
                let declared = request.meta()?.client_capabilities.as_ref();
                declared.map(Cow::Borrowed)
            }
            Self::Undecoded(raw) => decode::from_str(raw.capabilities?.get())
                .ok()
                .map(Cow::Owned),
        }
    }

    /// Returns the member that `Mcp-Name` repeats; `None` if it is absent or not a string.
    pub(crate) fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Quick(quick) => quick.name().map(Cow::Borrowed),
            Self::Decoded(request) => request.header_name().map(Cow::Borrowed),
            Self::Undecoded(raw) => text(raw.name?),
        }
    }

    /// Returns the decoded request, whose raw params are `params`, and its params if decoding read them differently from how they were
    /// written.
    ///
    /// # Errors
    /// -32602 for params that do not have the form of `method`.
    pub(crate) fn into_request(
        self,
        method: Method,
        revision: Revision,
        params: Option<&RawValue>,
        inbound: Inbound,
    ) -> Result<(ClientRequest, Option<String>), ErrorObject> {
        match self {
            Self::Quick(quick) => Ok((quick.to_request(), None)),
            Self::Decoded(request) => Ok((request, None)),
            Self::Undecoded(_) => {
                let text = super::inbound::object_for(params.map(RawValue::get));
                // The leniencies of the gate determine whether params may be absent.
                let decode =
                    |text: &str| ClientRequest::decode(Revision::LATEST, method, Some(text));
                inbound
                    .decode(text, "/params", method.as_str(), revision, decode)
                    .map_err(|fault| jsonrpc::params_error(method.as_str(), &fault))
            }
        }
    }
}

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// What the tolerant reader found in `params`.
#[derive(Debug, Default)]
pub(crate) struct RawClaims<'a> {
    version: Option<&'a RawValue>,
    capabilities: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
}

/// Finds the modern members of `_meta`, and `name_member` beside it. Finds nothing if `params` is not an object.
fn raw_claims<'a>(
    params: Option<&'a RawValue>,
    name_member: Option<&'static str>,
) -> RawClaims<'a> {
    let mut raw = RawClaims::default();
    if let Some(params) = params.filter(|params| params.get().starts_with('{')) {
        let seed = Params {
            raw: &mut raw,
            name_member,
        };
        // Params come from a parsed message, so they are valid JSON. A member of an unexpected form is not found.
        let _ = seed.deserialize(&mut serde_json::Deserializer::from_str(params.get()));
    }
    raw
}

/// Returns the member `name` of `params`, if it is a string.
pub(crate) fn member_text(params: &RawValue, name: &'static str) -> Option<String> {
    text(raw_claims(Some(params), Some(name)).name?).map(Cow::into_owned)
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

/// The name of a member. A name with half a surrogate pair is not found here, but it does not hide the names after it.
struct Key<'a>(Cow<'a, [u8]>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, name: &'de [u8]) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(name)))
            }

            fn visit_bytes<E>(self, name: &[u8]) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_bytes(V)
    }
}

struct Params<'p, 'a> {
    raw: &'p mut RawClaims<'a>,
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
        while let Some(Key(key)) = map.next_key()? {
            if *key == *b"_meta" {
                map.next_value_seed(Meta(self.raw))?;
            } else if self
                .name_member
                .is_some_and(|member| *member.as_bytes() == *key)
            {
                self.raw.name = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Meta<'p, 'a>(&'p mut RawClaims<'a>);

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
        while let Some(Key(key)) = map.next_key()? {
            match std::str::from_utf8(&key).unwrap_or_default() {
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
        let claims = Claims::Undecoded(raw_claims(Some(&raw), Some("name")));
        (
            claims.version().map(Cow::into_owned),
            claims.has_capabilities(),
            claims.name().map(Cow::into_owned),
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
            (version.clone(), true, Some("add".to_owned()))
        );
        // GAP-14
        let broken = r#""\udfff\u0041":"\ud800","#;
        let meta = meta.replace("_meta\":{", &format!("_meta\":{{{broken}"));
        assert_eq!(
            look(&format!(r#"{{{broken}{meta},"name":"add"}}"#)),
            (version, true, Some("add".to_owned())),
            "a name that is not Unicode hides none after it"
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
