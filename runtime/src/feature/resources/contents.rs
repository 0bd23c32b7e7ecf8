//! What a resource function may return.

use std::{borrow::Cow, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use trueform_schema::{
    BlobResourceContents, ReadResourceResult, ResourceContents, TextResourceContents,
};

use crate::{
    exchange::InputRequired,
    feature::{
        content::{Audio, Blob, Image},
        failure::{Instead, IntoToolError, ToolError},
        tools::Json,
    },
};

/// The content that a function returned for a resource, before the URI and the media type are filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceOutput {
    pub(super) result: ReadResourceResult,
    /// The media type of text without its own media type, if the resource declares none.
    pub(super) usual_mime_type: &'static str,
}

/// What a resource function may return: text, bytes, [`Json`], one or several [`ResourceContents`], a complete [`ReadResourceResult`];
/// `Option` of these, where `None` means that the resource does not exist; `Result` with any error.
///
/// Contents whose `uri` is empty get the URI that was read, and contents without media type get the media type of the resource. If the
/// resource declares none, text is `text/plain` and [`Json`] is `application/json`. An empty list means that the resource does not exist,
/// because the specification does not allow an empty result.
///
/// Implement it for types of your own that resource functions return:
///
/// ```
/// use trueform::{ToolError, resource::{IntoResourceResult, ResourceOutput}};
///
/// struct Note {
///     text: String,
/// }
///
/// impl IntoResourceResult for Note {
///     fn into_resource_result(self) -> Result<ResourceOutput, ToolError> {
///         format!("# Note\n{}", self.text).into_resource_result()
///     }
/// }
/// ```
// J-3, J-5
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the content of a resource",
    label = "not the content of a resource",
    note = "return text, bytes, `Json<T>`, `ResourceContents` of `trueform::schema` or a `Vec` of them",
    note = "and these in a `Result` with any error, or in an `Option`, where `None` means that there is no such resource"
)]
pub trait IntoResourceResult {
    /// Converts the value into the result of the read.
    ///
    /// # Errors
    /// The function failed, or the resource does not exist: [`ToolError::not_found`].
    fn into_resource_result(self) -> Result<ResourceOutput, ToolError>;
}

type ResourceOutcome = Result<ResourceOutput, ToolError>;

const TEXT: &str = "text/plain";

impl From<ReadResourceResult> for ResourceOutput {
    fn from(result: ReadResourceResult) -> Self {
        Self {
            result,
            usual_mime_type: TEXT,
        }
    }
}

fn of(contents: Vec<ResourceContents>) -> ResourceOutput {
    ReadResourceResult::new(contents).into()
}

fn text(text: String) -> ResourceOutput {
    of(vec![TextResourceContents::new(text, "").into()])
}

fn blob(bytes: &[u8]) -> ResourceOutput {
    of(vec![
        BlobResourceContents::new(STANDARD.encode(bytes), "").into(),
    ])
}

macro_rules! text_result {
    ($($ty:ty)*) => {$(
        impl IntoResourceResult for $ty {
            fn into_resource_result(self) -> ResourceOutcome {
                Ok(text(self.into()))
            }
        }
    )*};
}

