//! Warns, once for each callable, about code that ran too long while other work waited for it.

use std::{
    collections::HashSet,
    fmt::Display,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// What a synchronous function, or one step of an async one, may take without a warning.
const SHORT: Duration = Duration::from_millis(50);

/// Warns if the callable `name`, written at `place`, blocked its transport for longer than [`SHORT`].
pub(super) fn report(name: &str, place: &dyn Display, held: Duration) {
    static REPORTED: Mutex<Option<HashSet<String>>> = Mutex::new(None);
    if held <= SHORT {
        return;
    }
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    if reported
        .get_or_insert_default()
        .insert(format!("{name} at {place}"))
    {
        tracing::warn!(
            name,
            %place,
            ?held,
            "a call kept all other requests of its connection waiting; make it await, or mark a tool `#[tool(blocking)]`"
        );
    }
}
