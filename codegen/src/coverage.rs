//! The table of methods in the guide of `trueform`, generated from the method table so that it cannot be wrong.

use std::fmt::Write as _;

use crate::model::{MethodDef, Model};

/// The page that has the table, from the folder of the workspace.
pub const PAGE: &str = "runtime/src/guide/revisions.md";

const OPEN: &str = "<!-- coverage:";
const CLOSE: &str = "<!-- /coverage -->";

/// Returns every method with its sender at each revision: `c` the client, `s` the server, `cs` either.
#[must_use]
pub fn table(model: &Model) -> String {
    let mut out = String::from("| method |");
    for revision in &model.revisions {
        let _ = write!(out, " {revision} |");
    }
    out.push_str("\n| --- |");
    out.push_str(&" :-: |".repeat(model.revisions.len()));
    out.push('\n');
    rows(&mut out, model, "");
    for (name, extension) in &model.extensions {
        rows(&mut out, extension, &format!(" ({name} extension)"));
    }
    out
}

/// Returns `page` with the table between its two `coverage` comments; `None` if it does not have these comments.
#[must_use]
pub fn update(page: &str, model: &Model) -> Option<String> {
    let open = page.find(OPEN)?;
    let start = open + page[open..].find('\n')? + 1;
    let end = start + page[start..].find(CLOSE)?;
    Some(format!(
        "{}\n{}\n{}",
        &page[..start],
        table(model),
        &page[end..]
    ))
}

fn rows(out: &mut String, model: &Model, of: &str) {
    // Requests first, then notifications; both by name.
    let (notifications, requests): (Vec<&MethodDef>, Vec<&MethodDef>) = model
        .methods
        .values()
        .partition(|method| method.notification);
    for method in requests.into_iter().chain(notifications) {
        let _ = write!(out, "| `{}`{of} |", method.wire);
        for revision in 0..model.revisions.len() {
            let who = match method
                .rules
                .get(&revision)
                .map(|rules| (rules.from_client, rules.from_server))
            {
                Some((true, true)) => "cs",
                Some((true, false)) => "c",
                Some((false, true)) => "s",
                _ => "",
            };
            let _ = write!(out, " {who} |");
        }
        out.push('\n');
    }
}
