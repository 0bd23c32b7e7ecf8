//! The buffer of a long body, kept for the next one.
//!
//! New memory costs the system more than the processing of the body, and long bodies often follow each other.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

/// A body shorter than this, in bytes, is collected in a buffer of its own: 1 MiB.
pub(super) const WORTH_KEEPING: usize = 1 << 20;
/// The largest buffer that is kept, in bytes: 32 MiB. An endpoint keeps one.
const MOST: usize = 32 << 20;
/// How long it is kept after its last use: a second.
const KEPT: Duration = Duration::from_secs(1);

/// The buffer of an endpoint.
#[derive(Debug, Default)]
pub(super) struct SpareBuffer(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    buffer: Option<BytesMut>,
    last_used: Option<Instant>,
    /// A task waits to free the buffer.
    is_watched: bool,
}

impl SpareBuffer {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the buffer, empty, if it is available; otherwise one without capacity.
    pub(super) fn take(&self) -> BytesMut {
        self.lock().buffer.take().unwrap_or_default()
    }

    /// Keeps the buffer of `body`, unless it is too small or too large, or is still used. Must be called on a runtime.
    #[cold]
    pub(super) fn keep(self: &Arc<Self>, body: Bytes) {
        let Ok(mut buffer) = body.try_into_mut() else {
            return;
        };
        buffer.clear();
        if !(WORTH_KEEPING..=MOST).contains(&buffer.capacity()) {
            return;
        }
        let mut kept = self.lock();
        kept.buffer = Some(buffer);
        kept.last_used = Some(Instant::now());
        if !std::mem::replace(&mut kept.is_watched, true) {
            tokio::spawn(free_unused(Arc::downgrade(self)));
        }
    }
}

/// Frees the buffer when it was not used for some time.
async fn free_unused(spare: Weak<SpareBuffer>) {
    let mut until = Instant::now() + KEPT;
    loop {
        tokio::time::sleep_until(until).await;
        let Some(spare) = spare.upgrade() else {
            return;
        };
        let mut kept = spare.lock();
        match kept.last_used {
            Some(last) if Instant::now() < last + KEPT => until = last + KEPT,
            _ => {
                *kept = Kept::default();
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(capacity: usize) -> Bytes {
        let mut body = BytesMut::with_capacity(capacity);
        body.extend_from_slice(b"body");
        body.freeze()
    }

    // Y-6
    #[tokio::test(start_paused = true)]
    async fn kept_for_a_while() {
        let spare = Arc::new(SpareBuffer::default());
        let is_there = || spare.lock().buffer.is_some();
        for (capacity, is_kept) in [
            (WORTH_KEEPING - 1, false),
            (WORTH_KEEPING, true),
            (MOST, true),
            (MOST + 1, false),
        ] {
            spare.keep(body(capacity));
            assert_eq!(is_there(), is_kept, "{capacity}");
            let buffer = spare.take();
            assert!(buffer.is_empty());
            assert_eq!(buffer.capacity() == capacity, is_kept);
        }
        let held = body(MOST);
        spare.keep(held.clone());
        assert!(!is_there(), "somebody else has it");
        drop(held);

        spare.keep(body(MOST));
        tokio::time::sleep(KEPT * 3 / 4).await;
        assert!(is_there());
        spare.keep(spare.take().freeze());
        tokio::time::sleep(KEPT * 3 / 4).await;
        assert!(is_there(), "it was used meanwhile");
        tokio::time::sleep(KEPT).await;
        assert!(!is_there());
        // Once more, with a task of its own.
        spare.keep(body(MOST));
        assert!(is_there());
        tokio::time::sleep(KEPT * 2).await;
        assert!(!is_there());
    }
}
