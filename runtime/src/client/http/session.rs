//! A session that the server ended is opened anew, once for all requests that notice it (G-3).

use std::sync::Arc;

use http::HeaderValue;
use serde_json::Value;
use tokio::time::timeout;
use trueform_schema::{
    RequestId,
    methods::{Initialized, Notification as _},
};

use super::{
    answer::{Found, beginning, found, no_answer, whole},
    bridge::{Bridge, HEAD_WITHIN},
    error::{HttpError, HttpErrorKind},
    exchange::HttpAnswer,
    sent::SentMessage,
    stream::{Place, StreamEnd, Wanted},
};
use crate::{contained::contained, gate::ToServer, jsonrpc::shortened};

impl Bridge {
    /// Opens a session in place of `stale`, unless that has been done already. The log reports it, and so does the client's hook.
    pub(super) async fn renew(self: &Arc<Self>, stale: &HeaderValue) -> Result<(), HttpError> {
        let _alone = self.renewing.lock().await;
        if self.requests.session().as_ref() != Some(stale) {
            return Ok(());
        }
        let (version, opening) = self.requests.opening();
        let lost = |problem: String| {
            let problem =
                format!("the server ended the session, and a new one was not opened: {problem}");
            HttpError::new(
                HttpErrorKind::SessionLost,
                self.post_target(),
                problem,
                "connect anew",
            )
        };
        let Some(opening) = opening else {
            return Err(lost("it was not opened by this client".to_owned()));
        };
        let id = self.link.new_id();
        let again = opening.with_id(&id).map(Arc::new);
        let Some(again) = again else {
            return Err(lost("its `initialize` cannot be sent again".to_owned()));
        };
        let opened = timeout(
            HEAD_WITHIN,
            self.open_again(&again, &id, version.as_deref()),
        )
        .await;
        let problem = match opened {
            Ok(Ok(())) => None,
            Ok(Err(problem)) => Some(problem),
            Err(_) => Some(format!("no answer within {HEAD_WITHIN:?}")),
        };
        if let Some(problem) = problem {
            return Err(lost(problem));
        }
        let initialized = ToServer::notification(Initialized::METHOD.as_str(), None);
        let initialized = SentMessage::new(initialized.bytes().to_vec());
        self.deliver(self.requests.post(&initialized), &[], HEAD_WITHIN)
            .await;
        tracing::warn!(
            "the server ended the session, and a new one was opened: what the old one kept, such as subscriptions and the log \
             level, is gone"
        );
        self.renewed.notify_waiters();
        if let Some(report) = &self.on_new_session {
            contained("the hook for new sessions", || report());
        }
        Ok(())
    }

    /// Sends `initialize` again. The server must settle on the same `version` as before.
    async fn open_again(
        self: &Arc<Self>,
        again: &Arc<SentMessage>,
        id: &RequestId,
        version: Option<&str>,
    ) -> Result<(), String> {
        let answer = self.exchange(self.requests.reopen(again)).await;
        let answer = answer.map_err(|error| error.short())?;
        let headers = answer.headers.clone();
        let text = self.single_answer(answer, id).await?;
        let read: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        let found = read["result"]["protocolVersion"].as_str();
        match (found, version) {
            (Some(found), Some(version)) if found == version => {}
            (Some(found), _) => {
                return Err(format!(
                    "the server chose the revision {}, not {}",
                    shortened(found),
                    version.unwrap_or("the one before")
                ));
            }
            (None, _) => {
                let message = read["error"]["message"].as_str().unwrap_or("no revision");
                return Err(format!("the server answered: {}", shortened(message)));
            }
        }
        self.requests.answered(again, &headers);
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
        let body = std::mem::replace(&mut answer.body, Box::new(super::bridge::NoBody));
        let body = match status.is_success() {
            true => whole(body, self.max_message)
                .await
                .map_err(|unread| unread.into_error("").short())?,
            false => beginning(body).await,
        };
        match found(id, &body) {
            Found::Answer => Ok(body),
            Found::Refusal(answer) => Ok(answer),
            Found::Other(what) => Err(no_answer("", &answer, &what).short()),
        }
    }
}
