//! Tools that return at once, each with another kind of result.

use trueform::{
    prelude::*,
    schema::{EmbeddedResource, ResourceContents, TextContent, TextResourceContents},
    tool::{Audio, Image},
};

/// A PNG file of one pixel.
pub(crate) const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, b'I', b'H', b'D', b'R',
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x04, 0x00, 0x00, 0x00, 0xb5, 0x1c, 0x0c,
    0x02, 0x00, 0x00, 0x00, 0x0b, b'I', b'D', b'A', b'T', 0x78, 0xda, 0x63, 0x64, 0xf8, 0x0f, 0x00,
    0x01, 0x05, 0x01, 0x01, 0x27, 0x18, 0xe3, 0x66, 0x00, 0x00, 0x00, 0x00, b'I', b'E', b'N', b'D',
    0xae, 0x42, 0x60, 0x82,
];

/// A WAV file without samples.
const SILENCE: &[u8] = &[
    b'R', b'I', b'F', b'F', 0x24, 0x00, 0x00, 0x00, b'W', b'A', b'V', b'E', b'f', b'm', b't', b' ',
    0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x44, 0xac, 0x00, 0x00, 0x88, 0x58, 0x01, 0x00,
    0x02, 0x00, 0x10, 0x00, b'd', b'a', b't', b'a', 0x00, 0x00, 0x00, 0x00,
];

/// Answers with a text.
#[tool(read_only)]
pub(crate) fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Result of `add`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sum {
    /// The sum of both numbers.
    sum: i64,
}

/// Adds two numbers.
#[tool(read_only)]
pub(crate) fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> Result<Json<Sum>, ToolError> {
    let sum = a
        .checked_add(b)
        .ok_or_else(|| ToolError::new("the sum does not fit into 64 bits"))?;
    Ok(Json(Sum { sum }))
}

/// Answers with an image.
#[tool(read_only)]
pub(crate) fn test_image_content() -> Image {
    Image::png(PIXEL)
}

/// Answers with a sound.
#[tool(read_only)]
pub(crate) fn test_audio_content() -> Audio {
    Audio::wav(SILENCE)
}

/// Answers with a resource.
#[tool(read_only)]
pub(crate) fn test_embedded_resource() -> EmbeddedResource {
    text_resource(
        "test://embedded-resource",
        "text/plain",
        "This is an embedded resource content.",
    )
}

/// Answers with a text, an image and a resource.
#[tool(read_only)]
pub(crate) fn test_multiple_content_types() -> Vec<ContentBlock> {
    let resource = text_resource(
        "test://mixed-content-resource",
        "application/json",
        r#"{"test":"data","value":123}"#,
    );
    vec![
        TextContent::new("Multiple content types test:").into(),
        Image::png(PIXEL).into(),
        resource.into(),
    ]
}

/// Fails.
#[tool(read_only)]
pub(crate) fn test_error_handling() -> Result<(), ToolError> {
    Err(ToolError::new(
        "This tool intentionally returns an error for testing",
    ))
}

fn text_resource(uri: &str, mime_type: &str, text: &str) -> EmbeddedResource {
    EmbeddedResource::new(ResourceContents::from(
        TextResourceContents::new(text, uri).with_mime_type(mime_type),
    ))
}
