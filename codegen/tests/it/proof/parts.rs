//! The visit of parts is complete: every part that older revisions lack, and every `_meta`.

use serde_json::Value;
use trueform_schema::{
    At, CallToolResult, ContentBlock, EmbeddedResource, GetPromptResult, Json, ListToolsResult,
    ReadResourceResult, ResourceLink, Revision, View, decode,
    parts::{Part, Parts},
    projection::{Becomes, rules},
    support::to_json,
};

use crate::support::{committed, rounds};
use crate::values::Values;

/// Results of `definition` at random, of the newest revision and the one before, which has members that were removed since.
fn each<T: Parts + trueform_schema::Conform + serde::de::DeserializeOwned>(
    definition: &str,
    mut check: impl FnMut(&T, &Value),
) {
    for revision in ["2025-11-25", "2026-07-28"] {
        let document = committed(revision);
        let mut values = Values::new(&document, 19);
        for _ in 0..rounds(200) {
            let value = values.random(definition);
            let typed: T = decode::from_str(&value.to_string())
                .unwrap_or_else(|error| panic!("{definition}: {error}\n{value}"));
            check(&typed, &value);
        }
    }
}

/// If a value is written differently at an older revision, a part with the rule for it was visited.
fn losses_are_visited<T: Parts + trueform_schema::Conform + serde::de::DeserializeOwned>(
    definition: &str,
) {
    let mut lost = 0;
    each::<T>(definition, |typed, value| {
        let mut items = Vec::new();
        typed.each_part(&mut |part| {
            if let Part::Item { of, item } = part {
                items.push((of, item));
            }
        });
        let all = without_filled(&to_json(typed, View::ALL));
        for revision in Revision::ALL {
            let seen = without_filled(&At::new(typed, revision).to_json());
            if all == seen {
                continue;
            }
            lost += 1;
            let said = items.iter().any(|(of, item)| {
                rules().any(|rule| {
                    rule.is(of, item)
                        && rule.at.contains(revision)
                        && matches!(rule.becomes, Becomes::LeftOut | Becomes::Rewritten(_))
                })
            });
            assert!(said, "{definition} at {revision}: {items:?}\n{value}");
        }
    });
    assert!(rounds(200) < lost, "{definition}: {lost}");
}

/// Removes the members that the encoder fills in.
fn without_filled(json: &Json) -> Value {
    let mut value = json.to_value();
    if let Value::Object(members) = &mut value {
        for filled in ["resultType", "ttlMs", "cacheScope"] {
            members.remove(filled);
        }
    }
    value
}

#[test]
fn losses_of_results_are_visited() {
    losses_are_visited::<CallToolResult>("CallToolResult");
    losses_are_visited::<GetPromptResult>("GetPromptResult");
    losses_are_visited::<ReadResourceResult>("ReadResourceResult");
    losses_are_visited::<ListToolsResult>("ListToolsResult");
}

/// Z-10: the keys of every `_meta` are visited, at any depth, those that the protocol defines excepted.
#[test]
fn keys_of_every_meta_are_visited() {
    fn keys<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    match (name.as_str(), value) {
                        ("_meta", Value::Object(meta)) => {
                            found.extend(meta.keys().map(String::as_str));
                        }
                        // Raw JSON is the author's own.
                        ("structuredContent" | "input", _) => {}
                        _ => keys(value, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            _ => {}
        }
    }
    fn check<T: Parts + trueform_schema::Conform + serde::de::DeserializeOwned>(definition: &str) {
        let mut seen = 0;
        each::<T>(definition, |typed, value| {
            let mut expected = Vec::new();
            keys(value, &mut expected);
            expected.retain(|key| !key.ends_with("/serverInfo"));
            let mut found = Vec::new();
            typed.each_part(&mut |part| {
                if let Part::MetaKey(key) = part {
                    found.push(key);
                }
            });
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{value}");
            seen += found.len();
        });
        assert!(100 < seen, "{definition}: {seen}");
    }
    check::<CallToolResult>("CallToolResult");
    check::<GetPromptResult>("GetPromptResult");
    check::<ReadResourceResult>("ReadResourceResult");
    check::<ListToolsResult>("ListToolsResult");
    // Deep values are small, so the innermost are tried by themselves too.
    check::<EmbeddedResource>("EmbeddedResource");
    check::<ResourceLink>("ResourceLink");
}

/// The shared accessors of a union return the same as the members of each variant.
#[test]
fn members_of_unions_are_those_of_the_variant() {
    let mut seen = 0;
    each::<CallToolResult>("CallToolResult", |typed, _| {
        for block in &typed.content {
            let (meta, annotations) = match block {
                ContentBlock::Text(text) => (&text.meta, &text.annotations),
                ContentBlock::Image(image) => (&image.meta, &image.annotations),
                ContentBlock::Audio(audio) => (&audio.meta, &audio.annotations),
                ContentBlock::ResourceLink(link) => (&link.meta, &link.annotations),
                ContentBlock::EmbeddedResource(embedded) => (&embedded.meta, &embedded.annotations),
                _ => continue,
            };
            assert_eq!(block.meta(), meta.as_ref());
            assert_eq!(block.annotations(), annotations.as_ref());
            seen += usize::from(meta.is_some()) + usize::from(annotations.is_some());
        }
    });
    assert!(100 < seen, "{seen}");
    let unknown: ContentBlock = decode::from_str(r#"{"type":"smell","_meta":{}}"#).unwrap();
    assert_eq!((unknown.meta(), unknown.annotations()), (None, None));
}
