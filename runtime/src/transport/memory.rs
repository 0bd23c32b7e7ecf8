//! A connection inside the process: transports the same bytes as stdio, without file descriptors.

use tokio::io::DuplexStream;

/// The number of bytes that either direction holds before its writer waits.
const CAPACITY: usize = 64 << 10;

/// One side of a connection.
pub(crate) struct MemorySide {
    pub(crate) reader: DuplexStream,
    pub(crate) writer: DuplexStream,
}

/// Creates the two sides of a connection. Dropping a writer ends the other side's reader.
pub(crate) fn pair() -> (MemorySide, MemorySide) {
    let (first_writer, second_reader) = tokio::io::duplex(CAPACITY);
    let (second_writer, first_reader) = tokio::io::duplex(CAPACITY);
    (
        MemorySide {
            reader: first_reader,
            writer: first_writer,
        },
        MemorySide {
            reader: second_reader,
            writer: second_writer,
        },
    )
}
