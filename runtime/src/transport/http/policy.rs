//! Who may call at all: the `Host` and `Origin` rules.
//!
//! Reads headers in place, without a copy; decides nothing about the protocol.

use std::{
    fmt,
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
};

use http::{Uri, Version};

use super::{
    config::HttpConfig,
    fields::{One, SenderHeaders},
};
use crate::{gate::Refusal, jsonrpc};

/// Which hosts and origins are served, compiled from the settings.
#[derive(Debug)]
pub(super) struct CallerPolicy {
    any_host: bool,
    /// Any IP address is a good host: an attacker's DNS name is what rebinding needs.
    ip_hosts: bool,
    hosts: Vec<HostRule>,
    any_origin: bool,
    origins: Vec<OriginRule>,
    /// Whether the log has a refused `Host`, and a refused `Origin`.
    host_reported: AtomicBool,
    origin_reported: AtomicBool,
}

#[derive(Debug)]
struct HostRule {
    name: Box<str>,
    port: Option<u16>,
}

#[derive(Debug)]
struct OriginRule {
    scheme: Box<str>,
    host: HostRule,
}

/// An entry of `allowed_hosts` or `allowed_origins` that does not have the form of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSetting {
    setting: &'static str,
    entry: String,
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self.setting {
            "allowed_hosts" => "`name`, `name:port` or `*`",
            "allowed_origins" => "`scheme://name`, `scheme://name:port` or `*`",
            _ => "a path that begins with `/` and has neither `{` nor `*`",
        };
        write!(
            f,
            "`{}` is not an entry of `{}`; expected {form}",
            self.entry, self.setting
        )
    }
}

impl std::error::Error for InvalidSetting {}

impl InvalidSetting {
    pub(super) fn new(setting: &'static str, entry: &str) -> Self {
        Self {
            setting,
            entry: entry.to_owned(),
        }
    }
}

impl CallerPolicy {
    /// The rules of `config`, and those that follow from the address that is listened on.
    pub(super) fn new(
        config: &HttpConfig,
        address: Option<SocketAddr>,
    ) -> Result<Self, InvalidSetting> {
        let mut policy = Self {
            any_host: false,
            ip_hosts: address.is_some_and(|address| address.ip().is_unspecified()),
            hosts: Vec::new(),
            any_origin: false,
            origins: Vec::new(),
            host_reported: AtomicBool::new(false),
            origin_reported: AtomicBool::new(false),
        };
        if let Some(address) = address.filter(|address| !address.ip().is_unspecified()) {
            policy.hosts.push(HostRule {
                name: address.ip().to_string().into(),
                port: None,
            });
        }
        for entry in &config.allowed_hosts {
            match (entry.as_str(), host_rule(entry)) {
                ("*", _) => policy.any_host = true,
                (_, Some(rule)) => policy.hosts.push(rule),
                (_, None) => return Err(InvalidSetting::new("allowed_hosts", entry)),
            }
        }
        for entry in &config.allowed_origins {
            match (entry.as_str(), origin_rule(entry)) {
                ("*", _) => policy.any_origin = true,
                (_, Some(rule)) => policy.origins.push(rule),
                (_, None) => return Err(InvalidSetting::new("allowed_origins", entry)),
            }
        }
        Ok(policy)
    }

    /// Whether the request may be served, by its `Host` and `Origin` (F-2, F-3).
    ///
    /// A request without `Origin` comes from no page and passes. One without `Host` does not at HTTP/1.1 (RFC 9112 §3.2);
    /// where the version needs none, it comes from no browser.
    pub(super) fn admit(
        &self,
        headers: &SenderHeaders<'_>,
        uri: &Uri,
        version: Version,
    ) -> Result<(), Refusal> {
        let admitted = self.judge(headers, uri, version);
        if let Err(refusal) = &admitted {
            self.report(refusal);
        }
        admitted
    }

    /// Logs the first refusal of each kind where it is seen: a setting is missing, and few clients show the body of a 403.
    #[cold]
    fn report(&self, refusal: &Refusal) {
        let reported = match refusal {
            Refusal::Host(_) => &self.host_reported,
            Refusal::Origin(_) => &self.origin_reported,
            _ => return,
        };
        if !reported.swap(true, Ordering::Relaxed) {
            let problem = refusal.error().message;
            tracing::warn!(
                problem = &*jsonrpc::sentence(&problem),
                "a request was refused; others that are refused for the same are not reported"
            );
        }
    }

    fn judge(
        &self,
        headers: &SenderHeaders<'_>,
        uri: &Uri,
        version: Version,
    ) -> Result<(), Refusal> {
        let host = match (uri.authority(), headers.host.one()) {
            // HTTP/2 and absolute-form targets carry the host in the target, which wins (RFC 9112 §3.2.2).
            (Some(authority), _) => Some(authority.as_str()),
            (None, One::Absent) if version == Version::HTTP_11 => return Err(Refusal::HostMissing),
            (None, One::Absent) => None,
            (None, One::Text(host)) => Some(host),
            (None, One::Unusable) => return Err(Refusal::Host("unreadable".into())),
        };
        if let Some(host) = host
            && !self.admits_host(host)
        {
            return Err(Refusal::Host(host.into()));
        }
        match headers.origin.one() {
            One::Absent => Ok(()),
            One::Text(origin) if self.admits_origin(origin, host) => Ok(()),
            One::Text(origin) => Err(Refusal::Origin(origin.into())),
            One::Unusable => Err(Refusal::Origin("unreadable".into())),
        }
    }

