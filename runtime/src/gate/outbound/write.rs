//! The envelope of each kind of message, written once, directly into the buffer that is sent.

use trueform_schema::{Encode, ErrorObject, RequestId, Revision, View};

const HEAD: &[u8] = br#"{"jsonrpc":"2.0","#;

/// Writes a response with a result.
pub(in crate::gate) fn write_result(
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

/// Writes a response with an error. The id is missing if the request's could not be read: `null` in the schemas before 2025-11-25, no
/// member in later ones and if no revision is known (GAP-7).
pub(in crate::gate) fn write_error(
    id: Option<&RequestId>,
    revision: Option<Revision>,
    error: &ErrorObject,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(HEAD);
    match id {
        Some(id) => {
            out.extend_from_slice(br#""id":"#);
            id.encode(View::ALL, out);
            out.push(b',');
        }
        None if revision.is_some_and(|revision| revision < Revision::V2025_11_25) => {
            out.extend_from_slice(br#""id":null,"#);
        }
        None => {}
    }
    out.extend_from_slice(br#""error":"#);
    error.encode(View::ALL, out);
    out.push(b'}');
}

/// Writes a notification.
pub(in crate::gate) fn write_notification(
    method: &str,
    params: Option<&dyn Encode>,
    view: View<'_>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(HEAD);
    write_call(method, params, view, out);
}

/// Writes a request.
pub(in crate::gate) fn write_request(
    id: &RequestId,
    method: &str,
    params: Option<&dyn Encode>,
    view: View<'_>,
    out: &mut Vec<u8>,
) {
    write_request_head(id, out);
    write_call(method, params, view, out);
}

/// Writes a request whose params `params` appends.
#[cfg(feature = "client")]
pub(in crate::gate) fn write_request_with<E>(
    id: &RequestId,
    method: &str,
    out: &mut Vec<u8>,
    params: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    write_request_head(id, out);
    write_method(method, out);
    out.extend_from_slice(PARAMS);
    params(out)?;
    out.push(b'}');
    Ok(())
}

fn write_request_head(id: &RequestId, out: &mut Vec<u8>) {
    out.extend_from_slice(HEAD);
    out.extend_from_slice(br#""id":"#);
    id.encode(View::ALL, out);
    out.push(b',');
}

const PARAMS: &[u8] = br#","params":"#;

fn write_call(method: &str, params: Option<&dyn Encode>, view: View<'_>, out: &mut Vec<u8>) {
    write_method(method, out);
    if let Some(params) = params {
        out.extend_from_slice(PARAMS);
        params.encode(view, out);
    }
    out.push(b'}');
}

fn write_method(method: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#""method":""#);
    // Method names come from the generated table, and need no escapes.
    out.extend_from_slice(method.as_bytes());
    out.push(b'"');
}
