//! The method table, markers, and dispatch to a handler.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use trueform_schema::{
    At, CallToolOutcome, CallToolRequestParams, CallToolResult, CancelledNotificationParams,
    ClientNotification, ClientRequest, ErrorObject, InputRequiredResult, Method, Revision,
    ServerNotification, ServerRequest, TYPES, conform, ext,
    handler::{Server, ServerHandler},
    methods::{
        AnyNotification, AnyRequest, CallTool, Cancelled, Direction, GetPrompt, MayAsk, Methods,
        ReadResource, Request,
    },
    serve::server,
    types,
};

#[test]
fn names_round_trip() {
    for method in Method::ALL {
        assert_eq!(Method::from_wire(method.as_str()), Some(method));
        assert_eq!(
            method.is_notification(),
            method.as_str().starts_with("notifications/")
        );
    }
    assert_eq!(Method::from_wire("tools/Call"), None);
}

#[test]
fn rules_differ_by_revision() {
    let rules = |method: Method, revision| method.rules(revision);
    assert!(rules(Method::Initialize, Revision::V2025_11_25).is_some());
    assert!(rules(Method::Initialize, Revision::V2026_07_28).is_none());
    assert!(rules(Method::Discover, Revision::V2025_11_25).is_none());

    let old = rules(Method::CallTool, Revision::V2024_11_05).unwrap();
    assert_eq!(
        (old.capability, old.header_name, old.input_required),
        (Some("tools"), None, false)
    );
    let new = rules(Method::CallTool, Revision::V2026_07_28).unwrap();
    assert_eq!((new.header_name, new.input_required), (Some("name"), true));
    assert_eq!(new.results, ["InputRequiredResult", "CallToolResult"]);

    let progress = |revision| rules(Method::Progress, revision).unwrap().direction;
    assert_eq!(progress(Revision::V2025_11_25), Direction::Both);
    assert_eq!(progress(Revision::V2026_07_28), Direction::ServerToClient);
    assert_eq!(
        rules(Method::Complete, Revision::V2024_11_05)
            .unwrap()
            .capability,
        None
    );
}

