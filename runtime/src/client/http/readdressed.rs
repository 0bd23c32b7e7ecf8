//! Messages about a request that the server knows under another id, as if it had the id that the client waits for. What is not about
//! that id stays as it is written.

use serde_json::value::RawValue;
use trueform_schema::{
    RequestId,
    methods::{self, Notification},
};

use super::members::Members;
use crate::jsonrpc::without_mark;

/// The response `body` with another id.
pub(super) fn with_id(id: &RequestId, body: &[u8]) -> Option<Vec<u8>> {
    Members::read(body)?.with("id", id)?.write()
}

/// The answer to the request `asked`, alone or in a batch, as the answer to the request `id`. `None` if it cannot be read.
pub(super) fn answer_to(asked: &RequestId, id: &RequestId, answer: &[u8]) -> Option<Vec<u8>> {
    let answers = |message: &Members| {
        let found = message.get("id").map(RequestId::from_json);
        is_response(message) && found.is_some_and(|found| found.as_ref() == Ok(asked))
    };
    match messages_of(answer) {
        Some(messages) => each(&messages, |message| match answers(&message) {
            true => message.with("id", id),
            false => None,
        }),
        // It has been found to be the answer.
        None => with_id(id, answer),
    }
}

/// What comes on the stream of an earlier client's request, as if this client had made it as the request `id`: the answer and the
/// reports of progress are its own, also in a batch. Of several answers in a batch it is the first. `None` if nothing is about the request.
// A-10, F-34
pub(super) fn readdressed(id: &RequestId, text: &[u8]) -> Option<Vec<u8>> {
    let mut is_answered = false;
    let mut readdress = |message: Members| {
        let method = message.get("method");
        let method = method.and_then(|method| serde_json::from_str::<String>(method).ok());
        match method {
            Some(method) if method == <methods::Progress as Notification>::METHOD.as_str() => {
                let params = Members::read(message.get("params")?.as_bytes())?;
                let params = params.with("progressToken", id)?;
                message.with("params", &params)
            }
            None if is_response(&message) && !is_answered => {
                is_answered = true;
                message.with("id", id)
            }
            _ => None,
        }
    };
    match messages_of(text) {
        Some(messages) => each(&messages, readdress),
        None => readdress(Members::read(without_mark(text))?)?.write(),
    }
}

fn is_response(message: &Members) -> bool {
    message.contains("result") || message.contains("error")
}

/// The messages of a batch; `None` if `text` is not one.
fn messages_of(text: &[u8]) -> Option<Vec<&RawValue>> {
    let text = without_mark(text).trim_ascii_start();
    match text.starts_with(b"[") {
        true => serde_json::from_slice(text).ok(),
        false => None,
    }
}

/// A batch whose messages are changed by `change`, which returns `None` for those that stay; `None` if all do.
fn each(
    messages: &[&RawValue],
    mut change: impl FnMut(Members) -> Option<Members>,
) -> Option<Vec<u8>> {
    let mut has_changed = false;
    let mut batch = vec![b'['];
    for (at, message) in messages.iter().enumerate() {
        if at > 0 {
            batch.push(b',');
        }
        let changed = Members::read(message.get().as_bytes()).and_then(&mut change);
        match changed.and_then(|message| message.write()) {
            Some(message) => {
                has_changed = true;
                batch.extend_from_slice(&message);
            }
            None => batch.extend_from_slice(message.get().as_bytes()),
        }
    }
    batch.push(b']');
    has_changed.then_some(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Option<Vec<u8>>) -> Option<String> {
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    // A-10, F-34
    #[test]
    fn what_is_about_the_request() {
        const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":4,"progress":1e2}}"#;
        let own = PROGRESS.replace('4', "7");
        for (message, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":4,"result":{"a":1e2}}"#.to_owned(),
                Some(r#"{"jsonrpc":"2.0","id":7,"result":{"a":1e2}}"#.to_owned()),
            ),
            (PROGRESS.to_owned(), Some(own.clone())),
            (
                r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#.to_owned(),
                None,
            ),
            (r#"{"jsonrpc":"2.0","id":4"#.to_owned(), None),
            (
                "\u{feff} ".to_owned()
                    + &format!(
                        r#"[ {PROGRESS} , {{"id":4,"error":{{}}}},{{"id":5,"result":{{}}}}, {{"id":6,"method":"ping"}},7 ]"#
                    ),
                Some(format!(
                    r#"[{own},{{"id":7,"error":{{}}}},{{"id":5,"result":{{}}}},{{"id":6,"method":"ping"}},7]"#
                )),
            ),
            (r#"[{"id":6,"method":"ping"}]"#.to_owned(), None),
            ("[".to_owned(), None),
            ("[]".to_owned(), None),
        ] {
            let found = text(readdressed(&RequestId::from(7), message.as_bytes()));
            assert_eq!(found, expected, "{message}");
        }
    }

    #[test]
    fn an_answer_under_another_id() {
        let [asked, id] = [8, 7].map(RequestId::from);
        for (answer, expected) in [
            (r#"{"id":8.0,"result":{}}"#, Some(r#"{"id":7,"result":{}}"#)),
            (
                r#"[{"id":9,"result":{}},{"id":8,"result":{}},{"id":8,"method":"ping"}]"#,
                Some(r#"[{"id":9,"result":{}},{"id":7,"result":{}},{"id":8,"method":"ping"}]"#),
            ),
            (r#"{"id":8,"result":{},}"#, None),
        ] {
            let found = text(answer_to(&asked, &id, answer.as_bytes()));
            assert_eq!(found.as_deref(), expected, "{answer}");
        }
    }
}
