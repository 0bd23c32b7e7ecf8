//! Encoding: what each revision gets to see, and what the encoder fills in.

use trueform_schema::{
    At, CallToolRequestParams, CallToolResult, ContentBlock, ElicitRequestFormParams,
    ElicitRequestedSchema, Encode, Implementation, InputRequiredResult, Json, JsonObject,
    ListToolsResult, Map, RequestMetaObject, ResultMetaObject, Revision, TextContent, Tool, View,
    decode,
};

fn at(value: &impl Encode, revision: Revision) -> String {
    At::new(value, revision).to_string()
}

fn all(value: &impl Encode) -> String {
    let mut out = Vec::new();
    value.encode(View::ALL, &mut out);
    String::from_utf8(out).expect("encoders write UTF-8")
}

#[test]
fn later_members_are_left_out() {
    let tool = Tool::new(JsonObject::empty(), "add").with_title("Add");
    assert_eq!(
        at(&tool, Revision::V2025_03_26),
        r#"{"inputSchema":{},"name":"add"}"#
    );
    assert_eq!(
        at(&tool, Revision::V2025_06_18),
        r#"{"inputSchema":{},"name":"add","title":"Add"}"#
    );
}

#[test]
fn constants_come_first() {
    let block: ContentBlock = TextContent::new("a\n\u{1}\"").into();
    assert_eq!(
        all(&block),
        "{\"type\":\"text\",\"text\":\"a\\n\\u0001\\\"\"}"
    );
}

// D-section: `resultType`, `ttlMs` and `cacheScope` are required at the newest revision and unknown before.
#[test]
fn what_only_some_revisions_require_is_filled_in_there() {
    let result = ListToolsResult::new(Vec::new());
    assert_eq!(at(&result, Revision::V2025_11_25), r#"{"tools":[]}"#);
    assert_eq!(
        at(&result, Revision::V2026_07_28),
        r#"{"resultType":"complete","cacheScope":"private","tools":[],"ttlMs":0}"#
    );
    let set = result.with_ttl_ms(5).with_cache_scope("public");
    assert_eq!(
        at(&set, Revision::V2026_07_28),
        r#"{"resultType":"complete","cacheScope":"public","tools":[],"ttlMs":5}"#
    );
    let ask = InputRequiredResult::new().with_request_state("s");
    assert_eq!(
        at(&ask, Revision::V2026_07_28),
        r#"{"resultType":"input_required","requestState":"s"}"#
    );
}

#[test]
fn the_server_signs_results_of_revisions_that_have_it() {
    let me = r#"{"name":"calc","version":"1"}"#;
    let write = |result: &CallToolResult, revision| {
        let mut out = Vec::new();
        result.encode(View::at(revision).with_server_info(me), &mut out);
        String::from_utf8(out).expect("encoders write UTF-8")
    };
    let plain = CallToolResult::new(Vec::new());
    assert_eq!(write(&plain, Revision::V2025_11_25), r#"{"content":[]}"#);
    assert_eq!(
        write(&plain, Revision::V2026_07_28),
        r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"calc","version":"1"}},"content":[]}"#
    );
    let mut meta = ResultMetaObject::new();
    meta.extras_mut().insert("x", Json::null());
    let own = plain.clone().with_meta(meta.clone());
    assert_eq!(
        write(&own, Revision::V2025_11_25),
        r#"{"_meta":{"x":null},"content":[]}"#
    );
    assert!(write(&own, Revision::V2026_07_28).contains(r#"serverInfo":{"name":"calc""#));
    let named = plain.with_meta(meta.with_server_info(Implementation::new("other", "2")));
    assert!(write(&named, Revision::V2026_07_28).contains(r#"serverInfo":{"name":"other""#));
}

#[test]
fn extras_are_kept_at_every_revision_but_shadow_nothing() {
    let text = r#"{"inputSchema":{"type":"object"},"name":"a","x-later":{"b":1.0,"a":null}}"#;
    let mut tool: Tool = decode::from_str(text).unwrap();
    for revision in Revision::ALL {
        assert_eq!(at(&tool, revision), text);
    }
    tool.extras_mut().insert("title", Json::null());
    assert_eq!(all(&tool), text);
}

#[test]
fn empty_and_absent_differ() {
    let mut params = CallToolRequestParams::new("a");
    assert_eq!(all(&params), r#"{"name":"a"}"#);
    params.arguments = Some(JsonObject::empty());
    params.input_responses = Some(Map::new());
    params.meta = Some(RequestMetaObject::new());
    assert_eq!(
        all(&params),
        r#"{"_meta":{},"arguments":{},"inputResponses":{},"name":"a"}"#
    );
    assert_eq!(
        at(&params, Revision::V2025_06_18),
        r#"{"_meta":{},"arguments":{},"name":"a"}"#
    );
}

#[test]
fn an_optional_constant_is_written_where_it_is_known() {
    let form = ElicitRequestFormParams::new("m", ElicitRequestedSchema::new(Map::new()));
    let schema = r#""requestedSchema":{"type":"object","properties":{}}"#;
    assert_eq!(
        at(&form, Revision::V2025_06_18),
        format!(r#"{{"message":"m",{schema}}}"#)
    );
    assert_eq!(
        at(&form, Revision::V2025_11_25),
        format!(r#"{{"mode":"form","message":"m",{schema}}}"#)
    );
}

#[test]
fn serialize_writes_the_superset() {
    let tool = Tool::new(JsonObject::empty(), "a").with_title("A");
    assert_eq!(
        serde_json::to_string(&[&tool]).unwrap(),
        format!("[{}]", all(&tool))
    );
    assert_eq!(serde_json::to_value(&tool).unwrap()["title"], "A");
}
