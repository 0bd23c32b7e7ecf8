//! Batches: what the replies to their messages require, how their calls are driven, and the one array that answers a batch.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{
    Reply,
    calls::{CallEvent, Calls},
};
use crate::{feature::job::Job, gate::Outgoing};

/// The replies to the messages of a batch, grouped by the work that is left for each.
#[derive(Default)]
pub(crate) struct Sorted {
    /// Responses that are ready.
    pub(crate) responses: Responses,
    /// Calls that are answered later, each with the place of its response.
    pub(crate) jobs: Vec<(usize, Box<dyn Job>)>,
    /// Work that is never answered. Responses need not wait for it.
    pub(crate) background: Vec<Box<dyn Job>>,
}

impl Sorted {
    pub(crate) fn of(replies: Vec<Reply>) -> Self {
        let mut sorted = Self {
            responses: Responses::of_batch(),
            ..Self::default()
        };
        for (place, reply) in replies.into_iter().enumerate() {
            match reply {
                Reply::Running(job) => sorted.jobs.push((place, job)),
                Reply::Background(job) => sorted.background.push(job),
                Reply::Ready(response) => sorted.responses.push(place, response),
                // Batches do not nest, and the engine leaves out messages that get no response.
                Reply::Silent | Reply::Batch(_) => {}
            }
        }
        sorted
    }

    /// Returns whether no message of the batch gets a response.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.jobs.is_empty() && self.responses.is_empty()
    }
}

/// The responses to one message, which may be a batch.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    /// Each with its place in the batch.
    list: Vec<(usize, Outgoing)>,
    is_batch: bool,
}

impl Responses {
    /// Creates the responses to a batch. They are sent as an array, even if there is only one.
    pub(crate) fn of_batch() -> Self {
        Self {
            list: Vec::new(),
            is_batch: true,
        }
    }

    pub(crate) fn push(&mut self, place: usize, response: Outgoing) {
        self.list.push((place, response));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the response, unless it is part of a batch.
    pub(crate) fn single(&self) -> Option<&Outgoing> {
        let (_, response) = self.list.first().filter(|_| !self.is_batch)?;
        Some(response)
    }

    /// Returns whether these are the responses to a batch.
    pub(crate) fn is_batch(&self) -> bool {
        self.is_batch
    }

    /// Returns each response as its own message, in the order of the requests.
    pub(crate) fn into_list(mut self) -> Vec<Outgoing> {
        self.list.sort_by_key(|(place, _)| *place);
        self.list
            .into_iter()
            .map(|(_, response)| response)
            .collect()
    }

    /// Returns all responses as one message, or `None` without a response.
    pub(crate) fn into_message(mut self) -> Option<Outgoing> {
        match self.is_batch {
            false => self.list.pop().map(|(_, response)| response),
            true => {
                let list = self.into_list();
                (!list.is_empty()).then(|| Outgoing::batch(&list))
            }
        }
    }
}

impl From<Outgoing> for Responses {
    fn from(response: Outgoing) -> Self {
        Self {
            list: vec![(0, response)],
            is_batch: false,
        }
    }
}

/// The calls of one batch. Completes with the array of all its responses.
pub(crate) struct Batch {
    calls: Calls,
    responses: Responses,
}

impl Batch {
    /// Drives `jobs`, which are answered together with `responses`.
    pub(crate) fn new(responses: Responses, jobs: Vec<(usize, Box<dyn Job>)>) -> Self {
        Self {
            calls: Calls::of_batch(jobs),
            responses,
        }
    }

    /// Ends the calls that are not answered yet, and returns the array of all responses.
    pub(super) fn cut_off(&mut self, cx: &mut Context<'_>) -> Option<Outgoing> {
        self.calls.cut_off();
        match Pin::new(self).poll(cx) {
            Poll::Ready(response) => response,
            Poll::Pending => None,
        }
    }
}

impl Future for Batch {
    type Output = Option<Outgoing>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        let this = self.get_mut();
        while let Some(event) = ready!(this.calls.poll_next(true, cx)) {
            match event {
                CallEvent::Response { place, message } => this.responses.push(place, message),
                // Calls of a byte stream send messages to the stream.
                CallEvent::Message(_) => {}
            }
        }
        Poll::Ready(std::mem::take(&mut this.responses).into_message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Outgoing {
        Outgoing::unchecked(text.as_bytes().to_vec())
    }

    //
    #[test]
    fn responses_are_in_the_order_of_the_requests_whenever_they_come() {
        let mut responses = Responses::of_batch();
        for (place, text) in [(2, "2"), (0, "0"), (1, "1")] {
            responses.push(place, message(text));
        }
        let array = responses.into_message().expect("three responses");
        assert_eq!(array.bytes(), b"[0,1,2]");
        assert!(Responses::of_batch().into_message().is_none());
        let single = Responses::from(message("0")).into_message();
        assert_eq!(single.expect("one response").bytes(), b"0");
    }
}
