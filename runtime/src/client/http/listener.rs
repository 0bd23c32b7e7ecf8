//! The session's own stream: what the server says that belongs to no request (legacy era).

use std::sync::Arc;

use http::StatusCode;
use tokio::{sync::oneshot, time::sleep};

use super::{
    bridge::Bridge,
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

impl Bridge {
    /// Reads the stream as long as the client lives. It is opened again whenever it ends, unless the server has none.
    /// Reports by `opened` whether the stream is open.
    // F-15, G-6
    pub(super) async fn listen(self: Arc<Self>, opened: oneshot::Sender<()>) {
        let mut opened = Some(opened);
        let mut place = Place::default();
        // Whether the session has had the stream: 404 says then that the session is gone, and else that there is no such stream.
        let mut had = false;
        loop {
            let session = self.requests.session();
            let renewed = self.renewed.notified();
            let next = tokio::select! {
                next = self.listen_once(&mut place, &mut opened, &mut had) => next,
                () = renewed => Next::Anew,
            };
            match next {
                Next::Again => sleep(place.backoff.next()).await,
                Next::Anew => {}
                Next::Never => return,
            }
            if self.requests.session() != session {
                // The ids of a session mean nothing in another.
                place.last = None;
                had = false;
            }
        }
    }

    async fn listen_once(
        self: &Arc<Self>,
        place: &mut Place,
        opened: &mut Option<oneshot::Sender<()>>,
        had: &mut bool,
    ) -> Next {
        let session = self.requests.session();
        let mut answer = match self.exchange(self.requests.get(place.last.as_ref())).await {
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
        if let Some(stale) = session.filter(|_| *had)
            && has_no_session(&mut answer).await
        {
            return match self.renew(&stale).await {
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
            // Most servers without it say 405; some say 404 or 400.
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
