//! What the log says of calls that fail.

use std::fmt::Display;

use serde_json::Value;
use trueform_schema::ErrorObject;

use super::around::LAYER;
use crate::{contained::panic_text, feature::callable::Failure};

pub(super) fn log_failure(name: &str, place: &dyn Display, failure: &Failure) {
    match failure {
        Failure::Panicked(panic) => {
            tracing::error!(name, %place, panic = panic_text(&**panic), "a call panicked");
        }
        Failure::LayerPanicked(panic) => {
            tracing::error!(name, panic = panic_text(&**panic), "{LAYER} panicked");
        }
        Failure::TimedOut(limit) => tracing::warn!(name, ?limit, "a call ran out of time"),
        Failure::NoThread => tracing::warn!(name, "no thread for a blocking call"),
        Failure::TooLarge { bytes, limit } => {
            tracing::warn!(name, %place, bytes, limit, "a response is larger than a layer allows");
        }
        Failure::Stopped => tracing::warn!(name, "a call was cut off: the server stops"),
    }
}

/// Logs that a call ends in an error: its code, and the place and rule in its data. Its message may have what the client sent (M-5).
#[cold]
pub(super) fn log_error(name: &str, place: &dyn Display, error: &ErrorObject) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let data = error.data.as_ref().map(|data| data.get());
    let data: Value = data
        .and_then(|data| serde_json::from_str(data).ok())
        .unwrap_or_default();
    let (pointer, rule) = (data["pointer"].as_str(), data["rule"].as_str());
    tracing::debug!(name, %place, code = error.code, pointer, rule, "answered with an error");
}

/// Logs that the rest of a call panicked when it was dropped.
#[cold]
pub(super) fn log_drop() {
    tracing::error!("a call panicked while it was dropped");
}
