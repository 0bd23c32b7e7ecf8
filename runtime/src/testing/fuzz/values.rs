//! Values: params, results, headers and arguments.

use std::sync::OnceLock;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::de::DeserializeOwned;
use serde_json::{Value, json, value::RawValue};
use trueform_schema::{
    At, CallToolResult, ClientNotification, ClientRequest, Conform, ContentBlock, DecodeError,
    DiscoverResult, Encode, InitializeResult, ListToolsResult, LoggingMessageNotificationParams,
    Method, ProgressNotificationParams, Revision, ServerNotification, ServerRequest,
    SubscriptionsListenRequestParams, Tool, View, rewrite::Wrapped,
};

use crate::{
    check::{CompileOptions, MAX_VIOLATIONS, Schema},
    feature::tools::header_params::{self, HeaderKind, HeaderParam},
    gate::{HeaderValue, Headers},
    projection,
};

/// Checks params of any method at any revision, from either side, and results: accepted values can be written, and are read back as the
/// same value.
pub fn decode(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for method in Method::ALL {
        for revision in Revision::ALL {
            // The gate refuses a method that the revision lacks; decoding does not check it.
            let Some(rules) = method.rules(revision) else {
                continue;
            };
            match (rules.direction.from_client(), method.is_notification()) {
                (true, true) => params(text, revision, method, ClientNotification::decode),
                (true, false) => params(text, revision, method, ClientRequest::decode),
                (false, _) => {}
            }
            match (rules.direction.from_server(), method.is_notification()) {
                (true, true) => params(text, revision, method, ServerNotification::decode),
                (true, false) => params(text, revision, method, ServerRequest::decode),
                (false, _) => {}
            }
        }
        result(text, method, ClientRequest::decode_result);
        result(text, method, ServerRequest::decode_result);
    }
}

fn params<T: Encode + PartialEq + std::fmt::Debug>(
    text: &str,
    revision: Revision,
    method: Method,
    decode: fn(Revision, Method, Option<&str>) -> Result<T, DecodeError>,
) {
    if let Ok(value) = decode(revision, method, Some(text)) {
        same_again(&value, revision, |text| {
            decode(revision, method, Some(text)).ok()
        });
    }
}

/// The result of some method.
type AnyResult = Box<dyn Conform + Send>;

/// Checks that a result can be written at every revision, and that its complete form is read back as a result.
fn result(text: &str, method: Method, decode: fn(Method, &str) -> Result<AnyResult, DecodeError>) {
    let Ok(value) = decode(method, text) else {
        return;
    };
    let mut all = Vec::new();
    value.encode(View::ALL, &mut all);
    let all = json_text(&all);
    if let Err(error) = decode(method, all) {
        panic!("{error}: {all}");
    }
    for revision in Revision::ALL {
        json_text(&At::new(&*value, revision).to_vec());
        let first = trueform_schema::conform(&*value, revision).err();
        let all = trueform_schema::violations(&*value, revision);
        assert_eq!(first.as_deref(), all.first());
    }
}

/// Checks that a decoded value is written unchanged, except for line breaks between tokens.
fn same_again<T: Encode>(value: &T, revision: Revision, again: impl Fn(&str) -> Option<T>) {
    let mut all = Vec::new();
    value.encode(View::ALL, &mut all);
    let text = json_text(&all);
    let mut twice = Vec::new();
    match again(text) {
        Some(again) => again.encode(View::ALL, &mut twice),
        None => panic!("what was written cannot be read: {text}"),
    }
    assert_eq!(json_text(&twice), text);
    json_text(&At::new(value, revision).to_vec());
}

fn json_text(bytes: &[u8]) -> &str {
    let text = std::str::from_utf8(bytes).expect("encoders write UTF-8");
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        panic!("encoders write JSON: {error}: {text}");
    }
    assert!(
        !text.contains(['\n', '\r']),
        "one message, one line: {text}"
    );
    text
}

