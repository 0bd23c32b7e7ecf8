//! A snapshot of a server's contract with its clients, and the severity of its changes.
//!
//! The snapshot is of the newest revision, before projection, in one canonical form: servers that clients cannot distinguish have
//! the same snapshot. This module compares the parts of a server. Schemas are compared by the code that `trueform-codegen diff` also
//! uses.

mod offers;
mod surface;

use std::{fmt, fs, io, path::Path};

use serde_json::{Map, Value};
use trueform_compare::shortened;

use crate::server::Service;

pub use self::surface::contract;
pub use trueform_compare::Impact;

/// One difference between two contracts. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Severity of the change.
    pub impact: Impact,
    /// The subject, such as ``tool `add`, argument `a` ``.
    pub place: String,
    /// Description of the change.
    pub message: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8}  {}: {}", self.impact, self.place, self.message)
    }
}

/// Fails the test if the contract of `service` differs from the file at `path`.
///
/// The file is [`contract`] as JSON; relative paths are relative to the package, where `cargo test` runs. If the environment
/// variable `UPDATE_EXPECT` is `1`, the file is written instead, so that the change can be reviewed with the code.
///
/// ```no_run
/// # use trueform::prelude::*;
/// # fn server() -> Server { Server::new("calc", "1.0.0") }
/// #[test]
/// fn nobody_is_surprised() {
///     trueform::testing::assert_contract(&server().build().unwrap(), "tests/contract.json");
/// }
/// ```
///
/// # Panics
/// If there are changes, with a list of them, worst first; or if the file cannot be read or written.
#[track_caller]
pub fn assert_contract(service: &Service, path: impl AsRef<Path>) {
    if let Err(problem) = compare(
        &contract(service),
        path.as_ref(),
        std::env::var("UPDATE_EXPECT").is_ok_and(|set| set == "1"),
    ) {
        panic!("{problem}");
    }
}

fn compare(now: &Value, path: &Path, update: bool) -> Result<(), String> {
    let shown = path.display();
    if update {
        let mut text = format!("{now:#}");
        text.push('\n');
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| format!("the folder of `{shown}` cannot be created: {error}"))?;
        }
        return fs::write(path, text)
            .map_err(|error| format!("`{shown}` cannot be written: {error}"));
    }
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!(
                "there is no contract at `{shown}` yet; run the test with UPDATE_EXPECT=1 to write it"
            ));
        }
        Err(error) => return Err(format!("`{shown}` cannot be read: {error}")),
    };
    let before: Value = serde_json::from_str(&text)
        .map_err(|error| format!("`{shown}` is not a contract: {error}"))?;
    let changes = changes(&before, now);
    match changes.first() {
        None => Ok(()),
        Some(worst) => {
            let list: String = changes
                .iter()
                .map(|change| format!("  {change}\n"))
                .collect();
            let worst = worst.impact;
            Err(format!(
                "the server no longer keeps the contract `{shown}` ({worst}):\n{list}Run the test with UPDATE_EXPECT=1 to accept this."
            ))
        }
    }
}

