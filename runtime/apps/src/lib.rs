//! MCP Apps: the extension `io.modelcontextprotocol/ui` (SEP-1865, version 2026-01-26) for servers of [`trueform`]. A tool names a
//! *view*, an HTML document in which a host shows the results of the tool.
//!
//! ```
//! use trueform::prelude::*;
//! use trueform_apps::{Apps, Csp, View};
//!
//! /// Tells the weather at a place.
//! #[tool]
//! fn weather(place: String) -> String {
//!     format!("It is sunny in {place}.")
//! }
//!
//! /// Tells the weather once more, for the view alone.
//! #[tool]
//! fn refresh(place: String) -> String {
//!     format!("It is still sunny in {place}.")
//! }
//!
//! const PAGE: &str = "<!DOCTYPE html><title>Weather</title><main></main>";
//!
//! let view = View::new("ui://weather/dashboard", "dashboard")
//!     .html(PAGE)
//!     .description("Shows the weather on a map.")
//!     .csp(Csp::new().resources("https://tiles.example.com"));
//! let apps = Apps::new()
//!     .view(view)
//!     .tools("ui://weather/dashboard", tools![weather])
//!     .app_tools("ui://weather/dashboard", tools![refresh]);
//! let server = Server::new("weather", "1.0.0").with(apps);
//! # assert!(server.build().is_ok());
//! ```
//!
//! # What clients get
//!
//! * A view is a resource of the scheme `ui` and the media type [`MIME_TYPE`]. Its requirements on the host (content security policy,
//!   permissions and appearance) are in `_meta.ui` of the resource and of the content that is read.
//! * A tool has the URI of its view in `_meta.ui.resourceUri`, and who may call the tool in `_meta.ui.visibility`.
//! * The server declares the extension at 2025-11-25 and 2026-07-28, the revisions at which a server can declare one. Views and the
//!   metadata of tools exist at all revisions that have such metadata.
//!
//! A list is the same for all clients: the specification does not let it depend on what a client declares. A host without the extension
//! ignores the metadata. It treats a tool with a view as any other tool, and shows a tool for views alone as a tool too. So each tool must
//! return text that is useful without the view. [`is_supported`] tells a tool whether its client shows views.
//!
//! The server does not start if something is invalid: a URI whose scheme is not `ui`, a tool whose view does not exist, an entry that is
//! not an origin, a document that is not HTML.

mod csp;
mod view;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use trueform::{
    Context, Plugin, Server,
    tool::{IntoTools, ToolSet},
};
use trueform_schema::{ClientCapabilities, Json, JsonObject};

pub use self::{
    csp::Csp,
    view::{Permission, View},
};

/// The identifier of the extension.
pub const IDENTIFIER: &str = "io.modelcontextprotocol/ui";

/// The media type of views.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The member of `_meta` that the extension defines.
const META: &str = "ui";

/// The views of a server, and the tools that they belong to. Added by [`Server::with`], once.
#[derive(Debug, Default)]
#[must_use = "apps do nothing until they are added to a server"]
pub struct Apps {
    views: Vec<View>,
    tools: Vec<(String, ToolSet, &'static [Caller])>,
}

/// Who may call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Caller {
    /// The model.
    Model,
    /// The view.
    App,
}

/// The contents of `_meta.ui` of a tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolMeta<'a> {
    resource_uri: &'a str,
    visibility: &'a [Caller],
}

impl Apps {
    /// Creates a set without views and tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a view.
    ///
    /// ```
    /// use trueform_apps::{Apps, View};
    ///
    /// let view = View::new("ui://weather/today", "today").html("<!DOCTYPE html><p>Fine");
    /// let apps = Apps::new().view(view);
    /// ```
    pub fn view(mut self, view: View) -> Self {
        self.views.push(view);
        self
    }

