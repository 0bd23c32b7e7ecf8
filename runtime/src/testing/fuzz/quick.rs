//! The quick reader beside the careful one: the same bytes, the same request, the same answer, the same log.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Mutex, PoisonError},
};

use tracing::field::{Field, Visit};
use trueform_schema::{ClientRequest, ErrorObject, Revision};

use super::link;
use crate::{
    Policy,
    gate::{Claims, Inbound, Read, Remembered},
    jsonrpc::{Malformed, Message},
};

/// What a request is for the engine.
#[derive(Debug, PartialEq)]
struct Asked {
    id: String,
    method: String,
    is_modern: bool,
    version: Option<String>,
    revision: Option<Revision>,
    has_capabilities: bool,
    name: Option<String>,
    request: Result<(ClientRequest, Option<String>), ErrorObject>,
}

/// What was sent before: a client that is remembered.
const KNOWN: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Every request that is read quickly is what the careful reader makes of it, also when what it says of itself was remembered.
///
/// Returns whether it was read quickly.
///
/// # Panics
/// If the two differ.
#[expect(clippy::must_use_candidate, reason = "fuzz targets only run it")]
pub fn quick(bytes: &[u8]) -> bool {
    let (inbound, careful) = (Inbound::default(), Inbound::CAREFUL);
    let (remembered, nothing) = (Remembered::new(inbound), Remembered::new(careful));
    let _ = Read::from_bytes(KNOWN, inbound, &remembered);
    let expected = Read::from_bytes(bytes, careful, &nothing);
    let mut is_quick = false;
    // What it says of itself is remembered after the first time.
    for _ in 0..2 {
        let read = Read::from_bytes(bytes, inbound, &remembered);
        if let Ok(Read::Single(_, Claims::Quick(_))) = &read {
            is_quick = true;
            assert_eq!(
                asked(read),
                asked(Read::from_bytes(bytes, careful, &nothing))
            );
        } else {
            assert_eq!(read.is_ok(), expected.is_ok());
        }
    }
    is_quick
}

/// `None` if it is not a single request.
fn asked(read: Result<Read<'_>, Malformed>) -> Option<Asked> {
    let Ok(Read::Single(Message::Request { id, method, params }, claims)) = read else {
        return None;
    };
    let core = trueform_schema::Method::from_wire(&method)?;
    Some(Asked {
        // As text, because ids are equal in any notation: 1 and 1.0.
        id: id.to_string(),
        method: method.into_owned(),
        is_modern: claims.is_modern(),
        version: claims.version().map(std::borrow::Cow::into_owned),
        revision: claims.revision(),
        has_capabilities: claims.has_capabilities(),
        name: claims.name().map(std::borrow::Cow::into_owned),
        request: claims.into_request(core, Revision::LATEST, params, Inbound::default()),
    })
}

/// Any bytes are sent as lines to two servers, of which one reads them carefully: each twice, because of what is remembered in
/// between. They answer the same and log the same.
///
/// # Panics
/// If they do not, and if called within a Tokio runtime, because it creates its own.
pub fn quick_answers(bytes: &[u8]) {
    let mut input = Vec::with_capacity(2 * bytes.len());
    for line in bytes.split(|byte| *byte == b'\n') {
        for _ in 0..2 {
            input.extend_from_slice(line);
            input.push(b'\n');
        }
    }
    // By the number of bytes the input decides what is done about requests that their revision does not allow.
    let policy = match bytes.len() % 2 {
        0 => Policy::Enforce,
        _ => Policy::Warn,
    };
    let [quick, careful] = [false, true].map(|is_careful| {
        let log = Log::default();
        let output = tracing::subscriber::with_default(log.clone(), || {
            link::answers(&input, policy, is_careful)
        });
        (output, log.text())
    });
    assert_eq!(quick, careful);
}

/// Keeps events with their level and fields.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Log {
    fn text(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // How long something took differs.
        if !field.name().contains("elapsed") {
            write!(self.0, " {field}={value:?}").expect("a string takes everything");
        }
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        // The warning that a call took long depends on the machine, and comes once for each process.
        metadata.target().starts_with("trueform") && !metadata.target().ends_with("::slow")
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(span.metadata().name());
        span.record(&mut Line(&mut text));
        text.push('\n');
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(event.metadata().level().as_str());
        event.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
