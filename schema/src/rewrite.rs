//! What older revisions see in place of alternatives that they do not have.
//!
//! The overlay of the schema says which alternatives are rewritten; how is owned here. Whatever is not rewritten is left
//! out if it is a member, and a [`Violation`](crate::Violation) if it is an alternative or a value: all of it is listed by
//! [`projection`](crate::projection).

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

/// What [`many`] writes, in words.
pub(crate) const ITEM: &str = "its item where there is one; else it is refused";

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

impl AudioContent {
    /// What it is rewritten to.
    pub(crate) const INTO: &'static str = "an embedded resource with the same bytes";
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

impl ResourceLink {
    /// What it is rewritten to.
    pub(crate) const INTO: &'static str = "a text with title or name, and URI";
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

impl TitledSingleSelectEnumSchema {
    /// What it is rewritten to.
    pub(crate) const INTO: &'static str = "the same choices as `enum` and `enumNames`";
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
    let mut index = 0;
    while index < ERROR_CODES.len() {
        let rule = &ERROR_CODES[index];
        if rule.code == code && rule.era as u8 == revision.era() as u8 {
            return rule.into;
        }
        index += 1;
    }
    code
}

/// A code that the revisions of an era do not have.
pub(crate) struct ErrorCode {
    code: i64,
    pub(crate) era: Era,
    into: i64,
    /// Both as the table of rules spells them.
    pub(crate) name: &'static str,
    pub(crate) into_name: &'static str,
}

/// The codes that are rewritten.
pub(crate) const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode {
        code: -32002,
        era: Era::Modern,
        into: -32602,
        name: "code -32002 (resource not found)",
        into_name: "-32602",
    },
    ErrorCode {
        code: -32042,
        era: Era::Modern,
        into: -32603,
        name: "code -32042 (URL to visit first)",
        into_name: "-32603",
    },
];
