use proc_macro2::Span;
use syn::{FnArg, Signature};

use super::*;
use crate::{kind::Kind, scope::Scope};

// J-6
#[test]
fn schemes() {
    for uri in ["notes:", "a+b-c.9://x", "file:///{+path}", "N:x"] {
        assert!(has_scheme(uri), "{uri}");
    }
    for uri in [
        "notes",
        "/notes",
        "9p://x",
        ":x",
        "{scheme}://x",
        "a b:x",
        "é:x",
        "a/b:x",
    ] {
        assert!(!has_scheme(uri), "{uri}");
    }
}

// J-9
#[test]
fn names_of_variables() {
    for (uri, names) in [
        ("a:b", &[][..]),
        ("a:{b}", &["b"]),
        ("a:{b}/{c}", &["b", "c"]),
        ("a:{+b}{/c,d}", &["b", "c", "d"]),
        ("a:{?b,c*}{&d:3}", &["b", "c", "d"]),
    ] {
        assert_eq!(variables(uri).unwrap(), names, "{uri}");
    }
    for (uri, fault) in [
        ("a:{b", "no `}` closes"),
        ("a:{b{c}", "no `}` closes"),
        ("a:b}", "no `{` opens"),
        ("a:{b}}", "no `{` opens"),
        ("a:{}", "without a name"),
        ("a:{+}", "without a name"),
        ("a:{b,}", "without a name"),
    ] {
        assert!(variables(uri).unwrap_err().contains(fault), "{uri}");
    }
}

/// Returns the faults that are reported for `uri` on a function with `parameters`.
fn problems(uri: &str, parameters: &str) -> Vec<String> {
    let mut diag = Diagnostics::default();
    let uri = Uri::lower(LitStr::new(uri, Span::call_site()), &mut diag).unwrap();
    let mut sig: Signature = syn::parse_str(&format!("fn read({parameters})")).unwrap();
    let inputs = sig.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(input) => Some(input),
        FnArg::Receiver(_) => None,
    });
    let parameters: Vec<Parameter> = inputs
        .filter_map(|input| Parameter::lower(Kind::Resource, input, Scope::Free, &mut diag))
        .collect();
    check_variables(&uri, &parameters, &mut diag);
    let errors = diag.take().into_iter().flatten();
    errors.map(|error| error.to_string()).collect()
}

#[test]
fn variables_are_parameters() {
    for parameters in [
        "table: String, id: u64",
        "id: Id, table: Table",
        "context: Context, table: String, id: u64",
        "table: String, #[serde(rename = \"id\")] number: u64",
        "table: String, #[schemars(rename(deserialize = \"id\", serialize = \"x\"))] number: u64",
        "Args(row): Args<Row>",
        "row: Args<Row>",
        "row: RowArguments",
        "context: Context, table: Args<Row>",
        "State(pool): State<Pool>, row: RowArguments",
        "table: String, #[arg(complete = ids)] id: Id",
    ] {
        assert_eq!(
            problems("db://{table}/{id}", parameters),
            [""; 0],
            "{parameters}"
        );
    }
    for (parameters, faults) in [
        ("", &["the variable `table` is", "the variable `id` is"][..]),
        ("table: String", &["the variable `id` is"]),
        ("table: Table, idd: Option<Id>", &["the variable `id` is"]),
        ("tabel: String, id: u64", &["did you mean `tabel`?"]),
        ("context: Context, id: u64", &["the variable `table` is"]),
        (
            "table: String, #[serde(rename = \"number\")] id: u64",
            &["the variable `id` is"],
        ),
        (
            "table: Table, #[arg(complete = ids)] number: Id",
            &["`number` is not a variable", "the variable `id` is"],
        ),
    ] {
        let found = problems("db://{table}/{id}", parameters);
        assert_eq!(found.len(), faults.len(), "{parameters}: {found:?}");
        for (found, fault) in found.iter().zip(faults) {
            assert!(found.contains(fault), "{parameters}: {found}");
        }
    }
}
