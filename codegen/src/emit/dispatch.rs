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
            "/// `{}`.\n{}({}),",
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
    if !cx.has_method() || methods.len() < cx.model.methods.len() || cx.extension.is_none() {
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
    results(sender, methods, out);
    out.push_str("}\n");
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
            "{request}::{}(params) => Box::new(handler.{}(cx, params).await?),",
            method.name,
            snake(&method.name)
        );
    }
    out.push_str("})\n}\n");
}
