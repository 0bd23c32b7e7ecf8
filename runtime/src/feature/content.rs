//! The types that convert into one block of content.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use trueform_schema::{
    AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource, ImageContent,
    ResourceContents, ResourceLink, TextContent,
};

/// A value that converts into one block of content: text, a number, an image. A tool may return a `Vec` of such values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be content",
    label = "no content",
    note = "text, numbers, `Image`, `Audio`, `Blob` and the content types of `trueform::schema` can"
)]
pub trait IntoContent {
    /// Converts the value into a block.
    fn into_content(self) -> ContentBlock;
}

/// An image, given as encoded bytes.
///
/// ```
/// use trueform::{prelude::*, tool::Image};
///
/// /// Draws a dot.
/// #[tool]
/// fn dot() -> Image {
///     Image::png(b"\x89PNG\r\n\x1a\n...")
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Image(ImageContent);

impl Image {
    /// Creates an image from encoded bytes of the media type `mime_type`.
    pub fn new(mime_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self(ImageContent::new(STANDARD.encode(bytes), mime_type))
    }

    /// Creates an image from the bytes of a PNG file.
    pub fn png(bytes: impl AsRef<[u8]>) -> Self {
        Self::new("image/png", bytes)
    }

    /// Creates an image from the bytes of a JPEG file.
    pub fn jpeg(bytes: impl AsRef<[u8]>) -> Self {
        Self::new("image/jpeg", bytes)
    }

    /// Creates an image from the bytes of a WebP file.
    pub fn webp(bytes: impl AsRef<[u8]>) -> Self {
        Self::new("image/webp", bytes)
    }

    /// Creates an image from the text of an SVG file.
    pub fn svg(text: impl AsRef<str>) -> Self {
        Self::new("image/svg+xml", text.as_ref())
    }
}

/// A sound, given as encoded bytes. Clients of 2024-11-05 get it as an embedded resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Audio(AudioContent);

impl Audio {
    /// Creates a sound from encoded bytes of the media type `mime_type`.
    pub fn new(mime_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self(AudioContent::new(STANDARD.encode(bytes), mime_type))
    }

    /// Creates a sound from the bytes of a WAV file.
    pub fn wav(bytes: impl AsRef<[u8]>) -> Self {
        Self::new("audio/wav", bytes)
    }

    /// Creates a sound from the bytes of an MP3 file.
    pub fn mp3(bytes: impl AsRef<[u8]>) -> Self {
        Self::new("audio/mpeg", bytes)
    }

    /// Creates a sound from the bytes of an Ogg file.
    pub fn ogg(bytes: impl AsRef<[u8]>) -> Self {
        Self::new("audio/ogg", bytes)
    }
}

/// Bytes of any kind, embedded with a URI that identifies them.
#[derive(Clone, Debug, PartialEq)]
pub struct Blob(EmbeddedResource);

impl Blob {
    /// Creates an embedded resource from bytes of the media type `mime_type`, which are (or could be) available at `uri`.
    pub fn new(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        bytes: impl AsRef<[u8]>,
    ) -> Self {
        let blob = BlobResourceContents::new(STANDARD.encode(bytes), uri).with_mime_type(mime_type);
        Self(EmbeddedResource::new(ResourceContents::from(blob)))
    }
}

fn text(text: impl Into<String>) -> ContentBlock {
    ContentBlock::from(TextContent::new(text))
}

macro_rules! text_content {
    ($($ty:ty)*) => {$(
        impl IntoContent for $ty {
            fn into_content(self) -> ContentBlock {
                text(self)
            }
        }
    )*};
}

text_content!(String &str Box<str> Cow<'_, str>);

macro_rules! displayed_content {
    ($($ty:ty)*) => {$(
        impl IntoContent for $ty {
            fn into_content(self) -> ContentBlock {
                text(self.to_string())
            }
        }
    )*};
}

displayed_content!(std::sync::Arc<str> bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);

macro_rules! block_content {
    ($($ty:ty)*) => {$(
        impl IntoContent for $ty {
            fn into_content(self) -> ContentBlock {
                self.into()
            }
        }
    )*};
}

block_content!(ContentBlock TextContent ImageContent AudioContent ResourceLink EmbeddedResource Image Audio Blob);

impl From<Image> for ContentBlock {
    fn from(image: Image) -> Self {
        image.0.into()
    }
}

impl From<Audio> for ContentBlock {
    fn from(audio: Audio) -> Self {
        audio.0.into()
    }
}

impl From<Blob> for ContentBlock {
    fn from(blob: Blob) -> Self {
        blob.0.into()
    }
}

/// The bytes of the image as the contents of a resource, whose URI is left empty.
impl From<Image> for ResourceContents {
    fn from(Image(image): Image) -> Self {
        let blob = BlobResourceContents::new(image.data, "");
        blob.with_mime_type(image.mime_type).into()
    }
}

/// The bytes of the sound as the contents of a resource, whose URI is left empty.
impl From<Audio> for ResourceContents {
    fn from(Audio(audio): Audio) -> Self {
        let blob = BlobResourceContents::new(audio.data, "");
        blob.with_mime_type(audio.mime_type).into()
    }
}

/// The bytes as the contents of a resource, under their own URI.
impl From<Blob> for ResourceContents {
    fn from(blob: Blob) -> Self {
        blob.0.resource
    }
}
