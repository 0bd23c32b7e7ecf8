//! Header fields that may occur once, read in place without a copy.

use http::{HeaderMap, header};

use crate::gate::{
    HeaderValue, Headers, METHOD_HEADER, NAME_HEADER, SESSION_HEADER, VERSION_HEADER,
};

/// A header that may occur once.
#[derive(Clone, Copy)]
pub(super) enum One<'a> {
    Absent,
    Text(&'a str),
    /// It occurs twice, or is not visible ASCII.
    Unusable,
}

/// The value of a header that may occur once, without the white space around it.
pub(super) fn single(headers: &HeaderMap, name: impl header::AsHeaderName) -> One<'_> {
    let mut found = Found::Absent;
    for value in headers.get_all(name) {
        found.add(value);
    }
    found.one()
}

/// The value of a header, without the white space around it.
fn text(value: &http::HeaderValue) -> One<'_> {
    match value.to_str() {
        Ok(text) => One::Text(text.trim_ascii()),
        Err(_) => One::Unusable,
    }
}

/// What was found of a header that may occur once.
#[derive(Clone, Copy, Default)]
pub(super) enum Found<'a> {
    #[default]
    Absent,
    Once(&'a http::HeaderValue),
    Twice,
}

impl<'a> Found<'a> {
    fn add(&mut self, value: &'a http::HeaderValue) {
        *self = match self {
            Self::Absent => Self::Once(value),
            Self::Once(_) | Self::Twice => Self::Twice,
        };
    }

    /// As [`single`] has it.
    #[inline]
    pub(super) fn one(self) -> One<'a> {
        match self {
            Self::Absent => One::Absent,
            Self::Once(value) => text(value),
            Self::Twice => One::Unusable,
        }
    }
}

/// The headers that say whether a request is served at all, and what its body is. Found in one pass: a lookup of one name, which has to be
/// hashed, costs more than a pass over the few headers of a request.
#[derive(Default)]
pub(super) struct SenderHeaders<'a> {
    pub(super) host: Found<'a>,
    pub(super) origin: Found<'a>,
    pub(super) content_type: Found<'a>,
    pub(super) content_encoding: Found<'a>,
    /// More than one is well-formed, too.
    pub(super) accept: Found<'a>,
}

impl<'a> SenderHeaders<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        let mut found = Self::default();
        for (name, value) in headers {
            let field = if *name == header::HOST {
                &mut found.host
            } else if *name == header::ORIGIN {
                &mut found.origin
            } else if *name == header::CONTENT_TYPE {
                &mut found.content_type
            } else if *name == header::CONTENT_ENCODING {
                &mut found.content_encoding
            } else if *name == header::ACCEPT {
                &mut found.accept
            } else {
                continue;
            };
            field.add(value);
        }
        found
    }
}

/// The headers of an HTTP request, for the engine. Those that every request is asked for are found in one pass.
pub(super) struct HttpHeaders<'a> {
    all: &'a HeaderMap,
    version: Found<'a>,
    session: Found<'a>,
    method: Found<'a>,
    name: Found<'a>,
}

impl<'a> HttpHeaders<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        let mut found = Self {
            all: headers,
            version: Found::Absent,
            session: Found::Absent,
            method: Found::Absent,
            name: Found::Absent,
        };
        for (name, value) in headers {
            let field = match name.as_str() {
                VERSION_HEADER => &mut found.version,
                SESSION_HEADER => &mut found.session,
                METHOD_HEADER => &mut found.method,
                NAME_HEADER => &mut found.name,
                _ => continue,
            };
            field.add(value);
        }
        found
    }

    /// The header that names a session.
    pub(super) fn session(&self) -> One<'a> {
        self.session.one()
    }
}

impl Headers for HttpHeaders<'_> {
    fn get(&self, name: &str) -> HeaderValue<'_> {
        let found = match name {
            VERSION_HEADER => self.version.one(),
            SESSION_HEADER => self.session.one(),
            METHOD_HEADER => self.method.one(),
            NAME_HEADER => self.name.one(),
            _ => single(self.all, name),
        };
        match found {
            One::Absent => HeaderValue::Absent,
            One::Text(text) => HeaderValue::One(text),
            One::Unusable => HeaderValue::Bad,
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use http::{HeaderName, HeaderValue};

    use super::*;

    /// A map with these fields.
    pub(in super::super) fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(
                HeaderName::from_static(name),
                HeaderValue::from_str(value).expect("a test's header"),
            );
        }
        map
    }
}
