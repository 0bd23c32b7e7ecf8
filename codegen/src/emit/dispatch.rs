//! Pass 6: what each side sends, one enumeration each, decoded straight to one params type; and a handler trait for
//! each side, one method per request.

use std::fmt::Write as _;

use super::{Context, rust};
use crate::{model::MethodDef, names::snake};

pub(super) fn emit(cx: &Context<'_>, out: &mut String) {
    for (name, sender, notification) in [
        ("ClientRequest", "client", false),
        ("ClientNotification", "client", true),
        ("ServerRequest", "server", false),
        ("ServerNotification", "server", true),
    ] {
        let methods = sent(cx, sender, notification);
        if !methods.is_empty() {
            messages(cx, name, sender, notification, &methods, out);
        }
    }
    let client = sent(cx, "client", false);
    let server = sent(cx, "server", false);
    let mut handlers = String::new();
    if !client.is_empty() {
        handler(
            cx,
            "ServerHandler",
            "ClientRequest",
            "server",
            &client,
            &mut handlers,
        );
    }
    if !server.is_empty() {
        handler(
            cx,
            "ClientHandler",
            "ServerRequest",
            "client",
            &server,
            &mut handlers,
        );
    }
    // Only the core is dispatched to by the engine; an extension is asked through `Methods`.
    if cx.extension.is_none() {
        out.push_str(
            "/// What each side answers, for an engine: every method reaches its function through one `match`.\npub mod serve {\n",
        );
        for (side, peer) in [("server", "client"), ("client", "server")] {
            serve(cx, side, peer, out);
        }
        out.push_str("}\n");
    }
    if !handlers.is_empty() {
        let _ = write!(
            out,
            "/// Handler traits for both sides, and what calls their methods.\npub mod handler {{\n\
             use std::future::Future;\nuse super::*;\n{handlers}}}\n"
        );
    }
}

fn sent<'a>(cx: &Context<'a>, sender: &str, notification: bool) -> Vec<&'a MethodDef> {
    cx.model
        .methods
        .values()
        .filter(|method| method.notification == notification)
        .filter(|method| {
            method.rules.values().any(|rules| match sender {
                "client" => rules.from_client,
                _ => rules.from_server,
            })
        })
        .collect()
}

fn messages(
    cx: &Context<'_>,
    name: &str,
    sender: &str,
    notification: bool,
    methods: &[&MethodDef],
    out: &mut String,
) {
    let what = if notification {
        "notification"
    } else {
        "request"
    };
    let of = match cx.extension {
        Some((extension, _)) => format!(" of the {extension} extension"),
        None => String::new(),
    };
    let _ = write!(
        out,
        "/// A {what} that a {sender} sends{of}, with its params.\n#[derive(Clone, Debug, PartialEq)]\n#[non_exhaustive]\npub enum {name} {{\n"
    );
    for method in methods {
        let _ = writeln!(
            out,
            "/// `{}`.\n{}(Box<{}>),",
            method.wire,
            method.name,
            rust(&method.params)
        );
    }
    let _ = write!(
        out,
        "}}\nimpl {name} {{\n\
         /// Decodes the params of `method`, straight into their one type; absent params are an empty object.\n///\n\
         /// # Errors\n/// The params do not have the form of the type, are missing where `revision` requires them, or the \
         {sender} does not\n/// send `method`. The pointer of the error is relative to the params.\n\
         #[inline]\npub fn decode(revision: Revision, method: Method, params: Option<&str>) -> Result<Self, DecodeError> {{\n\
         let params = support::params({}, method.as_str(), revision, params)?;\nOk(match method {{\n",
        match cx.has_method() {
            true => "method.rules(revision)",
            false => "rules(method, revision)",
        }
    );
    for method in methods {
        let _ = writeln!(
            out,
            "Method::{0} => Self::{0}(decode::from_str(params)?),",
            method.name
        );
    }
    if !covers(cx, methods) {
        let _ = writeln!(
            out,
            "_ => return Err(support::foreign({sender:?}, method.as_str())),"
        );
    }
    let _ = write!(
        out,
        "}})\n}}\n\
         /// The method.\n#[must_use]\npub const fn method(&self) -> Method {{\nmatch self {{\n"
    );
    for method in methods {
        let _ = writeln!(out, "Self::{0}(_) => Method::{0},", method.name);
    }
    out.push_str("}\n}\n");
    let own: Vec<String> = methods
        .iter()
        .map(|method| format!("Method::{}", method.name))
        .collect();
    let _ = write!(
        out,
        "/// Whether a {sender} sends `method`, at any revision.\n#[must_use]\n\
         pub const fn has(method: Method) -> bool {{ matches!(method, {}) }}\n\
         /// Decodes the params of `method` where a deserializer stands at them. A method that a {sender} does not send is an error.\n\
         #[must_use]\npub const fn seed(method: Method) -> {name}Seed {{ {name}Seed(method) }}\n",
        own.join(" | ")
    );
    results(sender, methods, out);
    out.push_str("}\n");
    seed(cx, name, sender, methods, out);
    let _ = write!(
        out,
        "/// Writes the params.\nimpl Encode for {name} {{\nfn encode(&self, view: View<'_>, out: &mut Vec<u8>) {{\nmatch self {{\n"
    );
    for method in methods {
        let _ = writeln!(
            out,
            "Self::{}(params) => params.encode(view, out),",
            method.name
        );
    }
    out.push_str("}\n}\n}\n");
    let _ = write!(
        out,
        "impl Conform for {name} {{\nfn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {{\nmatch self {{\n"
    );
    for method in methods {
        let _ = writeln!(
            out,
            "Self::{}(params) => params.conform(walk, path),",
            method.name
        );
    }
    out.push_str("}\n}\n}\n");
}

