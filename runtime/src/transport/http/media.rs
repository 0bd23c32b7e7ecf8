//! The media types of both directions: what a client sends, and what it takes as an answer.

use http::{HeaderMap, header};

use super::fields::{One, single};

/// What the client takes as an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

/// Reads `Accept` leniently: types and wildcards count unless their weight is 0; no header admits everything (F-7).
pub(super) fn accepts(headers: &HeaderMap) -> Accepts {
    let mut found = Accepts {
        json: false,
        events: false,
    };
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return Accepts {
            json: true,
            events: true,
        };
    }
    for value in values {
        // What most clients send (G-1), recognized without taking it apart.
        if value == "application/json, text/event-stream" {
            return Accepts {
                json: true,
                events: true,
            };
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
                found = Accepts {
                    json: true,
                    events: true,
                };
            } else if is("application/json") || is("application/*") {
                found.json = true;
            } else if is("text/event-stream") || is("text/*") {
                found.events = true;
            }
        }
    }
    found
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

/// Whether the body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    match single(headers, header::CONTENT_TYPE) {
        One::Text(text) => {
            let kind = || text.split(';').next().unwrap_or_default().trim();
            text == "application/json" || kind().eq_ignore_ascii_case("application/json")
        }
        One::Absent | One::Unusable => false,
    }
}

/// Whether the body is sent as it is: no encoding of bodies is understood here.
pub(super) fn is_plain(headers: &HeaderMap) -> bool {
    match single(headers, header::CONTENT_ENCODING) {
        One::Absent => true,
        One::Text(encoding) => encoding.eq_ignore_ascii_case("identity") || encoding.is_empty(),
        One::Unusable => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fields::testing::headers, *};

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
                accepts(&headers(&pairs)),
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
                is_json(&headers(&[("content-type", value)])),
                expected,
                "{value}"
            );
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
