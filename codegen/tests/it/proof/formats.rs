//! The formats by hand against those of the oracle, on texts that are easy to get wrong.

use serde_json::json;
use trueform_schema::conform::{Format, is_base64, is_uri, is_uri_template};

use crate::support::validator;

const URIS: [(&str, bool); 34] = [
    ("https://example.com", true),
    ("https://example.com/a/b?c=d&e=f#g", true),
    ("file:///tmp/a%20b", true),
    ("file:///tmp/a b", false),
    ("urn:x:y", true),
    ("mailto:a@example.com", true),
    ("x:", true),
    ("x:?", true),
    ("x:#", true),
    ("x:#a#b", false),
    ("x://", true),
    ("x:///", true),
    ("//example.com/a", false),
    ("/a/b", false),
    ("a/b", false),
    ("", false),
    (":", false),
    ("1x:y", false),
    ("x+-.1:y", true),
    ("x_y:z", false),
    ("https://user:word@example.com:8080/", true),
    ("https://a@b@c/", false),
    ("https://example.com:80a/", false),
    ("https://example.com:/", true),
    ("https://a:b:c/", false),
    ("https://[::1]:80/", true),
    ("https://[::1/", false),
    ("https://[::g]/", false),
    ("https://[v1.a:b]/", true),
    ("https://[v.a]/", false),
    ("https://\u{e9}.example/", false),
    ("https://example.com/%zz", false),
    ("https://example.com/%2", false),
    ("https://example.com/[a]", false),
];

const TEMPLATES: [(&str, bool); 26] = [
    ("", true),
    ("file:///{path}", true),
    ("file:///{+path}", true),
    ("/a{/b*}{?c,d:3}{#e}", true),
    ("{a.b}", true),
    ("{a..b}", false),
    ("{.a}", true),
    ("{a.}", false),
    ("{}", false),
    ("{", false),
    ("}", false),
    ("{a", false),
    ("{a}}", false),
    ("{{a}}", false),
    ("{a,}", false),
    ("{,a}", true),
    ("{a,b}", true),
    ("{a:0}", false),
    ("{a:9999}", true),
    ("{a:10000}", false),
    ("{a:}", false),
    ("{a*:3}", false),
    ("{a%20}", true),
    ("{a%2}", false),
    ("a b", false),
    ("\u{e9}%41", true),
];

const BYTES: [(&str, bool); 14] = [
    ("", true),
    ("AAAA", true),
    ("AAA=", true),
    ("AA==", true),
    ("A===", false),
    ("AAA", false),
    ("AA=A", false),
    ("====", false),
    ("_-8=", false),
    ("+/8=", true),
    ("AA==\n", false),
    ("AAAA AAAA", false),
    ("AB==", true),
    ("\u{e9}A=", false),
];

#[test]
fn formats_are_those_of_the_oracle() {
    let check = |format: Format, ours: fn(&str) -> bool, table: &[(&str, bool)]| {
        let oracle = validator(&json!({ "type": "string", "format": format.as_str() })).unwrap();
        for (text, legal) in table {
            assert_eq!(ours(text), *legal, "{format} {text:?}");
            assert_eq!(format.accepts(text), *legal, "{format} {text:?}");
            assert_eq!(
                oracle.is_valid(&json!(text)),
                *legal,
                "the oracle, {format} {text:?}"
            );
        }
    };
    check(Format::Uri, is_uri, &URIS);
    check(Format::UriTemplate, is_uri_template, &TEMPLATES);
    check(Format::Byte, is_base64, &BYTES);
}

/// Texts composed of tokens that have a meaning in the formats.
#[test]
fn formats_agree_on_random_texts() {
    const PARTS: [&str; 36] = [
        "x", "1", "a", ":", "/", "//", "?", "#", "[", "]", "@", "%20", "%", "{", "}", "{a}", ",",
        "*", "+", "=", "==", ".", "-", "_", "~", "\u{e9}", " ", "\"", "|", "`", "'", "::1", "80",
        "v1.", "AAAA", "AB",
    ];
    let mut choices = crate::values::Choices::new(21);
    for format in [Format::Uri, Format::UriTemplate, Format::Byte] {
        let oracle = validator(&json!({ "type": "string", "format": format.as_str() })).unwrap();
        for _ in 0..crate::support::rounds(4_000) {
            let prefix = if format == Format::Uri && !choices.one_in(4) {
                "x:"
            } else {
                ""
            };
            let count = choices.below(7);
            let text: String = std::iter::once(prefix)
                .chain((0..count).map(|_| *choices.of(&PARTS)))
                .collect();
            assert_eq!(
                format.accepts(&text),
                oracle.is_valid(&json!(text)),
                "{format} {text:?}"
            );
        }
    }
}
