//! Events of resumable streams: their ids, and the trait of the store that keeps them.

use std::{error::Error, fmt, str::FromStr};

use bytes::Bytes;

use super::{StoreError, StoreFuture};

/// The place of one event: its stream, and its position in the stream.
///
/// On the wire it is the number of the stream in hexadecimal, a dash and the position: `5f2c000000000001-3`. Stream numbers are unique over
/// all sessions of a server, so an id identifies its stream.
///
/// ```
/// use trueform::store::EventId;
///
/// let id: EventId = "00000000000000ff-3".parse()?;
/// assert_eq!((id.stream, id.position), (255, 3));
/// assert_eq!(id.to_string(), "00000000000000ff-3");
/// # Ok::<(), trueform::store::InvalidEventId>(())
/// ```
// F-17
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// The stream.
    pub stream: u64,
    /// The position of the event in its stream, from 0.
    pub position: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.stream, self.position)
    }
}

impl FromStr for EventId {
    type Err = InvalidEventId;

    fn from_str(text: &str) -> Result<Self, InvalidEventId> {
        let (stream, position) = text.split_once('-').ok_or(InvalidEventId)?;
        // `from_str_radix` takes a leading `+`; an id has exactly one spelling.
        let plain = stream.len() == 16
            && stream.bytes().all(|byte| byte.is_ascii_hexdigit())
            && position.bytes().all(|byte| byte.is_ascii_digit());
        if !plain {
            return Err(InvalidEventId);
        }
        Ok(Self {
            stream: u64::from_str_radix(stream, 16).map_err(|_| InvalidEventId)?,
            position: position.parse().map_err(|_| InvalidEventId)?,
        })
    }
}

/// The text is not an event id of this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEventId;

impl fmt::Display for InvalidEventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an event id of this server")
    }
}

impl Error for InvalidEventId {}

/// One event that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its position in the stream.
    pub position: u64,
    /// The message, one JSON text. Empty for an event that only carries an id.
    pub message: Bytes,
}

/// The events that followed an event of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The later events, in order, without a gap.
    pub events: Vec<StoredEvent>,
    /// Whether the stream has ended, so that nothing follows the last of `events`.
    pub ended: bool,
}

/// Keeps the events of resumable streams for a while, so that a client that lost its connection can get the events that it missed.
///
/// Implementations are bounded: they may drop old events at any time. [`EventStore::replay`] then returns that the stream cannot be resumed
/// from there. One writer appends the events of one stream in order.
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps `message` as the event `id` of `session`.
    fn append<'a>(
        &'a self,
        session: &'a str,
        id: EventId,
        message: Bytes,
    ) -> StoreFuture<'a, Result<(), StoreError>>;

    /// Notes that no event follows in `stream`.
    fn end<'a>(&'a self, session: &'a str, stream: u64) -> StoreFuture<'a, Result<(), StoreError>>;

    /// Returns the events after `after`, in that stream of that session and in no other.
    ///
    /// `None` if `session` has no such stream or event, or if an event that followed was dropped.
    // F-18
    fn replay<'a>(
        &'a self,
        session: &'a str,
        after: EventId,
    ) -> StoreFuture<'a, Result<Option<Replay>, StoreError>>;

    /// Drops everything kept for `session`, which has ended.
    fn forget<'a>(&'a self, session: &'a str) -> StoreFuture<'a, Result<(), StoreError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_spelling() {
        let id = EventId {
            stream: 0xabc,
            position: 12,
        };
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in [
            "",
            "-",
            "abc",
            "abc-1",
            "0000000000000abc",
            "0000000000000abc-",
            "0000000000000abc-+1",
            "+000000000000abc-1",
            "0000000000000abc-1-2",
            "0000000000000abc--1",
            "0000000000000abc-99999999999999999999",
            "0000000000000abg-1",
        ] {
            let parsed = text.parse::<EventId>();
            // An empty position contains only digits; the integer parser refuses it.
            assert_eq!(parsed, Err(InvalidEventId), "{text}");
        }
    }
}
