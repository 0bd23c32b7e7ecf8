//! Suggestions for a path while the user types it.

use std::time::{Duration, Instant};

use trueform::{completion::MAX_SUGGESTIONS, schema::Completion};

use crate::Folder;

/// Longest time of the search for paths. After it, the paths found so far are suggested.
pub const MAX_COMPLETION_TIME: Duration = Duration::from_secs(1);

/// The paths that begin with what was typed.
pub(crate) fn beginning_with(folder: &Folder, typed: &str) -> Completion {
    let end = Instant::now() + MAX_COMPLETION_TIME;
    let prefix = typed.to_owned();
    let files = folder.files(move |folder| {
        // `src/` for `src/ma`, and all folders in it for `src/`.
        let inside = format!("{folder}/");
        prefix.starts_with(&inside) || inside.starts_with(&prefix)
    });
    let mut found = files
        .take_while(|_| Instant::now() < end)
        .filter_map(Result::ok)
        .map(|file| file.path)
        .filter(|path| path.starts_with(typed));
    let values: Vec<String> = found.by_ref().take(MAX_SUGGESTIONS).collect();
    let has_more = found.next().is_some() || end <= Instant::now();
    let mut completion = Completion::new(values);
    completion.has_more = Some(has_more);
    completion
}