#[test]
fn extensions_have_rules_of_their_own() {
    let revision = Revision::V2026_07_28;
    assert!(Method::UpdateTask.rules(revision).is_none());
    let rules = ext::tasks::rules(Method::UpdateTask, revision).unwrap();
    assert_eq!(rules.header_name, Some("taskId"));
    assert!(ext::tasks::rules(Method::GetTask, Revision::V2025_11_25).is_none());
    assert!(Method::GetTask.rules(Revision::V2025_11_25).is_some());
    let decoded =
        ext::tasks::ClientRequest::decode(revision, Method::CancelTask, Some(r#"{"taskId":"t"}"#));
    assert!(
        matches!(decoded, Ok(ext::tasks::ClientRequest::CancelTask(params)) if params.task_id == "t")
    );
}

#[test]
fn every_type_is_described() {
    let of = |table, ty, member: &str| {
        types::find(table, ty)
            .and_then(|ty| ty.member(member))
            .map(|member| (member.known.bits(), member.required.bits()))
    };
    assert_eq!(
        of(TYPES, "CallToolRequestParams", "_meta"),
        Some((0b11111, 0b10000))
    );
    assert_eq!(
        of(TYPES, "CancelledNotificationParams", "requestId"),
        Some((0b11111, 0b10111))
    );
    assert_eq!(of(TYPES, "ContentBlock", "Audio"), Some((0b11110, 0)));
    assert_eq!(of(TYPES, "TaskSupport", "forbidden"), Some((0b01000, 0)));
    assert_eq!(
        of(ext::tasks::TYPES, "CreateTaskResult", "resultType"),
        Some((0b10000, 0b10000))
    );
    assert!(TYPES.is_sorted_by_key(types::TypeInfo::name));
}

#[test]
fn markers_tie_params_and_result() {
    fn method<R: Request<Params = CallToolRequestParams, Result = CallToolOutcome>>() -> Method {
        R::METHOD
    }
    assert_eq!(method::<CallTool>(), Method::CallTool);
}

/// T-1: the types say which requests may be answered with questions.
#[test]
fn requests_that_may_be_answered_with_questions() {
    fn asks<M: MayAsk>() {
        let questions = InputRequiredResult::new().with_request_state("s");
        let result = M::input_required(questions);
        assert!(conform(&result, Revision::V2026_07_28).is_ok());
        assert_eq!(
            At::new(&result, Revision::V2026_07_28).to_string(),
            r#"{"resultType":"input_required","requestState":"s"}"#
        );
    }
    asks::<CallTool>();
    asks::<GetPrompt>();
    asks::<ReadResource>();
    let asking: Vec<_> = Method::ALL
        .into_iter()
        .filter(|method| {
            let rules = method.rules(Revision::V2026_07_28);
            rules.is_some_and(|rules| rules.input_required)
        })
        .collect();
    assert_eq!(
        asking,
        [Method::GetPrompt, Method::ReadResource, Method::CallTool]
    );
}

#[test]
fn messages_are_small() {
    assert_eq!(size_of::<ClientRequest>(), 16);
    assert_eq!(size_of::<ServerRequest>(), 16);
    assert_eq!(size_of::<ClientNotification>(), 16);
    assert_eq!(size_of::<ServerNotification>(), 16);
}

/// Records which function was reached, and with what.
struct Engine;

impl server::ServeMethods for Engine {
    type Cx<'a> = &'a mut Vec<String>;
    type Reply<M: Request> = M::Result;
    type Answer = String;

    fn answer<M: Request>(&self, cx: Self::Cx<'_>, reply: M::Result) -> String {
        let text = At::new(&reply, Revision::V2025_06_18).to_string();
        format!("{cx:?} {}: {text}", M::METHOD)
    }

    fn not_served(&self, cx: Self::Cx<'_>, method: Method) -> String {
        format!("{cx:?} {method} is not served")
    }

    fn call_tool(
        &self,
        cx: &mut Self::Cx<'_>,
        params: Box<CallToolRequestParams>,
    ) -> Option<CallToolOutcome> {
        cx.push(params.name.clone());
        Some(CallToolResult::new(Vec::new()).into())
    }
}

#[test]
fn a_request_reaches_its_function_and_leaves_through_one() {
    let dispatch = |method, params: &str| {
        let revision = Revision::V2025_06_18;
        let request = ClientRequest::decode(revision, method, Some(params)).unwrap();
        server::dispatch(&Engine, &mut vec!["peer".to_owned()], request)
    };
    assert_eq!(
        dispatch(Method::CallTool, r#"{"name":"add"}"#),
        r#"["peer", "add"] tools/call: {"content":[]}"#
    );
    assert_eq!(
        dispatch(Method::ListTools, "{}"),
        r#"["peer"] tools/list is not served"#
    );
}

/// Records which notification was heard, and which was ignored.
impl server::ServeNotifications for Engine {
    type Cx<'a> = &'a mut Vec<String>;

    fn ignored(&self, cx: Self::Cx<'_>, method: Method) {
        cx.push(format!("{method} is ignored"));
    }

    fn cancelled(&self, cx: Self::Cx<'_>, params: Box<CancelledNotificationParams>) {
        cx.push(params.reason.unwrap_or_default());
    }
}

#[test]
fn a_notification_reaches_its_function_or_is_ignored() {
    let mut heard = Vec::new();
    for (method, params) in [
        (Method::Cancelled, r#"{"requestId":1,"reason":"late"}"#),
        (Method::Initialized, "{}"),
    ] {
        let notification =
            ClientNotification::decode(Revision::V2025_06_18, method, Some(params)).unwrap();
        server::dispatch_notification(&Engine, &mut heard, notification);
    }
    assert_eq!(heard, ["late", "notifications/initialized is ignored"]);
}

/// Answers one tool, and counts the cancellations it hears of.
#[derive(Default)]
struct Echo {
    cancelled: AtomicUsize,
}

impl ServerHandler for Echo {
    type Context = &'static str;

    async fn call_tool(
        &self,
        cx: &Self::Context,
        params: CallToolRequestParams,
    ) -> Result<CallToolOutcome, ErrorObject> {
        assert_eq!(*cx, "peer");
        assert_eq!(params.name, "echo");
        Ok(CallToolResult::new(Vec::new()).into())
    }

    async fn cancelled(&self, cx: &Self::Context, params: CancelledNotificationParams) {
        assert_eq!((*cx, params.reason.as_deref()), ("peer", Some("late")));
        self.cancelled.fetch_add(1, Ordering::Relaxed);
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the handler waits for nothing"),
    }
}

#[test]
fn a_handler_is_served_without_its_types() {
    let revision = Revision::V2025_06_18;
    let echo: Arc<dyn Methods<&'static str>> = Arc::new(Server(Echo::default()));
    let request = |method, params| echo.clone().request(revision, method, params);

    let call = request("tools/call", Some(r#"{"name":"echo"}"#)).unwrap();
    assert_eq!(
        At::new(call.params(), revision).to_string(),
        r#"{"name":"echo"}"#
    );
    let Ok(result) = now(call.call("peer")) else {
        panic!()
    };
    assert_eq!(At::new(&*result, revision).to_string(), r#"{"content":[]}"#);

    // A method of the protocol that the handler does not implement.
    let Err(error) = now(request("tools/list", None).unwrap().call("peer")) else {
        panic!()
    };
    assert_eq!(
        (error.code, &*error.message),
        (-32601, "method not found: `tools/list`")
    );

    // What cannot be decoded is known before anything is called.
    for (method, params, problem) in [
        ("tools/call", "{}", "missing field `name`"),
        (
            "server/discover",
            "{}",
            "`server/discover` does not exist at 2025-06-18",
        ),
        ("nope", "{}", "`nope` does not exist at 2025-06-18"),
        (
            "roots/list",
            "{}",
            "`roots/list` is not sent by the client in this form",
        ),
        (
            "notifications/cancelled",
            "{}",
            "`notifications/cancelled` is not sent by the client in this form",
        ),
    ] {
        let error = request(method, Some(params)).unwrap_err();
        assert_eq!(error.to_string(), problem);
    }
}

#[test]
fn a_handler_hears_notifications() {
    let revision = Revision::V2025_06_18;
    let echo = Arc::new(Server(Echo::default()));
    let hear = |method, params| {
        let heard = echo.clone().notification(revision, method, Some(params));
        heard.map(|heard| now(heard.call("peer")))
    };
    let cancelled = r#"{"requestId":1,"reason":"late"}"#;
    hear("notifications/cancelled", cancelled).unwrap();
    hear("notifications/initialized", "{}").unwrap();
    assert_eq!(echo.0.cancelled.load(Ordering::Relaxed), 1);
    let error = hear("notifications/cancelled", r#"{"reason":5}"#).unwrap_err();
    assert_eq!(error.pointer(), "/reason");
}

#[test]
fn bindings_say_what_they_are() {
    struct Nothing;
    impl ext::tasks::handler::ServerHandler for Nothing {
        type Context = ();
    }
    let revision = Revision::V2026_07_28;
    let tasks: Arc<dyn Methods<()>> = Arc::new(ext::tasks::handler::Server(Nothing));
    assert_eq!(tasks.identifier(), Some("io.modelcontextprotocol/tasks"));
    assert_eq!(
        tasks.names(),
        [
            "notifications/tasks",
            "tasks/cancel",
            "tasks/get",
            "tasks/update"
        ]
    );
    assert_eq!(
        tasks.rules("tasks/update", revision),
        ext::tasks::rules(Method::UpdateTask, revision)
    );
    assert_eq!(tasks.rules("tools/call", revision), None);
    let echo = Server(Echo::default());
    assert_eq!(echo.identifier(), None);
    assert!(echo.names().contains(&"tools/call") && !echo.names().contains(&"tasks/update"));

    fn request<R: AnyRequest>(at: Revision) -> (&'static str, Option<&'static str>, bool) {
        (R::METHOD, R::EXTENSION, R::rules(at).is_some())
    }
    assert_eq!(request::<CallTool>(revision), ("tools/call", None, true));
    let update = request::<ext::tasks::methods::UpdateTask>(revision);
    assert_eq!(update, ("tasks/update", Some(ext::tasks::IDENTIFIER), true));
    // The core has it too, at another revision.
    let get = request::<ext::tasks::methods::GetTask>(Revision::V2025_11_25);
    assert_eq!(get, ("tasks/get", Some(ext::tasks::IDENTIFIER), false));
    assert_eq!(
        <Cancelled as AnyNotification>::METHOD,
        "notifications/cancelled"
    );
    assert_eq!(
        <ext::tasks::methods::TaskUpdated as AnyNotification>::EXTENSION,
        Some(ext::tasks::IDENTIFIER)
    );
}
