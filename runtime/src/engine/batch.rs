//! Batches: what they may contain, and how their messages are served.
//!
//! [`has_batches`] names the revision that has them.

use trueform_schema::{ErrorObject, Method, Revision};

use super::{
    Engine,
    admit::Received,
    source::{NamedSession, Source},
};
use crate::{
    drive::Reply,
    exchange::IdScope,
    gate::{Claims, Outgoing, Stage, has_batches},
    jsonrpc::{self, ErrorDetail, Malformed, Message},
    trace,
};

impl Engine {
    /// Serves the messages of a batch.
    pub(super) fn batch(
        &self,
        source: &Source<'_>,
        messages: Vec<Result<Message<'_>, Malformed>>,
    ) -> Reply {
        let NamedSession::Found(session) = source.named() else {
            return match source.named() {
                // Without a session, there is no revision at which an array is a message.
                NamedSession::Absent => Self::no_batch(source.revision()),
                missing => Self::not_taken(source, Self::no_session(source, missing)),
            };
        };
        let Some(revision) = session.revision().filter(|revision| has_batches(*revision)) else {
            return Self::no_batch(session.revision());
        };
        // On a byte stream an array shares the channel of all other responses.
        let scope = match source.is_stream() {
            true => source.id_scope(),
            false => IdScope::Batch,
        };
        let may_repeat = scope.may_repeat(self.host.settings.incoming);
        let nothing_good = messages.iter().all(Result::is_err);
        let mut seen = Vec::new();
        let (mut replies, mut refused) = (Vec::new(), Vec::new());
        for message in messages {
            let is_answered = match &message {
                Ok(message) => matches!(message, Message::Request { .. }),
                Err(malformed) => malformed.kind.is_answered(),
            };
            let reply = match message {
                Ok(message) => {
                    let claims = Claims::of(&message, self.host.settings.incoming);
                    match message {
                        Message::Request { id, method, params } => {
                            // A message that is passed to the engine gets its own span there.
                            let span = || {
                                let span = trace::request_span(&id, &method);
                                trace::record_revision(&span, revision);
                                span
                            };
                            let is_taken = !may_repeat && seen.contains(&id);
                            let error = match is_taken.then(|| scope.refusal(&id, &method)) {
                                Some(None) => {
                                    trace::record_dropped(&span());
                                    continue;
                                }
                                Some(error) => error,
                                None => refused_in_batch(&method, &claims),
                            };
                            let reply = match error {
                                Some(error) => {
                                    let span = span();
                                    let _entered = span.enter();
                                    let response = super::refused_call(&id, revision, &error);
                                    trace::record_response(&span, &response);
                                    Reply::Ready(response)
                                }
                                None => {
                                    let received = Received {
                                        source,
                                        id: &id,
                                        method: &method,
                                        params,
                                        // Only revisions of the legacy era have batches, and there params contain no answers to questions.
                                        message: &[],
                                    };
                                    self.request(&received, claims)
                                }
                            };
                            seen.push(id);
                            reply
                        }
                        Message::Notification { method, params } => {
                            self.notified(source, &method, params, &claims)
                        }
                        Message::Response { id, outcome } => self.response(source, id, outcome),
                    }
                }
                Err(malformed) => self.malformed(source, malformed),
            };
            match reply {
                Reply::Silent => {}
                Reply::Ready(_) if !is_answered => refused.push(reply),
                reply => replies.push(reply),
            }
        }
        if replies.is_empty() {
            // Among responses, an error without an id could be taken for one of them.
            replies = refused;
        }
        match replies.is_empty() {
            // As for a single message: a body that holds no message is refused (F-5).
            true if nothing_good && !source.is_stream() => Self::nothing_in_batch(Some(revision)),
            true => Reply::Silent,
            false => Reply::Batch(replies),
        }
    }

    fn no_batch(revision: Option<Revision>) -> Reply {
        let error = jsonrpc::invalid_request(
            "an array is not a message here; batches exist only in a session of 2025-03-26",
            &ErrorDetail::new("", "type", "an object", "an array"),
        );
        Reply::Ready(Outgoing::refusal(None, revision, Stage::Envelope, &error))
    }

    fn nothing_in_batch(revision: Option<Revision>) -> Reply {
        let error = jsonrpc::invalid_request(
            "nothing in this array is a message",
            &ErrorDetail::new("", "type", "messages", "none"),
        );
        Reply::Ready(Outgoing::refusal(None, revision, Stage::Envelope, &error))
    }
}

/// Returns why a request may not be part of a batch.
fn refused_in_batch(method: &str, claims: &Claims<'_>) -> Option<ErrorObject> {
    if method == Method::Initialize.as_str() {
        return Some(jsonrpc::invalid_request(
            "`initialize` may not be part of a batch",
            &ErrorDetail::new(
                "/method",
                "phase",
                "`initialize` by itself",
                "it in a batch",
            ),
        ));
    }
    claims.is_modern().then(|| {
        jsonrpc::invalid_request(
            "a request that names its own protocol version may not be part of a batch",
            &ErrorDetail::new("/params/_meta", "version", "no protocol version", "one"),
        )
    })
}