    /// Adds tools whose results the view `uri` shows. The model may call them, and so may the view.
    ///
    /// ```
    /// use trueform::prelude::*;
    /// use trueform_apps::{Apps, View};
    ///
    /// /// The weather of today.
    /// #[tool]
    /// fn today() -> &'static str {
    ///     "fine"
    /// }
    ///
    /// let view = View::new("ui://weather/today", "today").html("<!DOCTYPE html><p>Fine");
    /// let apps = Apps::new().view(view).tools("ui://weather/today", tools![today]);
    /// let server = Server::new("weather", "1.0.0").with(apps);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn tools(self, uri: impl Into<String>, tools: impl IntoTools) -> Self {
        self.with_tools(
            uri.into(),
            tools.into_tools(),
            &[Caller::Model, Caller::App],
        )
    }

    /// Adds tools that only the view `uri` calls, such as for a button that refreshes or a form. Hosts do not show them to the model.
    ///
    /// ```
    /// use trueform::prelude::*;
    /// use trueform_apps::{Apps, View};
    ///
    /// /// The weather of today.
    /// #[tool]
    /// fn today() -> &'static str {
    ///     "fine"
    /// }
    ///
    /// let view = View::new("ui://weather/today", "today").html("<!DOCTYPE html><p>Fine");
    /// let apps = Apps::new().view(view).app_tools("ui://weather/today", tools![today]);
    /// let server = Server::new("weather", "1.0.0").with(apps);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn app_tools(self, uri: impl Into<String>, tools: impl IntoTools) -> Self {
        self.with_tools(uri.into(), tools.into_tools(), &[Caller::App])
    }

    /// Adds tools whose results the view `uri` shows, but which the view cannot call.
    ///
    /// ```
    /// use trueform::prelude::*;
    /// use trueform_apps::{Apps, View};
    ///
    /// /// The weather of today.
    /// #[tool]
    /// fn today() -> &'static str {
    ///     "fine"
    /// }
    ///
    /// let view = View::new("ui://weather/today", "today").html("<!DOCTYPE html><p>Fine");
    /// let apps = Apps::new().view(view).model_tools("ui://weather/today", tools![today]);
    /// let server = Server::new("weather", "1.0.0").with(apps);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn model_tools(self, uri: impl Into<String>, tools: impl IntoTools) -> Self {
        self.with_tools(uri.into(), tools.into_tools(), &[Caller::Model])
    }

    fn with_tools(mut self, uri: String, tools: ToolSet, callers: &'static [Caller]) -> Self {
        self.tools.push((uri, tools, callers));
        self
    }
}

impl Plugin for Apps {
    fn add_to(self, mut server: Server) -> Server {
        let uris: BTreeSet<String> = self
            .views
            .iter()
            .map(|view| view.uri().to_owned())
            .collect();
        for view in self.views {
            server = view.add_to(server);
        }
        for (uri, tools, callers) in self.tools {
            if !uris.contains(&uri) {
                let names: Vec<String> = tools.names().map(|name| format!("`{name}`")).collect();
                let known: Vec<String> = uris.iter().map(|uri| format!("`{uri}`")).collect();
                let known = match known.is_empty() {
                    true => "the server has no views".to_owned(),
                    false => format!("the server has {}", known.join(", ")),
                };
                server = server.problem(format!(
                    "the view `{uri}` of {} does not exist; {known}",
                    names.join(", ")
                ));
            }
            let meta = ToolMeta {
                resource_uri: &uri,
                visibility: callers,
            };
            server = server.tools(tools.with_meta(META, json(&meta)));
        }
        server.announce_extension(IDENTIFIER, JsonObject::empty())
    }
}

/// Returns `value` as JSON.
fn json(value: &impl Serialize) -> Json {
    Json::from_value(value).expect("metadata has string keys and finite numbers")
}

/// Returns whether the client of the request shows views: it declared the extension and the media type [`MIME_TYPE`].
///
/// ```
/// use trueform::prelude::*;
///
/// /// Tells the weather.
/// #[tool]
/// fn weather(context: Context) -> &'static str {
///     match trueform_apps::is_supported(&context) {
///         true => "It is sunny; the map shows where.",
///         false => "It is sunny in the north, and rains in the south.",
///     }
/// }
/// ```
#[must_use]
pub fn is_supported(context: &Context) -> bool {
    supports(context.client_capabilities())
}

/// The client's settings of the extension.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientSettings {
    #[serde(default)]
    mime_types: Vec<String>,
}

/// Returns whether `capabilities` declare the extension with the media type of views. Settings in another form than the extension defines
/// declare nothing.
fn supports(capabilities: &ClientCapabilities) -> bool {
    let extensions = capabilities.extensions.as_ref();
    let settings = extensions.and_then(|extensions| extensions.get(IDENTIFIER));
    let settings = settings.map(|settings| serde_json::from_value(settings.to_value()));
    let settings: ClientSettings = settings.and_then(Result::ok).unwrap_or_default();
    settings
        .mime_types
        .iter()
        .any(|mime_type| mime_type == MIME_TYPE)
}

/// Returns `capabilities` with the declaration that a client shows views.
///
/// ```
/// use trueform::client::ClientOptions;
///
/// let shows_views = trueform_apps::declare(Default::default());
/// let options = ClientOptions::new().capabilities(shows_views);
/// ```
#[must_use]
pub fn declare(mut capabilities: ClientCapabilities) -> ClientCapabilities {
    let settings = ClientSettings {
        mime_types: vec![MIME_TYPE.to_owned()],
    };
    let settings = JsonObject::from_value(&settings).expect("a struct is an object");
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.insert(IDENTIFIER, settings);
    capabilities
}