    fn admits_host(&self, host: &str) -> bool {
        if self.any_host {
            return true;
        }
        let Some((name, port)) = split_authority(host) else {
            return false;
        };
        is_loopback(name)
            || (self.ip_hosts && is_ip(name))
            || self.hosts.iter().any(|rule| rule.matches(name, port, None))
    }

    fn admits_origin(&self, origin: &str, host: Option<&str>) -> bool {
        let Some((scheme, authority)) = origin.split_once("://") else {
            // `null` ends here: a sandboxed page or a file can be anybody's.
            return false;
        };
        let Some((name, port)) = split_authority(authority) else {
            return false;
        };
        if self.any_origin {
            return true;
        }
        let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        if web && (is_loopback(name) || host.is_some_and(|host| same_host(scheme, authority, host)))
        {
            return true;
        }
        self.origins.iter().any(|rule| {
            rule.scheme.eq_ignore_ascii_case(scheme)
                && rule.host.matches(name, port, default_port(scheme))
        })
    }
}

impl HostRule {
    /// A rule without a port stands for every port where `default` is `None`, else for the default port.
    fn matches(&self, name: &str, port: Option<u16>, default: Option<u16>) -> bool {
        if !self.name.eq_ignore_ascii_case(name) {
            return false;
        }
        match (self.port, default) {
            (None, None) => true,
            (Some(wanted), None) => port == Some(wanted),
            (wanted, Some(_)) => wanted.or(default) == port.or(default),
        }
    }
}

fn host_rule(entry: &str) -> Option<HostRule> {
    let (name, port) = split_authority(entry)?;
    let plain = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':'));
    plain.then(|| HostRule {
        name: name.into(),
        port,
    })
}

fn origin_rule(entry: &str) -> Option<OriginRule> {
    let (scheme, authority) = entry.split_once("://")?;
    let good = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let host = host_rule(authority)?;
    good.then(|| OriginRule {
        scheme: scheme.into(),
        host,
    })
}

/// `name`, `name:port`, `[v6]` or `[v6]:port` into its parts; the name of a v6 address comes without its brackets.
fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    let (name, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (name, after) = rest.split_once(']')?;
            match after.strip_prefix(':') {
                Some(port) => (name, Some(port)),
                None if after.is_empty() => (name, None),
                None => return None,
            }
        }
        None => match authority.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (authority, None),
        },
    };
    if name.is_empty() {
        return None;
    }
    match port {
        None | Some("") => Some((name, None)),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((name, Some(port.parse().ok()?)))
        }
        Some(_) => None,
    }
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "::1"
}

fn is_ip(name: &str) -> bool {
    name.parse::<std::net::IpAddr>().is_ok()
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "https" => Some(443),
        _ => Some(80),
    }
}

/// Whether a page at `scheme://authority` is on the host that the request itself is for.
fn same_host(scheme: &str, authority: &str, host: &str) -> bool {
    match (split_authority(authority), split_authority(host)) {
        (Some((a, a_port)), Some((b, b_port))) => {
            let default = default_port(scheme);
            a.eq_ignore_ascii_case(b) && a_port.or(default) == b_port.or(default)
        }
        _ => false,
    }
}

