//! Which era an HTTP request belongs to (D-3).

use trueform_schema::{Era, Revision};

use super::{HeaderValue, Headers, SESSION_HEADER, VERSION_HEADER};
use crate::jsonrpc::Frame;

/// How a POST body is to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostEra {
    /// On its own, by what its `_meta` says.
    Modern,
    /// As the opening of a legacy session.
    Initialize,
    /// Within a legacy session, which must be found first.
    Legacy,
}

/// Decides by `params._meta`, then by method, then by the session and version headers.
/// `modern` says whether that `_meta` names a protocol version.
pub(crate) fn era_of_post(frame: &Frame<'_>, modern: bool, headers: &dyn Headers) -> PostEra {
    let in_session = || !matches!(headers.get(SESSION_HEADER), HeaderValue::Absent);
    match frame {
        Frame::Request { method, .. } => {
            if modern {
                return PostEra::Modern;
            }
            if method == "initialize" {
                return PostEra::Initialize;
            }
            if in_session() || is_legacy_version(headers) {
                PostEra::Legacy
            } else {
                PostEra::Modern
            }
        }
        // Notifications carry no era of their own; outside of any session they have no effect either.
        Frame::Notification { .. } if in_session() => PostEra::Legacy,
        Frame::Notification { .. } if modern || !is_legacy_version(headers) => PostEra::Modern,
        Frame::Notification { .. } => PostEra::Legacy,
        // A modern client never sends a response.
        Frame::Response { .. } => PostEra::Legacy,
    }
}

fn is_legacy_version(headers: &dyn Headers) -> bool {
    match headers.get(VERSION_HEADER) {
        HeaderValue::Absent => true,
        HeaderValue::One(version) => {
            Revision::from_wire(version).is_some_and(|revision| revision.era() == Era::Legacy)
        }
        HeaderValue::Bad => false,
    }
}