/// Checks values that servers send: at each revision, they are written as JSON and either conform or are reported as violations, before and
/// after their projection.
pub fn conform(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    seen::<ContentBlock>(text);
    seen::<DiscoverResult>(text);
    seen::<InitializeResult>(text);
    seen::<ListToolsResult>(text);
    seen::<LoggingMessageNotificationParams>(text);
    seen::<ProgressNotificationParams>(text);
    seen::<SubscriptionsListenRequestParams>(text);
    if let Some(tool) = seen::<Tool>(text) {
        for revision in Revision::ALL {
            let projected = projection::tool(&tool, revision);
            at::<Tool>(&*projected, revision);
            // Values that a tree cannot represent are left unchanged; they do not conform, so such a tool is never listed.
            let output = projected.output_schema.as_ref();
            let output = output.filter(|schema| schema.to_value().is_object());
            assert!(
                revision == Revision::LATEST || output.is_none_or(projection::has_object_root),
                "{revision}: {projected:?}"
            );
        }
    }
    if let Some(result) = seen::<CallToolResult>(text) {
        for revision in Revision::ALL {
            for wraps in [None, Some(true), Some(false)] {
                let wrapped = Wrapped::new(&result);
                let is_wrapped = projection::wraps(&result, wraps, revision);
                let projected: &dyn Conform = if is_wrapped { &wrapped } else { &result };
                at::<CallToolResult>(projected, revision);
                let written = At::new(projected, revision).to_json().to_value();
                let structured = written.get("structuredContent");
                assert!(
                    revision == Revision::LATEST
                        || wraps == Some(false)
                        || structured.is_none_or(Value::is_object)
                );
            }
        }
    }
}

/// Decodes the value of `text`, if it is valid, and applies all checks.
fn seen<T: Conform + DeserializeOwned + PartialEq + std::fmt::Debug>(text: &str) -> Option<T> {
    let value: T = trueform_schema::decode::from_str(text).ok()?;
    same_again(&value, Revision::LATEST, |text| {
        trueform_schema::decode::from_str(text).ok()
    });
    for revision in Revision::ALL {
        at::<T>(&value, revision);
    }
    Some(value)
}

/// Checks a value of type `T`.
fn at<T: Conform + DeserializeOwned>(value: &dyn Conform, revision: Revision) {
    let all = trueform_schema::violations(value, revision);
    let first = trueform_schema::conform(value, revision).err();
    assert_eq!(first.as_deref(), all.first());
    let written = At::new(value, revision).to_vec();
    let written = json_text(&written);
    if !all.is_empty() {
        return;
    }
    // A value that may be sent can be received, and an intermediary sees the same value.
    let received: T = trueform_schema::decode::from_str(written)
        .unwrap_or_else(|error| panic!("{revision}: {error}: {written}"));
    assert_eq!(At::new(&received, revision).to_string(), written);
}

/// Checks header values: every value can be sent in Base64 form, and every value that a peer sends results at most in a mismatch.
pub fn header(bytes: &[u8]) {
    let param = |kind| HeaderParam {
        name: "P".into(),
        path: vec!["p".into()],
        kind,
    };
    let check = |sent: &str, kind, argument: &Value| {
        let arguments = trueform_schema::Json::from(json!({ "p": argument }));
        header_params::check(&One(sent), &[param(kind)], Some(arguments.get()))
    };
    let text = String::from_utf8_lossy(bytes);
    let mirrored = Value::from(&*text);
    let encoded = format!("=?base64?{}?=", STANDARD.encode(text.as_bytes()));
    assert_eq!(check(&encoded, HeaderKind::String, &mirrored), Ok(()));
    let is_sentinel = text.starts_with("=?base64?") && text.ends_with("?=") && text.len() >= 11;
    let literal = check(&text, HeaderKind::String, &mirrored);
    assert!(
        is_sentinel || literal.is_ok(),
        "{text:?} is what it says: {literal:?}"
    );
    if let (Ok(()), Ok(undecoded)) = (&literal, STANDARD.decode(bytes)) {
        assert!(undecoded.is_empty() || !is_sentinel);
    }
    for kind in [HeaderKind::String, HeaderKind::Integer, HeaderKind::Boolean] {
        for argument in [json!("x"), json!(1), json!(-1.5), json!(true), json!(null)] {
            let _ = check(&text, kind, &argument);
        }
    }
    if let Ok(number) = text.parse::<i64>() {
        assert_eq!(
            check(&text, HeaderKind::Integer, &json!(number)),
            Ok(()),
            "{number}"
        );
    }
}

