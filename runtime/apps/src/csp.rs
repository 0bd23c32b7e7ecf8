//! The content security policy of a view.

use serde::Serialize;

/// The origins from which a view may load content. Without an entry, hosts let a view access nothing except itself.
///
/// An entry is an origin: `https://api.example.com`, with a port if necessary, and with `*.` before the host for all its subdomains.
/// [`Server::build`](trueform::Server::build) refuses anything else, because hosts write entries into a header.
///
/// ```
/// use trueform_apps::Csp;
///
/// let csp = Csp::new()
///     .connect("https://api.example.com")
///     .connect("wss://live.example.com:8443")
///     .resources("https://*.example-cdn.com");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use = "a policy does nothing until a view has it"]
pub struct Csp {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    connect_domains: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resource_domains: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frame_domains: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    base_uri_domains: Vec<String>,
}

impl Csp {
    /// Permits nothing except the view itself.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an origin that scripts may send requests to (`connect-src`).
    ///
    /// ```
    /// use trueform_apps::Csp;
    ///
    /// let csp = Csp::new().connect("https://api.example.com");
    /// ```
    pub fn connect(mut self, origin: impl Into<String>) -> Self {
        self.connect_domains.push(origin.into());
        self
    }

    /// Adds an origin of scripts, styles, pictures, fonts and media (`script-src` and the like).
    ///
    /// ```
    /// use trueform_apps::Csp;
    ///
    /// let csp = Csp::new().resources("https://fonts.example.com");
    /// ```
    pub fn resources(mut self, origin: impl Into<String>) -> Self {
        self.resource_domains.push(origin.into());
        self
    }

    /// Adds an origin of frames within the view (`frame-src`).
    ///
    /// ```
    /// use trueform_apps::Csp;
    ///
    /// let csp = Csp::new().frames("https://maps.example.com");
    /// ```
    pub fn frames(mut self, origin: impl Into<String>) -> Self {
        self.frame_domains.push(origin.into());
        self
    }

    /// Adds an origin that relative URLs may be resolved against (`base-uri`).
    ///
    /// ```
    /// use trueform_apps::Csp;
    ///
    /// let csp = Csp::new().base_uris("https://cdn.example.com");
    /// ```
    pub fn base_uris(mut self, origin: impl Into<String>) -> Self {
        self.base_uri_domains.push(origin.into());
        self
    }

    /// Returns the entries that are not origins, with the reason.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let lists = [
            (
                "connect",
                &self.connect_domains,
                &["https", "http", "wss", "ws"][..],
            ),
            ("resources", &self.resource_domains, &["https", "http"]),
            ("frames", &self.frame_domains, &["https", "http"]),
            ("base_uris", &self.base_uri_domains, &["https", "http"]),
        ];
        lists.into_iter().flat_map(|(list, origins, schemes)| {
            let wrong = origins.iter().filter(|origin| !is_origin(origin, schemes));
            wrong.map(move |origin| {
                format!(
                    "`{origin}` in `{list}` of its policy is not an origin, such as `https://example.com` or `https://*.example.com`; the scheme is one of {}",
                    schemes.join(", ")
                )
            })
        })
    }
}

/// Returns whether `text` is an origin of one of `schemes`: without a path, and without any character that has a meaning in a header.
fn is_origin(text: &str, schemes: &[&str]) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else {
        return false;
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_port = |port: &str| {
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        digits && port.parse::<u16>().is_ok_and(|port| 0 < port)
    };
    let is_label = |label: &str| {
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(letters)
    };
    let host = host.strip_prefix("*.").unwrap_or(host);
    schemes.contains(&scheme) && port.is_none_or(is_port) && host.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins() {
        for (text, expected) in [
            ("https://example.com", true),
            ("https://*.example.com", true),
            ("http://localhost:8000", true),
            ("wss://live.example.com:443", true),
            ("https://127.0.0.1", true),
            ("ftp://example.com", false),
            ("example.com", false),
            ("*", false),
            ("'unsafe-eval'", false),
            ("https://", false),
            ("https://*", false),
            ("https://a.*.com", false),
            ("https://example.com/", false),
            ("https://example.com/path", false),
            ("https://example.com?q", false),
            ("https://user@example.com", false),
            ("https://example.com:", false),
            ("https://example.com:0", false),
            ("https://example.com:65536", false),
            ("https://example.com:+1", false),
            ("https://example..com", false),
            ("https://-example.com", false),
            // Entries that would end the directive in the header, or the header.
            ("https://example.com; script-src *", false),
            ("https://example.com *", false),
            ("https://example.com\r\nx: y", false),
            ("https://ex\u{e4}mple.com", false),
            ("HTTPS://example.com", false),
        ] {
            assert_eq!(
                is_origin(text, &["https", "http", "wss", "ws"]),
                expected,
                "{text}"
            );
        }
        let csp = Csp::new()
            .connect("wss://a.b")
            .resources("wss://a.b")
            .frames("x")
            .base_uris("y");
        let problems: Vec<String> = csp.problems().collect();
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(
            problems[0].starts_with("`wss://a.b` in `resources` of its policy is not an origin")
        );
    }
}
