//! A body whose bytes are recorded as they pass, without delay.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{Turn, http::RecordedExchange};
use crate::{
    client::http::events::EventReader,
    jsonrpc,
    testing::{Event, Side},
};

/// The body of a request or a response that [`RecorderLayer`](super::RecorderLayer) wraps: it passes every frame on as it arrives.
pub struct RecordedBody<B> {
    inner: Pin<Box<B>>,
    taking: Taking,
    exchange: RecordedExchange,
    /// When the last bytes passed.
    turn: Option<Turn>,
    /// Its length in bytes, if known.
    length: Option<u64>,
    is_done: bool,
    /// Whether the body is running right now.
    is_at_work: bool,
}

/// How a body is recorded.
#[derive(Debug)]
pub(super) enum Taking {
    /// Not at all.
    Nothing,
    /// One text of the client.
    Request(Vec<u8>),
    /// One text of the server.
    Whole(Vec<u8>),
    /// Like [`Whole`](Self::Whole), unless it does not look like a message: HTTP refusals have bodies of all kinds.
    Refusal(Vec<u8>),
    /// Each event as a text of the server.
    Events(EventReader),
}

impl<B: Body> RecordedBody<B> {
    pub(super) fn new(inner: B, taking: Taking, exchange: RecordedExchange) -> Self {
        let mut body = Self {
            length: inner.size_hint().exact(),
            inner: Box::pin(inner),
            taking,
            exchange,
            turn: None,
            is_done: false,
            is_at_work: false,
        };
        // An empty body is never polled.
        if body.inner.is_end_stream() {
            body.end();
        }
        body
    }

    /// Sets its length in bytes, if the body does not report it.
    pub(super) fn of_length(mut self, length: Option<u64>) -> Self {
        self.length = self.length.or(length);
        self
    }
}

impl<B> RecordedBody<B> {
    fn take(&mut self, bytes: &Bytes) {
        let turn = self.exchange.turn();
        self.turn = Some(turn);
        match &mut self.taking {
            Taking::Nothing => {}
            Taking::Request(text) | Taking::Whole(text) | Taking::Refusal(text) => {
                text.extend_from_slice(bytes);
            }
            Taking::Events(events) => {
                let exchange = &self.exchange;
                events.take(bytes, |event| {
                    if event.is_message() && !exchange.is_replayed(event.id.as_deref()) {
                        exchange.message(Side::Server, &event.data, turn);
                    }
                });
            }
        }
    }

    /// Records that the whole body has passed.
    fn end(&mut self) {
        if std::mem::replace(&mut self.is_done, true) {
            return;
        }
        let turn = self.turn.unwrap_or_else(|| self.exchange.turn());
        let message = |side, text: &[u8]| {
            self.exchange
                .message(side, jsonrpc::without_mark(text), turn);
        };
        match std::mem::replace(&mut self.taking, Taking::Nothing) {
            Taking::Nothing => {}
            Taking::Request(text) => message(Side::Client, &text),
            Taking::Whole(text) => message(Side::Server, &text),
            Taking::Refusal(text) if is_like_a_message(&text) => message(Side::Server, &text),
            Taking::Refusal(_) => {}
            Taking::Events(_) => self.closed(Side::Server),
        }
    }

    /// Records that no more of the body will pass.
    fn break_off(&mut self, by: Side) {
        if std::mem::replace(&mut self.is_done, true) {
            return;
        }
        match &self.taking {
            // An empty body is not a message.
            Taking::Nothing | Taking::Request(_) => {}
            Taking::Whole(_) | Taking::Refusal(_) | Taking::Events(_) => self.closed(by),
        }
    }

    fn closed(&self, by: Side) {
        self.exchange.push(by, Event::Closed, self.exchange.turn());
    }

    /// Returns whether the text is complete although the body was not read to the end. A reader that knows the length does not have to do
    /// that.
    fn is_complete(&self) -> bool {
        match &self.taking {
            Taking::Request(text) => self.has_length(text) || is_structure(text),
            Taking::Whole(text) | Taking::Refusal(text) => is_json(text),
            Taking::Nothing | Taking::Events(_) => false,
        }
    }

    fn has_length(&self, text: &[u8]) -> bool {
        self.length
            .is_some_and(|length| length <= text.len() as u64)
    }
}

/// A body that is dropped before its end means that the reader has disconnected, unless all of the body has passed, or it has failed.
impl<B> Drop for RecordedBody<B> {
    fn drop(&mut self) {
        match (self.is_at_work, self.is_complete()) {
            (true, _) => self.break_off(Side::Server),
            (false, true) => self.end(),
            (false, false) => self.break_off(Side::Client),
        }
    }
}

impl<B> fmt::Debug for RecordedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedBody").finish_non_exhaustive()
    }
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<&serde_json::value::RawValue>(jsonrpc::without_mark(text)).is_ok()
}

/// Returns whether it is a complete object or array.
fn is_structure(text: &[u8]) -> bool {
    matches!(
        jsonrpc::trimmed(jsonrpc::without_mark(text)),
        [b'{' | b'[', ..]
    ) && is_json(text)
}

fn is_like_a_message(text: &[u8]) -> bool {
    let value =
        serde_json::from_slice(jsonrpc::without_mark(text)).unwrap_or(serde_json::Value::Null);
    value.is_array() || value.get("jsonrpc").is_some()
}

impl<B: Body<Data = Bytes>> Body for RecordedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        this.is_at_work = true;
        let polled = this.inner.as_mut().poll_frame(cx);
        this.is_at_work = false;
        let frame = ready!(polled);
        match &frame {
            None => this.end(),
            Some(Err(_)) => this.break_off(Side::Server),
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    this.take(bytes);
                }
                // It is not polled again.
                let is_whole =
                    matches!(&this.taking, Taking::Request(text) if this.has_length(text));
                if is_whole || this.inner.is_end_stream() {
                    this.end();
                }
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
