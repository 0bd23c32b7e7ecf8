//! Tells, once per tool, of code that ran too long where others wait for it.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::tool::ToolRoute;

/// What a synchronous tool, or one step of an async one, may take without being told of.
const SHORT: Duration = Duration::from_millis(50);

/// Warns if `tool` held its transport for longer than [`SHORT`].
pub(crate) fn report(tool: &ToolRoute, held: Duration) {
    static TOLD: Mutex<Option<HashSet<String>>> = Mutex::new(None);
    if held <= SHORT {
        return;
    }
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let place = format!("{} at {}", tool.name(), tool.place());
    if told.get_or_insert_default().insert(place) {
        tracing::warn!(
            tool = tool.name(),
            place = %tool.place(),
            ?held,
            "a tool kept all other requests of its connection waiting; mark it `#[tool(blocking)]` or make it await"
        );
    }
}
