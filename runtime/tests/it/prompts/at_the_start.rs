//! What is wrong with a prompt is reported when its server is built.

use trueform::prelude::*;

use super::server;

/// Takes what no text can be.
#[prompt]
fn lists(tags: Vec<String>, more: Option<Vec<u8>>) -> String {
    format!("{tags:?} {more:?}")
}

/// The same.
#[resource("lists://{tags}")]
fn list(tags: Vec<String>) -> String {
    tags.join(" ")
}

#[test]
fn arguments_that_no_text_can_be() {
    let server = server()
        .prompts(prompts![lists])
        .resources(resources![list]);
    let problem = server.build().unwrap_err().to_string();
    for expected in [
        "takes `tags`, which is a list",
        "takes `more`, which is a list",
        "a URI has text",
    ] {
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
}

#[test]
fn what_is_wrong_is_reported_at_once() {
    let broken = vec![
        DynamicPrompt::new("a"),
        DynamicPrompt::new("b")
            .argument("x", "", true)
            .argument("x", "", false)
            .handler(|_, _| async { "" }),
        DynamicPrompt::new("c")
            .complete("x", |_| [""])
            .argument_title("y", "Y")
            .handler(|_, _| async { "" }),
        DynamicPrompt::new("greeting").handler(|_, _| async { "" }),
    ];
    let problem = server().prompts(broken).build().unwrap_err().to_string();
    for expected in [
        "prompt `a` (the dynamic prompt at ",
        "has no handler",
        "has two arguments named `x`",
        "completes `x`, which is not an argument of it",
        "titles `y`, which is not an argument of it",
        "two prompts are named `greeting`: fn `greeting` at ",
    ] {
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
}
