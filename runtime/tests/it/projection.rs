//! The table of projection rules: its page, and that losses are reported by its rules.

use std::{collections::BTreeMap, fmt::Write as _};

use expect_test::expect_file;
use serde_json::json;
use trueform::{
    DefinitionName, LossRule,
    prelude::*,
    projection::{self, Rule},
    schema::{Annotations, Icon, Revision, Revisions, ToolAnnotations, projection::Becomes},
};

const HEAD: &str = "\
How members, alternatives and values are sent at revisions that lack or restrict them: one row per rule.

A member that the revision does not have is left out; `_meta` of objects that have one, and unknown members, are kept.
Content that the revision cannot express is rewritten to a form that it has. If there is no such form, the content is refused
and the message is not sent ([`Policy::Enforce`](crate::Policy)). [`Service::projections`](crate::Service::projections) lists the
losses of a server's tools, prompts and resources. The log has other losses at level `DEBUG`: those of the results of tools, one line
for each tool, rule and revision, and those of requests to clients and of progress reports, by place. The methods of each revision are in
[another table](crate::guide::revisions#methods).

A test writes the rows from [`rules`]. These come from the official schemas, except for the rewrites.
";

/// `UPDATE_EXPECT=1` rewrites the page.
#[test]
fn the_page_has_every_rule() {
    let mut topics: BTreeMap<&str, Vec<Rule>> = BTreeMap::new();
    for rule in projection::rules() {
        assert!(
            !rule.topic.is_empty(),
            "{rule:?}: the type has no description with a topic"
        );
        assert!(!rule.at.is_empty(), "{rule:?} is for no revision");
        topics.entry(rule.topic).or_default().push(rule);
    }
    let mut page = HEAD.to_owned();
    for (topic, mut rules) in topics {
        rules.sort_by_key(|rule| (rule.of, rule.item, rule.at.bits()));
        _ = write!(
            page,
            "\n# {topic}\n\n| what | revisions | treatment |\n| --- | --- | --- |\n"
        );
        for Rule {
            of,
            item,
            at,
            becomes,
            ..
        } in rules
        {
            _ = writeln!(
                page,
                "| `{of}`: {} | {} | {becomes} |",
                name(item),
                period(at)
            );
        }
    }
    expect_file!["../../src/projection.md"].assert_eq(&page);
}

fn name(item: &str) -> String {
    match item.contains(' ') {
        true => item.to_owned(),
        false => format!("`{item}`"),
    }
}

fn period(at: Revisions) -> String {
    let list: Vec<Revision> = at.iter().collect();
    let (first, last) = (list[0], list[list.len() - 1]);
    let between = Revision::ALL
        .into_iter()
        .filter(|other| (first..=last).contains(other));
    match () {
        () if list.len() < 3 || between.count() != list.len() => {
            let names: Vec<&str> = list.iter().map(|revision| revision.as_str()).collect();
            names.join(", ")
        }
        () if first == Revision::ALL[0] => format!("until {last}"),
        () => format!("{first} to {last}"),
    }
}

/// A tool and a server with everything on them lose exactly what the table says of `Tool` and `Implementation`, and each
/// loss is reported with the kind of its rule.
#[test]
fn losses_are_reported_by_the_rules_of_the_table() {
    let icon = || Icon::new("https://example.com/i.png");
    let tool = DynamicTool::new(
        "dressed",
        json!({"type": "object", "properties": {"any": true}}),
    )
    .title("Dressed")
    .description("Has everything.")
    .icons([icon()])
    .annotations(ToolAnnotations::new().with_read_only_hint(true))
    .meta("example.com/key", json!(1))
    .output_schema(json!({"type": "array"}))
    .handler(|_, _| async { Json(json!([])) });
    let prompt = DynamicPrompt::new("dressed")
        .title("Dressed")
        .icons([icon()])
        .meta("example.com/key", json!(1))
        .handler(|_, _| async { "" });
    let annotations = || Annotations::new().with_last_modified("2025-01-12T15:00:58Z");
    let resource = DynamicResource::new("dressed:one", "dressed")
        .title("Dressed")
        .icons([icon()])
        .meta("example.com/key", json!(1))
        .annotations(annotations())
        .handler(|_| async { "" });
    let template = DynamicTemplate::new("dressed:all/{name}", "dressed")
        .title("Dressed")
        .icons([icon()])
        .meta("example.com/key", json!(1))
        .annotations(annotations())
        .handler(|_, _| async { "" });
    let service = Server::new("losses", "1.0.0")
        .title("Losses")
        .description("Loses.")
        .icons([icon()])
        .website_url("https://example.com")
        .tools(tool)
        .prompts(prompt)
        .resources(resource)
        .resources(template)
        .build()
        .unwrap();
    let mut reported: Vec<(&str, String, Revision, &str)> = Vec::new();
    for loss in service.projections() {
        let of = match loss.subject {
            DefinitionName::Server => "Implementation",
            DefinitionName::Tool(_) => "Tool",
            DefinitionName::Prompt(_) => "Prompt",
            DefinitionName::Resource(_) => "Resource",
            DefinitionName::ResourceTemplate(_) => "ResourceTemplate",
            other => panic!("{other:?}: which rows of the table are these?"),
        };
        // A member of a member has its own rows.
        let (of, member) = match loss.pointer.strip_prefix("/annotations/") {
            Some(member) => ("Annotations", member),
            None => (of, &loss.pointer[1..]),
        };
        let kind = match loss.rule {
            LossRule::Unknown | LossRule::NoStructuredResult => "left out",
            LossRule::Wrapped | LossRule::Rewritten => "rewritten",
            other => panic!("{other:?}: which rows of the table are these?"),
        };
        reported.push((of, member.to_owned(), loss.revision, kind));
    }
    let mut listed = Vec::new();
    let of_definitions = [
        "Annotations",
        "Implementation",
        "Prompt",
        "Resource",
        "ResourceTemplate",
        "Tool",
    ];
    for rule in projection::rules().filter(|rule| of_definitions.contains(&rule.of)) {
        let kind = match rule.becomes {
            Becomes::LeftOut => "left out",
            Becomes::Rewritten(_) => "rewritten",
            _ => continue,
        };
        // No tool runs as a task yet.
        if !rule.is("Tool", "execution") {
            let at = rule.at.iter();
            listed.extend(at.map(|revision| (rule.of, rule.item.to_owned(), revision, kind)));
        }
    }
    reported.sort();
    // The annotations of a resource and those of a template lose the same.
    reported.dedup();
    listed.sort();
    // An output schema may be wrapped and have boolean schemas: two rules of one member.
    listed.dedup();
    assert_eq!(reported, listed);
}
