//! How many bytes of messages wait for their readers, over all connections of a server, and the bound on them.
//!
//! A message of at least [`COUNTED`] bytes is counted when it is passed to a transport, and for as long as its bytes are kept: in queues,
//! in the body of an HTTP response, in the buffer of a byte stream. Smaller messages cost no more than a comparison; the limits on their
//! number bound them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

#[cfg(feature = "http")]
use bytes::Bytes;

use super::Refusal;

/// Least length of a message that is counted, in bytes: 4 KiB.
pub(super) const COUNTED: usize = 4 << 10;

/// The bytes that wait for their readers.
#[derive(Debug)]
pub(crate) struct Unread {
    bytes: AtomicUsize,
    most: usize,
}

impl Unread {
    /// Creates a counter without waiting bytes, with the limit `most`.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            bytes: AtomicUsize::new(0),
            most,
        })
    }

    /// Returns whether calls may begin. Their answers will be added, however large they are.
    fn has_room(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) < self.most
    }

    /// Returns `text`, which is counted if it is long enough, for as long as a part of it exists.
    #[cfg(feature = "http")]
    pub(crate) fn text(self: &Arc<Self>, text: Vec<u8>) -> Bytes {
        match text.len() < COUNTED {
            true => text.into(),
            false => self.count(text.len()).around(text),
        }
    }

    /// Refuses new work if too many bytes wait.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        match self.has_room() {
            true => Ok(()),
            false => Err(Refusal::Unread),
        }
    }

    /// Counts `bytes` until the return value is dropped.
    pub(super) fn count(self: &Arc<Self>, bytes: usize) -> UnreadBytes {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        UnreadBytes {
            counter: self.clone(),
            bytes,
        }
    }
}

/// Bytes that are counted until this is dropped.
#[derive(Debug)]
pub(crate) struct UnreadBytes {
    counter: Arc<Unread>,
    bytes: usize,
}

impl UnreadBytes {
    /// Counts `bytes` more at the same server, separately from these.
    pub(super) fn another(&self, bytes: usize) -> Self {
        self.counter.count(bytes)
    }
}

#[cfg(feature = "http")]
impl UnreadBytes {
    /// Returns `text`, counted for as long as a part of it exists.
    #[cold]
    pub(super) fn around(self, text: Vec<u8>) -> Bytes {
        Bytes::from_owner(CountedText {
            text,
            _counted: self,
        })
    }
}

impl Drop for UnreadBytes {
    fn drop(&mut self) {
        self.counter.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A text that is counted for as long as a part of it exists.
#[cfg(feature = "http")]
struct CountedText {
    text: Vec<u8>,
    _counted: UnreadBytes,
}

#[cfg(feature = "http")]
impl AsRef<[u8]> for CountedText {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}
