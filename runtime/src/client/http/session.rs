//! Opens a new session in place of one that the server ended, once for all requests that notice it (G-3).

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    sync::{Mutex, Notify},
    time::{Instant, timeout, timeout_at},
};
use trueform_schema::{
    RequestId,
    methods::{Initialized, Notification as _},
};

use super::{
    answer::{Found, beginning, found, no_answer, whole},
    bridge::{Bridge, CLOSE_WITHIN, HEAD_WITHIN, REFUSAL_WITHIN, ReadBody},
    error::{HttpError, HttpErrorKind},
    exchange::HttpAnswer,
    outgoing::{INITIALIZED_WITHIN, warn_of_late_initialized},
    request::{in_session, session_opened},
    sent::SentMessage,
    stream::{Place, StreamEnd, Wanted},
};
use crate::{
    contained::contained,
    gate::ToServer,
    jsonrpc::{shortened, without_mark},
};

/// Whether the server says by `answer`, to a request that named a session, that it does not have the session. By the specification that is
/// 404. Servers in use say 400 instead, with an error -32000 or -32001 about the session; any other 400 is not taken for it.
pub(super) async fn has_no_session(answer: &mut HttpAnswer) -> bool {
    match answer.status {
        StatusCode::NOT_FOUND => true,
        StatusCode::BAD_REQUEST => {
            let body = timeout(REFUSAL_WITHIN, beginning(answer))
                .await
                .unwrap_or_default();
            let is_about_session = is_about_session(without_mark(&body));
            answer.body = Box::new(ReadBody(Some(body.into())));
            is_about_session
        }
        _ => false,
    }
}

/// Whether the body of a 400 says that the server does not know the session that the request named: `No valid session ID provided`,
/// `Session not found`, or `Server not initialized` of a server that was started anew.
fn is_about_session(body: &[u8]) -> bool {
    const UNKNOWN: [&str; 6] = [
        "session not found",
        "no valid session",
        "invalid session",
        "unknown session",
        "session expired",
        "server not initialized",
    ];
    #[derive(Deserialize)]
    struct Refusal {
        error: Error,
    }
    #[derive(Deserialize)]
    struct Error {
        code: i64,
        message: String,
    }
    let Ok(Refusal { error }) = serde_json::from_slice(body) else {
        return false;
    };
    let message = error.message.to_ascii_lowercase();
    matches!(error.code, -32000 | -32001) && UNKNOWN.iter().any(|words| message.contains(words))
}

/// The opening of sessions in place of those that ended.
#[derive(Default)]
pub(super) struct Renewals {
    /// Held by the attempt that is under way.
    pub(super) attempt: Arc<Mutex<LastAttempt>>,
    /// How many attempts have ended.
    ended: AtomicU64,
    /// Notified when a session was opened.
    pub(super) opened: Notify,
    /// The client has ended: a session that is opened after that has nobody.
    pub(super) is_over: AtomicBool,
}

/// What became of the last attempt.
#[derive(Default)]
pub(super) struct LastAttempt {
    failed: Option<FailedAttempt>,
}

struct FailedAttempt {
    /// The session in whose place another was to be opened.
    stale: HeaderValue,
    error: HttpError,
}

impl Bridge {
    /// Opens a session in place of `stale`, unless that has been done already. The log reports it, and so does the client's hook.
    /// All that noticed the end of `stale` before an attempt failed share its error.
    pub(super) async fn renew(self: &Arc<Self>, stale: &HeaderValue) -> Result<(), HttpError> {
        let ended = self.renewals.ended.load(Ordering::SeqCst);
        let mut attempt = self.renewals.attempt.clone().lock_owned().await;
        if self.requests.session().as_ref() != Some(stale) {
            return Ok(());
        }
        if let Some(failed) = attempt
            .failed
            .as_ref()
            .filter(|failed| failed.stale == stale)
            && self.renewals.ended.load(Ordering::SeqCst) != ended
        {
            return Err(failed.error.clone());
        }
        // A task of its own: the request that noticed it may be given up, and the server's session would have no client then.
        let (bridge, stale) = (self.clone(), stale.clone());
        let renewing = tokio::spawn(async move {
            let renewed = bridge.renew_alone().await;
            let error = renewed.clone().err();
            attempt.failed = error.map(|error| FailedAttempt { stale, error });
            bridge.renewals.ended.fetch_add(1, Ordering::SeqCst);
            renewed
        });
        let renewed = renewing.await;
        renewed.unwrap_or_else(|error| Err(self.lost(&error.to_string())))
    }

    /// The error of requests that have no session.
    fn lost(&self, problem: &str) -> HttpError {
        let problem =
            format!("the server ended the session, and a new one was not opened: {problem}");
        HttpError::new(
            HttpErrorKind::SessionLost,
            self.post_target(),
            problem,
            "connect anew",
        )
    }

    async fn renew_alone(self: &Arc<Self>) -> Result<(), HttpError> {
        let lost = |problem: String| self.lost(&problem);
        if self.link.is_closed() {
            return Err(lost("the client is closed".to_owned()));
        }
        let (version, opening) = self.requests.opening();
        let Some(opening) = opening else {
            return Err(lost("it was not opened by this client".to_owned()));
        };
        let id = self.link.new_id();
        let again = opening.with_id(&id).map(Arc::new);
        let Some(again) = again else {
            return Err(lost("its `initialize` cannot be sent again".to_owned()));
        };
        let opened = self.open_again(&again, &id, version.as_deref()).await;
        let session = opened.map_err(lost)?;
        self.report_initialized(session.as_ref()).await;
        // Not before: servers refuse requests that come before `notifications/initialized`, some as if there were no such session.
        self.requests.enter(session);
        if self.renewals.is_over.load(Ordering::SeqCst) {
            // The client has ended, and ended or left the session before this one.
            if let Some(delete) = self.requests.delete() {
                self.end_session(delete).await;
            }
            return Err(lost("the client is closed".to_owned()));
        }
        tracing::warn!(
            "the server ended the session, and a new one was opened: what the old one kept, such as subscriptions and the log \
             level, is gone"
        );
        self.renewals.opened.notify_waiters();
        if let Some(report) = &self.on_new_session {
            contained("the hook for new sessions", || report());
        }
        Ok(())
    }

