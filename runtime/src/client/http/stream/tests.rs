use std::{
    future::{pending, ready},
    sync::atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Uri};

use super::*;
use crate::client::{
    ClientError, ClientOptions, LocalError,
    http::{
        bridge::HttpSettings,
        exchange::{Boxed, HttpSender, SendFailure},
    },
    link::Link,
    sink::ClientSink,
};

struct NoServer;

impl HttpSender for NoServer {
    fn send(&self, _: Request<Bytes>) -> Boxed<'static, Result<HttpAnswer, SendFailure>> {
        Box::pin(pending())
    }

    fn failure(&self, _: HttpError) -> ClientError {
        LocalError::Closed.into()
    }
}

/// Events that are always there, `left` times so many.
struct Flood {
    left: usize,
    events: Bytes,
}

impl Chunks for Flood {
    fn next(&mut self) -> Boxed<'_, Option<Result<Bytes, String>>> {
        let more = self.left.checked_sub(1);
        self.left = more.unwrap_or_default();
        Box::pin(ready(more.map(|_| Ok(self.events.clone()))))
    }
}

/// Events without a pause keep the thread from no other task, whether they come in many pieces or in one.
#[tokio::test]
async fn events_without_a_pause() {
    const EVENTS: usize = 10_000;
    for (pieces, each) in [(EVENTS, 1), (1, EVENTS)] {
        let options = ClientOptions::new();
        let (out, _outbox) = ClientSink::queue();
        let link = Link::over(out, &options, Arc::default());
        let settings = HttpSettings {
            uri: Uri::from_static("http://a/mcp"),
            headers: HeaderMap::new(),
            authorize: None,
            on_new_session: None,
            joined: None,
        };
        let bridge = Bridge::new(Arc::new(NoServer), settings, link, 1 << 20);
        let turns = Arc::new(AtomicUsize::new(0));
        let other = turns.clone();
        let other = tokio::spawn(async move {
            loop {
                other.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        });
        let body = Flood {
            left: pieces,
            events: Bytes::from(":\nid: 1\n\n".repeat(each)),
        };
        let mut place = Place::default();
        let pumping = bridge.pump(Box::new(body), &mut place, Wanted::Nothing);
        assert!(matches!(pumping.await, StreamEnd::Ended));
        other.abort();
        // A task has a budget of some hundred steps.
        let turns = turns.load(Ordering::Relaxed);
        assert!((20..EVENTS).contains(&turns), "{pieces}: {turns}");
    }
}
