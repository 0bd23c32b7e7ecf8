//! The functions that send a client's messages, one per message, for any sender of messages.

use std::fmt::Write as _;

use super::{Context, printable, rust};
use crate::{
    model::{Bits, MethodDef},
    names,
};

pub(super) fn emit(cx: &Context<'_>, out: &mut String) {
    let methods: Vec<(&MethodDef, Bits)> = cx
        .model
        .methods
        .values()
        .map(|method| (method, sent_at(method)))
        .filter(|(_, known)| *known != Bits(0))
        .collect();
    if methods.is_empty() {
        return;
    }
    let wires: Vec<&str> = methods
        .iter()
        .map(|(method, _)| method.wire.as_str())
        .collect();
    let prefix = if cx.extension.is_some() { "ext_" } else { "" };
    let names = names::functions(prefix, &wires);
    let (of, rule) = match cx.extension {
        Some((name, _)) => (
            format!("of the {name} extension "),
            "`ext_` and its name on the wire",
        ),
        None => (String::new(), "its name on the wire"),
    };
    let example = format!(
        "`{}` is [`{}`](Self::{2})",
        printable(wires[0]),
        names[0],
        names[0]
    );
    let root = cx.root();
    let _ = write!(
        out,
        "/// The messages {of}that a client sends, one function each. A function is called as its message: {rule}, \
         with `_` in place of `/`, in\n/// small letters; {example}.\n///\n\
         /// Each sends one message and gives the result as the server answers it. A function whose text ends with revisions has a \
         message that\n/// exists at these only; the sender refuses it at the others.\n\
         pub trait ClientMethods: {root}::methods::MethodSender {{\n"
    );
    let markers = match cx.extension {
        Some(_) => "methods",
        None => "markers",
    };
    for ((method, known), function) in methods.iter().zip(names) {
        cx.doc_of_method(method, *known, out);
        let (marker, params) = (&method.name, rust(&method.params));
        let _ = match method.notification {
            false => writeln!(
                out,
                "fn {function}(&self, params: {params}) -> Self::Request<{markers}::{marker}> {{\n\
                 self.send_request::<{markers}::{marker}>(params)\n}}"
            ),
            true => writeln!(
                out,
                "fn {function}(&self, params: &{params}) -> Self::Sent {{\n\
                 self.send_notification::<{markers}::{marker}>(params)\n}}"
            ),
        };
    }
    let _ = write!(
        out,
        "}}\nimpl<S: {root}::methods::MethodSender + ?Sized> ClientMethods for S {{}}\n"
    );
}

/// Returns the revisions at which a client sends `method`.
fn sent_at(method: &MethodDef) -> Bits {
    let mut known = Bits::default();
    for (revision, rules) in &method.rules {
        if rules.from_client {
            known.add(*revision);
        }
    }
    known
}
