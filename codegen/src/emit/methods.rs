//! The method table: one enumeration of wire methods, the rules of each revision, and a marker type per method.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{Context, Home, printable, rust_in};
use crate::model::{Bits, MethodDef, MethodRules};

pub(super) fn emit(cx: &Context<'_>, out: &mut String) {
    if let Some(identifier) = cx.identifier() {
        let _ = writeln!(
            out,
            "/// The identifier of the extension in `capabilities.extensions`.\npub const IDENTIFIER: &str = {identifier:?};"
        );
    }
    // An extension may only add types.
    if cx.model.methods.is_empty() {
        return;
    }
    match cx.has_method() {
        true => {
            enumeration(cx, out);
            out.push_str("impl Method {\n");
            rules(
                cx,
                "What `revision` says about the method; `None` if it does not have it.",
                "pub fn rules(self, revision: Revision)",
                out,
            );
            out.push_str("}\n");
        }
        false => rules(
            cx,
            "What the extension says about `method` at `revision`; `None` if it does not have it.",
            "pub fn rules(method: Method, revision: Revision)",
            out,
        ),
    }
    markers(cx, out);
}

fn enumeration(cx: &Context<'_>, out: &mut String) {
    // One enumeration for core and extensions, because the method of an arriving message may belong to any of them.
    let mut all: BTreeMap<&str, (&MethodDef, Option<&str>)> = BTreeMap::new();
    for (name, extension) in &cx.model.extensions {
        all.extend(
            extension
                .methods
                .values()
                .map(|m| (m.wire.as_str(), (m, Some(name.as_str())))),
        );
    }
    all.extend(
        cx.model
            .methods
            .values()
            .map(|m| (m.wire.as_str(), (m, None))),
    );
    let methods: Vec<(&MethodDef, Option<&str>)> = all.into_values().collect();
    let _ = match cx.extension {
        None => writeln!(
            out,
            "/// A method on the wire, of any revision or extension."
        ),
        Some((name, _)) => writeln!(out, "/// A method of the {name} extension on the wire."),
    };
    out.push_str("#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[non_exhaustive]\npub enum Method {\n");
    for (method, extension) in &methods {
        let mut known = Bits::default();
        method
            .rules
            .keys()
            .for_each(|revision| known.add(*revision));
        let neutral = match extension {
            Some(name) => format!("`{}`, of the {name} extension.", method.wire),
            None => format!("`{}`.", method.wire),
        };
        cx.doc(
            &format!("Method.{}", method.name),
            &neutral,
            known,
            Bits(0),
            out,
        );
        let _ = writeln!(out, "{},", method.name);
    }
    out.push_str("}\nimpl Method {\n/// Every method, sorted by wire name.\n");
    let _ = write!(out, "pub const ALL: [Self; {}] = [", methods.len());
    for (method, _) in &methods {
        let _ = write!(out, "Self::{},", method.name);
    }
    out.push_str("];\n/// The method with the wire name `wire`.\n#[must_use]\npub fn from_wire(wire: &str) -> Option<Self> {\nSome(match wire {\n");
    for (method, _) in &methods {
        let _ = writeln!(out, "{:?} => Self::{},", method.wire, method.name);
    }
    out.push_str("_ => return None,\n})\n}\n/// The name on the wire.\n#[must_use]\npub const fn as_str(self) -> &'static str {\nmatch self {\n");
    for (method, _) in &methods {
        let _ = writeln!(out, "Self::{} => {:?},", method.name, method.wire);
    }
    out.push_str("}\n}\n/// Whether the method is a notification, which is never answered.\n#[must_use]\npub const fn is_notification(self) -> bool {\n");
    let notifications: Vec<String> = methods
        .iter()
        .filter(|(method, _)| method.notification)
        .map(|(method, _)| format!("Self::{}", method.name))
        .collect();
    let _ = match notifications.is_empty() {
        true => write!(out, "false\n}}\n}}\n"),
        false => write!(
            out,
            "matches!(self, {})\n}}\n}}\n",
            notifications.join(" | ")
        ),
    };
}

