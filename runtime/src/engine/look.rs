//! The first look into a request's params: enough to tell the era, and for the most frequent method the params themselves,
//! so that nothing is read twice on the way to a tool.

use std::borrow::Cow;

use serde_json::value::RawValue;
use trueform_schema::{CallToolRequestParams, Method, Revision, decode};

use crate::{
    gate::{Inbound, Peek, peek},
    jsonrpc::{self, Frame, Incoming, Malformed},
};

/// What is known of a request's params before the gate lets it pass.
#[derive(Debug)]
pub(crate) enum Look<'a> {
    /// Params of `tools/call` that have its form.
    Call(Box<CallToolRequestParams>),
    /// Of everything else only what the gate needs.
    Peeked(Peek<'a>),
}

/// What one line or one body holds, with a look into a single message.
pub(crate) enum Read<'a> {
    Single(Frame<'a>, Look<'a>),
    Batch(Vec<Result<Frame<'a>, Malformed>>),
}

impl<'a> Read<'a> {
    /// Splits `bytes` into its messages.
    ///
    /// # Errors
    /// As [`jsonrpc::parse`]; what `inbound` does not let through of an envelope.
    pub(crate) fn from_bytes(bytes: &'a [u8], inbound: Inbound) -> Result<Self, Malformed> {
        let early = (!inbound.needs_text()).then_some(Method::CallTool.as_str());
        match jsonrpc::parse_early(bytes, early)? {
            (Incoming::Single(frame), Some(call)) => Ok(Self::Single(frame, Look::Call(call))),
            (Incoming::Single(frame), None) => {
                inbound.envelope(&frame, bytes)?;
                let look = Look::at(&frame);
                Ok(Self::Single(frame, look))
            }
            (Incoming::Batch(frames), _) => Ok(Self::Batch(inbound.batch(frames, bytes))),
        }
    }
}

impl<'a> Look<'a> {
    pub(crate) fn at(frame: &Frame<'a>) -> Self {
        match frame {
            Frame::Request {
                method,
                params: Some(params),
                ..
            } if method == Method::CallTool.as_str() => {
                match decode::from_str(params.get()) {
                    Ok(call) => Self::Call(Box::new(call)),
                    // The gate comes first: what is wrong with the params is told after it (GAP-2).
                    Err(_) => Self::Peeked(peek(Some(params), Some("name"))),
                }
            }
            Frame::Request { method, params, .. } => {
                let rules =
                    Method::from_wire(method).and_then(|method| method.rules(Revision::LATEST));
                Self::Peeked(peek(*params, rules.and_then(|rules| rules.header_name)))
            }
            Frame::Notification { params, .. } => Self::Peeked(peek(*params, None)),
            Frame::Response { .. } => Self::Peeked(Peek::default()),
        }
    }

    /// Whether `_meta` names a protocol version, whichever.
    pub(crate) fn is_modern(&self) -> bool {
        match self {
            Self::Call(call) => call
                .meta
                .as_ref()
                .is_some_and(|meta| meta.protocol_version.is_some()),
            Self::Peeked(peek) => peek.is_modern(),
        }
    }

    /// The protocol version in `_meta`; `None` if absent or no string.
    pub(crate) fn version(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Call(call) => call
                .meta
                .as_ref()?
                .protocol_version
                .as_deref()
                .map(Cow::Borrowed),
            Self::Peeked(peek) => peek.version(),
        }
    }

    /// What `_meta` has in place of a protocol version.
    pub(crate) fn raw_version(&self) -> Option<&RawValue> {
        match self {
            Self::Call(_) => None,
            Self::Peeked(peek) => peek.raw_version(),
        }
    }

    /// What `_meta` has in place of client capabilities.
    pub(crate) fn raw_capabilities(&self) -> Option<&RawValue> {
        match self {
            Self::Call(_) => None,
            Self::Peeked(peek) => peek.raw_capabilities(),
        }
    }

    /// Whether `_meta` has client capabilities.
    pub(crate) fn has_capabilities(&self) -> bool {
        match self {
            Self::Call(call) => call
                .meta
                .as_ref()
                .is_some_and(|meta| meta.client_capabilities.is_some()),
            Self::Peeked(peek) => peek.has_capabilities(),
        }
    }

    /// The member that `Mcp-Name` repeats; `None` if absent or no string.
    pub(crate) fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Call(call) => Some(Cow::Borrowed(&call.name)),
            Self::Peeked(peek) => peek.name(),
        }
    }

    /// The params of `tools/call`, if they were decoded.
    pub(super) fn into_call(self) -> Option<Box<CallToolRequestParams>> {
        match self {
            Self::Call(call) => Some(call),
            Self::Peeked(_) => None,
        }
    }
}
