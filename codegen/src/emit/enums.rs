//! Open enumerations: the known values, and `Other` for values of future revisions.

use std::fmt::Write as _;

use super::Context;
use crate::model::{Bits, EnumValue, TypeDef};

pub(super) fn emit(cx: &Context<'_>, ty: &TypeDef, values: &[EnumValue], out: &mut String) {
    let name = &ty.name;
    cx.doc(name, &cx.neutral(name), ty.known, Bits(0), out);
    let _ = writeln!(
        out,
        "#[derive(Clone, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum {name} {{"
    );
    for value in values {
        let path = format!("{name}.{}", value.value);
        cx.doc(
            &path,
            &format!("`{}`.", value.value),
            value.known,
            ty.known,
            out,
        );
        let _ = writeln!(out, "{},", value.name);
    }
    out.push_str("/// A value that no known revision defines.\nOther(Box<str>),\n}\n");
    let _ = write!(
        out,
        "impl {name} {{\n/// The value on the wire.\n#[must_use]\npub const fn as_str(&self) -> &str {{\nmatch self {{\n"
    );
    for value in values {
        let _ = writeln!(out, "Self::{} => {:?},", value.name, value.value);
    }
    out.push_str("Self::Other(other) => other,\n}\n}\n}\n");
    let _ = write!(
        out,
        "impl From<&str> for {name} {{\nfn from(text: &str) -> Self {{\nmatch text {{\n"
    );
    for value in values {
        let _ = writeln!(out, "{:?} => Self::{},", value.value, value.name);
    }
    out.push_str("_ => Self::Other(text.into()),\n}\n}\n}\n");
    let _ = write!(
        out,
        "impl Encode for {name} {{\nfn encode(&self, _: View<'_>, out: &mut Vec<u8>) {{\n\
         support::write_str(self.as_str(), out);\n}}\n}}\n"
    );
}