/// What decodes the params of one method in place, without a text of their own.
fn seed(cx: &Context<'_>, name: &str, sender: &str, methods: &[&MethodDef], out: &mut String) {
    let _ = write!(
        out,
        "/// Decodes the params of one method, see [`{name}::seed`].\n#[derive(Clone, Copy, Debug)]\npub struct {name}Seed(Method);\n\
         impl<'de> serde::de::DeserializeSeed<'de> for {name}Seed {{\ntype Value = {name};\n\
         fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<{name}, D::Error> {{\n\
         use serde::Deserialize as _;\nmatch self.0 {{\n"
    );
    for method in methods {
        let _ = writeln!(
            out,
            "Method::{0} => Box::deserialize(deserializer).map({name}::{0}),",
            method.name
        );
    }
    if !covers(cx, methods) {
        let _ = writeln!(
            out,
            "method => Err(serde::de::Error::custom(support::foreign({sender:?}, method.as_str()))),"
        );
    }
    out.push_str("}\n}\n}\n");
}

/// Whether `methods` are all that `Method` has.
fn covers(cx: &Context<'_>, methods: &[&MethodDef]) -> bool {
    cx.extension.is_some() && cx.has_method() && methods.len() == cx.model.methods.len()
}

/// Decoding of the results, for requests. Inline, as all decoding of a union of methods is: it pulls in every type, which costs a
/// fifth of the functions of the crate, so whoever uses it compiles it.
fn results(sender: &str, methods: &[&MethodDef], out: &mut String) {
    let results = methods
        .iter()
        .filter_map(|method| Some((method, method.result.as_ref()?)));
    let arms: String = results
        .map(|(method, result)| {
            format!(
                "Method::{} => Box::new(decode::from_str::<{}>(result)?),\n",
                method.name,
                rust(result)
            )
        })
        .collect();
    if arms.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "/// Decodes the result that answers `method`, straight into its one type.\n///\n\
         /// # Errors\n/// The result does not have the form of the type, or the {sender} does not send `method`. The pointer of the\n\
         /// error is relative to the result.\n\
         #[inline]\npub fn decode_result(method: Method, result: &str) -> Result<Box<dyn Conform + Send>, DecodeError> {{\n\
         Ok(match method {{\n{arms}_ => return Err(support::foreign({sender:?}, method.as_str())),\n}})\n}}\n"
    );
}

/// The side of an engine: a trait for the requests that reach it, one for the notifications, and what calls their functions.
fn serve(cx: &Context<'_>, side: &str, peer: &str, out: &mut String) {
    let title = match peer {
        "client" => "Client",
        _ => "Server",
    };
    let requests = sent(cx, peer, false);
    let notifications = sent(cx, peer, true);
    let _ = writeln!(
        out,
        "/// What a {side} answers, and what it hears.\npub mod {side} {{\nuse super::super::*;\nuse crate::methods;"
    );
    if !requests.is_empty() {
        serve_requests(side, title, &requests, out);
    }
    if !notifications.is_empty() {
        serve_notifications(side, title, &notifications, out);
    }
    out.push_str("}\n");
}

