//! The media types of both directions: what a client sends, and what it takes as an answer.

use http::HeaderValue;

use super::fields::{Found, One};

/// What the client takes as an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    const ALL: Self = Self {
        json: true,
        events: true,
    };
}

/// Reads the values of `Accept` leniently: types and wildcards count unless their weight is 0; no header admits everything (F-7).
pub(super) fn accepts<'a>(values: impl IntoIterator<Item = &'a HeaderValue>) -> Accepts {
    let mut found = Accepts {
        json: false,
        events: false,
    };
    let mut is_absent = true;
    for value in values {
        is_absent = false;
        // What most clients send (G-1), recognized without taking it apart.
        if value == "application/json, text/event-stream" {
            return Accepts::ALL;
        }
        let Ok(text) = value.to_str() else { continue };
        for range in text.split(',') {
            let (kind, parameters) = match range.split_once(';') {
                Some((kind, parameters)) => (kind.trim(), parameters),
                None => (range.trim(), ""),
            };
            if !parameters.is_empty() && weighs_nothing(parameters) {
                continue;
            }
            let is = |name: &str| kind.eq_ignore_ascii_case(name);
            if kind == "*/*" {
                found = Accepts::ALL;
            } else if is("application/json") || is("application/*") {
                found.json = true;
            } else if is("text/event-stream") || is("text/*") {
                found.events = true;
            }
        }
    }
    match is_absent {
        true => Accepts::ALL,
        false => found,
    }
}

fn weighs_nothing(parameters: &str) -> bool {
    parameters
        .split(';')
        .any(|parameter| match parameter.split_once('=') {
            Some((name, weight)) if name.trim().eq_ignore_ascii_case("q") => weight
                .trim()
                .parse::<f32>()
                .is_ok_and(|weight| weight == 0.0),
            _ => false,
        })
}

/// Whether `Content-Type` says that the body is JSON.
pub(super) fn is_json(content_type: Found<'_>) -> bool {
    if let Found::Once(value) = content_type
        && value == "application/json"
    {
        return true;
    }
    match content_type.one() {
        One::Text(text) => {
            let kind = text.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/json")
        }
        One::Absent | One::Unusable => false,
    }
}

/// Whether `Content-Encoding` says that the body is sent as it is: no encoding of bodies is understood here.
pub(super) fn is_plain(content_encoding: Found<'_>) -> bool {
    match content_encoding.one() {
        One::Absent => true,
        One::Text(encoding) => encoding.eq_ignore_ascii_case("identity") || encoding.is_empty(),
        One::Unusable => false,
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, header};

    use super::{
        super::fields::{SenderHeaders, testing::headers},
        *,
    };

    // F-7
    #[test]
    fn accept() {
        for (values, json, events) in [
            (&[][..], true, true),
            (&["application/json, text/event-stream"], true, true),
            (&["application/json", "text/event-stream"], true, true),
            (&["application/json"], true, false),
            (&["Text/Event-Stream;q=0.5"], false, true),
            (&["*/*"], true, true),
            (&["application/*"], true, false),
            (&["text/*;q=0.1, image/png"], false, true),
            (&["text/html"], false, false),
            (&["application/json;q=0, text/event-stream"], false, true),
            (&["application/json; charset=utf-8"], true, false),
            (&[""], false, false),
        ] {
            let pairs: Vec<_> = values.iter().map(|value| ("accept", *value)).collect();
            assert_eq!(
                accepts(headers(&pairs).get_all(header::ACCEPT)),
                Accepts { json, events },
                "{values:?}"
            );
        }
    }

    #[test]
    fn content_type() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/json;charset=UTF-8", true),
            ("text/plain", false),
            ("application/jsonp", false),
            ("application/x-www-form-urlencoded", false),
        ] {
            assert_eq!(
                is_json(SenderHeaders::of(&headers(&[("content-type", value)])).content_type),
                expected,
                "{value}"
            );
        }
        assert!(!is_json(SenderHeaders::of(&HeaderMap::new()).content_type));
    }
}
