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

/// A writer that says that it took more than there was.
struct Overcounting;

impl AsyncWrite for Overcounting {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len() + 1))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_writer_that_counts_wrong_is_an_error_of_the_task() {
    for at_once in [true, false] {
        let (sink, writing) = ClientSink::new(Overcounting, Duration::from_secs(5));
        let sent = match at_once {
            true => sink.send_at_once(raw("first")),
            false => sink.send(raw("first")),
        };
        assert!(sent.is_ok());
        let ended = tokio::time::timeout(Duration::from_secs(10), writing);
        let error = ended.await.unwrap().unwrap_err().to_string();
        assert!(error.contains("took 7 of 6 bytes"), "{error}");
    }
}

/// Several threads send, at once and by the queue, through a pipe that takes a few bytes at a time: each line is whole, and those of one
/// thread are in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_that_send() {
    const THREADS: usize = 4;
    const EACH: usize = 500;
    for capacity in [3, 16, 4096] {
        let (near, mut far) = tokio::io::duplex(capacity);
        let (sink, writing) = ClientSink::new(near, Duration::from_secs(10));
        let writing = tokio::spawn(writing);
        let sink = Arc::new(sink);
        let senders: Vec<_> = (0..THREADS)
            .map(|thread| {
                let sink = sink.clone();
                std::thread::spawn(move || {
                    for number in 0..EACH {
                        let line = raw(&format!("{thread} {number} {}", "x".repeat(number % 7)));
                        let sent = match number % 3 {
                            0 => sink.send(line),
                            _ => sink.send_at_once(line),
                        };
                        assert!(sent.is_ok());
                    }
                })
            })
            .collect();
        drop(sink);
        let mut received = String::new();
        let reading = far.read_to_string(&mut received);
        let read = tokio::time::timeout(Duration::from_secs(20), reading).await;
        read.unwrap().unwrap();
        for sender in senders {
            sender.join().unwrap();
        }
        writing.await.unwrap().unwrap();
        let mut next = [0; THREADS];
        for line in received.lines() {
            let mut parts = line.split(' ').map(str::to_owned);
            let thread: usize = parts.next().unwrap().parse().unwrap();
            let number = next[thread];
            let expected = format!("{thread} {number} {}", "x".repeat(number % 7));
            assert_eq!(line, expected, "{capacity}");
            next[thread] += 1;
        }
        assert_eq!(next, [EACH; THREADS], "{capacity}");
    }
}

/// A writer that runs something within its first write.
struct Running<F>(Option<F>, DuplexStream);

impl<F: FnOnce() + Unpin> AsyncWrite for Running<F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(run) = self.0.take() {
            run();
        }
        Pin::new(&mut self.1).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.1).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.1).poll_shutdown(cx)
    }
}

/// While a message is written at once, another is queued, and the task looks for the writer: it gets it afterwards.
#[tokio::test]
async fn the_task_waits_for_a_writer_that_is_away() {
    type Writing = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;
    let (near, mut far) = tokio::io::duplex(100);
    let shared = Arc::<OnceLock<(ClientSink, std::sync::Mutex<Writing>)>>::default();
    let inner = shared.clone();
    let meanwhile = move || {
        let (sink, writing) = inner.get().expect("it is set before anything is sent");
        assert!(sink.send(raw("queued")).is_ok());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(writing.lock().unwrap().as_mut().poll(&mut cx).is_pending());
    };
    let writer = Running(Some(meanwhile), near);
    let (sink, writing) = ClientSink::new(writer, Duration::from_secs(5));
    let (sink, writing) =
        shared.get_or_init(|| (sink, std::sync::Mutex::new(Box::pin(writing) as Writing)));
    assert!(sink.send_at_once(raw("first")).is_ok());
    let mut received = [0; 13];
    let received = async {
        tokio::select! {
            read = far.read_exact(&mut received) => drop(read.unwrap()),
            end = poll_fn(|cx| writing.lock().unwrap().as_mut().poll(cx)) => panic!("{end:?}"),
        }
        received
    };
    let received = tokio::time::timeout(Duration::from_secs(10), received).await;
    assert_eq!(&received.unwrap(), b"first\nqueued\n");
}
