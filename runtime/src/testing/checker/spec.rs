//! The pages of the specification for the rules.

/// Returns the page for the requirement `id`. Rules are grouped by subject, so the letter determines nearly all pages.
pub(super) fn page(id: &str) -> &'static str {
    macro_rules! page {
        ($path:literal) => {
            concat!("https://modelcontextprotocol.io/specification/", $path)
        };
    }
    match id {
        "B-10" => return page!("2025-11-25/basic/utilities/ping"),
        "B-12" => return page!("2025-11-25/schema"),
        "F-9" => return page!("2025-11-25/basic/transports"),
        _ => {}
    }
    match id.split('-').next().unwrap_or_default() {
        "B" => page!("2025-11-25/basic/lifecycle"),
        "C" => page!("2026-07-28/basic/versioning"),
        "E" => page!("2026-07-28/basic/transports/stdio"),
        "F" | "G" => page!("2026-07-28/basic/transports/streamable-http"),
        "I" => page!("2026-07-28/server/tools"),
        "J" => page!("2026-07-28/server/resources"),
        "K" => page!("2026-07-28/server/prompts"),
        "M" => page!("2026-07-28/server/utilities/logging"),
        "N" => page!("2025-11-25/basic/utilities/progress"),
        "O" => page!("2025-11-25/basic/utilities/cancellation"),
        "Q" => page!("2026-07-28/client/sampling"),
        "R" => page!("2026-07-28/client/elicitation"),
        "T" => page!("2026-07-28/basic/patterns/mrtr"),
        "U" => page!("2026-07-28/basic/patterns/subscriptions"),
        "W" => page!("2025-11-25/basic/utilities/tasks"),
        // The members and messages of all subjects.
        "V" | "Z" => page!("2026-07-28/schema"),
        _ => page!("2026-07-28/basic"),
    }
}
