//! Finds what a revision does not get of a value, by comparing the text written for it with the complete value.

use serde_json::Value;
use trueform_schema::{Conform, Encode, Era, Revision, View, pointer};

/// A place of a value that a revision does not get as it was written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LostPart {
    pub(crate) pointer: String,
    /// Whether the revision gets nothing there. Otherwise it gets something else.
    pub(crate) is_left_out: bool,
}

/// Returns the places of `written` that `sent` lacks or has in another form. Below a place for which `is_whole` returns true, members are
/// not compared one by one.
pub(crate) fn losses(
    written: &Value,
    sent: &Value,
    is_whole: &dyn Fn(&str) -> bool,
) -> Vec<LostPart> {
    let mut found = Vec::new();
    compare(written, sent, String::new(), is_whole, &mut found);
    found
}

fn compare(
    written: &Value,
    sent: &Value,
    pointer: String,
    is_whole: &dyn Fn(&str) -> bool,
    found: &mut Vec<LostPart>,
) {
    match (written, sent) {
        (Value::Object(written), Value::Object(sent)) if !is_whole(&pointer) => {
            for (name, value) in written {
                let pointer = format!("{pointer}/{}", pointer::escape(name));
                match sent.get(name) {
                    Some(sent) => compare(value, sent, pointer, is_whole, found),
                    None => found.push(LostPart {
                        pointer,
                        is_left_out: true,
                    }),
                }
            }
        }
        (Value::Array(written), Value::Array(sent))
            if written.len() == sent.len() && !is_whole(&pointer) =>
        {
            for (index, (written, sent)) in written.iter().zip(sent).enumerate() {
                compare(written, sent, format!("{pointer}/{index}"), is_whole, found);
            }
        }
        _ if written != sent => found.push(LostPart {
            pointer,
            is_left_out: false,
        }),
        _ => {}
    }
}

/// Returns `value` as JSON, as `view` writes it.
pub(crate) fn shown(value: &dyn Encode, view: View<'_>) -> Value {
    let mut text = Vec::new();
    value.encode(view, &mut text);
    serde_json::from_slice(&text).expect("what is encoded is JSON")
}

/// Logs what `revision` does not get of `written`, which was sent as `what` in the form `sent`. The log has places, never values.
pub(crate) fn log_loss(written: &dyn Conform, sent: &dyn Conform, revision: Revision, what: &str) {
    if revision.era() == Era::Modern || !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let lost = losses(
        &shown(written, View::ALL),
        &shown(sent, View::at(revision)),
        &|_| false,
    );
    if lost.is_empty() {
        return;
    }
    let lost: Vec<_> = lost.into_iter().map(|loss| loss.pointer).collect();
    let lost = lost.join(", ");
    tracing::debug!(what, %revision, lost, "an older revision sees less of a message");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_lost() {
        let all = json!({ "a": [1, { "b~/": 2, "c": 3 }], "d": null });
        for (sent, whole, expected) in [
            (all.clone(), "", &[][..]),
            (json!({}), "", &[("/a", true), ("/d", true)]),
            (json!([]), "", &[("", false)]),
            (
                json!({ "a": [4, { "c": 3 }], "d": 1, "more": 2 }),
                "",
                &[("/a/0", false), ("/a/1/b~0~1", true), ("/d", false)],
            ),
            // If items are missing, the rest does not show which.
            (json!({ "a": [1], "d": null }), "", &[("/a", false)]),
            (json!({ "a": [1, {}], "d": null }), "/a", &[("/a", false)]),
            (
                json!({ "a": [2, {}], "d": null }),
                "/a/1",
                &[("/a/0", false), ("/a/1", false)],
            ),
            (all.clone(), "/a", &[]),
        ] {
            let found = losses(&all, &sent, &|pointer| {
                !whole.is_empty() && pointer == whole
            });
            let found: Vec<_> = found
                .iter()
                .map(|loss| (&*loss.pointer, loss.is_left_out))
                .collect();
            assert_eq!(found, expected, "{sent}, whole: {whole}");
        }
    }
}
