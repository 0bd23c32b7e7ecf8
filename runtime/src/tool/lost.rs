//! What clients of older revisions do not get of a tool's results, told to the author: once for each rule and revision.
//!
//! Where a result can lose something is known here; what becomes of it there, and at which revisions, is looked up in the
//! table of [`projection`]. Values are never told.

use std::sync::atomic::{AtomicU8, Ordering};

use trueform_schema::{
    CallToolResult, ContentBlock, Meta, ResourceContents, Revision, Revisions,
    projection::{Becomes, Rule},
    rewrite::Wrapped,
};

use crate::projection;

/// What the log already says of one tool: for each place the revisions.
#[derive(Debug, Default)]
pub(super) struct Told([AtomicU8; PLACES.len()]);

impl Told {
    /// Logs what `revision` loses of `result`, as far as it was not said before. `wraps` says whether structured content is
    /// wrapped for it.
    #[cold]
    pub(super) fn tell(
        &self,
        tool: &str,
        result: &CallToolResult,
        wraps: bool,
        revision: Revision,
    ) {
        visit(result, wraps, revision, &mut |place| {
            if !self.is_new(place, revision) {
                return;
            }
            if let Some(rule) = place.rule(revision) {
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

    fn is_new(&self, place: Place, revision: Revision) -> bool {
        let bit = Revisions::of(revision).bits();
        let told = &self.0[place as usize];
        // Most of the time it was said, and then nothing is written.
        told.load(Ordering::Relaxed) & bit == 0 && told.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

/// A member or an alternative that not all revisions have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Structured,
    ServerInfo,
    Audio,
    Link,
    LinkIcons,
    LastModified,
    TextMeta,
    ImageMeta,
    AudioMeta,
    EmbeddedMeta,
    TextContentsMeta,
    BlobContentsMeta,
}

/// All places, in order: the type and the item as the table has them.
const PLACES: [(&str, &str); 12] = [
    ("CallToolResult", "structuredContent"),
    ("ResultMetaObject", "io.modelcontextprotocol/serverInfo"),
    ("ContentBlock", "Audio"),
    ("ContentBlock", "ResourceLink"),
    ("ResourceLink", "icons"),
    ("Annotations", "lastModified"),
    ("TextContent", "_meta"),
    ("ImageContent", "_meta"),
    ("AudioContent", "_meta"),
    ("EmbeddedResource", "_meta"),
    ("TextResourceContents", "_meta"),
    ("BlobResourceContents", "_meta"),
];

impl Place {
    /// The rule by which `revision` loses what is there, if it does.
    fn rule(self, revision: Revision) -> Option<Rule> {
        let (of, item) = PLACES[self as usize];
        projection::rules()
            .find(|rule| rule.is(of, item) && rule.at.contains(revision) && is_loss(&rule.becomes))
    }
}

/// Whether that is sent, and less or other than what was there.
fn is_loss(becomes: &Becomes) -> bool {
    matches!(becomes, Becomes::LeftOut | Becomes::Rewritten(_))
}

/// Calls `found` with every place that `result` has something at, as often as it has.
fn visit(result: &CallToolResult, wraps: bool, revision: Revision, found: &mut dyn FnMut(Place)) {
    let mut look = |there: bool, place| {
        if there {
            found(place);
        }
    };
    // Where structured content must be an object, one that is an object stays as it is.
    let stays = Wrapped::REVISIONS.contains(revision) && !wraps;
    look(
        result.structured_content.is_some() && !stays,
        Place::Structured,
    );
    let meta = result.meta.as_ref();
    look(
        meta.is_some_and(|meta| meta.server_info.is_some()),
        Place::ServerInfo,
    );
    let has = Option::<Meta>::is_some;
    for block in &result.content {
        let annotations = match block {
            ContentBlock::Text(text) => {
                look(has(&text.meta), Place::TextMeta);
                &text.annotations
            }
            ContentBlock::Image(image) => {
                look(has(&image.meta), Place::ImageMeta);
                &image.annotations
            }
            ContentBlock::Audio(audio) => {
                look(true, Place::Audio);
                look(has(&audio.meta), Place::AudioMeta);
                &audio.annotations
            }
            ContentBlock::ResourceLink(link) => {
                look(true, Place::Link);
                look(link.icons.is_some(), Place::LinkIcons);
                &link.annotations
            }
            ContentBlock::EmbeddedResource(embedded) => {
                look(has(&embedded.meta), Place::EmbeddedMeta);
                match &embedded.resource {
                    ResourceContents::Text(text) => look(has(&text.meta), Place::TextContentsMeta),
                    ResourceContents::Blob(blob) => look(has(&blob.meta), Place::BlobContentsMeta),
                    _ => {}
                }
                &embedded.annotations
            }
            _ => continue,
        };
        let modified = annotations
            .as_ref()
            .is_some_and(|annotations| annotations.last_modified.is_some());
        look(modified, Place::LastModified);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use trueform_schema::{TYPES, types};

    use super::*;

    /// The types that a result of a tool may hold.
    const HELD: &[&str] = &[
        "Annotations",
        "AudioContent",
        "BlobResourceContents",
        "CallToolResult",
        "ContentBlock",
        "EmbeddedResource",
        "Icon",
        "IconTheme",
        "ImageContent",
        "ResourceContents",
        "ResourceLink",
        "ResultMetaObject",
        "Role",
        "TextContent",
        "TextResourceContents",
    ];

    #[test]
    fn every_rule_for_what_a_result_holds_has_a_place() {
        let listed: BTreeSet<_> = projection::rules()
            // What is always written is not the author's.
            .filter(|rule| {
                HELD.contains(&rule.of) && is_loss(&rule.becomes) && rule.item != "resultType"
            })
            .map(|rule| (rule.of, rule.item))
            .collect();
        assert_eq!(listed, BTreeSet::from(PLACES));
    }

    /// Alternatives that come later must be looked into too.
    #[test]
    fn every_alternative_is_looked_into() {
        for (union, alternatives) in [
            (
                "ContentBlock",
                &["Text", "Image", "Audio", "ResourceLink", "EmbeddedResource"][..],
            ),
            ("ResourceContents", &["Text", "Blob"]),
        ] {
            let info = types::find(TYPES, union).unwrap();
            let names: Vec<_> = info.members().map(|variant| variant.name).collect();
            assert_eq!(names, alternatives, "{union}");
        }
    }

    /// That of the newest is never asked.
    #[test]
    fn the_modern_era_loses_nothing() {
        for rule in projection::rules() {
            if PLACES.contains(&(rule.of, rule.item)) && is_loss(&rule.becomes) {
                let legacy = Revisions::until(Revision::LATEST_LEGACY);
                assert!(rule.at.iter().all(|at| legacy.contains(at)), "{rule:?}");
            }
        }
    }

    #[test]
    fn places_are_in_order() {
        let last = Place::BlobContentsMeta;
        assert_eq!(last as usize + 1, PLACES.len());
        assert_eq!(
            PLACES[Place::Link as usize],
            ("ContentBlock", "ResourceLink")
        );
        assert_eq!(PLACES[Place::ImageMeta as usize], ("ImageContent", "_meta"));
    }
}
