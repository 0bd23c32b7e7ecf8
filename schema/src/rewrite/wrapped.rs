//! Structured content that is not an object, wrapped into an object for older revisions.

use crate::{
    CallToolResult, Encode, Json, Revision, Revisions, View,
    conform::{Conform, Flow, Path, Walk},
    support::ObjectWriter,
};

/// A result whose structured content is the member [`result`](Self::MEMBER) of an object, for revisions that require an object. Writing and
/// checking use the wrapped form; the result itself is not changed.
///
/// Whether a result must be wrapped depends on its tool's output schema, which is rewritten in the same way.
///
/// ```
/// use trueform_schema::{At, CallToolResult, Json, Revision, conform, rewrite::Wrapped};
///
/// let result = CallToolResult::new(vec![]).with_structured_content(Json::from_value(&[1, 2])?);
/// let wrapped = Wrapped::new(&result);
/// assert!(conform(&wrapped, Revision::V2025_11_25).is_ok());
/// assert_eq!(
///     At::new(&wrapped, Revision::V2025_11_25).to_string(),
///     r#"{"content":[],"structuredContent":{"result":[1,2]}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Wrapped<'a>(&'a CallToolResult);

impl<'a> Wrapped<'a> {
    /// The revisions that have structured content and require it to be an object.
    pub const REVISIONS: Revisions = Revisions::from_bits(
        Revisions::since(Revision::V2025_06_18).bits()
            & Revisions::until(Revision::V2025_11_25).bits(),
    );

    /// The member of the wrapping object that holds the structured content.
    pub const MEMBER: &'static str = "result";

    /// Wraps `result` at [`REVISIONS`](Self::REVISIONS); at others it stays as it is.
    #[must_use]
    pub const fn new(result: &'a CallToolResult) -> Self {
        Self(result)
    }
}

/// The known members of a result; others are extra.
const MEMBERS: &[&str] = &[
    "_meta",
    "content",
    "isError",
    "resultType",
    "structuredContent",
];

impl Encode for Wrapped<'_> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        let Self(result) = self;
        let Some(structured) = result
            .structured_content
            .as_ref()
            .filter(|_| view.is_at(Self::REVISIONS))
        else {
            return result.encode(view, out);
        };
        let mut object = ObjectWriter::new(view, out);
        object.optional("_meta", &result.meta);
        object.required("content", &result.content);
        object.optional("isError", &result.is_error);
        object.required("structuredContent", &Inside(structured));
        object.end(result.extras(), MEMBERS);
    }
}

/// The object that contains a value.
struct Inside<'a>(&'a Json);

impl Encode for Inside<'_> {
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>) {
        let mut object = ObjectWriter::new(view, out);
        object.required(Wrapped::MEMBER, self.0);
        object.close();
    }
}

impl Conform for Wrapped<'_> {
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        let Self(result) = self;
        if result.structured_content.is_none() || !Self::REVISIONS.contains(walk.revision()) {
            return result.conform(walk, path);
        }
        let mut object = walk.object(path);
        object.member("_meta", Revisions::ALL, &result.meta)?;
        object.member("content", Revisions::ALL, &result.content)?;
        object.end(result.extras(), MEMBERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{At, ImageContent, ResultMetaObject, TYPES, TextContent, types, violations};

    #[test]
    fn the_members_are_those_of_the_type() {
        let info = types::find(TYPES, "CallToolResult").unwrap();
        let members: Vec<_> = info.members().map(|member| member.name).collect();
        assert_eq!(members, MEMBERS);
    }

    /// The wrapped result equals a copy of the result with the object in it.
    // GAP-15, TRAP-11
    #[test]
    fn it_is_seen_as_a_wrapped_copy_would_be() {
        let plain = CallToolResult::new(vec![TextContent::new("5").into()]);
        let mut dressed = CallToolResult::new(vec![
            ImageContent::new("no base64", "image/png").into(),
            TextContent::new("5").into(),
        ])
        .with_is_error(false)
        .with_meta(ResultMetaObject::new());
        let meta = dressed.meta.as_mut().unwrap().extras_mut();
        meta.insert("example.com/kept", Json::null());
        dressed.extras_mut().insert("kept", Json::null());
        let mut shadowed = plain.clone();
        shadowed.extras_mut().insert("isError", Json::null());
        for result in [plain, dressed, shadowed] {
            for text in ["[1, 2]", r#"{"a":1}"#, "null", r#""\"""#] {
                let json = |text: String| Json::from_text(text).unwrap();
                let result = result
                    .clone()
                    .with_structured_content(json(text.to_owned()));
                for revision in Revision::ALL {
                    let mut copy = result.clone();
                    if Wrapped::REVISIONS.contains(revision) {
                        copy.structured_content = Some(json(format!("{{\"result\":{text}}}")));
                    }
                    let wrapped = Wrapped::new(&result);
                    assert_eq!(
                        At::new(&wrapped, revision).to_string(),
                        At::new(&copy, revision).to_string()
                    );
                    assert_eq!(violations(&wrapped, revision), violations(&copy, revision));
                }
            }
            for revision in Revision::ALL {
                assert_eq!(
                    At::new(&Wrapped::new(&result), revision).to_string(),
                    At::new(&result, revision).to_string(),
                    "nothing to wrap"
                );
            }
        }
    }
}