fn rules(cx: &Context<'_>, doc: &str, signature: &str, out: &mut String) {
    let subject = if cx.has_method() { "self" } else { "method" };
    let _ = write!(
        out,
        "/// {doc}\n#[must_use]\n{signature} -> Option<&'static Rules> {{\n\
         let table: &'static [(Revisions, Rules)] = match {subject} {{\n"
    );
    for method in cx.model.methods.values() {
        let mut groups: Vec<(Bits, &MethodRules)> = Vec::new();
        for (revision, rules) in &method.rules {
            match groups.iter_mut().find(|(_, known)| *known == rules) {
                Some((bits, _)) => bits.add(*revision),
                None => groups.push((Bits::of(*revision), rules)),
            }
        }
        let open = if cx.home == Home::Schema {
            "&["
        } else {
            "const { &["
        };
        let _ = write!(out, "Method::{} => {open}", method.name);
        for (bits, rules) in groups {
            let direction = match (rules.from_client, rules.from_server) {
                (true, true) => "Both",
                (true, false) => "ClientToServer",
                _ => "ServerToClient",
            };
            let fields = [
                ("direction", format!("Direction::{direction}")),
                ("capability", format!("{:?}", rules.capability)),
                ("header_name", format!("{:?}", rules.header_name)),
                ("input_required", rules.input_required.to_string()),
                ("params_required", rules.params_required.to_string()),
                ("results", format!("&{:?}", rules.results)),
            ];
            let rules = match cx.home {
                Home::Schema => {
                    let fields = fields.map(|(name, value)| format!("{name}: {value}"));
                    format!("Rules {{ {} }}", fields.join(", "))
                }
                // Another crate cannot construct a non-exhaustive struct.
                Home::Elsewhere => format!(
                    "support::rules({})",
                    fields.map(|(_, value)| value).join(", ")
                ),
            };
            let _ = write!(out, "({}, {rules}),", cx.set(bits));
        }
        out.push_str(if cx.home == Home::Schema {
            "],\n"
        } else {
            "] },\n"
        });
    }
    let extensions = cx
        .model
        .extensions
        .values()
        .flat_map(|extension| extension.methods.values());
    let missing = !cx.has_method()
        || extensions
            .into_iter()
            .any(|method| !cx.model.methods.contains_key(&method.wire));
    if missing {
        out.push_str("_ => &[],\n");
    }
    out.push_str(
        "};\ntable.iter().find(|(known, _)| known.contains(revision)).map(|(_, rules)| rules)\n}\n",
    );
}

/// Markers tie a method to its types. Markers of this crate refer to the method by the core's enumeration. Markers of another
/// crate use the name on the wire, because the enumeration does not contain their methods.
fn markers(cx: &Context<'_>, out: &mut String) {
    out.push_str(match cx.extension {
        // The markers of the core are re-exported beside the traits.
        None => "pub(crate) mod markers {\n",
        Some(_) => "/// Markers of the methods.\npub mod methods {\n",
    });
    let root = cx.root();
    for method in cx.model.methods.values() {
        let name = &method.name;
        let form = match (&method.result, cx.home) {
            (Some(_), Home::Schema) => "Request",
            (Some(_), Home::Elsewhere) => "AnyRequest",
            (None, Home::Schema) => "Notification",
            (None, Home::Elsewhere) => "AnyNotification",
        };
        let _ = write!(
            out,
            "/// Marker of `{}`.\n#[derive(Clone, Copy, Debug)]\npub enum {name} {{}}\n\
             impl {root}::methods::{form} for {name} {{\n",
            printable(&method.wire)
        );
        let _ = match cx.home {
            Home::Schema => writeln!(out, "const METHOD: super::Method = super::Method::{name};"),
            Home::Elsewhere => writeln!(out, "const METHOD: &'static str = {:?};", method.wire),
        };
        let _ = writeln!(out, "type Params = {};", rust_in("super::", &method.params));
        if let Some(result) = &method.result {
            let _ = writeln!(out, "type Result = {};", rust_in("super::", result));
        }
        if cx.extension.is_some() {
            let rules = match cx.home {
                Home::Schema => format!("super::rules(super::Method::{name}, revision)"),
                Home::Elsewhere => format!("super::Method::{name}.rules(revision)"),
            };
            let _ = writeln!(
                out,
                "const EXTENSION: Option<&'static str> = Some(super::IDENTIFIER);\n\
                 fn rules(revision: {root}::Revision) -> Option<&'static {root}::methods::Rules> {{ {rules} }}"
            );
        }
        out.push_str("}\n");
        if cx.home == Home::Schema && method.rules.values().any(|rules| rules.input_required) {
            let _ = writeln!(
                out,
                "impl crate::methods::MayAsk for {name} {{\n\
                 fn input_required(questions: super::InputRequiredResult) -> Self::Result {{ questions.into() }}\n}}"
            );
        }
    }
    out.push_str("}\n");
}
