//! The merge report: every type with the differences between the revisions, for the reviewer of a schema change.

use std::fmt::Write as _;

use crate::{
    docs,
    inputs::Inputs,
    model::{Bits, Field, MethodDef, Model, Rule, Shape, TypeRef},
};

/// Returns the model as text: corrections, types, members with their revisions, union rules, methods, what is not generated, and how much
/// of it `docs.toml` describes.
#[must_use]
pub fn report(model: &Model, inputs: &Inputs) -> String {
    let mut out = String::new();
    line(&mut out, "# corrections of official files");
    for correction in &inputs.overlay.correct {
        let files = correction.files.join(", ");
        line(
            &mut out,
            &format!("{} in {files}: {}", correction.pointer, correction.why),
        );
    }
    line(&mut out, "");
    module(&mut out, model, "core");
    for (name, extension) in &model.extensions {
        module(&mut out, extension, name);
    }
    let coverage = docs::coverage(model, inputs);
    line(&mut out, "# docs");
    line(
        &mut out,
        &format!(
            "{} of {} items have a neutral generated sentence",
            coverage.neutral, coverage.items
        ),
    );
    out
}

fn module(out: &mut String, model: &Model, name: &str) {
    line(
        out,
        &format!(
            "# {name}: {} types, {} methods",
            model.types.len(),
            model.methods.len()
        ),
    );
    line(out, "\n## types");
    for ty in model.types.values() {
        let period = when(model, ty.known);
        match &ty.shape {
            Shape::Struct { fields } => {
                line(out, &format!("struct {}{period}", ty.name));
                for field in fields {
                    line(out, &format!("  {}", member(model, field, ty.known)));
                }
            }
            Shape::Enum { values } => {
                line(out, &format!("enum {}{period}", ty.name));
                for value in values {
                    let own = if value.known == ty.known {
                        String::new()
                    } else {
                        when(model, value.known)
                    };
                    line(out, &format!("  {}{own}", value.value));
                }
            }
            Shape::Union { variants, rule } => {
                line(out, &format!("union {} by {}{period}", ty.name, by(rule)));
                for variant in variants {
                    let own = if variant.known == ty.known {
                        String::new()
                    } else {
                        when(model, variant.known)
                    };
                    line(
                        out,
                        &format!("  {}: {}{own}", variant.name, spell(&variant.ty)),
                    );
                }
            }
        }
    }
    line(out, "\n## methods");
    for method in model.methods.values() {
        methods(out, model, method);
    }
    if !model.decisions.is_empty() {
        line(out, "\n## decided");
        for decision in &model.decisions {
            line(out, decision);
        }
    }
    line(
        out,
        "\n## definitions that no method reaches, not generated",
    );
    for (name, known) in &model.unreached {
        line(out, &format!("{name}{}", when(model, *known)));
    }
    line(out, "");
}

fn methods(out: &mut String, model: &Model, method: &MethodDef) {
    let result = method
        .result
        .as_ref()
        .map(|ty| format!(" -> {}", spell(ty)))
        .unwrap_or_default();
    line(
        out,
        &format!(
            "{} = {}({}){result}",
            method.wire,
            method.name,
            spell(&method.params)
        ),
    );
    let mut groups: Vec<(Bits, String)> = Vec::new();
    for (revision, rules) in &method.rules {
        let direction = match (rules.from_client, rules.from_server) {
            (true, true) => "both",
            (true, false) => "client to server",
            _ => "server to client",
        };
        let mut text = direction.to_owned();
        for (what, value) in [
            ("capability", &rules.capability),
            ("Mcp-Name from", &rules.header_name),
        ] {
            if let Some(value) = value {
                let _ = write!(text, ", {what} {value}");
            }
        }
        if rules.params_required {
            text.push_str(", params required");
        }
        if rules.input_required {
            text.push_str(", may ask for input");
        }
        if !rules.results.is_empty() {
            let _ = write!(text, ", results {}", rules.results.join(" | "));
        }
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((bits, _)) => bits.add(*revision),
            None => groups.push((Bits::of(*revision), text)),
        }
    }
    for (bits, text) in groups {
        line(out, &format!("  {text}{}", when(model, bits)));
    }
}

fn member(model: &Model, field: &Field, of: Bits) -> String {
    let mut text = format!("{}: {}", field.json_name, spell(&field.ty));
    if !field.always {
        text.insert(field.json_name.len(), '?');
    }
    if field.known != of {
        text.push_str(&when(model, field.known));
    }
    if !field.always && !field.required.is_empty() {
        let _ = write!(text, " required{}", when(model, field.required));
    }
    let mut groups: Vec<(Bits, String)> = Vec::new();
    for (revision, constraints) in &field.constraints {
        let mut parts = Vec::new();
        for (what, value) in [
            ("minimum", &constraints.minimum),
            ("maximum", &constraints.maximum),
            ("format", &constraints.format),
            ("type", &constraints.json_type),
        ] {
            parts.extend(value.as_ref().map(|value| format!("{what} {value}")));
        }
        for (what, value) in [
            ("minItems", constraints.min_items),
            ("maxItems", constraints.max_items),
        ] {
            parts.extend(value.map(|value| format!("{what} {value}")));
        }
        let constraint = parts.join(", ");
        match groups.iter_mut().find(|(_, known)| *known == constraint) {
            Some((bits, _)) => bits.add(*revision),
            None => groups.push((Bits::of(*revision), constraint)),
        }
    }
    for (bits, constraint) in groups {
        let _ = write!(text, ", {constraint}");
        if bits != field.known {
            text.push_str(&when(model, bits));
        }
    }
    text
}

fn when(model: &Model, known: Bits) -> String {
    match model.period(known) {
        period if period.is_empty() => period,
        period => {
            let mut chars = period.trim_end_matches('.').chars();
            let first = chars
                .next()
                .map(|c| c.to_lowercase().to_string())
                .unwrap_or_default();
            format!(" [{first}{}]", chars.as_str())
        }
    }
}

fn by(rule: &Rule) -> String {
    match rule {
        Rule::Tag { member, absent, .. } => match absent {
            Some(_) => format!("`{member}`, which may be absent"),
            None => format!("`{member}`"),
        },
        Rule::Present(members) => {
            format!(
                "presence of {}",
                members.keys().cloned().collect::<Vec<_>>().join(", ")
            )
        }
        Rule::Json(_) => "JSON type".to_owned(),
        Rule::Cases(_) => "cases".to_owned(),
    }
}

/// Returns a type in the notation of the report.
pub(crate) fn spell(ty: &TypeRef) -> String {
    match ty {
        TypeRef::Bool => "bool".to_owned(),
        TypeRef::Integer => "integer".to_owned(),
        TypeRef::Number => "number".to_owned(),
        TypeRef::String => "string".to_owned(),
        TypeRef::Constant(value) => format!("{value:?}"),
        TypeRef::Leaf(name) | TypeRef::Named(name) => name.clone(),
        TypeRef::Vec(inner) => format!("[{}]", spell(inner)),
        TypeRef::Map(inner) => format!("{{{}}}", spell(inner)),
        TypeRef::Nullable(inner) => format!("{} or null", spell(inner)),
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}
