//! Rewrites: the form in which older revisions get alternatives that they do not have.
//!
//! The overlay of the schema lists the alternatives that are rewritten; this module defines the forms. A member that is not rewritten is
//! left out. An alternative or value that is not rewritten is a [`Violation`](crate::Violation). [`projection`](crate::projection) lists
//! all of them.

mod wrapped;

use std::fmt;

use serde::Serialize;

use crate::{
    AudioContent, Encode, EnumOption, ResourceLink, Revision, Revisions,
    TitledSingleSelectEnumSchema, View,
    conform::{Conform, Flow, Format, Need, Path, Walk},
    support::ObjectWriter,
};

pub use self::wrapped::Wrapped;

/// An alternative that older revisions get in another form. That form is never built: it is written and checked directly from the value.
pub trait Rewrite: Conform {
    /// Returns whether `revision`, which does not have this alternative, can get it in another form.
    fn stands(&self, _revision: Revision) -> bool {
        true
    }

    /// Writes the other form.
    fn encode_older(&self, view: View<'_>, out: &mut Vec<u8>);

    /// Reports everything in the other form that the walk's revision does not allow.
    fn conform_older(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow;
}

/// Writes `value`, an alternative that only `known` revisions have.
pub fn rewritten(value: &dyn Rewrite, known: Revisions, view: View<'_>, out: &mut Vec<u8>) {
    match lacking(known, view).is_some_and(|revision| value.stands(revision)) {
        true => value.encode_older(view, out),
        false => value.encode(view, out),
    }
}

/// Description of what [`many`] writes.
pub(crate) const ITEM: &str = "its only item; a list of several is refused";

/// Writes `items`, a list that only `known` revisions have. At others, a list with one item is written as the item.
pub fn many<T: Encode>(items: &Vec<T>, known: Revisions, view: View<'_>, out: &mut Vec<u8>) {
    match (lacking(known, view), items.as_slice()) {
        (Some(_), [one]) => one.encode(view, out),
        _ => items.encode(view, out),
    }
}

/// Returns the revision of `view`, if it is a single one that is not in `known`.
fn lacking(known: Revisions, view: View<'_>) -> Option<Revision> {
    view.revision()
        .filter(|revision| !known.contains(*revision))
}

impl AudioContent {
    /// Description of the rewritten form.
    pub(crate) const INTO: &'static str = "an embedded resource with the same bytes";
}

// TRAP-11
impl Rewrite for AudioContent {
    fn encode_older(&self, view: View<'_>, out: &mut Vec<u8>) {
        let mut object = ObjectWriter::new(view, out);
        object.constant("type", "resource");
        object.optional("annotations", &self.annotations);
        object.required("resource", &Blob(self));
        object.close();
    }

    fn conform_older(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        const BYTES: &[(Revisions, Need)] = &[(Revisions::ALL, Need::Format(Format::Byte))];
        walk.object(path)
            .member("annotations", Revisions::ALL, &self.annotations)?;
        // The URI is built here, so it is valid.
        walk.object(&path.key("resource"))
            .needing("blob", Revisions::ALL, BYTES, &self.data)
    }
}

/// The bytes of a recording as the contents of a resource.
struct Blob<'a>(&'a AudioContent);

impl Encode for Blob<'_> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        let Self(audio) = self;
        let mut object = ObjectWriter::new(view, out);
        object.required("blob", &audio.data);
        object.required("mimeType", &audio.mime_type);
        // The URI is derived from the bytes, so equal bytes get equal URIs.
        let bytes = fingerprint(audio.data.as_bytes());
        object.required(
            "uri",
            &Text(format_args!("urn:trueform:audio:{bytes:016x}")),
        );
        object.close();
    }
}

/// A string that is concatenated while it is written.
struct Text<'a>(fmt::Arguments<'a>);

impl Encode for Text<'_> {
    fn encode(&self, _: View<'_>, out: &mut Vec<u8>) {
        self.0
            .serialize(&mut serde_json::Serializer::new(out))
            .expect("writing a string to memory cannot fail");
    }
}

impl ResourceLink {
    /// Description of the rewritten form.
    pub(crate) const INTO: &'static str = "a text with title or name, and URI";
}

