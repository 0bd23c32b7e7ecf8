//! Header fields that may occur once, read in place without a copy.

use http::{HeaderMap, HeaderName, header};

use crate::gate::{
    HeaderValue, Headers, METHOD_HEADER, NAME_HEADER, SESSION_HEADER, VERSION_HEADER,
};

/// A header that may occur once.
pub(super) enum One<'a> {
    Absent,
    Text(&'a str),
    /// It occurs twice, or is not visible ASCII.
    Unusable,
}

/// The value of a header that may occur once, without the white space around it.
pub(super) fn single(headers: &HeaderMap, name: impl header::AsHeaderName) -> One<'_> {
    let no_name_has_two = headers.len() == headers.keys_len();
    let value = if no_name_has_two {
        headers.get(name)
    } else {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (value, None) => value,
            (_, Some(_)) => return One::Unusable,
        }
    };
    match value.map(http::HeaderValue::to_str) {
        None => One::Absent,
        Some(Ok(text)) => One::Text(text.trim_ascii()),
        Some(Err(_)) => One::Unusable,
    }
}

/// As [`single`], for a name as the gate spells it. Those that every request is asked for need not be parsed each time.
pub(super) fn named<'a>(headers: &'a HeaderMap, name: &str) -> One<'a> {
    static VERSION: HeaderName = HeaderName::from_static(VERSION_HEADER);
    static SESSION: HeaderName = HeaderName::from_static(SESSION_HEADER);
    static METHOD: HeaderName = HeaderName::from_static(METHOD_HEADER);
    static NAME: HeaderName = HeaderName::from_static(NAME_HEADER);
    match name {
        VERSION_HEADER => single(headers, &VERSION),
        SESSION_HEADER => single(headers, &SESSION),
        METHOD_HEADER => single(headers, &METHOD),
        NAME_HEADER => single(headers, &NAME),
        _ => single(headers, name),
    }
}

/// The headers of an HTTP request, for the engine.
pub(super) struct HttpHeaders<'a>(pub(super) &'a HeaderMap);

impl Headers for HttpHeaders<'_> {
    fn get(&self, name: &str) -> HeaderValue<'_> {
        match named(self.0, name) {
            One::Absent => HeaderValue::Absent,
            One::Text(text) => HeaderValue::One(text),
            One::Unusable => HeaderValue::Bad,
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use http::HeaderValue;

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
