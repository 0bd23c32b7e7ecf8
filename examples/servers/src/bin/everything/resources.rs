//! Resources with text and with bytes, one that is watched, and a template.

use trueform::prelude::*;

use super::answers::PIXEL;

/// A text.
#[resource("test://static-text", mime_type = "text/plain")]
pub(crate) fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// A picture.
#[resource("test://static-binary", mime_type = "image/png")]
pub(crate) fn static_binary() -> Vec<u8> {
    PIXEL.to_vec()
}

/// A text whose changes clients can subscribe to.
#[resource("test://watched-resource", mime_type = "text/plain")]
pub(crate) fn watched_resource() -> &'static str {
    "This resource can be watched."
}

/// What `template_data` holds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Data {
    id: String,
    template_test: bool,
    data: String,
}

/// The data of an id.
#[resource("test://template/{id}/data", mime_type = "application/json")]
pub(crate) fn template_data(
    /// Any id.
    #[arg(complete = ["123", "124"])]
    id: String,
) -> Json<Data> {
    let data = format!("Data for ID: {id}");
    Json(Data {
        id,
        template_test: true,
        data,
    })
}

/// Notifies clients that the watched resource changed.
#[tool]
pub(crate) fn test_trigger_resource_update(context: Context) -> &'static str {
    context.server().resource_updated("test://watched-resource");
    "Notified every client that subscribed."
}
