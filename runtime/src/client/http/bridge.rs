//! What moves the messages of a client over HTTP: messages become requests, responses become messages.

use std::{
    borrow::Cow,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method as HttpMethod, Request, StatusCode, Uri, header};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use trueform_schema::{Method, RequestId};

use super::{
    answer::{Found, beginning, found, no_answer, whole},
    authorize::{AuthorizationRefused, Authorize, AuthorizedRequest, MAX_AUTHORIZATIONS, secret},
    error::{HttpError, HttpErrorKind, target},
    exchange::{Boxed, Chunks, HttpAnswer, HttpSender},
    hidden::Hidden,
    joined::Joined,
    readdressed::answer_to,
    request::{Requests, session_of},
    retry_after::{is_busy, retry_after},
    sent::SentMessage,
    session::{Renewals, has_no_session},
    stream::AFTER_ANSWER,
    taker::Taker,
};
use crate::{client::link::Link, contained::contained_future, jsonrpc};

/// Most requests whose responses are open at once: 256. Further ones wait, within their own time limit.
pub(crate) const MAX_STREAMS: usize = 256;
/// Longest wait for the head of a response that is not the answer to a request: 60 s.
pub(crate) const HEAD_WITHIN: Duration = Duration::from_secs(60);
/// Longest wait at the end for requests that are not answered, and for the end of the session, each: 5 s.
pub(crate) const CLOSE_WITHIN: Duration = Duration::from_secs(5);
/// Longest wait for the body of a refusal: 10 s.
pub(super) const REFUSAL_WITHIN: Duration = Duration::from_secs(10);

/// What one connection is made of.
pub(crate) struct HttpSettings {
    pub(crate) uri: Uri,
    /// Headers of every request. They replace those of the protocol.
    pub(crate) headers: HeaderMap,
    pub(crate) authorize: Option<Arc<dyn Authorize>>,
    pub(crate) on_new_session: Option<Arc<dyn Fn() + Send + Sync>>,
    /// The session that the client goes on with.
    pub(crate) joined: Option<Joined>,
}

/// What moves the messages of one client.
pub(crate) struct Bridge {
    sender: Arc<dyn HttpSender>,
    pub(super) requests: Requests,
    pub(super) link: Arc<Link>,
    pub(super) max_message: usize,
    authorize: Option<Arc<dyn Authorize>>,
    pub(super) on_new_session: Option<Arc<dyn Fn() + Send + Sync>>,
    pub(super) renewals: Renewals,
    streams: Semaphore,
    /// The session goes on when the client ends.
    pub(super) leaves_session: AtomicBool,
}

/// A body that has been taken, or that has been read already.
pub(super) struct ReadBody(pub(super) Option<Bytes>);

impl Chunks for ReadBody {
    fn next(&mut self) -> Boxed<'_, Option<Result<Bytes, String>>> {
        Box::pin(std::future::ready(self.0.take().map(Ok)))
    }
}

