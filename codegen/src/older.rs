//! The definitions of an extension at a revision older than the one for which its schema is written.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    methods,
    normalise::{self, Definitions, Schema},
};

/// The members that results of the modern era have.
const MODERN_MEMBERS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Returns the definitions of an extension at an older revision: its own, which are `ours` without those that are `shared` with the core,
/// and those of `core`, the document of that revision. If that revision is not of the modern era, results do not have the members that this
/// era added.
///
/// # Errors
/// A definition that the older core does not have, and the extension's own definition that refers to it.
pub(crate) fn definitions(
    ours: &Definitions,
    shared: &BTreeSet<String>,
    core: &Value,
    is_modern: bool,
) -> Result<Definitions, (String, String)> {
    // The core was read before without a problem.
    let mut older = normalise::definitions(core).unwrap_or_default();
    older.retain(|name, schema| !methods::is_envelope(name, schema) || name == "Result");
    let own: Vec<&String> = ours.keys().filter(|name| !shared.contains(*name)).collect();
    for name in &own {
        let mut schema = ours[*name].clone();
        if let Schema::Object(object) = &mut schema
            && object.properties.contains_key("resultType")
            && !is_modern
        {
            for member in MODERN_MEMBERS {
                object.properties.remove(member);
                object.required.remove(member);
            }
        }
        older.insert((*name).clone(), schema);
    }
    for name in own {
        let mut targets = Vec::new();
        references(&older[name], &mut targets);
        if let Some(missing) = targets
            .into_iter()
            .find(|target| !older.contains_key(*target))
        {
            return Err((missing.to_owned(), name.clone()));
        }
    }
    methods::inherit_meta(&mut older);
    Ok(older)
}

/// The definitions that `schema` refers to.
fn references<'a>(schema: &'a Schema, out: &mut Vec<&'a str>) {
    match schema {
        Schema::Ref(name) => out.push(name),
        Schema::Array(array) => references(&array.items, out),
        Schema::Union(members) => members.iter().for_each(|member| references(member, out)),
        Schema::Object(object) => {
            for schema in object.properties.values() {
                references(schema, out);
            }
            references(&object.additional, out);
        }
        _ => {}
    }
}