text_result!(String &str Box<str> Cow<'_, str>);

impl IntoResourceResult for InputRequired {
    fn into_resource_result(self) -> ResourceOutcome {
        Err(ToolError::instead(Instead::Required(self)))
    }
}

impl IntoResourceResult for Arc<str> {
    fn into_resource_result(self) -> ResourceOutcome {
        Ok(text((*self).to_owned()))
    }
}

macro_rules! blob_result {
    ($($ty:ty)*) => {$(
        impl IntoResourceResult for $ty {
            fn into_resource_result(self) -> ResourceOutcome {
                Ok(blob(&self))
            }
        }
    )*};
}

blob_result!(Vec<u8> Box<[u8]> Arc<[u8]> Cow<'_, [u8]>);

impl IntoResourceResult for &[u8] {
    fn into_resource_result(self) -> ResourceOutcome {
        Ok(blob(self))
    }
}

/// The type that `include_bytes!` returns.
impl<const N: usize> IntoResourceResult for &[u8; N] {
    fn into_resource_result(self) -> ResourceOutcome {
        Ok(blob(self))
    }
}

/// Text of the media type `application/json`, unless the resource declares another one.
impl<T: Serialize> IntoResourceResult for Json<T> {
    fn into_resource_result(self) -> ResourceOutcome {
        let json = serde_json::to_string(&self.0).map_err(ToolError::internal)?;
        Ok(ResourceOutput {
            usual_mime_type: "application/json",
            ..text(json)
        })
    }
}

macro_rules! contents_result {
    ($($ty:ty)*) => {$(
        impl IntoResourceResult for $ty {
            fn into_resource_result(self) -> ResourceOutcome {
                Ok(of(vec![self.into()]))
            }
        }

        impl IntoResourceResult for Vec<$ty> {
            fn into_resource_result(self) -> ResourceOutcome {
                Ok(of(self.into_iter().map(Into::into).collect()))
            }
        }
    )*};
}

contents_result!(TextResourceContents BlobResourceContents ResourceContents);

macro_rules! content_result {
    ($($ty:ty)*) => {$(
        /// Its bytes, with its own media type.
        impl IntoResourceResult for $ty {
            fn into_resource_result(self) -> ResourceOutcome {
                Ok(of(vec![ResourceContents::from(self)]))
            }
        }
    )*};
}

content_result!(Image Audio Blob);

impl IntoResourceResult for ReadResourceResult {
    fn into_resource_result(self) -> ResourceOutcome {
        Ok(self.into())
    }
}

impl IntoResourceResult for ResourceOutput {
    fn into_resource_result(self) -> ResourceOutcome {
        Ok(self)
    }
}

/// `None` means that the resource does not exist.
impl<T: IntoResourceResult> IntoResourceResult for Option<T> {
    fn into_resource_result(self) -> ResourceOutcome {
        match self {
            Some(result) => result.into_resource_result(),
            None => Err(ToolError::not_found("")),
        }
    }
}

impl<T: IntoResourceResult, E: IntoToolError> IntoResourceResult for Result<T, E> {
    fn into_resource_result(self) -> ResourceOutcome {
        match self {
            Ok(result) => result.into_resource_result(),
            Err(error) => Err(error.into()),
        }
    }
}

impl ResourceOutput {
    /// Creates the content from a file: text if it is UTF-8 and its media type is not binary, otherwise a blob, with the media type that
    /// [`media_type`](crate::resource::media_type) finds for the `path`.
    ///
    /// ```
    /// use trueform::resource::ResourceOutput;
    ///
    /// let page = ResourceOutput::of_file("guide/start.md", b"# Start".to_vec());
    /// let picture = ResourceOutput::of_file("cat.png", b"\x89PNG".to_vec());
    /// assert_ne!(page, picture);
    /// ```
    // J-5
    #[must_use]
    pub fn of_file(path: &str, bytes: Vec<u8>) -> Self {
        super::folder::contents(bytes, super::folder::media_type(path))
    }

    /// Fills in missing members of the contents: `uri`, and the media type `declared`.
    #[inline]
    pub(super) fn filled(mut self, uri: &str, declared: Option<&str>) -> ReadResourceResult {
        for contents in &mut self.result.contents {
            let (own_uri, mime_type, usual) = match contents {
                ResourceContents::Text(text) => {
                    let usual = Some(self.usual_mime_type);
                    (&mut text.uri, &mut text.mime_type, usual)
                }
                ResourceContents::Blob(blob) => (&mut blob.uri, &mut blob.mime_type, None),
                _ => continue,
            };
            if own_uri.is_empty() {
                uri.clone_into(own_uri);
            }
            if mime_type.is_none() {
                *mime_type = declared.or(usual).map(str::to_owned);
            }
        }
        self.result
    }
}
