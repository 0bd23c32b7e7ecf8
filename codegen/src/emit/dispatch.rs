//! Pass 6: one enumeration of the messages that each side sends, decoded straight to their params types; and a handler trait
//! for each side, one method per request.

use std::fmt::Write as _;

use super::{Context, printable, rust};
use crate::{
    model::{Field, MethodDef, Shape, TypeRef},
    names::snake,
};

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
    // The engine dispatches to the core only; it calls extensions through `Methods`.
    if cx.extension.is_none() {
        out.push_str(
            "/// The dispatch of an engine: one `match` from each method to its function.\npub mod serve {\n",
        );
        for (side, peer) in [("server", "client"), ("client", "server")] {
            serve(cx, side, peer, out);
        }
        out.push_str("}\n");
    }
    let mut handlers = String::new();
    for (side, peer) in [("server", "client"), ("client", "server")] {
        handler(cx, side, peer, &mut handlers);
    }
    if !handlers.is_empty() {
        let names: String = cx
            .model
            .methods
            .keys()
            .map(|wire| format!("{wire:?},"))
            .collect();
        let _ = write!(
            out,
            "/// Handler traits for both sides, and adapters that serve them.\npub mod handler {{\n\
             use super::*;\nconst NAMES: &[&str] = &[{names}];\n{handlers}}}\n"
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
            printable(&method.wire),
            method.name,
            rust(&method.params)
        );
    }
    let _ = write!(
        out,
        "}}\nimpl {name} {{\n\
         /// Decodes the params of `method`; absent params are an empty object.\n///\n\
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
         /// Decodes the params of `method` from a deserializer. A method that a {sender} does not send is an error.\n\
         #[must_use]\npub const fn seed(method: Method) -> {name}Seed {{ {name}Seed(method) }}\n",
        own.join(" | ")
    );
    results(cx, sender, methods, out);
    if !notification && cx.extension.is_none() {
        meta(cx, methods, out);
    }
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

/// The seed that decodes the params of one method in place, without copying their text.
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

/// Returns whether `methods` are all methods of `Method`.
fn covers(cx: &Context<'_>, methods: &[&MethodDef]) -> bool {
    cx.extension.is_some() && cx.has_method() && methods.len() == cx.model.methods.len()
}

/// Accessors for the `_meta` of the params, if all params have the same type of it, and for the member that a header repeats.
fn meta(cx: &Context<'_>, methods: &[&MethodDef], out: &mut String) {
    let field = |method: &MethodDef, name: &str| {
        let TypeRef::Named(params) = &method.params else {
            return None;
        };
        let Shape::Struct { fields } = &cx.model.types.get(params)?.shape else {
            return None;
        };
        fields.iter().find(|field| field.json_name == name)
    };
    let metas: Vec<&Field> = methods
        .iter()
        .filter_map(|method| field(method, "_meta"))
        .collect();
    let Some(ty) = metas.first().map(|field| &field.ty) else {
        return;
    };
    if metas.len() < methods.len() || metas.iter().any(|field| field.ty != *ty) {
        return;
    }
    for (name, reference, option) in [("meta", "&", "as_ref"), ("meta_mut", "&mut ", "as_mut")] {
        let _ = write!(
            out,
            "/// The `_meta` of the params.\n#[must_use]\npub fn {name}({reference}self) -> Option<{reference}{}> {{\nmatch self {{\n",
            rust(ty)
        );
        for (method, field) in methods.iter().zip(&metas) {
            let value = match field.always {
                true => format!("Some({reference}params.{})", field.rust_name),
                false => format!("params.{}.{option}()", field.rust_name),
            };
            let _ = writeln!(out, "Self::{}(params) => {value},", method.name);
        }
        out.push_str("}\n}\n");
    }
    let named: Vec<(&&MethodDef, &Field)> = methods
        .iter()
        .filter_map(|method| {
            let member = method
                .rules
                .values()
                .find_map(|rules| rules.header_name.as_deref())?;
            Some((method, field(method, member)?))
        })
        .filter(|(_, field)| field.always && field.ty == TypeRef::String)
        .collect();
    if named.is_empty() {
        return;
    }
    out.push_str(
        "/// The member of the params that HTTP repeats in the `Mcp-Name` header.\n#[must_use]\npub fn header_name(&self) -> Option<&str> {\nmatch self {\n",
    );
    for (method, field) in &named {
        let _ = writeln!(
            out,
            "Self::{}(params) => Some(&params.{}),",
            method.name, field.rust_name
        );
    }
    if named.len() < methods.len() {
        out.push_str("_ => None,\n");
    }
    out.push_str("}\n}\n");
}

