//! Event streams: what they bring, and where they can be resumed.

use std::{sync::Arc, time::Duration};

use http::{HeaderValue, Method, StatusCode};
use tokio::{
    task::coop::consume_budget,
    time::{Instant, sleep},
};
use trueform_schema::RequestId;

use super::{
    answer::{Found, Unread, found, too_large},
    backoff::Backoff,
    bridge::Bridge,
    error::{HttpError, HttpErrorKind, target},
    events::{EventReader, SseEvent},
    exchange::{Chunks, HttpAnswer},
    readdressed::readdressed,
    request::session_of,
    retry_after::retry_after,
    sent::SentMessage,
};
use crate::client::resumption::{Resumption, is_event_id};

/// Most times in a row that the stream of a request is opened again without bringing anything: 5.
pub(super) const MAX_RESUMES: u32 = 5;
/// How long the end of a response is waited for once the answer has come, on its stream or on another: 250 ms. The connection can serve
/// again then. What the stream brings meanwhile is taken like any other message.
pub(super) const AFTER_ANSWER: Duration = Duration::from_millis(250);

/// The answer that a stream is to bring.
pub(super) enum Wanted<'a> {
    /// None: the stream belongs to no request.
    Nothing,
    /// That of a request of the client, which gets it.
    Passed(&'a Arc<SentMessage>, &'a RequestId),
    /// That of a request of the bridge itself, which keeps it.
    Kept(&'a RequestId, &'a mut Option<Vec<u8>>),
}

/// Where a stream can be resumed, and when.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) last: Option<HeaderValue>,
    /// The session that gave the id of that event: it means nothing in another.
    session: Option<HeaderValue>,
    /// Reports the ids of the events, if the request asks for that.
    resumption: Option<Arc<Resumption>>,
    pub(super) backoff: Backoff,
}

/// How a stream ended.
pub(super) enum StreamEnd {
    Answered,
    /// Its end, and no answer.
    Ended,
    Unread(Unread),
    /// It is not open again, because there is no connection; says why.
    Unreached(String),
}

impl Place {
    fn note(&mut self, event: &SseEvent) {
        if let Some(retry) = event.retry {
            self.backoff.ask(Duration::from_millis(retry));
        }
        if let Some(id) = &event.id {
            let id = Some(id).filter(|id| is_event_id(id));
            self.last = id.and_then(|id| HeaderValue::from_bytes(id).ok());
        }
        if event.is_message() || event.id.is_some() {
            self.backoff.succeed();
        }
    }

    /// The stream of the request `sent` in `session`, at the event that it resumes.
    fn of(sent: &SentMessage, session: Option<HeaderValue>) -> Self {
        Self {
            session,
            last: sent
                .resumes_after()
                .and_then(|event| HeaderValue::from_str(event).ok()),
            resumption: sent.resumption().cloned(),
            backoff: Backoff::default(),
        }
    }

    /// Reports the id of an event whose message has been taken.
    fn report(&self, id: &[u8]) {
        if let Some(resumption) = &self.resumption
            && let Ok(token) = std::str::from_utf8(id)
            && is_event_id(id)
        {
            resumption.note(token);
        }
    }

    /// Takes note of the `Retry-After` of a refusal.
    pub(super) fn refused(&mut self, answer: &HttpAnswer) {
        if let Some(wait) = retry_after(&answer.headers) {
            self.backoff.ask(wait);
        }
    }
}

impl Bridge {
    /// Passes the events of `body` on until it ends, or a while after the answer that is `wanted`.
    pub(super) async fn pump(
        &self,
        mut body: Box<dyn Chunks>,
        place: &mut Place,
        mut wanted: Wanted<'_>,
    ) -> StreamEnd {
        let mut reader = EventReader::new();
        let mut events = Vec::new();
        let mut answered = false;
        let patience = sleep(AFTER_ANSWER);
        tokio::pin!(patience);
        let end = loop {
            let bytes = tokio::select! {
                // A stream without end does not keep the clock from being looked at.
                biased;
                () = &mut patience, if answered => break StreamEnd::Ended,
                bytes = body.next() => bytes,
            };
            let bytes = match bytes {
                Some(Ok(bytes)) => bytes,
                Some(Err(problem)) => break StreamEnd::Unread(Unread::Broken(problem)),
                None => break StreamEnd::Ended,
            };
            reader.take(&bytes, |event| events.push(event));
            for event in events.drain(..) {
                // As the lines of a stream: each is work for this thread.
                consume_budget().await;
                place.note(&event);
                if event.is_message() && self.take_event(event.data, &mut wanted) {
                    answered = true;
                    patience.as_mut().reset(Instant::now() + AFTER_ANSWER);
                }
                // No callback of the caller runs after the answer.
                if let (Some(id), false) = (&event.id, answered) {
                    place.report(id);
                }
            }
            if self.max_message < reader.held() {
                break StreamEnd::Unread(too_large("an event", self.max_message));
            }
        };
        if !answered {
            return end;
        }
        if reader.held() > 0 {
            let bytes = reader.held();
            tracing::debug!(bytes, "an event that began after the answer was not read");
        }
        StreamEnd::Answered
    }

