//! What a response says about the request that it answers.

use trueform_schema::RequestId;

use super::{
    error::{HttpError, HttpErrorKind, NOT_KNOWN, WEB_PAGE},
    exchange::{Chunks, HttpAnswer},
    readdressed::with_id,
};
use crate::jsonrpc::{self, Incoming, Malformed, Message, sentence, shortened};

/// Most bytes of the body of a refusal: 1 MiB.
const MAX_REFUSAL: usize = 1 << 20;

/// What the body of a response is, for one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The answer, or something that is meant to be it.
    Answer,
    /// An error without an id. The exchange has it: this is the answer with the id.
    Refusal(Vec<u8>),
    /// No answer to the request; says what it is.
    Other(String),
}

/// Why a body cannot be read to its end.
pub(super) enum Unread {
    Broken(String),
    TooLarge(String),
}

impl Unread {
    pub(super) fn into_error(self, target: &str) -> HttpError {
        let (kind, problem, advice) = match self {
            Self::Broken(problem) => (HttpErrorKind::Broken, problem, NOT_KNOWN),
            Self::TooLarge(problem) => (HttpErrorKind::TooLarge, problem, ""),
        };
        HttpError::new(kind, target, problem, advice)
    }
}

/// The whole body.
pub(super) async fn whole(body: &mut dyn Chunks, most: usize) -> Result<Vec<u8>, Unread> {
    let mut text = Vec::new();
    while let Some(bytes) = body.next().await {
        text.extend_from_slice(&bytes.map_err(Unread::Broken)?);
        if most < text.len() {
            return Err(too_large("the body", most));
        }
    }
    Ok(text)
}

/// Returns the beginning of the body of a refusal, at most 1 MiB.
pub(super) async fn beginning(answer: &mut HttpAnswer) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some(Ok(bytes)) = answer.body.next().await {
        text.extend_from_slice(&bytes);
        if MAX_REFUSAL < text.len() {
            text.truncate(MAX_REFUSAL);
            break;
        }
    }
    text
}

pub(super) fn too_large(what: &str, most: usize) -> Unread {
    Unread::TooLarge(format!("{what} has more than {most} bytes"))
}

/// What `body` is for the request `id`.
pub(super) fn found(id: &RequestId, body: &[u8]) -> Found {
    let body = jsonrpc::without_mark(body);
    let message = match jsonrpc::parse(body) {
        Ok(Incoming::Single(message)) => message,
        Ok(Incoming::Batch(messages)) => {
            let answers = messages.iter().any(|message| match message {
                Ok(Message::Response {
                    id: Some(found), ..
                }) => found == id,
                Ok(_) => false,
                Err(malformed) => is_meant(malformed, id),
            });
            return match answers {
                true => Found::Answer,
                false => Found::Other("a batch without the answer".to_owned()),
            };
        }
        Err(malformed) if is_meant(&malformed, id) => return Found::Answer,
        Err(_) => return Found::Other(shown(body)),
    };
    match message {
        Message::Response {
            id: Some(found), ..
        } if found == *id => Found::Answer,
        Message::Response { id: None, .. } => match with_id(id, body) {
            Some(answer) => Found::Refusal(answer),
            None => Found::Other(shown(body)),
        },
        Message::Response {
            id: Some(found), ..
        } => Found::Other(format!(
            "it answers the request {}, not {}",
            jsonrpc::ShortRequestId(&found),
            jsonrpc::ShortRequestId(id)
        )),
        Message::Request { method, .. } | Message::Notification { method, .. } => {
            Found::Other(format!("it is a `{}`, not an answer", shortened(&method)))
        }
    }
}

/// Whether a malformed message is meant to answer the request `id`.
fn is_meant(malformed: &Malformed, id: &RequestId) -> bool {
    let is_response = matches!(
        malformed.kind,
        jsonrpc::Kind::Response | jsonrpc::Kind::Unknown
    );
    is_response && malformed.id.as_ref() == Some(id)
}

/// The beginning of a body that is not a message.
fn shown(body: &[u8]) -> String {
    /// A letter has at most four bytes.
    const MOST: usize = 4 * jsonrpc::MAX_REPEATED;
    let text = String::from_utf8_lossy(&body[..body.len().min(MOST)]);
    shortened(text.trim()).into_owned()
}

/// The error of a response whose `body` is not the answer to the request `id`.
pub(super) fn no_answer(
    target: &str,
    answer: &HttpAnswer,
    id: &RequestId,
    body: &[u8],
) -> HttpError {
    // Before anything is cut off.
    let what = match found(id, &answer.hidden.hide(body)) {
        Found::Other(what) => what,
        Found::Answer | Found::Refusal(_) => String::new(),
    };
    let what = &*what;
    let status = answer.status;
    let media = answer.media().unwrap_or_default();
    let is_page = media.eq_ignore_ascii_case("text/html")
        || what.starts_with("<!")
        || what.starts_with("<html");
    if !status.is_success() {
        let what = if is_page { WEB_PAGE } else { what };
        return HttpError::refused(target.to_owned(), status, &answer.headers, what);
    }
    let advice = "check the URL: its path must be the server's MCP endpoint, often `/mcp`";
    let (problem, advice) = if is_page {
        ("a web page, not an answer".to_owned(), advice)
    } else if what.is_empty() {
        ("the response has no body".to_owned(), "")
    } else if media.eq_ignore_ascii_case("application/json") {
        (format!("no answer: {what}"), "")
    } else {
        let media = if media.is_empty() { "nothing" } else { media };
        let problem = format!(
            "expected `application/json` or `text/event-stream`, found `{}`: {what}",
            shortened(media)
        );
        (problem, advice)
    };
    HttpError::new(
        HttpErrorKind::NotAnAnswer,
        target,
        sentence(&problem),
        advice,
    )
    .with_status(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    // A-7, DEC-5, DEC-6, DEC-10
    #[test]
    fn what_a_body_is_for_a_request() {
        let other = |what: &str| Found::Other(what.to_owned());
        let refusal = |text: &str| Found::Refusal(text.into());
        let long = "é".repeat(jsonrpc::MAX_REPEATED + 1);
        for (body, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, Found::Answer),
            (r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#, Found::Answer),
            (
                "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
                Found::Answer,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#,
                Found::Answer,
            ),
            // The gate reports to the request what is missing.
            (r#"{"jsonrpc":"2.0","id":7,"result":7}"#, Found::Answer),
            (r#"{"id":7,"result":{}}"#, Found::Answer),
            (
                r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#,
                refusal(r#"{"jsonrpc":"2.0","error":{"code":1,"message":""},"id":7}"#),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#,
                refusal(r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#),
            ),
            (
                r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":7,"result":{}}]"#,
                Found::Answer,
            ),
            (
                r#"[{"jsonrpc":"2.0","id":8,"result":{}}]"#,
                other("a batch without the answer"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"7","result":{}}"#,
                other("it answers the request \"7\", not 7"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":8,"result":{}}"#,
                other("it answers the request 8, not 7"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
                other("it is a `ping`, not an answer"),
            ),
            ("", other("")),
            (" not here\n", other("not here")),
            (
                &long,
                other(&format!("{}…", "é".repeat(jsonrpc::MAX_REPEATED))),
            ),
        ] {
            assert_eq!(
                found(&RequestId::Integer(7), body.as_bytes()),
                expected,
                "{body}"
            );
        }
    }
}
