//! The contract of a server as canonical JSON.

use serde_json::{Map, Value};
use trueform_schema::{At, Encode, Revision, Revisions, View};

use crate::{feature::listing::Item, needs::RequiredCapabilities, server::Service};

/// Returns the contract of `service`: its name and descriptions, its capabilities, the revisions that it serves, its tools, prompts,
/// resources and templates of resources.
///
/// Members, tools and prompts are sorted by name, resources and templates by their URIs; `needs` lists the client capabilities that it requires. The server's own
/// `version` is left out, because it changes with every release. Disabled items are left out too.
#[must_use]
pub fn contract(service: &Service) -> Value {
    let engine = &service.engine;
    let mut whole = Map::new();
    let mut info = newest(&engine.host.settings.info);
    if let Value::Object(members) = &mut info {
        members.remove("version");
    }
    whole.insert("server".to_owned(), info);
    if let Some(instructions) = &engine.host.settings.instructions {
        whole.insert("instructions".to_owned(), Value::from(&**instructions));
    }
    let mut revisions = engine.host.served(Revisions::ALL);
    revisions.sort();
    let newest_served = revisions.last().copied().unwrap_or(Revision::LATEST);
    whole.insert(
        "revisions".to_owned(),
        revisions.into_iter().map(Revision::as_str).collect(),
    );
    whole.insert(
        "capabilities".to_owned(),
        newest(&engine.features.capabilities(newest_served)),
    );
    let tools = engine.tools_now().into_iter().map(|route| {
        let tool = newest(&route.definition_at(View::ALL));
        with_needs(tool, route.needs())
    });
    let tools = tools.filter_map(|tool| keyed(tool, "name"));
    whole.insert("tools".to_owned(), Value::Object(tools.collect()));
    if let Some(prompts) = &engine.features.prompts {
        let prompts = prompts.now();
        let prompts = prompts.visible().map(|route| {
            let mut prompt = newest(&route.shown(View::ALL));
            if let Value::Object(members) = &mut prompt {
                let arguments = members.remove("arguments");
                if let Some(Value::Array(arguments)) = arguments {
                    let by_name = arguments.into_iter().filter_map(|item| keyed(item, "name"));
                    members.insert("arguments".to_owned(), Value::Object(by_name.collect()));
                }
            }
            with_needs(prompt, route.needs())
        });
        let prompts = prompts.filter_map(|prompt| keyed(prompt, "name")).collect();
        whole.insert("prompts".to_owned(), Value::Object(prompts));
    }
    if let Some(resources) = &engine.features.resources {
        let (listed, templates) = (resources.now(), resources.templates_now());
        let listed = listed.visible().map(|resource| {
            let shown = newest(&resource.shown(View::ALL));
            with_needs(shown, resource.needs())
        });
        let listed = listed.filter_map(|resource| keyed(resource, "uri"));
        whole.insert("resources".to_owned(), Value::Object(listed.collect()));
        let templates = templates.visible().map(|template| {
            let shown = newest(&template.shown(View::ALL));
            with_needs(shown, template.needs())
        });
        let templates = templates.filter_map(|template| keyed(template, "uriTemplate"));
        whole.insert(
            "resourceTemplates".to_owned(),
            Value::Object(templates.collect()),
        );
    }
    let mut whole = Value::Object(whole);
    sort(&mut whole);
    whole
}

/// Returns `item` with the client capabilities that it `needs`.
fn with_needs(mut item: Value, needs: RequiredCapabilities) -> Value {
    if let Value::Object(members) = &mut item
        && !needs.is_empty()
    {
        members.insert("needs".to_owned(), needs.names().collect());
    }
    item
}

/// Splits `item` into its member `key` and the rest.
fn keyed(mut item: Value, key: &str) -> Option<(String, Value)> {
    match item.as_object_mut()?.remove(key)? {
        Value::String(key) => Some((key, item)),
        _ => None,
    }
}

fn newest(value: &dyn Encode) -> Value {
    serde_json::from_slice(&At::new(value, Revision::LATEST).to_vec()).expect("encoders write JSON")
}

/// Sorts members by name, and the values of sets.
fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Object(members) => {
            members.sort_keys();
            for (name, value) in members.iter_mut() {
                sort(value);
                if let (true, Value::Array(names)) = (name == "required", value)
                    && names.iter().all(Value::is_string)
                {
                    names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
                }
            }
        }
        _ => {}
    }
}
