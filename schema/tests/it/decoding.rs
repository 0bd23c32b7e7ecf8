//! Decoding: presence, constants, unions, extras, and where errors point.

use trueform_schema::{
    CallToolOutcome, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitValue,
    ElicitationCompleteNotificationParams, EmbeddedResource, InputResponse, Json, ListToolsResult,
    Method, PrimitiveSchemaDefinition, ProgressNotificationParams, ResourceContents, Revision,
    Role, SamplingMessageContent, Task, TextContent, Tool, decode, ext,
};

#[track_caller]
fn refused<T: serde::de::DeserializeOwned + std::fmt::Debug>(
    text: &str,
    pointer: &str,
    message: &str,
) {
    let error = decode::from_str::<T>(text).expect_err(text);
    assert_eq!(error.pointer(), pointer, "{error}");
    assert!(error.message().contains(message), "{error}");
}

#[test]
fn what_is_refused_and_where() {
    refused::<CallToolRequestParams>("[]", "", "expected an object");
    refused::<CallToolRequestParams>("{}", "", "missing field `name`");
    refused::<CallToolRequestParams>(
        r#"{"name":"a","name":"b"}"#,
        "/name",
        "duplicate field `name`",
    );
    refused::<CallToolRequestParams>(r#"{"name":"a","x":1,"x":2}"#, "", "duplicate member `x`");
    refused::<CallToolRequestParams>(
        r#"{"name":"a","arguments":[1]}"#,
        "/arguments",
        "expected an object",
    );
    refused::<CallToolRequestParams>(
        r#"{"name":"a","arguments":null}"#,
        "/arguments",
        "expected an object",
    );
    refused::<CallToolRequestParams>(
        r#"{"name":"a","_meta":{"progressToken":1.5}}"#,
        "/_meta/progressToken",
        "expected a string or an integer",
    );
    refused::<CallToolRequestParams>(
        r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"experimental":{"a":{},"b/c":5}}},"name":""}"#,
        "/_meta/io.modelcontextprotocol~1clientCapabilities/experimental/b~1c",
        "expected an object",
    );
    refused::<TextContent>(r#"{"type":"image","text":"a"}"#, "/type", "expected `text`");
    refused::<TextContent>(r#"{"text":"a"}"#, "", "missing field `type`");
    refused::<ListToolsResult>(
        r#"{"tools":[{"name":"a","inputSchema":{}},{"name":1}]}"#,
        "/tools/1/name",
        "a string",
    );
    refused::<CallToolResult>(
        r#"{"content":[],"resultType":"task"}"#,
        "/resultType",
        "expected `complete`",
    );
}

#[test]
fn unions_keep_the_place_whatever_the_order_of_members() {
    // Tag first, tag last, fault before and after the tag.
    for (text, pointer) in [
        (
            r#"{"content":[{"type":"text","text":1}]}"#,
            "/content/0/text",
        ),
        (
            r#"{"content":[{"text":1,"type":"text"}]}"#,
            "/content/0/text",
        ),
        (
            r#"{"content":[{"annotations":{"audience":[1]},"type":"text","text":""}]}"#,
            "/content/0/annotations/audience/0",
        ),
        (r#"{"content":[{"type":"text"}]}"#, "/content/0"),
        (r#"{"content":[{"text":"a"}]}"#, "/content/0"),
        (r#"{"content":[{"type":5}]}"#, "/content/0/type"),
    ] {
        let error = decode::from_str::<CallToolResult>(text).expect_err(text);
        assert_eq!(error.pointer(), pointer, "{text}: {error}");
    }
    refused::<ElicitRequestParams>(
        r#"{"message":1,"requestedSchema":{}}"#,
        "/message",
        "expected a string",
    );
}

#[test]
fn content_blocks() {
    let first = r#"{"type":"text","text":"hi","x":[1.0]}"#;
    let last = r#"{"text":"hi","x":[1.0],"type":"text"}"#;
    let [a, b]: [ContentBlock; 2] = [first, last].map(|text| decode::from_str(text).unwrap());
    assert_eq!(a, b);
    let ContentBlock::Text(text) = a else {
        panic!("{a:?}")
    };
    assert_eq!(text.text, "hi");
    assert_eq!(text.extras().get("x").map(Json::get), Some("[1.0]"));

    let later = r#"{"a":1e3,"type":"video","url":"x"}"#;
    let unknown: ContentBlock = decode::from_str(later).unwrap();
    assert_eq!(
        unknown,
        ContentBlock::Unknown(Json::from_text(later).unwrap())
    );
    // An audio block is no image, although it has all members of one.
    let audio: ContentBlock =
        decode::from_str(r#"{"data":"","mimeType":"a/b","type":"audio"}"#).unwrap();
    assert!(matches!(audio, ContentBlock::Audio(_)));
}

#[test]
fn unions_by_presence_type_and_cases() {
    let blob: EmbeddedResource =
        decode::from_str(r#"{"type":"resource","resource":{"uri":"a:b","blob":""}}"#).unwrap();
    assert!(matches!(blob.resource, ResourceContents::Blob(_)));
    let neither: ResourceContents = decode::from_str(r#"{"uri":"a:b"}"#).unwrap();
    assert!(matches!(neither, ResourceContents::Unknown(_)));

    let one = r#"{"role":"user","model":"m","content":{"type":"text","text":"a"}}"#;
    let many = r#"{"role":"user","model":"m","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]}"#;
    let one: CreateMessageResult = decode::from_str(one).unwrap();
    assert!(matches!(one.content, SamplingMessageContent::Single(_)));
    let many: CreateMessageResult = decode::from_str(many).unwrap();
    assert!(matches!(many.content, SamplingMessageContent::Many(ref blocks) if blocks.len() == 1));
    refused::<CreateMessageResult>(
        r#"{"role":"user","model":"m","content":"a"}"#,
        "/content",
        "expected array or object",
    );

    let answer: InputResponse =
        decode::from_str(r#"{"content":{"n":0.5,"m":["a"]},"action":"accept"}"#).unwrap();
    let InputResponse::Elicit(ElicitResult {
        content: Some(content),
        ..
    }) = answer
    else {
        panic!("{answer:?}")
    };
    assert_eq!(content.get("n"), Some(&ElicitValue::Number(0.5)));
    assert_eq!(
        content.get("m"),
        Some(&ElicitValue::Array(vec!["a".to_owned()]))
    );

    for (text, variant) in [
        (r#"{"type":"string"}"#, "String"),
        (r#"{"type":"integer"}"#, "Number"),
        (r#"{"type":"boolean","default":true}"#, "Boolean"),
        (
            r#"{"type":"string","enum":["a"]}"#,
            "UntitledSingleSelectEnum",
        ),
        (
            r#"{"type":"string","enum":["a"],"enumNames":["A"]}"#,
            "LegacyTitledEnum",
        ),
        (
            r#"{"type":"string","oneOf":[{"const":"a","title":"A"}]}"#,
            "TitledSingleSelectEnum",
        ),
        (
            r#"{"type":"array","items":{"type":"string","enum":["a"]}}"#,
            "UntitledMultiSelectEnum",
        ),
        (
            r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}"#,
            "TitledMultiSelectEnum",
        ),
        (r#"{"type":"date"}"#, "Unknown"),
    ] {
        let schema: PrimitiveSchemaDefinition = decode::from_str(text).unwrap();
        assert!(
            format!("{schema:?}").starts_with(variant),
            "{text}: {schema:?}"
        );
    }

    let form: ElicitRequestParams =
        decode::from_str(r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#)
            .unwrap();
    assert!(matches!(form, ElicitRequestParams::Form(_)));

    for (text, variant) in [
        (r#"{"content":[]}"#, "Complete"),
        (
            r#"{"resultType":"input_required","requestState":"s"}"#,
            "InputRequired",
        ),
        (r#"{"resultType":"later"}"#, "Unknown"),
    ] {
        let outcome: CallToolOutcome = decode::from_str(text).unwrap();
        assert!(
            format!("{outcome:?}").starts_with(variant),
            "{text}: {outcome:?}"
        );
    }
}

#[test]
fn absent_null_and_value_are_three_things() {
    let of = |text| {
        decode::from_str::<CallToolResult>(text)
            .unwrap()
            .structured_content
    };
    assert_eq!(of(r#"{"content":[]}"#), None);
    assert_eq!(
        of(r#"{"content":[],"structuredContent":null}"#),
        Some(Json::null())
    );
    assert_eq!(
        of(r#"{"content":[],"structuredContent":1.50}"#)
            .as_ref()
            .map(Json::get),
        Some("1.50")
    );

    let task = |ttl: &str| {
        let text = format!(
            r#"{{"taskId":"a","status":"working","createdAt":"","lastUpdatedAt":""{ttl}}}"#
        );
        decode::from_str::<Task>(&text)
    };
    assert_eq!(task(r#","ttl":null"#).unwrap().ttl, None);
    assert_eq!(task(r#","ttl":5.0"#).unwrap().ttl, Some(5));
    assert!(
        task("")
            .unwrap_err()
            .message()
            .contains("missing field `ttl`")
    );
    assert_eq!(task(r#","ttl":0.5"#).unwrap_err().pointer(), "/ttl");
}

#[test]
fn open_enumerations_keep_what_they_do_not_know() {
    assert_eq!(decode::from_str::<Role>(r#""user""#).unwrap(), Role::User);
    assert_eq!(
        decode::from_str::<Role>(r#""system""#).unwrap(),
        Role::Other("system".into())
    );
}

#[test]
fn requests_decode_to_one_type() {
    let latest = Revision::LATEST;
    let call = ClientRequest::decode(
        latest,
        Method::CallTool,
        Some(r#"{"name":"add","arguments":{"a":1.0}}"#),
    );
    let Ok(ClientRequest::CallTool(params)) = call else {
        panic!("{call:?}")
    };
    assert_eq!(
        params.arguments.as_ref().map(|json| json.get()),
        Some(r#"{"a":1.0}"#)
    );

    let legacy = Revision::V2025_06_18;
    assert!(ClientRequest::decode(legacy, Method::Ping, None).is_ok());
    assert!(ClientRequest::decode(legacy, Method::ListTools, None).is_ok());
    let error = ClientRequest::decode(latest, Method::ListTools, None).unwrap_err();
    assert!(error.to_string().contains("missing `params`"), "{error}");
    let error = ClientRequest::decode(legacy, Method::Progress, Some("{}")).unwrap_err();
    assert!(
        error.to_string().contains("notifications/progress"),
        "{error}"
    );
    let error = ClientRequest::decode(legacy, Method::CallTool, Some(r#"{"name":5}"#)).unwrap_err();
    assert_eq!(error.pointer(), "/name");
}

#[test]
fn integers_may_be_written_as_floats_and_floats_as_integers() {
    let progress: ProgressNotificationParams =
        decode::from_str(r#"{"progressToken":"t","progress":50,"total":1e2}"#).unwrap();
    assert_eq!((progress.progress, progress.total), (50.0, Some(100.0)));
    let result: ListToolsResult = decode::from_str(r#"{"tools":[],"ttlMs":1e3}"#).unwrap();
    assert_eq!(result.ttl_ms, Some(1000));
    refused::<ListToolsResult>(
        r#"{"tools":[],"ttlMs":1.5}"#,
        "/ttlMs",
        "expected an integer",
    );
    // Below 2^53 every integer has a float of its own. 2^53 is what the integer after it is read as too.
    let result: ListToolsResult =
        decode::from_str(r#"{"tools":[],"ttlMs":1816189213876457.0}"#).unwrap();
    assert_eq!(result.ttl_ms, Some(1_816_189_213_876_457));
    for (text, exact) in [
        ("9007199254740991.0", (1 << 53) - 1),
        ("-9007199254740991.0", 1 - (1 << 53)),
        ("9007199254740992", 1 << 53),
        ("9007199254740993", (1 << 53) + 1),
    ] {
        let result: ListToolsResult =
            decode::from_str(&format!(r#"{{"tools":[],"ttlMs":{text}}}"#)).unwrap();
        assert_eq!(result.ttl_ms, Some(exact), "{text}");
    }
    let result: ListToolsResult =
        decode::from_str(r#"{"tools":[],"ttlMs":9223372036854775807}"#).unwrap();
    assert_eq!(result.ttl_ms, Some(i64::MAX));
    for beyond in [
        "1e16",
        "1e300",
        "9007199254740992.0",
        "9007199254740993.0",
        "-9007199254740993.0",
        "-9007199254740994.0",
    ] {
        refused::<ListToolsResult>(
            &format!(r#"{{"tools":[],"ttlMs":{beyond}}}"#),
            "/ttlMs",
            "expected an integer of 64 bits, in digits alone from ±2^53 on",
        );
    }
    refused::<ListToolsResult>(
        r#"{"tools":[],"ttlMs":9223372036854775808}"#,
        "/ttlMs",
        "expected an integer of 64 bits",
    );
}

// An integer that would change is refused with what to do.
#[test]
fn integers_that_no_double_equals() {
    let kept = r#"{"action":"accept","content":{"a":9007199254740992}}"#;
    let result: ElicitResult = decode::from_str(kept).unwrap();
    assert_eq!(serde_json::to_string(&result).unwrap(), kept);
    for integer in [
        "9007199254740993",
        "-9007199254740993",
        "18446744073709551615",
    ] {
        refused::<ElicitResult>(
            &format!(r#"{{"action":"accept","content":{{"a":{integer}}}}}"#),
            "/content/a",
            "expected a number that a double holds exactly, such as an integer up to ±2^53",
        );
    }
}

// Numbers are read and written as they are: the shortest text of a double leads back to it.
#[test]
fn doubles_are_read_exactly() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random = std::iter::from_fn(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(f64::from_bits(state))
    });
    let edges = [
        959.508_203_747_186_3,
        5e-324,
        -2.225_073_858_507_201e-308,
        f64::MAX,
        1e16,
        -0.0,
    ];
    for double in edges
        .into_iter()
        .chain(random.filter(|double| double.is_finite()).take(20_000))
    {
        let text = format!(r#"{{"progressToken":"t","progress":{double:?}}}"#);
        let progress: ProgressNotificationParams = decode::from_str(&text).unwrap();
        assert_eq!(progress.progress.to_bits(), double.to_bits(), "{text}");
        let written = serde_json::to_string(&progress).unwrap();
        let (_, number) = written.split_once(r#""progress":"#).unwrap();
        let (number, _) = number.split_once([',', '}']).unwrap();
        assert_eq!(
            number.parse::<f64>().unwrap().to_bits(),
            double.to_bits(),
            "{written}"
        );
    }
}

#[test]
fn decodes_from_trees_and_readers_too() {
    let value = serde_json::json!({"inputSchema": {"type": "object"}, "name": "a", "title": "A"});
    let tool: Tool = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(
        tool,
        serde_json::from_slice(value.to_string().as_bytes()).unwrap()
    );
    assert_eq!(
        tool,
        serde_json::from_reader(value.to_string().as_bytes()).unwrap()
    );
    let block: ContentBlock =
        serde_json::from_value(serde_json::json!({"text": "a\"b", "type": "text"})).unwrap();
    assert_eq!(block, TextContent::new("a\"b").into());
}

#[test]
fn extensions_reuse_core_types() {
    let text = r#"{"taskId":"a","resultType":"complete","status":"input_required","createdAt":"","lastUpdatedAt":"","ttlMs":null,
        "inputRequests":{"k":{"method":"roots/list"}}}"#;
    let result: ext::tasks::GetTaskResult = decode::from_str(text).unwrap();
    assert_eq!(result.status, ext::tasks::TaskStatus::InputRequired);
    let requests: trueform_schema::Map<trueform_schema::InputRequest> =
        result.input_requests.unwrap();
    assert_eq!(requests.len(), 1);
    assert!(
        decode::from_str::<ElicitationCompleteNotificationParams>(r#"{"elicitationId":"e"}"#)
            .is_ok()
    );
}
