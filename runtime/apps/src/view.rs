//! Views: the HTML documents that show the results of tools.

use std::{borrow::Cow, fmt, future::Future, panic::Location, pin::Pin, sync::Arc};

use serde::{Serialize, Serializer, ser::SerializeMap};
use trueform::{
    Context, DynamicResource, Server, ToolError, resource::Caching, schema::TextResourceContents,
};
use trueform_schema::Meta;

use crate::{Csp, META, MIME_TYPE, json};

/// A view: an HTML document, and the permissions and settings that it needs from the host.
///
/// ```
/// use trueform_apps::{Csp, Permission, View};
///
/// let camera = View::new("ui://scanner/camera", "camera")
///     .html("<!DOCTYPE html><title>Camera</title><video></video>")
///     .permission(Permission::Camera)
///     .csp(Csp::new().connect("https://api.example.com"))
///     .prefers_border(false);
/// ```
#[must_use = "a view does nothing until it is added to `Apps`"]
pub struct View {
    uri: String,
    name: String,
    title: Option<String>,
    description: Option<String>,
    caching: Caching,
    meta: ViewMeta,
    html: Option<Html>,
    place: &'static Location<'static>,
}

type Generate = Arc<
    dyn Fn(Context) -> Pin<Box<dyn Future<Output = Result<String, ToolError>> + Send>>
        + Send
        + Sync,
>;

#[derive(Clone)]
enum Html {
    Fixed(Cow<'static, str>),
    Generated(Generate),
}

/// The contents of `_meta.ui` of a view.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ViewMeta {
    #[serde(skip_serializing_if = "Option::is_none")]
    csp: Option<Csp>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_members")]
    permissions: Vec<Permission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefers_border: Option<bool>,
}

/// A browser permission that a view asks for. The host may refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Permission {
    /// The camera.
    Camera,
    /// The microphone.
    Microphone,
    /// The user's location.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

/// Serialises each permission as a member whose value is an empty object.
fn as_members<S: Serializer>(permissions: &[Permission], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Nothing {}
    let mut members = serializer.serialize_map(Some(permissions.len()))?;
    for permission in permissions {
        members.serialize_entry(permission, &Nothing {})?;
    }
    members.end()
}

