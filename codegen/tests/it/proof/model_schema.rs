//! The merged model as a JSON schema, so that the generator of values can make values of it.

use serde_json::{Map, Value, json};
use trueform_codegen::model::{Model, Shape, TypeDef, TypeRef};

/// A document with every type of `module` and what it uses of `core`.
pub(crate) fn superset(core: &Model, module: &Model) -> Value {
    let types = core.types.values().chain(module.types.values());
    let definitions: Map<String, Value> =
        types.map(|ty| (ty.name.clone(), definition(ty))).collect();
    json!({ "$defs": definitions })
}

fn definition(ty: &TypeDef) -> Value {
    match &ty.shape {
        Shape::Struct { fields } => {
            let members: Map<String, Value> = fields
                .iter()
                .map(|field| (field.json_name.clone(), schema(&field.ty)))
                .collect();
            let required: Vec<&str> = fields
                .iter()
                .filter(|field| field.always)
                .map(|field| field.json_name.as_str())
                .collect();
            json!({ "type": "object", "properties": members, "required": required })
        }
        Shape::Union { variants, .. } => {
            json!({ "anyOf": variants.iter().map(|variant| schema(&variant.ty)).collect::<Vec<_>>() })
        }
        Shape::Enum { values } => {
            // Enumerations are open: what no revision knows must survive too.
            let known = values.iter().map(|value| value.value.as_str());
            json!({ "enum": known.chain(["of a later revision"]).collect::<Vec<_>>() })
        }
        _ => panic!("a shape that the tests do not know"),
    }
}

fn schema(ty: &TypeRef) -> Value {
    match ty {
        TypeRef::Bool => json!({ "type": "boolean" }),
        TypeRef::Integer => json!({ "type": "integer" }),
        TypeRef::Number => json!({ "type": "number" }),
        TypeRef::String => json!({ "type": "string" }),
        TypeRef::Constant(value) => json!({ "const": value }),
        TypeRef::Leaf(name) => match name.as_str() {
            "Json" => json!({}),
            "JsonObject" | "Meta" => json!({ "type": "object" }),
            "RequestId" | "ProgressToken" => json!({ "type": ["string", "integer"] }),
            other => panic!("`{other}` is a hand-written type that the tests do not know"),
        },
        TypeRef::Named(name) => json!({ "$ref": format!("#/$defs/{name}") }),
        TypeRef::Vec(item) => json!({ "type": "array", "items": schema(item) }),
        TypeRef::Map(value) => json!({ "type": "object", "additionalProperties": schema(value) }),
        TypeRef::Nullable(inner) => json!({ "anyOf": [schema(inner), { "type": "null" }] }),
        _ => panic!("a reference that the tests do not know"),
    }
}
