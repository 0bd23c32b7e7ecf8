//! The parts of the results of tools, prompts and resources that clients of older revisions do not get. The log reports it once for each
//! rule and revision.
//!
//! This module knows where a result can lose something. The table of [`projection`] says what happens there, and at which revisions. Values
//! are never logged.

use std::sync::{
    OnceLock,
    atomic::{AtomicU8, Ordering},
};

use trueform_schema::{
    Era, Revision, Revisions,
    parts::{Part, Parts},
    projection::{Becomes, Rule},
};

use crate::projection;

/// What the log has already reported for one tool, prompt, resource or template: the revisions of each rule.
#[derive(Debug, Default)]
pub(crate) struct ReportedLosses(OnceLock<Box<[AtomicU8]>>);

/// A type and its member, or its variant, as the table of [`projection`] names them.
pub(crate) type PartName = (&'static str, &'static str);

impl ReportedLosses {
    /// Logs what `revision` loses of `result`, if it was not logged before. `kind` and `name` identify the source of the result. `kept` is
    /// a part that this result keeps, although the table says that the revision may lose it.
    #[inline]
    pub(crate) fn log(
        &self,
        (kind, name): (&'static str, &str),
        result: &impl Parts,
        kept: Option<PartName>,
        revision: Revision,
    ) {
        if revision.era() == Era::Legacy && tracing::enabled!(tracing::Level::DEBUG) {
            self.log_each(kind, name, result, kept, revision);
        }
    }

    #[cold]
    fn log_each(
        &self,
        kind: &'static str,
        name: &str,
        result: &dyn Parts,
        kept: Option<PartName>,
        revision: Revision,
    ) {
        result.each_part(&mut |part| {
            if let Some((index, rule)) = loss(part, kept, revision)
                && self.is_new(index, revision)
            {
                tracing::debug!(
                    kind,
                    name,
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
        // Usually it was logged before, and then nothing is written.
        reported.load(Ordering::Relaxed) & bit == 0
            && reported.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

/// Returns whether the result is sent with the part left out or rewritten.
fn is_loss(becomes: &Becomes) -> bool {
    matches!(becomes, Becomes::LeftOut | Becomes::Rewritten(_))
}

/// Returns the rule by which `revision` loses `part`, and its index; `None` if `revision` keeps it.
fn loss(part: Part<'_>, kept: Option<PartName>, revision: Revision) -> Option<(usize, Rule)> {
    let Part::Item { of, item } = part else {
        return None;
    };
    if kept == Some((of, item)) {
        return None;
    }
    projection::rules()
        .enumerate()
        .find(|(_, rule)| rule.is(of, item) && rule.at.contains(revision) && is_loss(&rule.becomes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use trueform_schema::{CallToolResult, decode};

    use super::*;

    /// A result with all parts that some revision lacks.
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

    const STRUCTURED: PartName = ("CallToolResult", "structuredContent");

    fn losses(kept: Option<PartName>, revision: Revision) -> Vec<PartName> {
        let result: CallToolResult = decode::from_str(ALL).unwrap();
        let mut losses = Vec::new();
        result.each_part(&mut |part| {
            if let Some((index, rule)) = loss(part, kept, revision) {
                let indexed = projection::rules().nth(index).unwrap();
                assert_eq!((indexed.of, indexed.item), (rule.of, rule.item));
                losses.push((rule.of, rule.item));
            }
        });
        losses
    }

    #[test]
    fn every_loss_is_found() {
        let all: BTreeSet<_> = Revision::ALL
            .into_iter()
            .flat_map(|revision| losses(None, revision))
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
        assert_eq!(losses(None, Revision::V2026_07_28), []);
    }

    #[test]
    fn what_is_kept_is_not_lost() {
        let revision = Revision::V2025_06_18;
        assert!(losses(None, revision).contains(&STRUCTURED));
        let kept = losses(Some(STRUCTURED), revision);
        assert!(!kept.contains(&STRUCTURED) && !kept.is_empty());
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
