//! Calls that belong together, one or those of a batch, driven until each is answered.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::CallFuture;
use crate::{
    exchange::{Exchange, MessageSink},
    feature::job::Job,
    gate::Outgoing,
};

/// Running calls.
#[derive(Default)]
pub(crate) struct Calls(Vec<Part>);

struct Part {
    exchange: Arc<Exchange>,
    /// `None` once the call has ended.
    call: Option<CallFuture>,
    only_listens: bool,
    /// The place of its response among those of its batch.
    place: usize,
    /// The response. It is kept until everything that was sent before it has been taken.
    response: Option<Outgoing>,
}

/// An event that a call sends.
#[derive(Debug)]
pub(crate) enum CallEvent {
    /// A message that belongs to a call which is not answered yet. Calls of a byte stream never return this: their messages go to the
    /// stream.
    Message(Outgoing),
    /// The response to the request at `place` of its batch.
    Response { place: usize, message: Outgoing },
}

impl Calls {
    /// Creates the only call of its message.
    pub(crate) fn one(job: Box<dyn Job>) -> Self {
        Self(vec![Part::new(0, job)])
    }

    /// Creates the calls of one batch, each with the place of its response.
    pub(crate) fn of_batch(jobs: Vec<(usize, Box<dyn Job>)>) -> Self {
        let parts = jobs.into_iter();
        Self(parts.map(|(place, job)| Part::new(place, job)).collect())
    }

    /// Returns the requests, in the order in which they came.
    pub(crate) fn exchanges(&self) -> impl Iterator<Item = &Arc<Exchange>> {
        self.0.iter().map(|part| &part.exchange)
    }

    /// Returns whether all calls are subscriptions, which cannot be answered with one JSON object.
    pub(crate) fn only_listen(&self) -> bool {
        self.0.iter().all(|part| part.only_listens)
    }

    /// Returns whether every call has ended. Their messages may not have been taken yet.
    pub(crate) fn have_ended(&self) -> bool {
        self.0.iter().all(|part| part.call.is_none())
    }

    /// Ends every call that is not answered yet, with an error as its response unless it was cancelled (DEC-11).
    pub(crate) fn cut_off(&mut self) {
        for part in &mut self.0 {
            if let Some(mut call) = part.call.take() {
                part.response = call.cut_off();
            }
        }
    }

    /// Returns what is sent next; `None` when every call has ended and everything was taken. If the reader has no room for messages, they
    /// wait with their calls, which continue.
    pub(crate) fn poll_next(
        &mut self,
        has_room: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Option<CallEvent>> {
        let mut open = false;
        for part in &mut self.0 {
            match part.poll_next(has_room, cx) {
                Poll::Ready(Some(event)) => return Poll::Ready(Some(event)),
                Poll::Ready(None) => {}
                Poll::Pending => open = true,
            }
        }
        if open {
            Poll::Pending
        } else {
            Poll::Ready(None)
        }
    }
}

impl Part {
    fn new(place: usize, job: Box<dyn Job>) -> Self {
        Self {
            place,
            exchange: job.exchange().clone(),
            only_listens: job.only_listens(),
            call: Some(CallFuture::new(job)),
            response: None,
        }
    }

    fn poll_next(&mut self, has_room: bool, cx: &mut Context<'_>) -> Poll<Option<CallEvent>> {
        // Waiting messages leave before the call continues. So a call that sends many messages loses none while its client reads.
        if let (MessageSink::Own(outbox), Some(_)) = (self.exchange.sink(), &self.call)
            && has_room
            && let Some(message) = outbox.try_next()
        {
            return Poll::Ready(Some(CallEvent::Message(message)));
        }
        if let Some(call) = &mut self.call
            && let Poll::Ready(response) = Pin::new(call).poll(cx)
        {
            self.call = None;
            self.response = response;
        }
        // Messages that were sent before the response come before it.
        let message = match (self.exchange.sink(), &self.call) {
            (MessageSink::Own(outbox), None) if !has_room && !outbox.is_empty() => {
                return Poll::Pending;
            }
            (MessageSink::Own(_), _) if !has_room => Poll::Pending,
            (MessageSink::Own(outbox), Some(_)) => outbox.poll_next(cx),
            (MessageSink::Own(outbox), None) => Poll::Ready(outbox.try_next()),
            (MessageSink::Link(_), _) => Poll::Pending,
        };
        match (message, &self.call) {
            (Poll::Ready(Some(message)), _) => Poll::Ready(Some(CallEvent::Message(message))),
            (_, Some(_)) => Poll::Pending,
            (_, None) => {
                let place = self.place;
                let response = self.response.take();
                Poll::Ready(response.map(|message| CallEvent::Response { place, message }))
            }
        }
    }
}
