use proptest::prelude::*;
use serde_json::{Value, json, value::RawValue};
use trueform_schema::{
    CallToolRequestParams, ClientCapabilities, Implementation, JsonObject, RequestMetaObject,
    RequestParams,
};

use super::*;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const INFO: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn options() -> ClientOptions {
    let mut capabilities = ClientCapabilities::default();
    capabilities.sampling = Some(Default::default());
    ClientOptions::new()
        .info(Implementation::new("Zoë \"the\" client", "1.0"))
        .capabilities(capabilities)
}

fn write(
    params: &dyn Encode,
    revision: Revision,
    progress_token: Option<&RequestId>,
    log_level: Option<&LoggingLevel>,
) -> Result<String, ClientError> {
    let introduction = Introduction::new(&options(), revision);
    let stamp = Stamp {
        introduction: &introduction,
        progress_token,
        log_level,
    };
    // What is there already stays.
    let mut out = b"before".to_vec();
    stamp.write(params, &mut out)?;
    let text = String::from_utf8(out).unwrap();
    Ok(text.strip_prefix("before").unwrap().to_owned())
}

fn raw(text: &str) -> Json {
    Json::from_text(text).unwrap()
}

const INTRODUCED: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"Zoë \"the\" client","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}"#;

#[test]
fn what_leaves() {
    let token = RequestId::from(7);
    let level = LoggingLevel::Warning;
    let (modern, legacy) = (Revision::V2026_07_28, Revision::V2025_11_25);
    let none = (None, None);
    let all = (Some(&token), Some(&level));
    let log = r#""io.modelcontextprotocol/logLevel":"warning""#;
    for (params, revision, (token, level), expected) in [
        // Params without members, and without `_meta`.
        (
            "{}",
            modern,
            none,
            format!(r#"{{"_meta":{{{INTRODUCED}}}}}"#),
        ),
        (
            "{ }",
            modern,
            none,
            format!(r#"{{"_meta":{{{INTRODUCED}}}}}"#),
        ),
        ("{}", legacy, none, "{}".to_owned()),
        (
            r#"{"name":"é\t"}"#,
            modern,
            none,
            format!(r#"{{"name":"é\t","_meta":{{{INTRODUCED}}}}}"#),
        ),
        (
            r#"{"a":1}"#,
            modern,
            all,
            format!(r#"{{"a":1,"_meta":{{"progressToken":7,{INTRODUCED},{log}}}}}"#),
        ),
        (
            r#"{"a":1}"#,
            legacy,
            all,
            r#"{"a":1,"_meta":{"progressToken":7}}"#.to_owned(),
        ),
        // Another object has that member.
        (
            r#"{"arguments":{"_meta":{"x":1}}}"#,
            modern,
            none,
            format!(r#"{{"arguments":{{"_meta":{{"x":1}}}},"_meta":{{{INTRODUCED}}}}}"#),
        ),
        (
            r#"{"text":"\"_meta\":","b":"\u0001"}"#,
            modern,
            none,
            format!(r#"{{"text":"\"_meta\":","b":"\u0001","_meta":{{{INTRODUCED}}}}}"#),
        ),
        // `_meta` of the author's: it stays where it is, and so do its members.
        (
            r#"{"_meta":{},"b":2}"#,
            modern,
            none,
            format!(r#"{{"_meta":{{{INTRODUCED}}},"b":2}}"#),
        ),
        (
            r#"{"a":1,"_meta":{"x/y":[1.0]},"b":2}"#,
            modern,
            all,
            format!(
                r#"{{"a":1,"_meta":{{"x/y":[1.0],"progressToken":7,{INTRODUCED},{log}}},"b":2}}"#
            ),
        ),
        (
            r#"{"_meta":{"x":1}}"#,
            legacy,
            none,
            r#"{"_meta":{"x":1}}"#.to_owned(),
        ),
        (
            r#"{"_meta":{"progressToken":"mine","x":1}}"#,
            legacy,
            all,
            r#"{"_meta":{"progressToken":7,"x":1}}"#.to_owned(),
        ),
        (
            r#"{"\u005fmeta":{"x":1}}"#,
            legacy,
            all,
            r#"{"\u005fmeta":{"x":1,"progressToken":7}}"#.to_owned(),
        ),
        // A member that comes twice is the author's affair, whether or not the text has to be read.
        (
            r#"{"a":1,"a":2}"#,
            legacy,
            all,
            r#"{"a":1,"a":2,"_meta":{"progressToken":7}}"#.to_owned(),
        ),
        (
            r#"{"a":1,"\u0061":2}"#,
            legacy,
            all,
            r#"{"a":1,"\u0061":2,"_meta":{"progressToken":7}}"#.to_owned(),
        ),
        // A message is one line.
        ("{\n\"a\":\r1\n}", legacy, none, "{ \"a\": 1 }".to_owned()),
    ] {
        let written = write(&raw(params), revision, token, level).unwrap();
        assert_eq!(written, expected, "{params} at {revision}");
    }
}

#[test]
fn the_authors_members_win() {
    for (name, value) in [
        (VERSION, json!("2099-01-01")),
        (INFO, json!({ "name": "other", "version": "0" })),
        (CAPABILITIES, json!({ "roots": {} })),
        (LOG_LEVEL, json!("debug")),
    ] {
        let params = Json::from(json!({ "_meta": { name: value }, "a": 1 }));
        let level = Some(&LoggingLevel::Error);
        let written = write(&params, Revision::V2026_07_28, None, level).unwrap();
        let written: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(written["_meta"][name], value);
        let meta = written["_meta"].as_object().unwrap();
        let names: std::collections::BTreeSet<_> = meta.keys().map(|name| &**name).collect();
        assert_eq!(names, [VERSION, INFO, CAPABILITIES, LOG_LEVEL].into());
    }
}

#[test]
fn what_is_no_object_is_an_error() {
    for (params, problem) in [
        ("null", "invalid type: null, expected an object"),
        ("[]", "expected an object"),
        (r#"{"_meta":5}"#, "expected an object"),
        (r#"{"_meta":{},"_meta":{}}"#, "duplicate member `_meta`"),
    ] {
        let error = write(&raw(params), Revision::V2026_07_28, None, None).unwrap_err();
        assert!(error.to_string().contains(problem), "{params}: {error}");
    }
}

#[test]
fn typed_params() {
    let mut meta = RequestMetaObject::new();
    meta.progress_token = Some(RequestId::from("mine"));
    let mut params = CallToolRequestParams::new("add");
    params.arguments = Some(JsonObject::from_value(&json!({ "a": 2 })).unwrap());
    for (meta, head, tail) in [
        (None, "", format!(r#","_meta":{{{INTRODUCED}}}"#)),
        (
            Some(meta),
            &*format!(r#""_meta":{{"progressToken":"mine",{INTRODUCED}}},"#),
            String::new(),
        ),
    ] {
        params.meta = meta;
        let written = write(&params, Revision::V2026_07_28, None, None).unwrap();
        assert_eq!(
            written,
            format!(r#"{{{head}"arguments":{{"a":2}},"name":"add"{tail}}}"#)
        );
    }
    let empty = RequestParams::default();
    let written = write(&empty, Revision::V2024_11_05, None, None).unwrap();
    assert_eq!(written, "{}");
}

/// What leaves, made from trees.
fn model(
    mut params: Value,
    revision: Revision,
    token: Option<i64>,
    level: Option<&LoggingLevel>,
) -> Value {
    let members = params.as_object_mut().unwrap();
    let mut meta = match members.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => serde_json::Map::new(),
    };
    if let Some(token) = token {
        meta.insert("progressToken".to_owned(), token.into());
    }
    if revision.era() == Era::Modern {
        let info = json!({ "name": "Zoë \"the\" client", "version": "1.0" });
        let mut added = vec![
            (VERSION, json!("2026-07-28")),
            (INFO, info),
            (CAPABILITIES, json!({ "sampling": {} })),
        ];
        added.extend(level.map(|level| (LOG_LEVEL, json!(level.as_str()))));
        for (name, value) in added {
            meta.entry(name).or_insert(value);
        }
    }
    if !meta.is_empty() {
        members.insert("_meta".to_owned(), meta.into());
    }
    params
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("\"_meta\":{")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any_name(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just("_meta".to_owned()),
        Just("progressToken".to_owned()),
        Just(VERSION.to_owned()),
        Just(INFO.to_owned()),
        Just(CAPABILITIES.to_owned()),
        Just(LOG_LEVEL.to_owned()),
    ]
}

/// `name` as a JSON string, written in one of several ways.
fn written(name: &str, how: u8) -> String {
    let escaped = |text: &str| -> String {
        let units = text.encode_utf16();
        units.map(|unit| format!("\\u{unit:04x}")).collect()
    };
    let plain = |text: &str| {
        let text = Value::from(text).to_string();
        text[1..text.len() - 1].to_owned()
    };
    let half = name.char_indices().nth(name.chars().count() / 2);
    let (first, rest) = name.split_at(half.map_or(0, |(at, _)| at));
    let inner = match how % 4 {
        0 => plain(name),
        1 => escaped(name),
        2 => escaped(first) + &plain(rest),
        _ => plain(first) + &escaped(rest),
    };
    format!("\"{inner}\"")
}

/// An object of these members, with white space between its tokens.
fn object_of(members: &[(String, Value, u8, String)]) -> String {
    let mut text = "{".to_owned();
    for (at, (name, value, how, space)) in members.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let name = written(name, *how);
        let value = match how % 2 {
            0 => value.to_string(),
            _ => serde_json::to_string_pretty(value).unwrap(),
        };
        text += &format!("{space}{comma}{space}{name}{space}:{space}{value}{space}");
    }
    text + "}"
}

/// The members of the object `text`, in order, those that come twice included.
fn members_of(text: &str) -> Vec<(String, Value)> {
    let RawMembers(members) = serde_json::from_str(text).unwrap();
    let read = |value: &RawValue| serde_json::from_str(value.get()).unwrap();
    let members = members.into_iter();
    members.map(|(name, value)| (name, read(value))).collect()
}

fn any_object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(any_name(), any_json(), 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

proptest! {
    #[test]
    fn as_the_model_has_it(
        mut params in any_object(),
        meta in prop::option::of(any_object()),
        pretty in any::<bool>(),
        modern in any::<bool>(),
        token in prop::option::of(any::<i64>()),
        level in prop::option::of(Just(LoggingLevel::Info)),
    ) {
        let members = params.as_object_mut().unwrap();
        members.remove("_meta");
        members.extend(meta.map(|meta| ("_meta".to_owned(), meta)));
        let text = match pretty {
            true => serde_json::to_string_pretty(&params),
            false => serde_json::to_string(&params),
        };
        let revision = match modern {
            true => Revision::V2026_07_28,
            false => Revision::V2025_06_18,
        };
        let id = token.map(RequestId::from);
        let written = write(&raw(&text.unwrap()), revision, id.as_ref(), level.as_ref()).unwrap();
        prop_assert!(!written.contains(['\n', '\r']));
        let written: Value = serde_json::from_str(&written).unwrap();
        // An empty `_meta` of the author's may stay.
        let mut expected = model(params.clone(), revision, token, level.as_ref());
        if params.get("_meta") == Some(&json!({})) && expected.get("_meta").is_none() {
            expected["_meta"] = json!({});
        }
        prop_assert_eq!(written, expected);
    }

    /// However the params are written: escapes in names, white space, members twice.
    #[test]
    fn of_text_that_was_written_by_hand(
        members in prop::collection::vec(
            (any_name(), prop_oneof![any_json(), any_object()], any::<u8>(), "[ \t\r\n]{0,2}"),
            0..5,
        ),
        modern in any::<bool>(),
        token in prop::option::of(any::<i64>()),
        level in prop::option::of(Just(LoggingLevel::Info)),
    ) {
        let revision = match modern {
            true => Revision::V2026_07_28,
            false => Revision::V2025_06_18,
        };
        let text = object_of(&members);
        let id = token.map(RequestId::from);
        let written = write(&raw(&text), revision, id.as_ref(), level.as_ref());
        let metas: Vec<&Value> = members
            .iter()
            .filter(|(name, ..)| name == "_meta")
            .map(|(_, value, ..)| value)
            .collect();
        if metas.len() > 1 || metas.iter().any(|meta| !meta.is_object()) {
            prop_assert!(written.is_err(), "{}", text);
            return Ok(());
        }
        let written = written.unwrap();
        prop_assert!(!written.contains(['\n', '\r']));
        let alone = metas.first().map_or(json!({}), |meta| json!({ "_meta": meta }));
        let meta = model(alone, revision, token, level.as_ref())["_meta"].take();
        let mut expected: Vec<(String, Value)> = members
            .iter()
            .map(|(name, value, ..)| (name.clone(), value.clone()))
            .collect();
        match expected.iter_mut().find(|(name, _)| name == "_meta") {
            // An empty one of the author's may stay.
            Some((_, own)) if !meta.is_null() => *own = meta,
            None if !meta.is_null() => expected.push(("_meta".to_owned(), meta)),
            _ => {}
        }
        prop_assert_eq!(members_of(&written), expected, "{}", text);
    }
}

/// Params of 8 MiB, with and without `_meta`, and of nesting that no reader of trees takes.
#[test]
fn large_params() {
    let long = "x".repeat(8 << 20);
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    for value in [format!("\"{long}\""), deep] {
        for (head, expected) in [
            ("", format!(r#"{{"a":{value},"_meta":{{{INTRODUCED}}}}}"#)),
            (
                r#""_meta":{"x":1},"#,
                format!(r#"{{"_meta":{{"x":1,{INTRODUCED}}},"a":{value}}}"#),
            ),
        ] {
            let params = raw(&format!("{{{head}\"a\":{value}}}"));
            let written = write(&params, Revision::V2026_07_28, None, None).unwrap();
            assert!(written == expected, "{} bytes", written.len());
        }
    }
}
