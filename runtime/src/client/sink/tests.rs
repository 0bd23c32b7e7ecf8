use std::sync::{OnceLock, mpsc::RecvTimeoutError};

use tokio::io::{AsyncReadExt, BufWriter, DuplexStream};

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

/// A writer that takes at most two bytes at a time, and sends a message itself before it takes the first.
struct Calling {
    sink: Arc<OnceLock<Arc<ClientSink>>>,
    has_called: bool,
    to: DuplexStream,
}

impl AsyncWrite for Calling {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.has_called {
            self.has_called = true;
            let sink = self.sink.get().expect("it is set before anything is sent");
            assert!(sink.send_at_once(raw("nested")).is_ok());
        }
        let most = bytes.len().min(2);
        Pin::new(&mut self.to).poll_write(cx, &bytes[..most])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.to).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.to).poll_shutdown(cx)
    }
}

/// What arrives if the writer itself sends, through a pipe that holds `capacity` bytes.
async fn sent_by_the_writer(capacity: usize) -> String {
    const LINES: &str = "first\nnested\nthird\n";
    let (near, mut far) = tokio::io::duplex(capacity);
    let itself = Arc::<OnceLock<Arc<ClientSink>>>::default();
    let writer = Calling {
        sink: itself.clone(),
        has_called: false,
        to: near,
    };
    let (sink, writing) = ClientSink::new(writer, Duration::from_secs(5));
    let sink = itself.get_or_init(|| Arc::new(sink));
    let writing = tokio::spawn(writing);
    assert!(sink.send_at_once(raw("first")).is_ok());
    assert!(sink.send_at_once(raw("third")).is_ok());
    let mut received = vec![0; LINES.len()];
    far.read_exact(&mut received).await.unwrap();
    writing.abort();
    let received = String::from_utf8(received).unwrap();
    assert_eq!(received, LINES, "{capacity}");
    received
}

/// On a thread of its own: one that waits for a lock which it holds does not end.
#[test]
fn a_writer_may_send() {
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        for capacity in [1, 2, 3, 5, 6, 7, 100] {
            runtime.block_on(sent_by_the_writer(capacity));
        }
        ended.send(()).unwrap();
    });
    match end.recv_timeout(Duration::from_secs(20)) {
        Ok(()) => {}
        Err(RecvTimeoutError::Timeout) => panic!("the writer waits for itself"),
        Err(RecvTimeoutError::Disconnected) => panic!("the other thread has panicked"),
    }
}

/// Panics once it is to write `self.0`.
struct Panicking(&'static [u8], DuplexStream);

impl AsyncWrite for Panicking {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        assert!(!bytes.starts_with(self.0), "on purpose");
        Pin::new(&mut self.1).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.1).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        panic!("on purpose");
    }
}

impl Drop for Panicking {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "on purpose");
    }
}

#[tokio::test]
async fn a_panic_of_the_writer_is_an_error_of_the_task() {
    for at_once in [true, false] {
        let (near, _far) = tokio::io::duplex(100);
        let (sink, writing) = ClientSink::new(Panicking(b"second", near), Duration::from_secs(5));
        let writing = tokio::spawn(writing);
        assert!(sink.send_at_once(raw("first")).is_ok());
        let sent = match at_once {
            true => sink.send_at_once(raw("second")),
            false => sink.send(raw("second")),
        };
        assert!(sent.is_ok());
        let ended = tokio::time::timeout(Duration::from_secs(10), writing);
        let error = ended.await.unwrap().unwrap().unwrap_err();
        assert!(WriterPanicked::is(&error), "{error}");
        assert!(sink.send_at_once(raw("third")).is_err());
    }
}