    /// Takes a message. Returns whether it is the answer that is `wanted`; from then on none is.
    fn take_event(&self, mut message: Vec<u8>, wanted: &mut Wanted<'_>) -> bool {
        if let Wanted::Passed(sent, id) = wanted
            && sent.resumes_after().is_some()
            && let Some(addressed) = readdressed(id, &message)
        {
            message = addressed;
        }
        let id = match wanted {
            Wanted::Nothing => {
                self.pass_on(&message);
                return false;
            }
            Wanted::Passed(_, id) | Wanted::Kept(id, _) => *id,
        };
        let answer = match found(id, &message) {
            Found::Answer => message,
            Found::Refusal(answer) => answer,
            Found::Other(_) => {
                self.pass_on(&message);
                return false;
            }
        };
        match std::mem::replace(wanted, Wanted::Nothing) {
            Wanted::Passed(sent, _) => self.pass_answer(sent, &answer),
            Wanted::Kept(_, kept) => *kept = Some(answer),
            Wanted::Nothing => {}
        }
        true
    }

    /// Reads the stream that answers the request `sent`, made in `session`, and resumes it while that is possible.
    // G-7, G-12
    pub(super) async fn answer_stream(
        self: &Arc<Self>,
        target: &str,
        body: Box<dyn Chunks>,
        sent: &Arc<SentMessage>,
        id: &RequestId,
        session: Option<HeaderValue>,
    ) -> Result<(), HttpError> {
        let mut place = Place::of(sent, session);
        let wanted = Wanted::Passed(sent, id);
        let end = self.pump(body, &mut place, wanted).await;
        self.read_on(target, place, end, sent, id).await
    }

    /// Reads the rest of the stream that answers the request that `sent` stands for, of an earlier client.
    pub(super) async fn resume(
        self: &Arc<Self>,
        sent: &Arc<SentMessage>,
        id: &RequestId,
    ) -> Result<(), HttpError> {
        let target = target(&Method::GET, self.requests.uri());
        let mut place = Place::of(sent, self.requests.named_session());
        let end = self
            .reopen(
                &target,
                &mut place,
                "the stream is of an earlier client",
                sent,
                id,
            )
            .await?;
        self.read_on(&target, place, end, sent, id).await
    }

    /// Reads the stream that answers the request `sent` to its end, after it came to `end`.
    async fn read_on(
        self: &Arc<Self>,
        target: &str,
        mut place: Place,
        mut end: StreamEnd,
        sent: &Arc<SentMessage>,
        id: &RequestId,
    ) -> Result<(), HttpError> {
        loop {
            let problem = match end {
                StreamEnd::Answered => return Ok(()),
                StreamEnd::Unread(unread @ Unread::TooLarge(_)) => {
                    return Err(unread.into_error(target).with_status(StatusCode::OK));
                }
                StreamEnd::Unread(Unread::Broken(problem)) => problem,
                StreamEnd::Ended => "the stream ended before the answer".to_owned(),
                StreamEnd::Unreached(problem) if MAX_RESUMES <= place.backoff.failures() => {
                    let problem = format!(
                        "the stream ended before the answer, and the server cannot be reached: {problem}, {MAX_RESUMES} times in a row"
                    );
                    let advice =
                        "check that the server is running; whether the call was made is not known";
                    return Err(HttpError::new(
                        HttpErrorKind::StreamEnded,
                        target,
                        problem,
                        advice,
                    ));
                }
                StreamEnd::Unreached(problem) => problem,
            };
            let ended = |problem: &str, advice| ended(target, problem, advice);
            if self.requests.is_modern() {
                let advice = "make the call again, if it may be made twice";
                return Err(ended(&problem, advice));
            }
            if place.last.is_none() {
                let advice = "the server gave no event id to resume it from; whether the call was made is not known";
                return Err(ended(&problem, advice));
            }
            if MAX_RESUMES <= place.backoff.failures() {
                let problem = format!("{problem}, {MAX_RESUMES} times in a row");
                return Err(ended(&problem, "whether the call was made is not known"));
            }
            sleep(place.backoff.next()).await;
            end = self.reopen(target, &mut place, &problem, sent, id).await?;
        }
    }

    /// Opens the stream that answers the request `sent` again after the event that is its place, and reads it. `problem` says why.
    async fn reopen(
        self: &Arc<Self>,
        target: &str,
        place: &mut Place,
        problem: &str,
        sent: &Arc<SentMessage>,
        id: &RequestId,
    ) -> Result<StreamEnd, HttpError> {
        let request = self.requests.get(place.last.as_ref());
        // F-17, F-18: event ids are those of one session, and the server has said that it no longer has that one.
        if session_of(&request) != place.session {
            let problem = format!("{problem}, and its session has ended");
            let advice = "whether the call was made is not known";
            return Err(ended(target, &problem, advice));
        }
        Ok(match self.exchange(request).await {
            Ok(answer) if answer.status.is_success() && answer.is_events() => {
                let wanted = Wanted::Passed(sent, id);
                self.pump(answer.body, place, wanted).await
            }
            Ok(answer) if is_passing(answer.status) => {
                place.refused(&answer);
                let problem = format!("the stream cannot be resumed: HTTP {}", answer.status);
                StreamEnd::Unread(Unread::Broken(problem))
            }
            Ok(answer) => {
                let problem = format!("{problem}, and cannot be resumed: HTTP {}", answer.status);
                let advice = "whether the call was made is not known";
                return Err(ended(target, &problem, advice));
            }
            Err(error) if is_of_connection(&error) => StreamEnd::Unreached(error.short()),
            Err(error) => return Err(error),
        })
    }
}

/// The error of a stream that ended before the answer.
fn ended(target: &str, problem: &str, advice: &'static str) -> HttpError {
    HttpError::new(HttpErrorKind::StreamEnded, target, problem, advice).with_status(StatusCode::OK)
}

/// Whether another try may go better.
pub(super) fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
        || matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
        )
}

pub(super) fn is_of_connection(error: &HttpError) -> bool {
    matches!(error.kind(), HttpErrorKind::Connect | HttpErrorKind::Broken)
}

#[cfg(test)]
mod tests;
