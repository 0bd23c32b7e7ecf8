//! What older revisions see in place of alternatives that they do not have.
//!
//! | from | to | at |
//! | --- | --- | --- |
//! | audio in tool results and prompts | embedded resource with the same bytes | 2024-11-05 |
//! | resource link in tool results and prompts | text with name and URI | before 2025-06-18 |
//! | form field with titled choices | the same with `enum` and `enumNames` | 2025-06-18 |
//! | list with one block of sampling content | the block | before 2025-11-25 |
//!
//! The overlay of the schema says which alternatives are rewritten; how is owned here. Whatever is not in the table is left
//! out if it is a member, and a [`Violation`](crate::Violation) if it is an alternative or a value.

use crate::{
    AudioContent, BlobResourceContents, EmbeddedResource, Encode, Era, LegacyTitledEnumSchema,
    ResourceContents, ResourceLink, Revision, Revisions, TextContent, TitledSingleSelectEnumSchema,
    View, conform::Conform,
};

/// An alternative that older revisions see as something else.
pub trait Rewrite: Conform {
    /// What `revision`, which does not have this alternative, sees instead; `None` if nothing can stand for it.
    fn rewritten(&self, revision: Revision) -> Option<Box<dyn Conform>>;
}

/// Writes `value`, an alternative that only `known` revisions have.
pub fn rewritten<T: Rewrite>(value: &T, known: Revisions, view: View<'_>, out: &mut Vec<u8>) {
    match lacking(known, view).and_then(|revision| value.rewritten(revision)) {
        Some(older) => older.encode(view, out),
        None => value.encode(view, out),
    }
}

/// Writes `items`, which only `known` revisions may list: at others a single one stands by itself.
pub fn many<T: Encode>(items: &Vec<T>, known: Revisions, view: View<'_>, out: &mut Vec<u8>) {
    match (lacking(known, view), items.as_slice()) {
        (Some(_), [one]) => one.encode(view, out),
        _ => items.encode(view, out),
    }
}

/// The one revision of `view`, if it is none of `known`.
fn lacking(known: Revisions, view: View<'_>) -> Option<Revision> {
    view.revision()
        .filter(|revision| !known.contains(*revision))
}

// TRAP-11
impl Rewrite for AudioContent {
    fn rewritten(&self, _: Revision) -> Option<Box<dyn Conform>> {
        // The URI says what the bytes are; the same bytes get the same one.
        let uri = format!(
            "urn:trueform:audio:{:016x}",
            fingerprint(self.data.as_bytes())
        );
        let blob = BlobResourceContents::new(self.data.clone(), uri)
            .with_mime_type(self.mime_type.clone());
        let mut embedded = EmbeddedResource::new(ResourceContents::from(blob));
        embedded.annotations.clone_from(&self.annotations);
        Some(Box::new(embedded))
    }
}

// TRAP-11
impl Rewrite for ResourceLink {
    fn rewritten(&self, _: Revision) -> Option<Box<dyn Conform>> {
        let title = self.title.as_deref().unwrap_or(&self.name);
        let mut text = TextContent::new(format!("{title}: {}", self.uri));
        text.annotations.clone_from(&self.annotations);
        Some(Box::new(text))
    }
}

// TRAP-11
impl Rewrite for TitledSingleSelectEnumSchema {
    fn rewritten(&self, revision: Revision) -> Option<Box<dyn Conform>> {
        // Before that there were no forms.
        if revision < Revision::V2025_06_18 {
            return None;
        }
        let values: Vec<String> = self
            .one_of
            .iter()
            .map(|option| option.value.clone())
            .collect();
        let mut plain = LegacyTitledEnumSchema::new(values);
        plain.enum_names = Some(
            self.one_of
                .iter()
                .map(|option| option.title.clone())
                .collect(),
        );
        plain.title.clone_from(&self.title);
        plain.description.clone_from(&self.description);
        plain.default.clone_from(&self.default);
        Some(Box::new(plain))
    }
}

/// FNV-1a; it names content, it does not protect it.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The code for an error with `code` that `revision` allows: until 2025-11-25 what is not found has a code of its own, and
/// 2025-11-25 one for URLs to visit first; since then the former are invalid params, and the latter no error at all.
//
#[must_use]
pub const fn error_code(code: i64, revision: Revision) -> i64 {
    match (code, revision.era()) {
        (RESOURCE_NOT_FOUND, Era::Modern) => -32602,
        (URL_ELICITATION_REQUIRED, Era::Modern) => -32603,
        (code, _) => code,
    }
}

const RESOURCE_NOT_FOUND: i64 = -32002;
const URL_ELICITATION_REQUIRED: i64 = -32042;
