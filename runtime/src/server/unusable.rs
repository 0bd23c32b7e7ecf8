//! Settings with which nothing could be served: a limit or a time of zero, an empty text.

use super::Server;
use crate::feature::tasks::TaskSettings;

/// Returns a sentence for each such setting of `server`.
pub(super) fn problems(server: &Server) -> Vec<String> {
    let mut problems = Vec::new();
    let (info, ask) = (&server.info, &server.ask);
    let texts = [
        ("the name of the server", Some(&info.name)),
        ("the version of the server", Some(&info.version)),
        ("`title`", info.title.as_ref()),
        ("`description`", info.description.as_ref()),
        ("`instructions`", server.instructions.as_ref()),
    ];
    for (what, text) in texts {
        if text.is_some_and(|text| text.trim().is_empty()) {
            problems.push(format!("{what} is empty; expected a text"));
        }
    }
    let bounds = [
        ("page_size", server.page_size == 0, "at least 1 item"),
        (
            "max_in_flight",
            server.max_in_flight == 0,
            "at least 1 call",
        ),
        ("max_unread", server.max_unread == 0, "at least 1 byte"),
        (
            "max_check_steps",
            server.max_check_steps == 0,
            "at least 1 step",
        ),
        ("ask_rounds", ask.rounds == 0, "at least 1 round"),
        ("ask_state", ask.state_bytes == 0, "at least 1 byte"),
        ("ask_timeout", ask.timeout.is_zero(), "a longer time"),
        ("ask_expiry", ask.expiry.is_zero(), "a longer time"),
    ];
    for (setting, is_zero, expected) in bounds {
        if is_zero {
            problems.push(format!("`{setting}` is zero; expected {expected}"));
        }
    }
    problems.extend(server.layers.iter().filter_map(|layer| layer.problem()));
    problems.extend(server.tasks.iter().flat_map(TaskSettings::problems));
    #[cfg(feature = "http")]
    problems.extend(server.http.problems());
    problems
}
