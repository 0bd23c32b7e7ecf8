//! The keys of objects, for errors about a member that is absent: often it is there under another name.

use serde::de::IgnoredAny;
use trueform_schema::{DecodeError, Map, decode};

use super::NEEDED;
use crate::jsonrpc::shortened;

/// The keys that an entry may have. `name` is one of ACP only.
const KEYS: [&str; 7] = ["name", "type", "command", "args", "env", "url", "headers"];

/// Most keys that an error repeats: 8.
const MAX_SHOWN: usize = 8;

/// `error` about `entry`. If a member is absent, it names the unknown keys that the entry has, and all that it may have.
pub(super) fn named(error: DecodeError, entry: &str) -> DecodeError {
    if error.message() != NEEDED {
        return error;
    }
    let unknown = found(entry, |key| !KEYS.contains(&key));
    let found = match unknown.is_empty() {
        true => String::new(),
        false => format!("; the entry has the unknown keys {unknown}"),
    };
    let known = listed(KEYS.into_iter());
    let problem = format!("{NEEDED}{found}; known keys are {known}");
    DecodeError::new(error.pointer(), problem)
}

/// The keys of the JSON text `object` that are `wanted`; empty if there are none, or if it is not an object.
pub(super) fn found(object: &str, wanted: impl Fn(&str) -> bool) -> String {
    let Ok(members) = decode::from_str::<Map<IgnoredAny>>(object) else {
        return String::new();
    };
    listed(members.iter().map(|(key, _)| key).filter(|key| wanted(key)))
}

fn listed<'a>(mut keys: impl Iterator<Item = &'a str>) -> String {
    let shown = keys.by_ref().take(MAX_SHOWN);
    let shown: Vec<String> = shown.map(|key| format!("`{}`", shortened(key))).collect();
    let more = if keys.next().is_some() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