fn serve_requests(side: &str, peer: &str, requests: &[&MethodDef], out: &mut String) {
    let _ = write!(
        out,
        "/// What a {side} answers: one function for each request. `None` says that the method is not served.\n\
         pub trait ServeMethods {{\n\
         /// What comes with a request: who calls, from where, with which id.\ntype Cx<'a>;\n\
         /// What a function replies: now or later, tied to the result of its method.\ntype Reply<M: methods::Request>;\n\
         /// What becomes of a request.\ntype Answer;\n\
         /// Sends `reply`; every reply leaves through here.\n\
         fn answer<M: methods::Request>(&self, cx: Self::Cx<'_>, reply: Self::Reply<M>) -> Self::Answer;\n\
         /// Refuses `method`, which is not served.\n\
         fn not_served(&self, cx: Self::Cx<'_>, method: Method) -> Self::Answer;\n"
    );
    for method in requests {
        let _ = write!(
            out,
            "/// Replies to `{}`.\n#[inline]\nfn {}(&self, cx: &mut Self::Cx<'_>, params: Box<{}>) -> Option<Self::Reply<methods::{}>> {{\n\
             let _ = (cx, params);\nNone\n}}\n",
            method.wire,
            snake(&method.name),
            rust(&method.params),
            method.name
        );
    }
    let _ = write!(
        out,
        "}}\n/// Calls the function of `handler` that replies to `request`.\n#[inline]\n\
         pub fn dispatch<H: ServeMethods>(handler: &H, mut cx: H::Cx<'_>, request: {peer}Request) -> H::Answer {{\n\
         match request {{\n"
    );
    for method in requests {
        let _ = writeln!(
            out,
            "{peer}Request::{0}(params) => conclude::<H, methods::{0}>(handler, handler.{1}(&mut cx, params), cx),",
            method.name,
            snake(&method.name)
        );
    }
    out.push_str(
        "}\n}\n#[inline]\n\
         fn conclude<H: ServeMethods, M: methods::Request>(handler: &H, reply: Option<H::Reply<M>>, cx: H::Cx<'_>) -> H::Answer {\n\
         match reply {\nSome(reply) => handler.answer::<M>(cx, reply),\nNone => handler.not_served(cx, M::METHOD),\n}\n}\n",
    );
}

fn serve_notifications(side: &str, peer: &str, notifications: &[&MethodDef], out: &mut String) {
    let _ = write!(
        out,
        "/// What a {side} hears: one function for each notification.\n\
         pub trait ServeNotifications {{\n\
         /// What comes with a notification: who sent it, and from where.\ntype Cx<'a>;\n\
         /// Takes note of a notification that has no function.\n\
         fn ignored(&self, cx: Self::Cx<'_>, method: Method);\n"
    );
    for method in notifications {
        let _ = write!(
            out,
            "/// Takes `{}`.\n#[inline]\nfn {}(&self, cx: Self::Cx<'_>, params: Box<{}>) {{\n\
             drop(params);\nself.ignored(cx, Method::{});\n}}\n",
            method.wire,
            snake(&method.name),
            rust(&method.params),
            method.name
        );
    }
    let _ = write!(
        out,
        "}}\n/// Calls the function of `handler` that takes `notification`.\n#[inline]\n\
         pub fn dispatch_notification<H: ServeNotifications>(handler: &H, cx: H::Cx<'_>, notification: {peer}Notification) {{\n\
         match notification {{\n"
    );
    for method in notifications {
        let _ = writeln!(
            out,
            "{peer}Notification::{}(params) => handler.{}(cx, params),",
            method.name,
            snake(&method.name)
        );
    }
    out.push_str("}\n}\n");
}

fn handler(
    cx: &Context<'_>,
    name: &str,
    request: &str,
    side: &str,
    methods: &[&MethodDef],
    out: &mut String,
) {
    let of = match cx.extension {
        Some((extension, _)) => format!(" of the {extension} extension"),
        None => String::new(),
    };
    let _ = write!(
        out,
        "/// What a {side} answers{of}. A method that is not implemented answers \"method not found\".\npub trait {name} {{\n\
         /// What comes with every request: the peer, its revision, the session.\ntype Context: ?Sized + Sync;\n"
    );
    for method in methods {
        let Some(result) = &method.result else {
            continue;
        };
        let _ = write!(
            out,
            "/// Answers `{}`.\nfn {}(&self, cx: &Self::Context, params: {}) -> impl Future<Output = Result<{}, ErrorObject>> + Send {{\n\
             let _ = (cx, params);\nsupport::method_not_found(Method::{}.as_str())\n}}\n",
            method.wire,
            snake(&method.name),
            rust(&method.params),
            rust(result),
            method.name
        );
    }
    let _ = write!(
        out,
        "}}\n/// Calls the method of `handler` that answers `request`.\n///\n/// # Errors\n\
         /// What the handler answers with, or \"method not found\" where `revision` does not have the method.\n\
         pub async fn dispatch_to_{side}<H: {name}>(handler: &H, cx: &H::Context, revision: Revision, request: {request}) \
         -> Result<Box<dyn Conform + Send>, ErrorObject> {{\n\
         if {}.is_none() {{ return Err(support::not_found(request.method().as_str())); }}\nOk(match request {{\n",
        match cx.has_method() {
            true => "request.method().rules(revision)",
            false => "rules(request.method(), revision)",
        }
    );
    for method in methods {
        let _ = writeln!(
            out,
            "{request}::{}(params) => Box::new(handler.{}(cx, *params).await?),",
            method.name,
            snake(&method.name)
        );
    }
    out.push_str("})\n}\n");
}
