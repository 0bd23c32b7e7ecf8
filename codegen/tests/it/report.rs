//! The generator's output as a reviewer sees it: the merge report, and the checked-in bindings themselves.

use std::collections::BTreeSet;
use std::fs;

use expect_test::expect_file;
use trueform_codegen::{Inputs, coverage, docs, generate, model, report};

use crate::support::schema_folder;

/// The differences of the revisions, every method, and the definitions that are not generated. `UPDATE_EXPECT=1` rewrites it.
#[test]
fn merge_report() {
    let inputs = Inputs::read(&schema_folder()).unwrap();
    let report = report(&model(&inputs).unwrap(), &inputs);
    // The numbers of items follow from the other lines.
    let (report, docs) = report
        .split_once("# docs\n")
        .expect("the report ends with the docs");
    assert!(
        docs.starts_with("0 of ") && docs.ends_with(" items have a neutral generated sentence\n"),
        "{docs}"
    );
    expect_file!["golden/report.txt"].assert_eq(report);
}

/// `docs.toml` describes every item of the committed schemas. An undescribed item is reported, and gets a neutral sentence.
#[test]
fn no_item_is_undescribed() {
    let mut inputs = Inputs::read(&schema_folder()).unwrap();
    let model = model(&inputs).unwrap();
    assert_eq!(docs::undescribed(&model, &inputs), [""; 0]);
    for item in [
        "Tool.title",
        "Revision.2025-06-18",
        "tasks::CreateTaskResult",
    ] {
        inputs.docs.remove(item).expect("it is described");
        assert_eq!(docs::undescribed(&model, &inputs), [item]);
        inputs.docs.insert(item.to_owned(), "Described.".to_owned());
    }
}

#[test]
fn checked_in_bindings_are_what_the_generator_writes() {
    let inputs = Inputs::read(&schema_folder()).unwrap();
    for (file, text) in generate(&inputs).unwrap() {
        let path = schema_folder().join("src").join(&file);
        let checked_in = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            checked_in == text,
            "`{file}` is stale; run `cargo regenerate`"
        );
    }
}

#[test]
fn the_guide_lists_every_method() {
    let inputs = Inputs::read(&schema_folder()).unwrap();
    let page = fs::read_to_string(schema_folder().join("..").join(coverage::PAGE)).unwrap();
    let updated =
        coverage::update(&page, &model(&inputs).unwrap()).expect("the page has the comments");
    assert!(
        updated == page,
        "the table of methods is stale; run `cargo regenerate`"
    );
}

#[test]
fn every_method_of_the_schemas_is_in_the_table() {
    let inputs = Inputs::read(&schema_folder()).unwrap();
    let model = model(&inputs).unwrap();
    let known: BTreeSet<&String> = model
        .methods
        .keys()
        .chain(model.extensions.values().flat_map(|m| m.methods.keys()))
        .collect();
    for document in inputs.revisions.values().chain(inputs.extensions.values()) {
        let mut methods = Vec::new();
        constants(document, &mut methods);
        for method in methods {
            assert!(
                known.contains(&method),
                "`{method}` is in a schema but not in the method table"
            );
        }
    }
}

/// The values of all constants called `method`.
fn constants(value: &serde_json::Value, found: &mut Vec<String>) {
    if let Some(method) = value
        .pointer("/properties/method/const")
        .and_then(|method| method.as_str())
    {
        found.push(method.to_owned());
    }
    match value {
        serde_json::Value::Object(map) => map.values().for_each(|value| constants(value, found)),
        serde_json::Value::Array(items) => items.iter().for_each(|value| constants(value, found)),
        _ => {}
    }
}

/// Removes lines of the overlay one by one: each fault must be found, with its place.
#[test]
fn what_the_overlay_leaves_open_is_an_error() {
    let inputs = Inputs::read(&schema_folder()).unwrap();
    let fails = |change: &dyn Fn(&mut Inputs), wanted: &[&str]| {
        let mut inputs = inputs.clone();
        change(&mut inputs);
        let problem = model(&inputs)
            .expect_err("the change must be noticed")
            .to_string();
        for wanted in wanted {
            assert!(problem.contains(wanted), "{problem}");
        }
    };
    fails(
        &|i| drop(i.overlay.unions.remove("ContentBlock")),
        &["union `ContentBlock`", "unions.ContentBlock"],
    );
    fails(
        &|i| drop(i.overlay.leaves.remove("CallToolResult.structuredContent")),
        &["CallToolResult.structuredContent", "2025-06-18"],
    );
    fails(
        &|i| {
            drop(
                i.overlay
                    .leaves
                    .insert("Nope.nope".to_owned(), "Json".to_owned()),
            )
        },
        &["`Nope.nope` is not needed"],
    );
    fails(
        &|i| {
            drop(
                i.overlay
                    .methods
                    .insert("tools/nope".to_owned(), Default::default()),
            )
        },
        &["`tools/nope`, which no schema has"],
    );
    fails(
        &|i| drop(i.docs.insert("Tool.nope".to_owned(), String::new())),
        &["docs.toml", "`Tool.nope`"],
    );
    fails(
        &|i| {
            let revision = i
                .revisions
                .get_mut("2025-11-25")
                .expect("the revision is there");
            revision["$defs"]["Tool"]["properties"]["name"]["if"] = true.into();
        },
        &[
            "2025-11-25",
            "definition `Tool`",
            "/$defs/Tool/properties/name/if",
        ],
    );
}