/// The path without a slash at its end.
///
/// # Errors
/// It cannot be a path: the router would panic at it.
pub(super) fn bare_path(path: &str) -> Result<&str, InvalidSetting> {
    if !path.starts_with('/') || path.contains(['{', '}', '*', '?', '#']) || path.contains("/:") {
        return Err(InvalidSetting::new("path", path));
    }
    Ok(path.strip_suffix('/').unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::{super::fields::testing::headers, *};

    fn policy(hosts: &[&str], origins: &[&str], address: Option<&str>) -> CallerPolicy {
        let config = HttpConfig::default()
            .allowed_hosts(hosts.iter().copied())
            .allowed_origins(origins.iter().copied());
        CallerPolicy::new(
            &config,
            address.map(|text| text.parse().expect("an address")),
        )
        .expect("good settings")
    }

    fn status(policy: &CallerPolicy, pairs: &[(&'static str, &str)]) -> u16 {
        let headers = headers(pairs);
        let headers = SenderHeaders::of(&headers);
        match policy.admit(&headers, &Uri::from_static("/mcp"), Version::HTTP_11) {
            Ok(()) => 200,
            Err(refusal) => crate::transport::http::status::refused(&refusal, None)
                .status()
                .as_u16(),
        }
    }

    // F-3
    #[test]
    fn hosts() {
        let local = policy(&[], &[], Some("127.0.0.1:8080"));
        let open = policy(&[], &[], Some("0.0.0.0:8080"));
        let lan = policy(&[], &[], Some("192.168.0.7:8080"));
        let named = policy(
            &["example.com", "only.example.com:8080", "[2001:db8::1]"],
            &[],
            None,
        );
        let any = policy(&["*"], &[], None);
        for (policy, host, expected) in [
            (&local, "localhost", 200),
            (&local, "LOCALHOST:3000", 200),
            (&local, "127.0.0.1:1", 200),
            (&local, "[::1]:8080", 200),
            (&local, "[::1]", 200),
            (&local, "evil.example.com", 403),
            (&local, "localhost.evil.com", 403),
            (&local, "localhost:80@evil.com", 403),
            (&local, "127.0.0.2", 403),
            (&local, "192.168.0.7", 403),
            (&local, "", 403),
            (&local, ":80", 403),
            (&local, "[::1", 403),
            (&local, "localhost:99999", 403),
            (&lan, "192.168.0.7:8080", 200),
            (&lan, "192.168.0.8:8080", 403),
            (&open, "192.168.0.7:8080", 200),
            (&open, "[2001:db8::1]:8080", 200),
            (&open, "evil.example.com", 403),
            (&named, "example.com", 200),
            (&named, "Example.Com:443", 200),
            (&named, "only.example.com:8080", 200),
            (&named, "only.example.com", 403),
            (&named, "only.example.com:80", 403),
            (&named, "[2001:db8::1]:9", 200),
            (&named, "sub.example.com", 403),
            (&any, "whatever.example.com", 200),
        ] {
            assert_eq!(status(policy, &[("host", host)]), expected, "{host}");
        }
        assert_eq!(status(&local, &[]), 400);
        assert_eq!(
            local.admit(
                &SenderHeaders::default(),
                &Uri::from_static("/mcp"),
                Version::HTTP_10
            ),
            Ok(()),
            "no browser leaves the header out"
        );
        assert_eq!(
            status(&local, &[("host", "localhost"), ("host", "localhost")]),
            403
        );
        let absolute = Uri::from_static("http://evil.example.com/mcp");
        assert!(
            local
                .admit(
                    &SenderHeaders::of(&headers(&[("host", "localhost")])),
                    &absolute,
                    Version::HTTP_11
                )
                .is_err()
        );
    }

    // F-2
    #[test]
    fn origins() {
        let local = policy(&["example.com"], &[], Some("127.0.0.1:8080"));
        let listed = policy(
            &[],
            &["https://app.example.com", "http://x.example.com:8080"],
            None,
        );
        let any = policy(&[], &["*"], None);
        for (policy, host, origin, expected) in [
            (&local, "localhost:8080", "http://localhost:8080", 200),
            (&local, "localhost:8080", "http://127.0.0.1:5173", 200),
            (&local, "localhost:8080", "http://[::1]:5173", 200),
            (&local, "localhost:8080", "http://evil.example.com", 403),
            (&local, "localhost:8080", "http://localhost.evil.com", 403),
            (&local, "localhost:8080", "null", 403),
            (&local, "localhost:8080", "", 403),
            (&local, "localhost:8080", "localhost", 403),
            (&local, "localhost:8080", "file://", 403),
            (
                &local,
                "localhost:8080",
                "chrome-extension://localhost",
                403,
            ),
            (&local, "example.com", "https://example.com", 200),
            (&local, "example.com:443", "https://example.com", 200),
            (&local, "example.com:8443", "https://example.com", 403),
            (&listed, "localhost", "https://app.example.com", 200),
            (&listed, "localhost", "https://APP.example.com:443", 200),
            (&listed, "localhost", "http://app.example.com", 403),
            (&listed, "localhost", "https://app.example.com:8443", 403),
            (&listed, "localhost", "http://x.example.com:8080", 200),
            (&listed, "localhost", "http://x.example.com", 403),
            (&any, "localhost", "https://whatever.example.com", 200),
            (&any, "localhost", "null", 403),
        ] {
            let got = status(policy, &[("host", host), ("origin", origin)]);
            assert_eq!(got, expected, "{origin} at {host}");
        }
        let twice = [
            ("host", "localhost"),
            ("origin", "http://localhost"),
            ("origin", "http://a.b"),
        ];
        assert_eq!(status(&local, &twice), 403);
    }

    #[test]
    fn bad_settings_are_named() {
        for (hosts, origins) in [
            (&["http://example.com"][..], &[][..]),
            (&["a b"], &[]),
            (&[""], &[]),
            (&[], &["example.com"][..]),
            (&[], &["null"]),
            (&[], &["https://"]),
            (&[], &["https://a/b"]),
        ] {
            let config = HttpConfig::default()
                .allowed_hosts(hosts.iter().copied())
                .allowed_origins(origins.iter().copied());
            let error = CallerPolicy::new(&config, None)
                .expect_err("a bad entry")
                .to_string();
            assert!(
                error.contains(hosts.iter().chain(origins).next().expect("one")),
                "{error}"
            );
        }
    }
}