/// Returns the changes between two contracts, worst first.
///
/// Arguments may become more general and results more specific; the reverse breaks clients.
///
/// ```
/// use serde_json::json;
/// use trueform::testing::changes;
///
/// let tool = |properties| json!({ "tools": { "f": { "inputSchema": { "type": "object", "properties": properties } } } });
/// let before = tool(json!({ "unit": { "enum": ["C", "F"] } }));
/// let after = tool(json!({ "unit": { "enum": ["C"] } }));
/// assert_eq!(changes(&before, &after)[0].to_string(), r#"breaking  tool `f`, argument `unit`: value "F" removed"#);
/// assert_eq!(changes(&after, &before)[0].to_string(), r#"additive  tool `f`, argument `unit`: value "F" added"#);
/// ```
#[must_use]
pub fn changes(before: &Value, after: &Value) -> Vec<Change> {
    let mut found = Changes::default();
    let empty = Map::new();
    let part = |whole, name| object(whole, name).unwrap_or(&empty);
    found.value(
        "the server",
        "instructions",
        before.get("instructions"),
        after.get("instructions"),
        [Impact::Risky; 3],
    );
    found.members(
        "the server",
        part(before, "server"),
        part(after, "server"),
        |name| match name {
            "name" => [Impact::Risky; 3],
            _ => [Impact::Additive; 3],
        },
    );
    let capability = |_: &str| [Impact::Additive, Impact::Risky, Impact::Breaking];
    found.members(
        "the capabilities",
        part(before, "capabilities"),
        part(after, "capabilities"),
        capability,
    );
    found.list(
        "the revisions",
        before.get("revisions"),
        after.get("revisions"),
        [Impact::Additive, Impact::Breaking],
    );
    for (member, kind, compare) in KINDS {
        let (old, new) = (part(before, member), part(after, member));
        for (name, item) in old {
            let place = format!("{kind} `{name}`");
            match new.get(name) {
                None => found.add(Impact::Breaking, place, "it is gone"),
                Some(other) => compare(&mut found, &place, item, other),
            }
        }
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            found.add(Impact::Additive, format!("{kind} `{name}`"), "it is new");
        }
    }
    if found.0.is_empty() && before != after {
        found.add(
            Impact::Risky,
            "the contract".to_owned(),
            "an unknown kind of change",
        );
    }
    found
        .0
        .sort_by_key(|change| std::cmp::Reverse(change.impact));
    found.0
}

/// Compares one item of two contracts.
type Compare = fn(&mut Changes, &str, &Value, &Value);

/// The features of a server: the member of the contract, the word for one item, and how two items are compared.
const KINDS: [(&str, &str, Compare); 4] = [
    ("tools", "tool", Changes::tool),
    ("prompts", "prompt", Changes::prompt),
    ("resources", "resource", Changes::resource),
    ("resourceTemplates", "resource template", Changes::resource),
];

fn object<'a>(whole: &'a Value, name: &str) -> Option<&'a Map<String, Value>> {
    whole.get(name)?.as_object()
}

#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn add(&mut self, impact: Impact, place: String, message: impl Into<String>) {
        self.0.push(Change {
            impact,
            place,
            message: message.into(),
        });
    }

    /// Compares a value as a whole; `impacts` of its addition, change and removal.
    fn value(
        &mut self,
        place: &str,
        name: &str,
        before: Option<&Value>,
        after: Option<&Value>,
        impacts: [Impact; 3],
    ) {
        let [comes, changes, goes] = impacts;
        match (before, after) {
            (None, Some(after)) => self.add(
                comes,
                place.to_owned(),
                format!("`{name}` is new: {}", shortened(after)),
            ),
            (Some(before), Some(after)) if before != after => {
                self.add(
                    changes,
                    place.to_owned(),
                    format!(
                        "`{name}` was {}, is {}",
                        shortened(before),
                        shortened(after)
                    ),
                );
            }
            (Some(_), None) => self.add(goes, place.to_owned(), format!("`{name}` is gone")),
            _ => {}
        }
    }

    fn members(
        &mut self,
        place: &str,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        impacts: impl Fn(&str) -> [Impact; 3],
    ) {
        let new = after.keys().filter(|name| !before.contains_key(*name));
        for name in before.keys().chain(new) {
            self.value(
                place,
                name,
                before.get(name),
                after.get(name),
                impacts(name),
            );
        }
    }

    /// Compares a set of names; `impacts` of an added and a removed one.
    fn list(
        &mut self,
        place: &str,
        before: Option<&Value>,
        after: Option<&Value>,
        [comes, goes]: [Impact; 2],
    ) {
        let items =
            |list: Option<&Value>| list.and_then(Value::as_array).cloned().unwrap_or_default();
        let (before, after) = (items(before), items(after));
        for item in before.iter().filter(|item| !after.contains(item)) {
            self.add(goes, place.to_owned(), format!("{item} is gone"));
        }
        for item in after.iter().filter(|item| !before.contains(item)) {
            self.add(comes, place.to_owned(), format!("{item} is new"));
        }
    }
}

#[cfg(test)]
mod tests;
