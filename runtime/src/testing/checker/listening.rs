//! Subscriptions of 2026-07-28: the requested, the acknowledged and the allowed notifications.

use serde_json::Value;

use super::Report;

/// An open `subscriptions/listen`.
#[derive(Debug)]
pub(super) struct OpenListens {
    asked: Value,
    /// The notifications that the server acknowledged; `None` before the acknowledgement.
    honoured: Option<Value>,
}

impl OpenListens {
    pub(super) fn new(params: &Value) -> Self {
        Self {
            asked: params.get("notifications").cloned().unwrap_or_default(),
            honoured: None,
        }
    }

    /// U-3
    pub(super) fn acknowledged(&mut self, report: &mut Report<'_>, params: &Value) {
        let honoured = params.get("notifications").cloned().unwrap_or_default();
        if self.honoured.is_some() {
            report.error(&["U-3"], "a subscription is acknowledged twice");
        }
        for (name, value) in honoured.as_object().into_iter().flatten() {
            if !is_within(value, self.asked.get(name)) {
                report.error(
                    &["U-3"],
                    format!("acknowledges `{name}`, which was not requested"),
                );
            }
        }
        self.honoured = Some(honoured);
    }

    /// U-2, U-3
    pub(super) fn delivered(&self, report: &mut Report<'_>, method: &str, params: &Value) {
        if self.honoured.is_none() {
            report.error(
                &["U-3", "TRAP-17"],
                format!("`{method}` before the subscription is acknowledged"),
            );
        }
        let allows = |name: &str| {
            self.asked
                .get(name)
                .is_some_and(|value| *value == Value::Bool(true))
        };
        let names = |name: &str, value: Option<&Value>| {
            let list = self.asked.get(name).and_then(Value::as_array);
            list.is_some_and(|list| value.is_some_and(|value| list.contains(value)))
        };
        let wanted = match method {
            "notifications/tools/list_changed" => allows("toolsListChanged"),
            "notifications/prompts/list_changed" => allows("promptsListChanged"),
            "notifications/resources/list_changed" => allows("resourcesListChanged"),
            // Updates may name parts of the requested resources (J-5).
            "notifications/resources/updated" => {
                let uri = params
                    .get("uri")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let list = self
                    .asked
                    .get("resourceSubscriptions")
                    .and_then(Value::as_array);
                list.is_some_and(|list| {
                    list.iter()
                        .filter_map(Value::as_str)
                        .any(|asked| uri.starts_with(asked))
                })
            }
            "notifications/tasks" => names("taskIds", params.get("taskId")),
            _ => true,
        };
        if !wanted {
            report.error(&["U-2"], format!("`{method}` was not requested"));
        }
    }
}

/// Returns whether `honoured` is a subset of `asked`.
fn is_within(honoured: &Value, asked: Option<&Value>) -> bool {
    match (honoured, asked) {
        (Value::Bool(false) | Value::Null, _) => true,
        (Value::Array(honoured), Some(Value::Array(asked))) => {
            honoured.iter().all(|item| asked.contains(item))
        }
        (Value::Array(honoured), _) => honoured.is_empty(),
        (honoured, asked) => asked == Some(honoured),
    }
}
