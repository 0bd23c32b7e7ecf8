//! Every public method that sets something, and every method of `ServerHandle`, has an example of its own; and the messages that the
//! guide shows are those of the source.

use std::collections::BTreeSet;

use crate::limits::sources;

/// Methods that take `self` and return `Self`, but that no user calls: what expansions of the macros build, and a generated file.
const NOT_FOR_USERS: &[&str] = &[
    "runtime/src/client/without_transports.rs",
    "runtime/src/feature/offered.rs",
    "runtime/src/feature/prompts/spec.rs",
    "runtime/src/feature/resources/spec.rs",
    "runtime/src/feature/tools/spec.rs",
    "runtime/skills/src/generated.rs",
];

struct Method {
    /// `path/of/file.rs: name`
    place: String,
    has_example: bool,
}

/// The methods of `text` for which `is_one` holds, of what stands between `fn` and the body.
fn methods(file: &str, text: &str, is_one: impl Fn(&str) -> bool) -> Vec<Method> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let function = ["pub fn ", "pub const fn ", "pub async fn "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        let Some(function) = function else { continue };
        let signature = lines[at..]
            .iter()
            .take(12)
            .copied()
            .collect::<Vec<_>>()
            .join(" ");
        let signature = signature.split(" {").next().unwrap_or_default();
        if !is_one(signature) {
            continue;
        }
        let name = function.split(['(', '<']).next().unwrap_or_default();
        // Comments and attributes may stand between the documentation and the function.
        let above = lines[..at].iter().rev();
        let mut above = above.take_while(|line| {
            !line.is_empty() && !line.ends_with(['}', ';', '{']) || line.starts_with("//")
        });
        found.push(Method {
            place: format!("{file}: {name}"),
            has_example: above.any(|line| line.starts_with("/// ```")),
        });
    }
    found
}

/// `pub fn name(mut self, …) -> Self`, also if it may fail.
fn is_setter(signature: &str) -> bool {
    let Some((_, arguments)) = signature.split_once('(') else {
        return false;
    };
    let takes_self = ["self,", "self)", "mut self,", "mut self)"]
        .iter()
        .any(|receiver| arguments.trim_start().starts_with(receiver));
    let returned = signature.rsplit_once("-> ").map(|(_, returned)| returned);
    takes_self
        && returned.is_some_and(|returned| {
            returned.starts_with("Self") || returned.starts_with("Result<Self")
        })
}

#[test]
fn setters_have_examples() {
    let mut found = Vec::new();
    let mut exempt = BTreeSet::new();
    for (file, text) in sources() {
        let setters = methods(&file, &text, is_setter);
        if NOT_FOR_USERS.contains(&&*file) {
            assert!(
                !setters.is_empty(),
                "{file} has no setters, so it is no exception"
            );
            exempt.insert(file);
        } else {
            found.extend(setters);
        }
    }
    assert_eq!(
        exempt.len(),
        NOT_FOR_USERS.len(),
        "files that are gone are no exceptions"
    );
    assert!(
        found.len() > 200,
        "setters are recognised by their signatures: {}",
        found.len()
    );
    let missing: Vec<_> = found
        .iter()
        .filter(|method| !method.has_example)
        .map(|method| &method.place)
        .collect();
    assert!(
        missing.is_empty(),
        "public methods without an example of their own: {missing:#?}"
    );
}

#[test]
fn methods_of_the_handle_have_examples() {
    let file = "runtime/src/server/handle.rs";
    let (_, text) = sources()
        .into_iter()
        .find(|(name, _)| name == file)
        .unwrap();
    let found = methods(file, &text, |signature| signature.contains("(&self"));
    assert!(found.len() > 15, "{}", found.len());
    let missing: Vec<_> = found
        .iter()
        .filter(|method| !method.has_example)
        .map(|method| &method.place)
        .collect();
    assert!(
        missing.is_empty(),
        "methods of `ServerHandle` without an example of their own: {missing:#?}"
    );
}

/// What the operating system says, in messages of the guide.
const OF_THE_SYSTEM: &[&str] = &["Address already in use"];

#[test]
fn messages_at_the_start_are_those_of_the_source() {
    let page = include_str!("../../src/guide/errors.md");
    let (_, section) = page.split_once("# At the start\n").unwrap();
    let (section, _) = section.split_once("\n# ").unwrap();
    let sources = sources();
    let mut rows = 0;
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        rows += 1;
        let message = row.trim_start_matches("| ").split(" | ").next().unwrap();
        let message = message.trim_matches(['`', ' ']);
        for piece in message
            .split('…')
            .map(|piece| piece.trim_matches(['`', ':', ' ']))
        {
            let is_known = |text: &str| text.contains(piece);
            assert!(
                OF_THE_SYSTEM.contains(&piece) || sources.iter().any(|(_, text)| is_known(text)),
                "the guide has the message `{message}`, and no source says `{piece}`"
            );
        }
    }
    assert!(rows > 4, "{rows} messages at the start");
}

// The guide says which of its snippets are not run.
#[test]
fn snippets_that_are_not_run() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guide");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(guide).unwrap() {
        let path = entry.unwrap().path();
        let page = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            if let Some(kind) = line.strip_prefix("```") {
                for attribute in ["ignore", "no_run", "should_panic", "compile_fail"] {
                    if kind.contains(attribute) {
                        found.insert(format!("{page}: {attribute}"));
                    }
                }
            }
        }
    }
    let said = [
        "client: no_run",
        "extensions: ignore",
        "http: no_run",
        "logging: ignore",
    ];
    assert_eq!(found, said.map(str::to_owned).into());
}
