//! Frames to bytes: each message is serialised once, straight into the buffer that leaves.

use trueform_schema::{Encode, ErrorObject, RequestId, Revision, View};

/// What stands for the id of an error whose request could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoId {
    /// `"id": null`, as JSON-RPC and the schemas before 2025-11-25 have it.
    Null,
    /// No member, as the schemas from 2025-11-25 on have it.
    Absent,
}

impl NoId {
    /// GAP-7.
    pub(crate) fn at(revision: Option<Revision>) -> Self {
        match revision {
            Some(revision) if revision < Revision::V2025_11_25 => Self::Null,
            _ => Self::Absent,
        }
    }
}

const HEAD: &[u8] = br#"{"jsonrpc":"2.0","#;

/// A response with a result.
pub(crate) fn write_result(
    id: &RequestId,
    view: View<'_>,
    out: &mut Vec<u8>,
    result: impl FnOnce(View<'_>, &mut Vec<u8>),
) {
    out.extend_from_slice(HEAD);
    out.extend_from_slice(br#""id":"#);
    id.encode(view, out);
    out.extend_from_slice(br#","result":"#);
    result(view, out);
    out.push(b'}');
}

/// A response with an error.
pub(crate) fn write_error(
    id: Option<&RequestId>,
    no_id: NoId,
    error: &ErrorObject,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(HEAD);
    match (id, no_id) {
        (Some(id), _) => {
            out.extend_from_slice(br#""id":"#);
            id.encode(View::ALL, out);
            out.push(b',');
        }
        (None, NoId::Null) => out.extend_from_slice(br#""id":null,"#),
        (None, NoId::Absent) => {}
    }
    out.extend_from_slice(br#""error":"#);
    error.encode(View::ALL, out);
    out.push(b'}');
}

/// A notification.
pub(crate) fn write_notification(
    method: &str,
    params: Option<&dyn Encode>,
    view: View<'_>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(HEAD);
    write_call(method, params, view, out);
}

/// A request.
pub(crate) fn write_request(
    id: &RequestId,
    method: &str,
    params: Option<&dyn Encode>,
    view: View<'_>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(HEAD);
    out.extend_from_slice(br#""id":"#);
    id.encode(view, out);
    out.push(b',');
    write_call(method, params, view, out);
}

fn write_call(method: &str, params: Option<&dyn Encode>, view: View<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#""method":""#);
    // Method names are ours, from the generated table, and need no escapes.
    out.extend_from_slice(method.as_bytes());
    out.push(b'"');
    if let Some(params) = params {
        out.extend_from_slice(br#","params":"#);
        params.encode(view, out);
    }
    out.push(b'}');
}
