//! What is sent under each policy.

use serde_json::Value;
use trueform_schema::CallToolResult;

use super::*;

#[test]
fn notifications_that_servers_do_not_send() {
    for (method, revision, exists) in [
        (Method::ToolListChanged, Revision::V2025_06_18, true),
        (Method::Initialized, Revision::V2025_06_18, false),
        (Method::ElicitationComplete, Revision::V2025_06_18, false),
        (Method::ElicitationComplete, Revision::V2025_11_25, true),
    ] {
        let kind = NotificationKind::core(method, revision);
        assert_eq!(kind.exists(), exists, "{method} at {revision}");
        for (policy, leaves) in [
            (Policy::Enforce, exists),
            (Policy::Warn, true),
            (Policy::Off, true),
        ] {
            let sent = Outgoing::notification(&kind, None, policy);
            let sent: Option<Value> =
                sent.map(|sent| serde_json::from_slice(sent.bytes()).expect("JSON"));
            let said = sent.as_ref().map(|sent| &sent["method"]);
            let expected = leaves.then(|| Value::from(method.as_str()));
            assert_eq!(
                said,
                expected.as_ref(),
                "{method} at {revision}, {policy:?}"
            );
        }
    }
}

// A message that is written once for many requests is checked like a message for one request.
#[test]
fn results_that_are_written_before() {
    let result = serde_json::json!({ "content": [{ "type": "text", "text": "a", "annotations": { "priority": 2 } }] });
    let result: CallToolResult = serde_json::from_value(result).expect("a result");
    let id = RequestId::Integer(1);
    for (policy, is_let_out) in [
        (Policy::Enforce, false),
        (Policy::Warn, true),
        (Policy::Off, true),
    ] {
        let revision = Revision::V2025_11_25;
        let view = View::at(revision);
        let written = Checked::new(&result, view, policy, "tools/call")
            .map(|checked| Outgoing::written(&id, revision, &checked).into_bytes());
        let at_once =
            Outgoing::result(&id, view, policy, "tools/call", &result).map(Outgoing::into_bytes);
        assert_eq!(written.is_ok(), is_let_out, "{policy:?}: {written:?}");
        assert_eq!(written, at_once);
    }
}

// K-2: the message names a revision only if another one allows the value.
#[test]
fn what_the_error_says_of_the_revision() {
    for (result, message) in [
        (
            serde_json::json!({ "content": [], "structuredContent": [1] }),
            "`t` cannot be expressed at revision 2025-11-25",
        ),
        (
            serde_json::json!({ "content": [{ "type": "text", "text": "a", "annotations": { "priority": 2 } }] }),
            "`t` made what no revision of the protocol allows",
        ),
    ] {
        let result: CallToolResult = serde_json::from_value(result).expect("a result");
        let view = View::at(Revision::V2025_11_25);
        let id = RequestId::Integer(1);
        let error = Outgoing::result(&id, view, Policy::Enforce, "t", &result).unwrap_err();
        assert_eq!((error.code, &*error.message), (-32603, message));
    }
}
