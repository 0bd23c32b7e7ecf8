//! Uses the additions of the made-up revision, and everything that existed before.

use old_user::{answer, is_urgent, kind, older, other};
use trueform_schema::methods::{DescribeTool, Request};
use trueform_schema::parts::{Part, Parts};
use trueform_schema::{
    At, ClientMethods, ContentBlock, DescribeToolRequestParams, DescribeToolResult, Era, JsonObject, LoggingLevel,
    Method, RequestMetaObject, Revision, Role, Tool, VideoContent, decode,
};

/// A sender of messages. In a module, because `AnyRequest` has a `METHOD` too.
mod sender {
    use trueform_schema::methods::{AnyNotification, AnyRequest, MethodSender};

    /// Names what would be sent.
    pub struct Names;

    impl MethodSender for Names {
        type Request<M: AnyRequest> = &'static str;
        type Sent = &'static str;

        fn send_request<M: AnyRequest>(&self, _: M::Params) -> &'static str {
            M::METHOD
        }

        fn send_notification<N: AnyNotification>(&self, _: &N::Params) -> &'static str {
            N::METHOD
        }
    }
}

fn main() {
    let new = Revision::V2027_01_31;
    assert_eq!(Revision::LATEST, new);
    assert_eq!(new.era(), Era::Modern);
    assert_eq!(Revision::LATEST_LEGACY, Revision::V2025_11_25);

    // A new method, from the newest revision on.
    assert_eq!(
        Method::from_wire("tools/describe"),
        Some(Method::DescribeTool)
    );
    assert_eq!(DescribeTool::METHOD, Method::DescribeTool);
    assert!(
        Method::DescribeTool
            .rules(new)
            .unwrap()
            .direction
            .from_client()
    );
    assert!(Method::DescribeTool.rules(Revision::V2026_07_28).is_none());
    let _: <DescribeTool as Request>::Params =
        DescribeToolRequestParams::new(RequestMetaObject::new(), "echo");
    let _: <DescribeTool as Request>::Result = DescribeToolResult::new("Says it again.");
    // It is a function of whatever sends the messages of a client.
    let params = DescribeToolRequestParams::new(RequestMetaObject::new(), "echo");
    assert_eq!(sender::Names.tools_describe(params), "tools/describe");

    // A removed method, until the one before.
    assert!(Method::Complete.rules(new).is_none());
    assert!(Method::Complete.rules(Revision::V2026_07_28).is_some());

    // A member that only the newest revision requires is optional, and is left out where it is not known.
    let tool = Tool::new(JsonObject::empty(), "echo").with_owner("me");
    assert!(At::new(&tool, new).to_string().contains("owner"));
    assert!(
        !At::new(&tool, Revision::V2026_07_28)
            .to_string()
            .contains("owner")
    );

    // A new union member and a new value.
    let plain: ContentBlock =
        decode::from_str(r#"{"type":"video","data":"","mimeType":"video/mp4"}"#).unwrap();
    assert_eq!(
        plain,
        ContentBlock::Video(VideoContent::new("", "video/mp4"))
    );
    assert_eq!(LoggingLevel::from("trace"), LoggingLevel::Trace);

    // Checks that visit the parts of a result reach the new member, and members of all kinds are asked alike.
    let video: ContentBlock = decode::from_str(
        r#"{"type":"video","data":"","mimeType":"video/mp4","_meta":{"com.example/a":1},"annotations":{"lastModified":""}}"#,
    )
    .unwrap();
    let mut parts = Vec::new();
    video.each_part(&mut |part| parts.push(part));
    assert_eq!(
        parts,
        [
            Part::Item { of: "ContentBlock", item: "Video" },
            Part::MetaKey("com.example/a"),
            Part::Item { of: "Annotations", item: "lastModified" },
        ]
    );
    assert!(video.meta().is_some() && video.annotations().is_some());

    // Old code receives new values and still works.
    assert_eq!(kind(&video), "something else");
    assert!(!is_urgent(&LoggingLevel::Trace));
    assert_eq!(other(&Role::User), Role::Assistant);
    assert!(
        !older(&At::new(&tool, new).to_string())
            .unwrap()
            .contains("owner")
    );
    let meta = r#""_meta":{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":"2027-01-31"}"#;
    let call = |method: &str, params: &str| now(answer(new, method, Some(params)));
    assert!(
        call("tools/call", &format!(r#"{{{meta},"name":"echo"}}"#))
            .unwrap()
            .contains("again")
    );
    let removed = call(
        "completion/complete",
        &format!(
            r#"{{{meta},"ref":{{"type":"ref/prompt","name":"p"}},"argument":{{"name":"a","value":""}}}}"#
        ),
    );
    assert_eq!(removed.unwrap_err().code, -32601);
}

/// The handlers never wait.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a handler waited"),
    }
}