    /// Ends a session by the request `delete`.
    // G-4: by 405 the server says that clients do not end sessions.
    pub(super) async fn end_session(self: &Arc<Self>, delete: Request<Bytes>) {
        self.deliver(delete, &[StatusCode::METHOD_NOT_ALLOWED], CLOSE_WITHIN)
            .await;
    }

    /// Sends `notifications/initialized` in the new `session`, and waits for its response as at the beginning of the first.
    async fn report_initialized(self: &Arc<Self>, session: Option<&HeaderValue>) {
        let initialized = ToServer::notification(Initialized::METHOD.as_str(), None);
        let initialized = SentMessage::new(initialized.into_bytes());
        let request = in_session(self.requests.post(&initialized), session);
        let bridge = self.clone();
        // A task of its own: it goes on when it is not waited for any more.
        let delivering =
            tokio::spawn(async move { bridge.deliver(request, &[], HEAD_WITHIN).await });
        if timeout(INITIALIZED_WITHIN, delivering).await.is_err() {
            warn_of_late_initialized();
        }
    }

    /// Sends `initialize` again, and returns the session that it opens, if the server has sessions. One that cannot be used is ended.
    async fn open_again(
        self: &Arc<Self>,
        again: &Arc<SentMessage>,
        id: &RequestId,
        version: Option<&str>,
    ) -> Result<Option<HeaderValue>, String> {
        let latest = Instant::now() + HEAD_WITHIN;
        let late = |_| format!("no answer within {HEAD_WITHIN:?}");
        let answer = timeout_at(latest, self.exchange(self.requests.reopen(again))).await;
        let answer = answer.map_err(late)?.map_err(|error| error.short())?;
        let session = session_opened(&answer.headers);
        let settled = timeout_at(latest, self.settled_again(answer, again, id, version)).await;
        let settled = settled.map_err(late).flatten();
        if let (Err(_), Some(session)) = (&settled, &session) {
            self.end_session(self.requests.delete_of(session)).await;
        }
        settled.map(|()| session)
    }

    /// Reads the answer to `initialize`. The server must settle on the same `version` as before.
    async fn settled_again(
        self: &Arc<Self>,
        answer: HttpAnswer,
        again: &Arc<SentMessage>,
        id: &RequestId,
        version: Option<&str>,
    ) -> Result<(), String> {
        let hidden = answer.hidden.clone();
        let text = self.single_answer(answer, id).await?;
        let read: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        let found = read["result"]["protocolVersion"].as_str();
        match (found, version) {
            (Some(found), Some(version)) if found == version => {}
            (Some(found), _) => {
                return Err(format!(
                    "the server chose the revision {}, not {}",
                    shortened(&hidden.hide_text(found)),
                    version.unwrap_or("the one before")
                ));
            }
            (None, _) => {
                let message = read["error"]["message"].as_str().unwrap_or("no revision");
                let message = hidden.hide_text(message);
                return Err(format!("the server answered: {}", shortened(&message)));
            }
        }
        self.requests.learn(again, &text);
        Ok(())
    }

    /// The answer to `id`, a request of the bridge itself, that a response brings. The client gets what else is in the response.
    pub(super) async fn single_answer(
        &self,
        mut answer: HttpAnswer,
        id: &RequestId,
    ) -> Result<Vec<u8>, String> {
        let status = answer.status;
        if status.is_success() && answer.is_events() {
            let mut kept = None;
            let wanted = Wanted::Kept(id, &mut kept);
            let end = self.pump(answer.body, &mut Place::default(), wanted).await;
            let missing = match end {
                StreamEnd::Unread(unread) => unread.into_error("").short(),
                _ => "the stream ended before the answer".to_owned(),
            };
            return kept.ok_or(missing);
        }
        let body = match status.is_success() {
            true => whole(&mut *answer.body, self.max_message)
                .await
                .map_err(|unread| unread.into_error("").short())?,
            false => beginning(&mut answer).await,
        };
        match found(id, &body) {
            Found::Answer => Ok(body),
            Found::Refusal(answer) => Ok(answer),
            Found::Other(_) => Err(no_answer("", &answer, id, &body).short()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Only what is clearly about the session opens a new one: the call is made again after it.
    #[test]
    fn which_refusals_are_about_the_session() {
        for (code, message, expected) in [
            (-32000, "Bad Request: No valid session ID provided", true),
            (-32000, "Bad Request: Server not initialized", true),
            (-32001, "Session not found", true),
            (-32000, "Session expired", true),
            (-32602, "Session not found", false),
            (
                -32000,
                "Bad Request: Mcp-Session-Id header is required",
                false,
            ),
            (-32000, "Bad Request: Unsupported protocol version", false),
            (-32000, "the tool found no user session", false),
            (-32001, "", false),
        ] {
            let error = json!({ "code": code, "message": message });
            let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
            assert_eq!(is_about_session(body.as_bytes()), expected, "{body}");
        }
        for odd in [
            "",
            "Session not found",
            "{}",
            "[]",
            r#"{"error":"session not found"}"#,
        ] {
            assert!(!is_about_session(odd.as_bytes()), "{odd}");
        }
    }
}
