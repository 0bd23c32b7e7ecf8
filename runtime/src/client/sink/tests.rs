use tokio::io::{AsyncReadExt, BufWriter};

use super::*;

fn raw(text: &str) -> ToServer {
    ToServer::raw(text.as_bytes().to_vec())
}

/// What comes out of a pipe that holds `capacity` bytes, in the order in which it was sent.
async fn sent<W: AsyncWrite + Send + Unpin + 'static>(
    wrap: impl FnOnce(tokio::io::DuplexStream) -> W,
    capacity: usize,
) -> String {
    let (near, mut far) = tokio::io::duplex(capacity);
    let (sink, writing) = ClientSink::new(wrap(near), Duration::from_secs(5));
    let writing = tokio::spawn(writing);
    // Alone; behind what is left of the first; in the queue; behind that.
    for (at_once, text) in [
        (true, "first"),
        (true, "second"),
        (false, "third"),
        (true, "fourth"),
    ] {
        let sent = match at_once {
            true => sink.send_at_once(raw(text)),
            false => sink.send(raw(text)),
        };
        assert!(sent.is_ok());
    }
    let room = sink.room().clone();
    drop(sink);
    let mut received = String::new();
    far.read_to_string(&mut received).await.unwrap();
    writing.await.unwrap().unwrap();
    assert_eq!(room.waiting.load(Ordering::Relaxed), 0);
    received
}

#[tokio::test]
async fn what_is_sent_at_once_is_whole_and_in_order() {
    const LINES: &str = "first\nsecond\nthird\nfourth\n";
    for capacity in [1, 3, 5, 6, 7, 12, 13, 100] {
        let received = tokio::time::timeout(Duration::from_secs(10), sent(|near| near, capacity));
        assert_eq!(received.await.unwrap(), LINES, "{capacity}");
        // It takes everything, and passes it on when it is flushed.
        let received =
            tokio::time::timeout(Duration::from_secs(10), sent(BufWriter::new, capacity));
        assert_eq!(received.await.unwrap(), LINES, "{capacity}, buffered");
    }
}

#[tokio::test]
async fn what_is_alone_needs_no_task() {
    let (near, mut far) = tokio::io::duplex(100);
    let (sink, writing) = ClientSink::new(near, Duration::from_secs(5));
    assert!(sink.send_at_once(raw("alone")).is_ok());
    let mut received = [0; 6];
    let reading = tokio::time::timeout(Duration::from_secs(10), far.read_exact(&mut received));
    reading.await.unwrap().unwrap();
    assert_eq!(&received, b"alone\n");
    // With the task goes the writer.
    drop(writing);
    assert!(sink.send_at_once(raw("late")).is_err());
    let end = tokio::time::timeout(Duration::from_secs(10), far.read(&mut received));
    assert_eq!(end.await.unwrap().unwrap(), 0);
}
