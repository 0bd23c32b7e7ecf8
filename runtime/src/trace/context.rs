//! The trace that a request belongs to: `traceparent`, `tracestate` and `baggage` of its `_meta`, in the formats of the W3C.

use std::collections::HashSet;

use trueform_schema::{Extras, Json};

/// Most bytes of a `traceparent`. Later versions may be longer than the 55 bytes of version 00, and W3C Trace Context sets no bound.
const MAX_PARENT: usize = 512;
/// Most members of a `tracestate`, as W3C Trace Context bounds it.
const MAX_STATE_MEMBERS: usize = 32;
/// Most bytes of a `baggage`, as W3C Baggage bounds it.
const MAX_BAGGAGE: usize = 8192;
/// Most members of a `baggage`.
const MAX_BAGGAGE_MEMBERS: usize = 180;

/// The trace that a request belongs to, as the client named it in `_meta`: the formats of
/// [W3C Trace Context](https://www.w3.org/TR/trace-context/) and [W3C Baggage](https://www.w3.org/TR/baggage/).
///
/// The span `mcp_request` of the request then has the fields `trace_id` and `parent_id`. A client may write any value here: the trace links
/// logs, and does not identify the caller.
///
/// To continue the trace in OpenTelemetry, pass [`entries`](Self::entries) to its propagator where the request is served, such as in
/// [`CallLayer::begin`](crate::layer::CallLayer::begin), which runs within that span:
///
/// ```text
/// use opentelemetry::propagation::TextMapPropagator;
/// use tracing_opentelemetry::OpenTelemetrySpanExt;
///
/// if let Some(trace) = call.context().trace_context() {
///     let carrier: HashMap<String, String> = trace.entries().map(|(key, value)| (key.into(), value.into())).collect();
///     tracing::Span::current().set_parent(TraceContextPropagator::new().extract(&carrier));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Valid; its parts have fixed positions.
    parent: String,
    state: Option<String>,
    baggage: Option<String>,
}

impl TraceContext {
    /// Reads the trace in `meta`. `None` without a valid `traceparent`. The other members are left out if they are not valid.
    pub(crate) fn of(meta: &Extras) -> Option<Self> {
        let text = |key| {
            meta.get(key)
                .and_then(|value: &Json| value.parse::<String>().ok())
        };
        let parent = text("traceparent").filter(|text| is_parent(text))?;
        Some(Self {
            parent,
            state: text("tracestate").filter(|text| is_state(text)),
            baggage: text("baggage").filter(|text| is_baggage(text)),
        })
    }

    /// Returns the id of the trace: 32 hexadecimal digits in lower case.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        &self.parent[3..35]
    }

    /// Returns the id of the caller's span: 16 hexadecimal digits in lower case.
    #[must_use]
    pub fn parent_id(&self) -> &str {
        &self.parent[36..52]
    }

    /// Returns the flags. Bit 0 says that the caller samples the trace.
    #[must_use]
    pub fn trace_flags(&self) -> u8 {
        u8::from_str_radix(&self.parent[53..55], 16).unwrap_or_default()
    }

    /// Returns whether the caller samples the trace.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.trace_flags() & 1 == 1
    }

    /// Returns the `traceparent` as the client sent it.
    #[must_use]
    pub fn traceparent(&self) -> &str {
        &self.parent
    }

    /// Returns the `tracestate` as the client sent it, if it is valid.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns the `baggage` as the client sent it, if it is valid. Without a `traceparent`, it is in
    /// [`Context::meta`](crate::Context::meta).
    #[must_use]
    pub fn baggage(&self) -> Option<&str> {
        self.baggage.as_deref()
    }

    /// Returns the valid ones of `traceparent`, `tracestate` and `baggage` with their values, as propagators and requests to other servers
    /// need them.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let state = self.tracestate().map(|value| ("tracestate", value));
        let baggage = self.baggage().map(|value| ("baggage", value));
        [Some(("traceparent", self.traceparent())), state, baggage]
            .into_iter()
            .flatten()
    }
}

