//! Prompts, resources and completion, in both eras.

use super::{Door, Row, Serves, modern, request, row};

/// What a row's request is answered with: a code in the legacy era, one in the modern era, and the pointer; `None` for a result.
type Refusal = Option<(i64, i64, &'static str)>;

/// What nothing is found under (J-2, J-3).
const NOT_FOUND: Refusal = Some((-32002, -32602, "/params/uri"));

fn refused(pointer: &'static str) -> Refusal {
    Some((-32602, -32602, pointer))
}

/// The requests of a server that offers prompts, resources and completion.
pub(super) fn offers() -> impl Iterator<Item = Row> {
    let internal = Some((-32603, -32603, ""));
    let requests: Vec<(&str, &str, String, Refusal)> = vec![
        ("prompts", "prompts/list", String::new(), None),
        (
            "prompts after a cursor of nobody",
            "prompts/list",
            r#""cursor":"nope""#.to_owned(),
            refused("/params/cursor"),
        ),
        (
            "a prompt",
            "prompts/get",
            r#""name":"greet","arguments":{"times":"2"}"#.to_owned(),
            None,
        ),
        (
            "an unknown prompt",
            "prompts/get",
            r#""name":"gret""#.to_owned(),
            refused("/params/name"),
        ),
        (
            "a prompt without its argument",
            "prompts/get",
            r#""name":"greet""#.to_owned(),
            refused("/params/arguments/times"),
        ),
        (
            "a prompt with a bad argument",
            "prompts/get",
            r#""name":"greet","arguments":{"times":"x"}"#.to_owned(),
            refused("/params/arguments/times"),
        ),
        (
            "a prompt with an argument that its author refuses",
            "prompts/get",
            r#""name":"greet","arguments":{"times":"0"}"#.to_owned(),
            refused("/params/arguments/times"),
        ),
        (
            "a prompt with an argument that is a number",
            "prompts/get",
            r#""name":"greet","arguments":{"times":2}"#.to_owned(),
            refused("/params/arguments/times"),
        ),
        (
            "a prompt whose result cannot be sent",
            "prompts/get",
            r#""name":"illegal""#.to_owned(),
            internal,
        ),
        ("resources", "resources/list", String::new(), None),
        ("templates", "resources/templates/list", String::new(), None),
        (
            "templates after a cursor of nobody",
            "resources/templates/list",
            r#""cursor":"nope""#.to_owned(),
            refused("/params/cursor"),
        ),
        (
            "a resource",
            "resources/read",
            r#""uri":"notes:all""#.to_owned(),
            None,
        ),
        (
            "a resource of a template",
            "resources/read",
            r#""uri":"notes:one/7""#.to_owned(),
            None,
        ),
        (
            "a resource that is not there",
            "resources/read",
            r#""uri":"notes:one/0""#.to_owned(),
            NOT_FOUND,
        ),
        (
            "a resource of no template",
            "resources/read",
            r#""uri":"other:one""#.to_owned(),
            NOT_FOUND,
        ),
        (
            "a resource with a bad variable",
            "resources/read",
            r#""uri":"notes:one/x""#.to_owned(),
            refused("/params/uri"),
        ),
        (
            "a resource with a bad escape",
            "resources/read",
            r#""uri":"notes:one/%ZZ""#.to_owned(),
            refused("/params/uri"),
        ),
        (
            "a resource by a malformed URI",
            "resources/read",
            r#""uri":"notes""#.to_owned(),
            refused("/params/uri"),
        ),
        (
            "completion",
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"times","value":""}"#
                .to_owned(),
            None,
        ),
        (
            "completion of an unknown prompt",
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"nope"},"argument":{"name":"times","value":""}"#
                .to_owned(),
            refused("/params/ref/name"),
        ),
        (
            "completion of an unknown template",
            "completion/complete",
            r#""ref":{"type":"ref/resource","uri":"nope:{a}"},"argument":{"name":"a","value":""}"#
                .to_owned(),
            refused("/params/ref/uri"),
        ),
        (
            "completion of an unknown argument",
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"tims","value":""}"#
                .to_owned(),
            refused("/params/argument/name"),
        ),
        (
            "completion of a value that its author refuses",
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"times","value":"x"}"#
                .to_owned(),
            refused("/params/argument/value"),
        ),
    ];
    requests
        .into_iter()
        .flat_map(|(name, method, params, refusal)| {
            let members = match params.is_empty() {
                true => String::new(),
                false => format!(",{params}"),
            };
            let old = row(
                &format!("{name} in a session"),
                Door::Session,
                request(method, &format!("{{{params}}}")),
            );
            let new = row(
                &format!("{name}, modern"),
                Door::Stateless,
                modern("1", method, &members),
            );
            [
                (old, refusal.map(|(old, _, at)| (old, at))),
                (new, refusal.map(|(_, new, at)| (new, at))),
            ]
        })
        .map(|(row, refusal)| {
            let row = row.serves(Serves::Offers);
            match refusal {
                None => row,
                Some((code, "")) => row.error(code),
                Some((code, pointer)) => row.error_at(code, pointer),
            }
        })
}