// TRAP-11
impl Rewrite for ResourceLink {
    fn encode_older(&self, view: View<'_>, out: &mut Vec<u8>) {
        let title = self.title.as_deref().unwrap_or(&self.name);
        let mut object = ObjectWriter::new(view, out);
        object.constant("type", "text");
        object.optional("annotations", &self.annotations);
        object.required("text", &Text(format_args!("{title}: {}", self.uri)));
        object.close();
    }

    fn conform_older(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        walk.object(path)
            .member("annotations", Revisions::ALL, &self.annotations)
    }
}

impl TitledSingleSelectEnumSchema {
    /// Description of the rewritten form.
    pub(crate) const INTO: &'static str = "the same choices as `enum` and `enumNames`";
}

// TRAP-11
impl Rewrite for TitledSingleSelectEnumSchema {
    fn stands(&self, revision: Revision) -> bool {
        // Earlier revisions had no forms.
        revision >= Revision::V2025_06_18
    }

    // Enumerations had no `default` then.
    fn encode_older(&self, view: View<'_>, out: &mut Vec<u8>) {
        let values = List(&self.one_of, |option| &option.value);
        let titles = List(&self.one_of, |option| &option.title);
        let mut object = ObjectWriter::new(view, out);
        object.constant("type", "string");
        object.optional("description", &self.description);
        object.required("enum", &values);
        object.required("enumNames", &titles);
        object.optional("title", &self.title);
        object.close();
    }

    fn conform_older(&self, _: &mut Walk<'_>, _: &Path<'_>) -> Flow {
        Flow::Continue(())
    }
}

/// One string of each option.
struct List<'a>(&'a [EnumOption], fn(&EnumOption) -> &String);

impl Encode for List<'_> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        let Self(options, text) = self;
        out.push(b'[');
        for (i, option) in options.iter().enumerate() {
            if i != 0 {
                out.push(b',');
            }
            text(option).encode(view, out);
        }
        out.push(b']');
    }
}

/// FNV-1a. It names content and is not a protection against manipulation.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the code that `revision` allows for an error with `code`. "Resource not found" has its own code until 2025-11-25, and is
/// "invalid params" since 2026-07-28. Other codes that a revision does not define become "internal error" there.
// A-15
#[must_use]
pub const fn error_code(code: i64, revision: Revision) -> i64 {
    let mut index = 0;
    while index < ERROR_CODES.len() {
        let rule = &ERROR_CODES[index];
        if rule.code == code && rule.at.contains(revision) {
            return rule.into;
        }
        index += 1;
    }
    code
}

/// A code that some revisions do not define.
pub(crate) struct ErrorCode {
    code: i64,
    /// The revisions that do not define it.
    pub(crate) at: Revisions,
    into: i64,
    /// Both codes, as shown in the table of rules.
    pub(crate) name: &'static str,
    pub(crate) into_name: &'static str,
}

/// The codes that are rewritten.
pub(crate) const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode {
        code: -32002,
        at: Revisions::since(Revision::V2026_07_28),
        into: -32602,
        name: "code -32002 (resource not found)",
        into_name: "-32602",
    },
    unknown(-32020, LEGACY, "code -32020 (headers unlike the body)"),
    unknown(-32021, LEGACY, "code -32021 (client capability missing)"),
    unknown(-32022, LEGACY, "code -32022 (version not served)"),
    unknown(
        -32042,
        Revisions::from_bits(!Revisions::of(Revision::V2025_11_25).bits() & Revisions::ALL.bits()),
        "code -32042 (URL to visit first)",
    ),
];

const LEGACY: Revisions = Revisions::until(Revision::LATEST_LEGACY);