fn is_hex(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_zero(text: &[u8]) -> bool {
    text.iter().all(|byte| *byte == b'0')
}

/// Checks a `traceparent` by W3C Trace Context, section 3.2: version, trace id, parent id, flags. Later versions may have more after them.
fn is_parent(text: &str) -> bool {
    let bytes = text.as_bytes();
    if !(55..=MAX_PARENT).contains(&bytes.len()) {
        return false;
    }
    let (head, rest) = bytes.split_at(55);
    let parts = [&head[..2], &head[3..35], &head[36..52], &head[53..]];
    let dashes = [2, 35, 52].map(|at| head[at]) == [b'-'; 3];
    let ends = match &head[..2] {
        b"00" => rest.is_empty(),
        _ => rest.first().is_none_or(|next| *next == b'-'),
    };
    dashes
        && ends
        && parts.iter().all(|part| is_hex(part))
        && parts[0] != b"ff"
        && !is_zero(parts[1])
        && !is_zero(parts[2])
}

/// Checks a `tracestate` by W3C Trace Context, section 3.3.
fn is_state(text: &str) -> bool {
    let is_key = |key: &str| {
        let begins = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let goes_on = |byte: u8| begins(&byte) || matches!(byte, b'_' | b'-' | b'*' | b'/' | b'@');
        key.len() <= 256 && key.as_bytes().first().is_some_and(begins) && key.bytes().all(goes_on)
    };
    let is_value = |value: &str| {
        let is_character = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'=');
        (1..=256).contains(&value.len()) && !value.ends_with(' ') && value.bytes().all(is_character)
    };
    let mut keys = HashSet::new();
    let mut members = text.split(',').map(trimmed).filter(|one| !one.is_empty());
    let are_members = members.all(|member| {
        member
            .split_once('=')
            .is_some_and(|(key, value)| is_key(key) && is_value(value) && keys.insert(key))
            && keys.len() <= MAX_STATE_MEMBERS
    });
    are_members && !keys.is_empty()
}

/// Checks a `baggage` by W3C Baggage, section 3.
fn is_baggage(text: &str) -> bool {
    let is_octet =
        |byte: u8| matches!(byte, b'!'..=b'~') && !matches!(byte, b'"' | b',' | b';' | b'\\');
    let is_pair = |pair: &str| {
        let (key, value) = pair.split_once('=')?;
        let (key, value) = (trimmed(key), trimmed(value));
        (is_token(key) && value.bytes().all(is_octet)).then_some(())
    };
    let is_member = |member: &str| {
        let mut parts = member.split(';').map(trimmed);
        let first = parts.next().and_then(is_pair);
        first.is_some() && parts.all(|property| is_token(property) || is_pair(property).is_some())
    };
    text.len() <= MAX_BAGGAGE
        && text.split(',').count() <= MAX_BAGGAGE_MEMBERS
        && text.split(',').map(trimmed).all(is_member)
}

fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Checks a token by RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn parents() {
        // A `traceparent` of a later version, `length` bytes long.
        let later = |length: usize| {
            let rest = "x".repeat(length - PARENT.len() - 1);
            format!("{PARENT}-{rest}").replace("00-0a", "01-0a")
        };
        for (text, expected) in [
            (PARENT, true),
            ("", false),
            (&PARENT[..54], false),
            (&PARENT.replace("00-0a", "ff-0a"), false),
            (&PARENT.to_uppercase(), false),
            (
                &PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
                false,
            ),
            (&PARENT.replace("b7ad6b7169203331", &"0".repeat(16)), false),
            (&PARENT.replace('-', "_"), false),
            (&PARENT.replace("b7", "ä"), false),
            // Section 3.2.4: a later version may have more after a dash, version 00 may not.
            (&format!("{PARENT}-x"), false),
            (&format!("{PARENT}-x").replace("00-0a", "01-0a"), true),
            (&PARENT.replace("00-0a", "cc-0a"), true),
            (&format!("{PARENT}x").replace("00-0a", "01-0a"), false),
            (&later(MAX_PARENT), true),
            (&later(MAX_PARENT + 1), false),
            (&later(1 << 20), false),
        ] {
            assert_eq!(is_parent(text), expected, "{text}");
        }
    }

    #[test]
    fn states() {
        let many = |count: usize| Vec::from_iter((0..count).map(|at| format!("k{at}=v"))).join(",");
        for (text, expected) in [
            ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", true),
            ("a=1 , \tb=2,,", true),
            ("0tenant@system=x y", true),
            (&many(32), true),
            ("", false),
            (",", false),
            ("a", false),
            ("a=", false),
            ("=a", false),
            ("A=1", false),
            ("a=1=2", false),
            ("a=1,a=2", false),
            ("a=ü", false),
            ("a=\n", false),
            (&many(33), false),
            (&format!("{}=1", "a".repeat(257)), false),
            (&format!("a={}", "b".repeat(257)), false),
        ] {
            assert_eq!(is_state(text), expected, "{text}");
        }
    }

    #[test]
    fn baggages() {
        let many = |count: usize| Vec::from_iter((0..count).map(|at| format!("k{at}=v"))).join(",");
        for (text, expected) in [
            (
                "key1=value1;property1;property2, key2 = value2, key3=value3; p = q",
                true,
            ),
            ("a=", true),
            ("user=Am%C3%A9lie", true),
            (&many(180), true),
            ("", false),
            ("a", false),
            ("a=1,,b=2", false),
            ("a=b c", false),
            ("a=\"b\"", false),
            ("ä=1", false),
            ("a=ä", false),
            ("a=1;", false),
            (&many(181), false),
            (&format!("a={}", "b".repeat(MAX_BAGGAGE)), false),
        ] {
            assert_eq!(is_baggage(text), expected, "{text}");
        }
    }
}
