//! The list of revisions, as input of the macro in `schema/src/revision.rs`.

use std::fmt::Write as _;

use super::Context;

pub(super) fn emit(cx: &Context<'_>, out: &mut String) {
    out.push_str("\nrevisions! {\n");
    for name in &cx.model.revisions {
        let neutral = format!("{name}.");
        let words = cx
            .inputs
            .docs
            .get(&format!("Revision.{name}"))
            .map_or(neutral.as_str(), String::as_str);
        for line in words.trim_end().lines() {
            let _ = writeln!(out, "    /// {line}");
        }
        let era = if *name < cx.inputs.overlay.modern_since {
            "Legacy"
        } else {
            "Modern"
        };
        let _ = writeln!(out, "    V{} = {name:?} {era},", name.replace('-', "_"));
    }
    out.push_str("}\n");
}