/// Creates a code that is undefined at `at`.
const fn unknown(code: i64, at: Revisions, name: &'static str) -> ErrorCode {
    ErrorCode {
        code,
        at,
        into: -32603,
        name,
        into_name: "-32603, without its text and data",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Annotations, BlobResourceContents, EmbeddedResource, Json, LegacyTitledEnumSchema,
        ResourceContents, TextContent, Violation, violations,
    };

    /// Checks that `value` is written and checked at revisions before `known` in the same way as `older`.
    fn same(value: &dyn Conform, older: &dyn Conform, known: Revision) {
        for revision in Revision::ALL.into_iter().filter(|r| *r < known) {
            let closed = View::at(revision).closed();
            for view in [View::at(revision), closed] {
                let (mut written, mut wanted) = (Vec::new(), Vec::new());
                value.encode(view, &mut written);
                older.encode(view, &mut wanted);
                assert_eq!(
                    String::from_utf8(written).unwrap(),
                    String::from_utf8(wanted).unwrap()
                );
            }
            let wanted: Vec<Violation> = violations(older, revision);
            assert_eq!(violations(value, revision), wanted, "{revision}");
        }
    }

    fn annotations(priority: f64) -> Annotations {
        let mut annotations = Annotations::new()
            .with_priority(priority)
            .with_last_modified("2025-01-12T15:00:58Z");
        annotations.extras_mut().insert("kept", Json::null());
        annotations
    }

    // TRAP-11
    #[test]
    fn audio_is_an_embedded_resource() {
        for (data, uri) in [
            ("UklGRg==", "urn:trueform:audio:f493525da876cf75"),
            ("no base64", "urn:trueform:audio:b3f42be1361a94f1"),
        ] {
            for priority in [0.5, 2.0] {
                let mut audio = AudioContent::new(data, "audio/\"wav\"")
                    .with_annotations(annotations(priority));
                audio.extras_mut().insert("lost", Json::null());
                let blob = BlobResourceContents::new(data, uri).with_mime_type("audio/\"wav\"");
                let older = EmbeddedResource::new(ResourceContents::from(blob))
                    .with_annotations(annotations(priority));
                let block = crate::ContentBlock::from(audio);
                same(&block, &older, Revision::V2025_03_26);
            }
        }
    }

    // TRAP-11
    #[test]
    fn a_resource_link_is_a_text() {
        for priority in [0.5, 2.0] {
            let mut link = ResourceLink::new("a\nname", "file:///\u{e9}\"")
                .with_annotations(annotations(priority));
            let text = |text: &str| TextContent::new(text).with_annotations(annotations(priority));
            let block = crate::ContentBlock::from(link.clone());
            same(
                &block,
                &text("a\nname: file:///\u{e9}\""),
                Revision::V2025_06_18,
            );
            link.title = Some("\"title\"".to_owned());
            let block = crate::ContentBlock::from(link);
            same(
                &block,
                &text("\"title\": file:///\u{e9}\""),
                Revision::V2025_06_18,
            );
        }
    }

    // TRAP-11
    #[test]
    fn titled_choices_are_an_enumeration_with_names() {
        let options = |pairs: &[(&str, &str)]| -> Vec<EnumOption> {
            let option = |(value, title): &(&str, &str)| EnumOption::new(*value, *title);
            pairs.iter().map(option).collect()
        };
        for pairs in [&[][..], &[("r", "Red")], &[("r", "Red"), ("\"", "\\")]] {
            let titled = TitledSingleSelectEnumSchema::new(options(pairs))
                .with_title("Colour")
                .with_description("Of the car")
                .with_default("r");
            let (values, names): (Vec<_>, Vec<_>) = pairs
                .iter()
                .map(|(value, title)| ((*value).to_owned(), (*title).to_owned()))
                .unzip();
            let older = LegacyTitledEnumSchema::new(values)
                .with_enum_names(names)
                .with_title("Colour")
                .with_description("Of the car")
                .with_default("r");
            let field = crate::PrimitiveSchemaDefinition::from(titled);
            let wanted = support_at(&older, Revision::V2025_06_18);
            assert_eq!(support_at(&field, Revision::V2025_06_18), wanted);
            assert_eq!(violations(&field, Revision::V2025_06_18), []);
            // Earlier revisions had no forms.
            assert_eq!(violations(&field, Revision::V2025_03_26).len(), 1);
        }
    }

    fn support_at(value: &dyn Encode, revision: Revision) -> Json {
        crate::support::to_json(value, View::at(revision))
    }
}
