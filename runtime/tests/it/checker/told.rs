//! What depends on what a message says: what params need of a client, what codes of errors promise, and how findings read.
//!
//! The tables keep one transcript to a line or few, which rustfmt would not.

use serde_json::{Value, json};
use trueform::testing::Checker;

use super::bad::{
    after, c, call, check_link, complete, handshake, modern_call, modern_with, request, s,
};

/// What a client is asked beyond what it declared depends on what it is asked (Q-2, R-2).
#[rustfmt::skip]
#[test]
fn what_params_need() {
    let sample = |more: Value| {
        let mut params = json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": { "type": "text", "text": "x" } }] });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("sampling/createMessage", params)
    };
    let form = || ("elicitation/create", json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } }));
    let url = |more: Value| {
        let mut params = json!({ "mode": "url", "message": "m", "url": "https://example.com" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("elicitation/create", params)
    };
    let tools = || json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] });
    let choice = || json!({ "toolChoice": { "mode": "auto" } });
    let (plain, able) = (json!({ "sampling": {}, "elicitation": {} }), json!({ "sampling": { "tools": {} }, "elicitation": { "form": {}, "url": {} } }));
    let only_urls = json!({ "elicitation": { "url": {} } });
    let id = || json!({ "elicitationId": "e" });
    let asked = [
        ("sampling", sample(json!({})), &plain, "", ""),
        ("tools", sample(tools()), &plain, "4 Q-2", "2 T-4 Q-2"),
        ("choice of tools", sample(choice()), &plain, "4 Q-2", "2 T-4 Q-2"),
        ("tools, declared", sample(tools()), &able, "", ""),
        ("nothing declared", sample(tools()), &only_urls, "4 B-8", "2 T-4"),
        ("form", form(), &plain, "", ""),
        ("form where only URLs are declared", form(), &only_urls, "4 R-2", "2 T-4 R-2"),
        ("URL", url(id()), &plain, "4 R-2", "2 T-4 R-2"),
        ("URL, declared", url(id()), &able, "", ""),
    ];
    for (name, (method, params), capabilities, legacy, modern) in asked {
        let expected = |finding: &'static str| Some(finding).filter(|finding| !finding.is_empty()).into_iter().collect::<Vec<_>>();
        let mut lines = handshake("2025-11-25", capabilities.clone(), json!({ "tools": {} }));
        lines.push(s(request("q", method, params.clone())));
        check_link(name, &lines, &expected(legacy));
        // 2026-07-28 has no more ids of elicitations.
        let mut params = params;
        params.as_object_mut().unwrap().remove("elicitationId");
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
        let mut answer = complete(1, json!({ "inputRequests": { "k": { "method": method, "params": params } } }));
        answer["result"]["resultType"] = "input_required".into();
        check_link(name, &[c(modern_with(1, "tools/call", json!({ "name": "t" }), meta)), s(answer)], &expected(modern));
    }
    // Before 2025-11-25 the capabilities have no parts.
    let mut lines = handshake("2025-06-18", json!({ "elicitation": { "url": {} } }), json!({ "tools": {} }));
    lines.push(s(request("q", form().0, form().1)));
    check_link("form at 2025-06-18", &lines, &[]);
}

/// C-7, C-10, R-12, A-12, A-13, A-15
#[rustfmt::skip]
#[test]
fn error_codes() {
    let told = |id: i64, code: i64, data: Value| s(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no", "data": data } }));
    let nothing = || json!({});
    let elicitations = || json!({ "elicitations": [] });
    let missing = || json!({ "requiredCapabilities": {} });
    let versions = || json!({ "supported": ["2026-07-28"], "requested": "x" });
    // Code, data, and the finding at 2025-06-18, 2025-11-25 and 2026-07-28.
    let table: Vec<(i64, Value, [&str; 3])> = vec![
        (-32602, nothing(), ["", "", ""]),
        (4000, nothing(), ["", "", ""]),
        (-32042, elicitations(), ["R-12", "", "A-15"]),
        (-32042, nothing(), ["R-12", "R-12", "A-15"]),
        (-32042, json!({ "elicitations": "x" }), ["R-12", "R-12", "A-15"]),
        (-32002, nothing(), ["", "", "A-15"]),
        (-32021, missing(), ["", "", ""]),
        (-32021, nothing(), ["", "", "C-10"]),
        (-32022, versions(), ["", "", ""]),
        (-32022, json!({ "supported": [] }), ["", "", "C-7"]),
        (-32001, nothing(), ["", "", "A-13"]),
        (-32050, nothing(), ["", "", "A-12"]),
        (-32500, nothing(), ["", "", "A-13"]),
    ];
    for (code, data, expected) in table {
        for (revision, expected) in ["2025-06-18", "2025-11-25", "2026-07-28"].into_iter().zip(expected) {
            let answer = told(1, code, data.clone());
            let lines = match revision {
                "2026-07-28" => vec![c(modern_call(1)), answer],
                _ => after(revision, vec![c(call(1)), answer]),
            };
            let expected = format!("{} {expected}", lines.len());
            let expected = Some(&*expected).filter(|text| !text.ends_with(' '));
            check_link(&format!("{code} {data} at {revision}"), &lines, &expected.into_iter().collect::<Vec<_>>());
        }
    }
}

/// A finding says which rule it is about, where it is written, and what is wrong.
#[test]
fn a_finding_speaks_for_itself() {
    let transcript =
        r#"{"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#;
    let findings = Checker::new().check(transcript).unwrap();
    assert_eq!(
        findings[0].to_string(),
        "line 1 (client): `tools/list` before `initialize`, and without `_meta` that names a protocol version \
         (B-1, https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle)"
    );
    assert_eq!(
        findings[0].spec(),
        "https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle"
    );
}
