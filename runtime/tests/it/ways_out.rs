//! One way out: what reaches a transport was made by the outbound gate, and transports decide nothing about it.
//!
//! That only `gate::outbound` makes a message is proven by the compiler: the fields of `Outgoing` are private to that module,
//! and no function of it takes bytes that it did not write; what only clients send has another type. What the compiler does not
//! see is looked for in the sources.

use std::{fs, path::Path};

use proc_macro2::{TokenStream, TokenTree};

use crate::layers::imports::without_tests;

/// The files below `folder` of the sources, as their paths and their code without comments and tests, one space between tokens.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path
                    .strip_prefix(&root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                files.push((name, code(&fs::read_to_string(&path).unwrap())));
            }
        }
    }
    files.sort();
    files
}

/// The code of `source`.
fn code(source: &str) -> String {
    fn push(out: &mut String, tokens: TokenStream) {
        for token in tokens {
            if let TokenTree::Group(group) = &token {
                out.push_str("( ");
                push(out, group.stream());
                out.push_str(") ");
            } else {
                out.push_str(&token.to_string());
                out.push(' ');
            }
        }
    }
    let mut out = " ".to_owned();
    push(&mut out, without_tests(source.parse().unwrap()));
    out.replace(": :", "::")
}

/// The places in `sources` that have one of `words` in their code.
fn places(sources: &[(String, String)], words: &[&str]) -> Vec<String> {
    let mut places = Vec::new();
    for (file, code) in sources {
        for word in words {
            if code.contains(word) {
                places.push(format!("{file}: {}", word.trim()));
            }
        }
    }
    places
}

#[test]
fn transports_neither_read_what_we_wrote_nor_pick_codes() {
    let mut transports = sources("transport");
    transports.push((
        "transport.rs".to_owned(),
        code(include_str!("../../src/transport.rs")),
    ));
    assert!(10 < transports.len());
    let parsing = places(
        &transports,
        &[
            " serde_json :: from",
            " RawValue ",
            " Value ",
            " jsonrpc :: parse",
        ],
    );
    // The state of a session, which a store kept.
    assert_eq!(parsing, ["transport/http/shared.rs: serde_json :: from"]);
    let codes = places(
        &transports,
        &[
            " ErrorObject ",
            " code :: ",
            " Fault ",
            " invalid_request ",
            " - 32",
            "\"error\"",
            "jsonrpc :: internal",
        ],
    );
    // Maps codes to statuses.
    assert_eq!(codes, ["transport/http/status.rs: code ::"]);
}

#[test]
fn statuses_come_from_one_file() {
    let statuses = places(
        &sources(""),
        &[" StatusCode :: ", " status_mut ", " . status ( "],
    );
    // The client has statuses of tasks.
    let statuses: Vec<_> = statuses
        .iter()
        .filter(|place| !place.starts_with("testing/") && !place.starts_with("client/"))
        .collect();
    assert_eq!(
        statuses,
        [
            "transport/http/status.rs: StatusCode ::",
            "transport/http/status.rs: status_mut"
        ]
    );
}

#[test]
fn the_gate_alone_writes_envelopes() {
    let writers = places(&sources(""), &[r#""2.0""#, r#"\"jsonrpc"#]);
    let writers: Vec<_> = writers
        .iter()
        .filter(|place| !place.starts_with("testing/") && !place.contains("/tests.rs"))
        .collect();
    assert_eq!(
        writers,
        [
            "gate/outbound/write.rs: \"2.0\"",
            "jsonrpc/message.rs: \"2.0\""
        ]
    );
}

#[test]
fn code_has_no_comments_and_no_tests() {
    let source =
        "// A::b\n/// A::c\nfn f() { A::d(\"x\") } #[cfg(test)] mod tests { fn g() { A::e() } }";
    assert_eq!(code(source).trim(), "fn f ( ) ( A :: d ( \"x\" ) )");
}