struct One<'a>(&'a str);

impl Headers for One<'_> {
    fn get(&self, _: &str) -> HeaderValue<'_> {
        HeaderValue::One(self.0)
    }
}

/// Checks arguments against schemas; if there are two lines, the first is another schema. The results for text and tree are the same, and
/// the size of the report is limited.
pub fn arguments(bytes: &[u8]) {
    static SCHEMAS: OnceLock<Vec<Schema>> = OnceLock::new();
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (own, text) = match text.split_once('\n') {
        Some((schema, text)) => (serde_json::from_str::<Value>(schema).ok(), text),
        None => (None, text),
    };
    // A fuzzer finds slow patterns soon; this tests the limit on steps.
    let options = CompileOptions::default().max_steps(1 << 18);
    let own = own.and_then(|schema| Schema::compile(&schema, options).ok());
    let tree = serde_json::from_str::<Value>(text);
    for schema in SCHEMAS.get_or_init(|| schemas(options)).iter().chain(&own) {
        let by_text = schema.check_str(text);
        if let Err(violations) = &by_text {
            assert!((1..=MAX_VIOLATIONS).contains(&violations.iter().count()));
            assert!(violations.to_string().len() < 1 << 20);
            assert!(violations.for_log().to_string().len() < 1 << 20);
        }
        // Trees cannot represent all JSON: no numbers beyond those of f64, no lone surrogates. Text that the schema ignores may contain
        // them.
        let Ok(tree) = &tree else {
            assert!(by_text.is_err() || serde_json::from_str::<&RawValue>(text).is_ok());
            continue;
        };
        assert_eq!(by_text, schema.check(tree), "{text}");
        assert_eq!(by_text.is_ok(), schema.accepts(tree), "{text}");
        // The schema still accepts the value after integral floats became integers.
        let mut normal = tree.clone();
        let changed = schema.normalise_integral_floats(&mut normal);
        assert!(changed.len() <= MAX_VIOLATIONS);
        assert!(by_text.is_err() || schema.accepts(&normal), "{text}");
    }
}

/// Returns a schema of each kind of rule, and some combinations.
fn schemas(options: CompileOptions) -> Vec<Schema> {
    let all = [
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string", "maxLength": 4}},
            "required": ["a"], "additionalProperties": false}),
        json!({"type": "object", "properties": {"text": {"type": "string", "minLength": 1, "pattern": "^[a-z]+$"},
            "when": {"type": "string", "format": "date-time"}, "to": {"format": "email"}, "id": {"format": "uuid"},
            "at": {"format": "uri"}, "host": {"format": "hostname"}, "v4": {"format": "ipv4"}, "v6": {"format": "ipv6"}}}),
        json!({"type": "object", "properties": {"n": {"type": "number", "minimum": -1, "exclusiveMaximum": 10, "multipleOf": 0.5},
            "items": {"type": "array", "items": {"$ref": "#/$defs/Leaf"}, "minItems": 1, "maxItems": 3, "uniqueItems": true},
            "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
            "has": {"contains": {"const": 1}, "minContains": 1, "maxContains": 2}},
            "$defs": {"Leaf": {"type": "object", "properties": {"leaf": {"$ref": "#/$defs/Leaf"}, "size": {"enum": [1, "two", null]}}}}}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "object", "required": ["kind"],
            "properties": {"kind": {"const": "x"}}}]}),
        json!({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}, {"type": "array"}], "not": {"const": 3}}),
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"propertyNames": {"maxLength": 3}},
            "patternProperties": {"^x-": {"type": "boolean"}}, "dependentRequired": {"b": ["c"]}, "minProperties": 1, "maxProperties": 4}),
        json!({"$ref": "#/$defs/Tree", "$defs": {"Tree": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Tree"}}, {"type": "null"}]}}}),
        json!({"type": ["integer", "boolean"], "enum": [1, 2.0, true, 1e2, 9_007_199_254_740_993_i64]}),
        json!({"allOf": [{"type": "object"}, {"additionalProperties": {"type": ["string", "number"]}}]}),
        json!({}),
    ];
    all.iter()
        .map(|schema| {
            Schema::compile(schema, options).unwrap_or_else(|errors| panic!("{errors:?}"))
        })
        .collect()
}