/// Writes the decoding of the results, for requests. It is inline, like all decoding of a union of methods: it instantiates code for every
/// type, a fifth of the functions of the crate, so only crates that use it compile it.
fn results(cx: &Context<'_>, sender: &str, methods: &[&MethodDef], out: &mut String) {
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
    let rest = match covers(cx, methods) {
        true => String::new(),
        false => format!("_ => return Err(support::foreign({sender:?}, method.as_str())),\n"),
    };
    let _ = write!(
        out,
        "/// Decodes the result of `method`.\n///\n\
         /// # Errors\n/// The result does not have the form of the type, or the {sender} does not send `method`. The pointer of the\n\
         /// error is relative to the result.\n\
         #[inline]\npub fn decode_result(method: Method, result: &str) -> Result<Box<dyn Conform + Send>, DecodeError> {{\n\
         Ok(match method {{\n{arms}{rest}}})\n}}\n"
    );
}

/// Writes one side of an engine: a trait for the requests that it receives, one for the notifications, and the functions that dispatch to
/// them.
fn serve(cx: &Context<'_>, side: &str, peer: &str, out: &mut String) {
    let requests = sent(cx, peer, false);
    let notifications = sent(cx, peer, true);
    let _ = writeln!(
        out,
        "/// The requests and notifications that a {side} receives.\npub mod {side} {{\nuse super::super::*;\nuse crate::methods;"
    );
    if !requests.is_empty() {
        serve_requests(side, title(peer), &requests, out);
    }
    if !notifications.is_empty() {
        serve_notifications(side, title(peer), &notifications, out);
    }
    out.push_str("}\n");
}

