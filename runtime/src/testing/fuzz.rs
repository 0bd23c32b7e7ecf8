//! Bodies of the fuzz targets: properties that hold for any bytes. `runtime/fuzz` runs them under libFuzzer, the tests with
//! a seeded generator on stable.
//!
//! A body takes the input of a fuzzer and panics if a property is violated. It checks only properties that hold for all inputs.

#![allow(missing_docs, reason = "for the fuzz targets alone")]

mod link;
mod quick;
mod template;
mod values;

use serde_json::{Value, value::RawValue};
use trueform_schema::{RequestId, Revision};

pub use self::{
    link::link,
    quick::{quick, quick_answers},
    template::template,
    values::{arguments, conform, decode, header},
};
use crate::{
    gate::{Outgoing, Stage},
    jsonrpc::{self, ErrorDetail, Incoming, Malformed, Message},
};

/// Checks that any bytes are messages or a fault that can be answered, and that the parsed messages agree with the bytes.
pub fn envelope(bytes: &[u8]) {
    let plain = jsonrpc::parse(bytes);
    let early = jsonrpc::parse_early::<trueform_schema::ClientRequest>(bytes);
    // Reading the params in the same pass does not change the envelope.
    match (&plain, &early) {
        (Ok(_), Ok(_)) => {}
        (Err(plain), Err(early)) => assert_eq!((plain.kind, &plain.id), (early.kind, &early.id)),
        (plain, early) => panic!("read as {plain:?}, and in passing as {early:?}"),
    }
    match plain {
        Ok(Incoming::Single(message)) => {
            let text = std::str::from_utf8(bytes).expect("what is parsed is UTF-8");
            says(&message, text);
        }
        Ok(Incoming::Batch(messages)) => {
            assert!((1..=jsonrpc::MAX_BATCH).contains(&messages.len()));
            messages.into_iter().for_each(|message| match message {
                Ok(Message::Request { id, .. }) => answerable(Some(&id)),
                Ok(_) => {}
                Err(malformed) => refused(&malformed),
            });
        }
        Err(malformed) => refused(&malformed),
    }
}

/// Checks that `message` agrees with `text`, compared through a JSON tree.
fn says(message: &Message<'_>, text: &str) {
    // Trees refuse some values that the parser skips, such as numbers beyond f64.
    let Ok(tree) = serde_json::from_str::<Value>(text) else {
        return;
    };
    assert_eq!(tree["jsonrpc"], "2.0");
    match message {
        Message::Request { id, method, params } => {
            assert_eq!(tree["method"], **method);
            same_id(id, &tree["id"]);
            same_params(*params, &tree);
            answerable(Some(id));
        }
        Message::Notification { method, params } => {
            assert_eq!(tree["method"], **method);
            assert!(tree.get("id").is_none());
            same_params(*params, &tree);
        }
        Message::Response { id, outcome } => {
            if let Some(id) = id {
                same_id(id, &tree["id"]);
            }
            match outcome {
                Ok(result) => assert_eq!(value_of(result.get()), tree["result"]),
                // It may be written with a fraction or an exponent.
                Err(error) => {
                    let written = tree["error"]["code"].as_f64();
                    assert_eq!(written, Some(error.code as f64), "code {}", error.code);
                }
            }
        }
    }
}

fn same_params(params: Option<&RawValue>, tree: &Value) {
    let params = params.map(|params| value_of(params.get()));
    assert_eq!(params.as_ref(), tree.get("params"));
}

fn value_of(text: &str) -> Value {
    serde_json::from_str(text).expect("it is part of a tree")
}

/// Checks that text is still text, and a number the same number.
fn same_id(id: &RequestId, written: &Value) {
    assert_eq!(&value_of(&id_text(id)), written);
}

fn refused(malformed: &Malformed) {
    assert!(!malformed.error.message.is_empty());
    assert!(
        malformed.error.message.len() < 1 << 10,
        "what a peer sent is not sent back at any length: {} bytes",
        malformed.error.message.len()
    );
    answerable(malformed.id.as_ref());
}

/// Checks that the response to `id` is JSON and has the id in its original form.
fn answerable(id: Option<&RequestId>) {
    let problem = "a \"fault\"\u{1}\u{2028}";
    let error = jsonrpc::invalid_request(problem, &ErrorDetail::new("", "kind", problem, problem));
    for revision in [None, Some(Revision::V2024_11_05), Some(Revision::LATEST)] {
        let body = Outgoing::refusal(id, revision, Stage::Envelope, &error).into_bytes();
        assert!(!body.contains(&b'\n'), "an answer is one line");
        let answer: Value = serde_json::from_slice(&body).expect("an answer is JSON");
        if let Some(id) = id {
            same_id(id, &answer["id"]);
        }
        match jsonrpc::parse(&body) {
            Ok(Incoming::Single(Message::Response { id: echoed, .. })) => {
                assert_eq!(echoed.as_ref(), id);
            }
            other => panic!("not a response: {other:?}"),
        }
    }
}

fn id_text(id: &RequestId) -> String {
    serde_json::to_string(id).expect("ids are JSON")
}
