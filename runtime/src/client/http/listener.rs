//! The session's own stream: messages of the server that belong to no request (legacy era).

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode};
use tokio::{sync::oneshot, time::sleep};

use super::{
    bridge::Bridge,
    request::{Requests, session_of},
    session::has_no_session,
    stream::{Place, StreamEnd, Wanted, is_of_connection, is_passing},
};

/// What becomes of the stream.
enum Next {
    /// It is opened again after a while.
    Again,
    /// It is opened again at once, in another session.
    Anew,
    /// The server has none.
    Never,
}

/// The stream, in the session that has it.
#[derive(Default)]
struct OwnStream {
    session: Option<HeaderValue>,
    /// Whether the session has had the stream: 404 says then that the session is gone, and else that there is no such stream.
    had: bool,
    place: Place,
}

impl OwnStream {
    /// The GET that opens it, where it was.
    fn request(&mut self, requests: &Requests) -> Request<Bytes> {
        let request = requests.get(self.place.last.as_ref());
        let session = session_of(&request);
        if session == self.session {
            return request;
        }
        // The ids of a session mean nothing in another.
        self.session = session;
        self.had = false;
        match self.place.last.take() {
            Some(_) => self.request(requests),
            None => request,
        }
    }
}

impl Bridge {
    /// Reads the stream as long as the client lives. It is opened again whenever it ends, unless the server has none.
    /// Reports by `opened` whether the stream is open.
    // F-15, G-6
    pub(super) async fn listen(self: Arc<Self>, opened: oneshot::Sender<()>) {
        let mut opened = Some(opened);
        let mut own = OwnStream::default();
        loop {
            let renewed = self.renewals.opened.notified();
            let renewed_meanwhile = self.renewals.opened.notified();
            let next = tokio::select! {
                next = self.listen_once(&mut own, &mut opened) => next,
                () = renewed => Next::Anew,
            };
            match next {
                // What an earlier session asked for does not hold for a new one.
                Next::Again => tokio::select! {
                    () = sleep(own.place.backoff.next()) => {}
                    () = renewed_meanwhile => {}
                },
                Next::Anew => {}
                Next::Never => return,
            }
        }
    }

    async fn listen_once(
        self: &Arc<Self>,
        own: &mut OwnStream,
        opened: &mut Option<oneshot::Sender<()>>,
    ) -> Next {
        let request = own.request(&self.requests);
        let OwnStream {
            session,
            had,
            place,
        } = own;
        let mut answer = match self.exchange(request).await {
            Ok(answer) => answer,
            Err(error) if is_of_connection(&error) => {
                tracing::debug!(%error, "the session's own stream cannot be opened");
                return Next::Again;
            }
            Err(error) => {
                tracing::warn!(%error, "the session's own stream is given up");
                return Next::Never;
            }
        };
        let status = answer.status;
        if status.is_success() && answer.is_events() && answer.encoding().is_none() {
            *had = true;
            if let Some(opened) = opened.take() {
                let _ = opened.send(());
            }
            let end = self.pump(answer.body, place, Wanted::Nothing).await;
            if let StreamEnd::Unread(unread) = end {
                let problem = unread.into_error("").short();
                tracing::debug!(problem, "the session's own stream broke off");
            }
            return Next::Again;
        }
        if let Some(stale) = session.as_ref().filter(|_| *had)
            && has_no_session(&mut answer).await
        {
            return match self.renew(stale).await {
                // A server that ends each session is not asked for another at once.
                Ok(()) => {
                    *had = false;
                    Next::Again
                }
                Err(error) => {
                    tracing::warn!(%error, "the session's own stream is given up");
                    Next::Never
                }
            };
        }
        match status {
            status if is_passing(status) => {
                place.refused(&answer);
                Next::Again
            }
            // Most servers without it answer 405; some answer 404 or 400.
            status => {
                let is_odd = status.is_success()
                    || matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
                match is_odd {
                    true => tracing::warn!(%status, "the server refused the session's own stream"),
                    false => {
                        tracing::debug!(%status, "the server has no stream of the session's own")
                    }
                }
                Next::Never
            }
        }
    }
}