fn serve_requests(side: &str, peer: &str, requests: &[&MethodDef], out: &mut String) {
    let _ = write!(
        out,
        "/// The requests that a {side} serves: one function for each. `None` means that the method is not served.\n\
         pub trait ServeMethods {{\n\
         /// Context of a request: the caller, the source and the id.\ntype Cx<'a>;\n\
         /// Reply of a function, now or later, tied to the result type of its method.\ntype Reply<M: methods::Request>;\n\
         /// Outcome of a request.\ntype Answer;\n\
         /// Sends `reply`. Every reply is passed to this function.\n\
         fn answer<M: methods::Request>(&self, cx: Self::Cx<'_>, reply: Self::Reply<M>) -> Self::Answer;\n\
         /// Refuses a request for `method`, which is not served.\n\
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
        "}}\n/// Calls the function of `handler` for `request`.\n#[inline]\n\
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
        "/// The notifications that a {side} receives: one function for each.\n\
         pub trait ServeNotifications {{\n\
         /// Context of a notification: the sender and the source.\ntype Cx<'a>;\n\
         /// Handles a notification whose function is not implemented.\n\
         fn ignored(&self, cx: Self::Cx<'_>, method: Method);\n"
    );
    for method in notifications {
        let _ = write!(
            out,
            "/// Handles `{}`.\n#[inline]\nfn {}(&self, cx: Self::Cx<'_>, params: Box<{}>) {{\n\
             drop(params);\nself.ignored(cx, Method::{});\n}}\n",
            method.wire,
            snake(&method.name),
            rust(&method.params),
            method.name
        );
    }
    let _ = write!(
        out,
        "}}\n/// Calls the function of `handler` for `notification`.\n#[inline]\n\
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

/// Returns `client` as `Client`.
fn title(side: &str) -> &'static str {
    match side {
        "client" => "Client",
        _ => "Server",
    }
}

/// Writes the handler trait for authors, and the adapter that serves it.
fn handler(cx: &Context<'_>, side: &str, peer: &str, out: &mut String) {
    let requests = sent(cx, peer, false);
    let notifications = sent(cx, peer, true);
    if requests.is_empty() && notifications.is_empty() {
        return;
    }
    let of = match cx.extension {
        Some((extension, _)) => format!(" of the {extension} extension"),
        None => String::new(),
    };
    let _ = write!(
        out,
        "/// The requests and notifications{of} that a {side} handles. Requests that are not implemented are answered with \"method\n\
         /// not found\"; notifications that are not implemented are ignored.\npub trait {}Handler {{\n\
         /// Context of every message: the peer, its revision, the session.\ntype Context: Send + Sync + 'static;\n",
        title(side)
    );
    for method in requests.iter().chain(&notifications) {
        let (verb, output, default) = match &method.result {
            Some(result) => (
                "Answers",
                format!("Result<{}, ErrorObject>", rust(result)),
                format!("support::method_not_found({:?})", method.wire),
            ),
            None => (
                "Takes note of",
                "()".to_owned(),
                "support::ignored()".to_owned(),
            ),
        };
        let _ = write!(
            out,
            "/// {verb} `{}`.\nfn {}(&self, cx: &Self::Context, params: {}) -> impl Future<Output = {output}> + Send {{\n\
             let _ = (cx, params);\n{default}\n}}\n",
            printable(&method.wire),
            snake(&method.name),
            rust(&method.params)
        );
    }
    out.push_str("}\n");
    adapter(cx, side, peer, &requests, &notifications, out);
}

fn adapter(
    cx: &Context<'_>,
    side: &str,
    peer: &str,
    requests: &[&MethodDef],
    notifications: &[&MethodDef],
    out: &mut String,
) {
    let (root, name, sends) = (cx.root(), title(side), title(peer));
    let identifier = match cx.identifier() {
        Some(_) => "Some(IDENTIFIER)",
        None => "None",
    };
    let rules = match cx.has_method() {
        true => "known.rules(revision)",
        false => "rules(known, revision)",
    };
    let bounds = format!("H: {name}Handler + Send + Sync + 'static");
    // Only what differs from the default of the trait.
    let client_declares = match cx.client_declares() {
        true => "",
        false => "fn client_declares(&self) -> bool { false }\n",
    };
    let _ = write!(
        out,
        "/// Serves a [`{name}Handler`] as [`Methods`]({root}::methods::Methods).\n\
         #[derive(Clone, Copy, Debug, Default)]\npub struct {name}<H>(pub H);\n\
         impl<{bounds}> {root}::methods::Methods<H::Context> for {name}<H> {{\n\
         fn identifier(&self) -> Option<&'static str> {{ {identifier} }}\n\
         {client_declares}\
         fn names(&self) -> &'static [&'static str] {{ NAMES }}\n\
         fn rules(&self, method: &str, revision: Revision) -> Option<&'static Rules> {{\n\
         let known = Method::from_wire(method)?;\n{rules}\n}}\n"
    );
    let response = format!("{root}::methods::Response");
    for (kind, methods, output, call) in [
        ("Request", requests, &*response, "answer"),
        ("Notification", notifications, "()", "take_note"),
    ] {
        let function = kind.to_lowercase();
        let _ = writeln!(
            out,
            "fn {function}(self: std::sync::Arc<Self>, revision: Revision, method: &str, params: Option<&str>) \
             -> Result<{root}::methods::Decoded<H::Context, {output}>, DecodeError> {{"
        );
        let _ = match methods.is_empty() {
            true => write!(
                out,
                "let _ = (revision, params);\nErr(support::foreign({peer:?}, method))\n}}\n"
            ),
            false => write!(
                out,
                "let known = Method::from_wire(method).filter(|known| {}.is_some());\n\
                 let known = known.ok_or_else(|| support::absent(method, revision))?;\n\
                 let message = {sends}{kind}::decode(revision, known, params)?;\n\
                 Ok({root}::methods::Decoded::new(self, message, Self::{call}))\n}}\n",
                match cx.has_method() {
                    true => "known.rules(revision)",
                    false => "rules(*known, revision)",
                }
            ),
        };
    }
    let _ = writeln!(out, "}}\nimpl<{bounds}> {name}<H> {{");
    for (kind, methods, output, call) in [
        ("Request", requests, &*response, "answer"),
        ("Notification", notifications, "()", "take_note"),
    ] {
        if methods.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "fn {call}(self: std::sync::Arc<Self>, cx: H::Context, message: {sends}{kind}) \
             -> {root}::methods::BoxFuture<'static, {output}> {{\nmatch message {{"
        );
        for method in methods {
            let boxed = match method.notification {
                false => "support::respond",
                true => "Box::pin",
            };
            let _ = writeln!(
                out,
                "{sends}{kind}::{}(params) => {boxed}(async move {{ self.0.{}(&cx, *params).await }}),",
                method.name,
                snake(&method.name)
            );
        }
        out.push_str("}\n}\n");
    }
    out.push_str("}\n");
}