impl Bridge {
    pub(super) fn new(
        sender: Arc<dyn HttpSender>,
        settings: HttpSettings,
        link: Arc<Link>,
        max_message: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            sender,
            requests: Requests::new(settings.uri, settings.headers),
            link,
            max_message,
            authorize: settings.authorize,
            on_new_session: settings.on_new_session,
            renewals: Renewals::default(),
            streams: Semaphore::new(MAX_STREAMS),
            leaves_session: AtomicBool::new(false),
        })
    }

    /// Sends the request `sent` and passes its answer on, or its error. `taker` says which session has it. Ends a while after the request
    /// has its answer, wherever that came from, except for `initialize`: its response opens a session, whether or not anything waits for it.
    pub(super) async fn ask(
        self: &Arc<Self>,
        sent: &Arc<SentMessage>,
        id: &RequestId,
        taker: &Taker,
    ) {
        let request = sent
            .resumes_after()
            .is_none()
            .then(|| self.requests.post(sent));
        // A session that is opened in the meantime is not the one that it names.
        let session = request.as_ref().and_then(session_of);
        let settled = self.link.settled(id);
        // The answer may come on another stream, such as the session's own, while this response does not end.
        let has_answer = async {
            settled.await;
            sleep(AFTER_ANSWER).await;
        };
        // It is never closed. Held until the end of the response.
        let _permit = self.streams.acquire().await;
        let outcome = async {
            match request {
                Some(request) => {
                    taker.is(session.as_ref());
                    let answer = self.exchange(request).await;
                    self.answered(sent, id, answer, session, taker).await
                }
                None => self.resume(sent, id).await,
            }
        };
        let outcome = tokio::select! {
            // A response without end does not keep the clock from being looked at.
            biased;
            () = has_answer, if !sent.is(Method::Initialize) => return,
            outcome = outcome => outcome,
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a request has no answer");
            self.link.fail(id, self.sender.failure(error));
        }
    }

    /// Passes the response to `sent`, which named `session`, on.
    // G-3
    async fn answered(
        self: &Arc<Self>,
        sent: &Arc<SentMessage>,
        id: &RequestId,
        answer: Result<HttpAnswer, HttpError>,
        mut session: Option<HeaderValue>,
        taker: &Taker,
    ) -> Result<(), HttpError> {
        let mut answer = answer?;
        if let Some(stale) = &session
            && has_no_session(&mut answer).await
        {
            taker.is_nobody();
            self.renew(stale).await?;
            if self.link.is_closed() {
                // Nothing waits for the answer any more: the request is not made in the new session.
                return Ok(());
            }
            let request = self.requests.post(sent);
            session = session_of(&request);
            taker.is(session.as_ref());
            answer = self.exchange(request).await?;
            if has_no_session(&mut answer).await {
                let problem = "the server ended the session, and the new one at once";
                let advice = "connect anew";
                let kind = HttpErrorKind::SessionLost;
                let error = HttpError::new(kind, self.post_target(), problem, advice);
                return Err(error.with_status(answer.status));
            }
        }
        self.read(sent, id, answer, session).await
    }

    /// Passes the answer to `sent`, made in `session`, on.
    pub(super) async fn read(
        self: &Arc<Self>,
        sent: &Arc<SentMessage>,
        id: &RequestId,
        mut answer: HttpAnswer,
        session: Option<HeaderValue>,
    ) -> Result<(), HttpError> {
        let target = self.post_target();
        let status = answer.status;
        if let Some(encoding) = answer.encoding() {
            let problem = format!(
                "the body is encoded as `{}`, which was not asked for",
                jsonrpc::shortened(encoding)
            );
            let kind = HttpErrorKind::NotAnAnswer;
            return Err(HttpError::new(kind, target, problem, "").with_status(status));
        }
        if status.is_success() {
            self.requests.answered(sent, &answer.headers);
            if answer.is_events() {
                let session = match sent.is(Method::Initialize) {
                    true => self.requests.named_session(),
                    false => session,
                };
                let body = answer.body;
                return self.answer_stream(&target, body, sent, id, session).await;
            }
        }
        let body = match status.is_success() {
            true => whole(&mut *answer.body, self.max_message)
                .await
                .map_err(|unread| unread.into_error(&target).with_status(status))?,
            false => timeout(REFUSAL_WITHIN, beginning(&mut answer))
                .await
                .unwrap_or_default(),
        };
        if status == StatusCode::BAD_REQUEST
            && let Some(answered) = self.call_anew(sent, id, jsonrpc::without_mark(&body)).await
        {
            return answered;
        }
        if is_busy(status) {
            let asked = sent.stands_for().unwrap_or(id);
            self.link.note_busy(asked, retry_after(&answer.headers));
        }
        // A secret that is not within a string, such as a number, stays: without it, the body is not JSON.
        let body = match status.is_success() {
            true => body,
            false => match answer.hidden.hide(&body) {
                Cow::Owned(hidden) if !matches!(found(id, &hidden), Found::Other(_)) => hidden,
                _ => body,
            },
        };
        match found(id, &body) {
            Found::Answer => self.pass_answer(sent, jsonrpc::without_mark(&body)),
            Found::Refusal(answer) => self.pass_answer(sent, &answer),
            Found::Other(_) => return Err(no_answer(&target, &answer, id, &body)),
        }
        Ok(())
    }

    /// Sends what is not answered by a message. A response that is neither a success nor one of `expected` is logged.
    pub(super) async fn deliver(
        self: &Arc<Self>,
        request: Request<Bytes>,
        expected: &[StatusCode],
        within: Duration,
    ) {
        let method = request.method().clone();
        match timeout(within, self.exchange(request)).await {
            Err(_) => tracing::warn!(%method, ?within, "the server did not answer in time"),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a message that has no answer was not delivered")
            }
            Ok(Ok(HttpAnswer { status, .. })) => {
                if !status.is_success() && !expected.contains(&status) {
                    tracing::warn!(%method, %status, "the server refused a message that has no answer");
                }
            }
        }
    }

    /// Sends a request, with an authorization if the client has one to give.
    pub(super) fn exchange(
        self: &Arc<Self>,
        request: Request<Bytes>,
    ) -> Boxed<'static, Result<HttpAnswer, HttpError>> {
        let bridge = self.clone();
        Box::pin(async move {
            let target = target(request.method(), request.uri());
            let Some(authorize) = bridge.authorize.clone() else {
                return bridge.send(request, target).await;
            };
            let mut sent = 1;
            loop {
                let mut request = request.clone();
                let given = bridge.authorization(&*authorize, &request).await;
                let given = given.map_err(|problem| {
                    HttpError::new(HttpErrorKind::Authorize, &*target, problem, "")
                })?;
                let had = given.is_some();
                if let Some(value) = given {
                    request.headers_mut().insert(header::AUTHORIZATION, value);
                }
                let answer = bridge.send(request, target.clone()).await?;
                let refused = AuthorizationRefused::of(answer.status, &answer.headers, had);
                let Some(refused) = refused.filter(|_| sent < MAX_AUTHORIZATIONS) else {
                    return Ok(answer);
                };
                let again = contained_future("`Authorize::refused`", || authorize.refused(refused));
                if again.await != Some(true) {
                    return Ok(answer);
                }
                sent += 1;
            }
        })
    }

    async fn authorization(
        &self,
        authorize: &dyn Authorize,
        request: &Request<Bytes>,
    ) -> Result<Option<HeaderValue>, String> {
        let url = request.uri().to_string();
        let about = AuthorizedRequest {
            method: request.method().as_str(),
            url: &url,
        };
        let given = contained_future("`Authorize::authorization`", || {
            authorize.authorization(about)
        });
        let given = given
            .await
            .unwrap_or_else(|| Err("the hook panicked".to_owned()))?;
        given.as_deref().map(secret).transpose()
    }

    async fn send(&self, request: Request<Bytes>, target: String) -> Result<HttpAnswer, HttpError> {
        let hidden = Hidden::of(request.headers());
        match self.sender.send(request).await {
            Ok(answer) => Ok(answer.hiding(hidden)),
            Err(failure) => Err(HttpError::not_sent(target, failure)),
        }
    }

    /// Hands a message to the client.
    pub(super) fn pass_on(&self, message: &[u8]) {
        self.link.receive(jsonrpc::without_mark(message));
    }

    /// Hands the answer to `sent` to the client.
    pub(super) fn pass_answer(&self, sent: &Arc<SentMessage>, answer: &[u8]) {
        let (Some(id), Some(asked)) = (sent.stands_for(), sent.request_id()) else {
            let other = self.requests.learn(sent, answer);
            return self.pass_on(other.as_deref().unwrap_or(answer));
        };
        match answer_to(asked, id, answer) {
            Some(answer) => self.pass_on(&answer),
            None => {
                self.pass_on(answer);
                let problem = "no answer: it is not well-formed";
                let kind = HttpErrorKind::NotAnAnswer;
                let error = HttpError::new(kind, self.post_target(), problem, "");
                self.link.fail(id, self.sender.failure(error));
            }
        }
    }

    pub(super) fn post_target(&self) -> String {
        target(&HttpMethod::POST, self.requests.uri())
    }
}