impl View {
    /// Creates the view `uri`, such as `ui://weather/dashboard`, called `name`.
    #[track_caller]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            caching: Caching::default(),
            meta: ViewMeta::default(),
            html: None,
            place: Location::caller(),
        }
    }

    /// Sets the document. It must begin with `<!DOCTYPE html>`. A second call replaces the first, as for the other settings here.
    ///
    /// ```
    /// use trueform_apps::View;
    ///
    /// let view = View::new("ui://weather/today", "today").html("<!DOCTYPE html><p>Fine");
    /// ```
    pub fn html(mut self, document: impl Into<Cow<'static, str>>) -> Self {
        self.html = Some(Html::Fixed(document.into()));
        self
    }

    /// Sets the function that generates the document for each read.
    ///
    /// ```
    /// use trueform_apps::View;
    ///
    /// let view = View::new("ui://weather/today", "today")
    ///     .generated(|_context| async { Ok("<!DOCTYPE html><p>Fine".to_owned()) });
    /// ```
    pub fn generated<F>(mut self, write: impl Fn(Context) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        self.html = Some(Html::Generated(Arc::new(move |context| {
            Box::pin(write(context))
        })));
        self
    }

    /// Sets the name that is displayed to people.
    ///
    /// ```
    /// use trueform_apps::View;
    ///
    /// let view = View::new("ui://weather/today", "today").title("Weather of today");
    /// ```
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description of what the view shows.
    ///
    /// ```
    /// use trueform_apps::View;
    ///
    /// let view = View::new("ui://weather/today", "today").description("The weather of one day.");
    /// ```
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the origins from which the view may load content. Default: none.
    ///
    /// ```
    /// use trueform_apps::{Csp, View};
    ///
    /// let csp = Csp::new().connect("https://api.example.com");
    /// let view = View::new("ui://weather/today", "today").csp(csp);
    /// ```
    pub fn csp(mut self, csp: Csp) -> Self {
        self.meta.csp = Some(csp);
        self
    }

    /// Adds a browser permission that the view asks for. The view must also work without it.
    ///
    /// ```
    /// use trueform_apps::{Permission, View};
    ///
    /// let view = View::new("ui://weather/today", "today").permission(Permission::Geolocation);
    /// ```
    pub fn permission(mut self, permission: Permission) -> Self {
        if !self.meta.permissions.contains(&permission) {
            self.meta.permissions.push(permission);
        }
        self
    }

    /// Sets the domain from which the host serves the view, for services that allow origins by name. Each host has its own form of it.
    ///
    /// ```
    /// use trueform_apps::View;
    ///
    /// let view = View::new("ui://weather/today", "today").domain("weather.example.com");
    /// ```
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.meta.domain = Some(domain.into());
        self
    }

    /// Sets whether the host should draw a border and a background. Default: the host decides.
    ///
    /// ```
    /// use trueform_apps::View;
    ///
    /// let view = View::new("ui://weather/today", "today").prefers_border(false);
    /// ```
    pub fn prefers_border(mut self, prefers: bool) -> Self {
        self.meta.prefers_border = Some(prefers);
        self
    }

    /// Sets how long clients may keep the document, at 2026-07-28. Default: they fetch it again each time.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::resource::Caching;
    /// use trueform_apps::View;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let view = View::new("ui://weather/today", "today").caching(Caching::public(hour));
    /// ```
    pub fn caching(mut self, caching: Caching) -> Self {
        self.caching = caching;
        self
    }

    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns what is wrong with the view.
    fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = self.meta.csp.iter().flat_map(Csp::problems).collect();
        if self.uri.strip_prefix("ui://").is_none_or(str::is_empty) {
            problems.push("its URI does not begin with `ui://` and a name".to_owned());
        }
        match &self.html {
            None => problems.push("it has no document: call `html` or `generated`".to_owned()),
            Some(Html::Fixed(document)) if !is_html(document) => {
                problems.push("its document does not begin with `<!DOCTYPE html>`".to_owned());
            }
            Some(_) => {}
        }
        problems
    }

    /// Returns `server` with the view as a resource.
    pub(crate) fn add_to(self, mut server: Server) -> Server {
        let problems = self.problems();
        if !problems.is_empty() {
            let (uri, file, line) = (&self.uri, self.place.file(), self.place.line());
            for problem in problems {
                server = server.problem(format!("the view `{uri}` ({file}:{line}): {problem}"));
            }
            return server;
        }
        let meta = json(&self.meta);
        let mut resource = DynamicResource::new(self.uri, self.name)
            .mime_type(MIME_TYPE)
            .caching(self.caching)
            .meta(META, meta.clone());
        if let Some(title) = self.title {
            resource = resource.title(title);
        }
        if let Some(description) = self.description {
            resource = resource.description(description);
        }
        let Some(html) = self.html else {
            return server;
        };
        server.resources(resource.handler(move |context| {
            let (html, meta) = (html.clone(), meta.clone());
            async move {
                let document = match html {
                    Html::Fixed(document) => document.into_owned(),
                    Html::Generated(write) => write(context).await?,
                };
                let mut own = Meta::new();
                own.insert(META, meta);
                // Hosts take the policy from the content that they read.
                Ok::<_, ToolError>(TextResourceContents::new(document, "").with_meta(own))
            }
        }))
    }
}

/// Returns whether `document` begins like HTML5: with the document type declaration, after space and comments.
fn is_html(document: &str) -> bool {
    const DOCTYPE: &str = "<!doctype html";
    let mut rest = document.trim_start_matches('\u{feff}').trim_start();
    while let Some((_, after)) = rest
        .strip_prefix("<!--")
        .and_then(|rest| rest.split_once("-->"))
    {
        rest = after.trim_start();
    }
    rest.get(..DOCTYPE.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(DOCTYPE))
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("uri", &self.uri)
            .field("meta", &self.meta)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        for (document, expected) in [
            ("<!DOCTYPE html><p>", true),
            ("\u{feff}\n<!doctype HTML>", true),
            ("<!-- a --> <!-- b -->\n<!DOCTYPE html>", true),
            ("", false),
            ("<html>", false),
            ("<p>text", false),
            ("<!-- <!DOCTYPE html>", false),
            ("<!DOCTYPE svg>", false),
            ("<!DOCTYPE h\u{e4}", false),
        ] {
            assert_eq!(is_html(document), expected, "{document}");
        }
    }
}
