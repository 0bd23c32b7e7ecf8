//! What clients of older revisions do not get of a tool's results. The log reports it once for each rule and revision.
//!
//! Where a result can lose something is known here; what becomes of it there, and at which revisions, is looked up in the
//! table of [`projection`]. Values are never logged.

use std::sync::{
    OnceLock,
    atomic::{AtomicU8, Ordering},
};

use trueform_schema::{
    CallToolResult, Revision, Revisions,
    parts::{Part, Parts},
    projection::{Becomes, Rule},
    rewrite::Wrapped,
};

use crate::projection;

/// What the log already says of one tool: for each rule the revisions.
#[derive(Debug, Default)]
pub(super) struct ReportedLosses(OnceLock<Box<[AtomicU8]>>);

impl ReportedLosses {
    /// Logs what `revision` loses of `result`, as far as it was not said before. `wraps` says whether structured content is
    /// wrapped for it.
    #[cold]
    pub(super) fn log(&self, tool: &str, result: &CallToolResult, wraps: bool, revision: Revision) {
        each_loss(result, wraps, revision, &mut |index, rule| {
            if self.is_new(index, revision) {
                tracing::debug!(
                    tool,
                    %revision,
                    rule = %format_args!("{}: {}", rule.of, rule.item),
                    becomes = %rule.becomes,
                    "an older revision sees less of a result"
                );
            }
        });
    }

    fn is_new(&self, rule: usize, revision: Revision) -> bool {
        let bit = Revisions::of(revision).bits();
        let reported = self
            .0
            .get_or_init(|| projection::rules().map(|_| AtomicU8::new(0)).collect());
        let reported = &reported[rule];
        // Most of the time it was said, and then nothing is written.
        reported.load(Ordering::Relaxed) & bit == 0
            && reported.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

/// Whether that is sent, and less or other than what was there.
fn is_loss(becomes: &Becomes) -> bool {
    matches!(becomes, Becomes::LeftOut | Becomes::Rewritten(_))
}

/// Calls `found` with every rule by which `revision` loses something of `result`, and its index, as often as it does.
fn each_loss(
    result: &CallToolResult,
    wraps: bool,
    revision: Revision,
    found: &mut dyn FnMut(usize, Rule),
) {
    // Where structured content must be an object, one that is an object stays as it is.
    let stays = Wrapped::REVISIONS.contains(revision) && !wraps;
    result.each_part(&mut |part| {
        let Part::Item { of, item } = part else {
            return;
        };
        if stays && (of, item) == STRUCTURED {
            return;
        }
        let rule = projection::rules().enumerate().find(|(_, rule)| {
            rule.is(of, item) && rule.at.contains(revision) && is_loss(&rule.becomes)
        });
        if let Some((index, rule)) = rule {
            found(index, rule);
        }
    });
}

const STRUCTURED: (&str, &str) = ("CallToolResult", "structuredContent");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use trueform_schema::decode;

    use super::*;

    /// A result with everything in it that some revision lacks.
    const ALL: &str = r#"{
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
        "structuredContent": [1],
        "content": [
            {"type": "text", "text": "", "_meta": {}, "annotations": {"lastModified": "2026-01-01T00:00:00Z"}},
            {"type": "image", "data": "", "mimeType": "image/png", "_meta": {}},
            {"type": "audio", "data": "", "mimeType": "audio/wav", "_meta": {}},
            {"type": "resource_link", "uri": "a:b", "name": "n", "icons": []},
            {"type": "resource", "_meta": {}, "resource": {"uri": "a:b", "text": "", "_meta": {}}},
            {"type": "resource", "resource": {"uri": "a:b", "blob": "", "_meta": {}}}
        ]
    }"#;

    fn losses(wraps: bool, revision: Revision) -> Vec<(&'static str, &'static str)> {
        let result: CallToolResult = decode::from_str(ALL).unwrap();
        let mut losses = Vec::new();
        each_loss(&result, wraps, revision, &mut |index, rule| {
            let indexed = projection::rules().nth(index).unwrap();
            assert_eq!((indexed.of, indexed.item), (rule.of, rule.item));
            losses.push((rule.of, rule.item));
        });
        losses
    }

    #[test]
    fn every_loss_is_found() {
        let all: BTreeSet<_> = Revision::ALL
            .into_iter()
            .flat_map(|revision| losses(false, revision))
            .collect();
        assert_eq!(
            all.into_iter().collect::<Vec<_>>(),
            [
                ("Annotations", "lastModified"),
                ("AudioContent", "_meta"),
                ("BlobResourceContents", "_meta"),
                ("CallToolResult", "structuredContent"),
                ("ContentBlock", "Audio"),
                ("ContentBlock", "ResourceLink"),
                ("EmbeddedResource", "_meta"),
                ("ImageContent", "_meta"),
                ("ResourceLink", "icons"),
                ("ResultMetaObject", "io.modelcontextprotocol/serverInfo"),
                ("TextContent", "_meta"),
                ("TextResourceContents", "_meta"),
            ]
        );
        assert_eq!(losses(false, Revision::V2026_07_28), []);
    }

    #[test]
    fn structured_content_is_lost_where_it_is_left_out_or_wrapped() {
        for (wraps, revision, lost) in [
            (true, Revision::V2025_06_18, true),
            (false, Revision::V2025_06_18, false),
            (false, Revision::V2025_03_26, true),
        ] {
            let found = losses(wraps, revision).contains(&STRUCTURED);
            assert_eq!(found, lost, "{revision}, {wraps}");
        }
    }

    #[test]
    fn it_is_said_once_for_each_rule_and_revision() {
        let reported = ReportedLosses::default();
        assert!(reported.is_new(3, Revision::V2025_06_18));
        assert!(!reported.is_new(3, Revision::V2025_06_18));
        assert!(reported.is_new(3, Revision::V2025_03_26));
        assert!(reported.is_new(4, Revision::V2025_06_18));
    }
}
