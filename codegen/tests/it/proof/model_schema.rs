//! The merged model as a JSON schema, as input for the generator of values.

use serde_json::{Map, Value, json};
use trueform_codegen::model::{Form, Model, Need, Needs, Shape, TypeDef, TypeRef};

/// A document with every type of `module` and the types of `core` that it uses.
pub(crate) fn superset(core: &Model, module: &Model) -> Value {
    document(core, module, true)
}

/// The same, without unknown members.
pub(crate) fn closed(core: &Model, module: &Model) -> Value {
    document(core, module, false)
}

fn document(core: &Model, module: &Model, open: bool) -> Value {
    let types = core.types.values().chain(module.types.values());
    let definitions: Map<String, Value> = types
        .map(|ty| (ty.name.clone(), definition(ty, open)))
        .collect();
    json!({ "$defs": definitions })
}

fn definition(ty: &TypeDef, open: bool) -> Value {
    match &ty.shape {
        Shape::Struct { fields } => {
            let members: Map<String, Value> = fields
                .iter()
                .map(|field| (field.json_name.clone(), needed(&field.ty, &field.needs)))
                .collect();
            let required: Vec<&str> = fields
                .iter()
                .filter(|field| field.always)
                .map(|field| field.json_name.as_str())
                .collect();
            let mut schema =
                json!({ "type": "object", "properties": members, "required": required });
            if !open {
                schema["additionalProperties"] = false.into();
            }
            schema
        }
        Shape::Union { variants, .. } => {
            json!({ "anyOf": variants.iter().map(|variant| needed(&variant.ty, &variant.needs)).collect::<Vec<_>>() })
        }
        Shape::Enum { values } => {
            // Enumerations are open: unknown values must survive too.
            let known = values.iter().map(|value| value.value.as_str());
            json!({ "enum": known.chain(["of a later revision"]).collect::<Vec<_>>() })
        }
        _ => panic!("a shape that the tests do not know"),
    }
}

/// Mostly the constraints of revisions on the place, sometimes only those of the type.
fn needed(ty: &TypeRef, needs: &Needs) -> Value {
    let plain = schema(ty);
    if needs.is_empty() {
        return plain;
    }
    let mut alternatives = vec![plain];
    for (_, need) in needs {
        if let Need::MaxItems(most) = need {
            let mut long = schema(ty);
            long["minItems"] = (most + 1).into();
            alternatives.push(long);
        }
    }
    // One form of raw JSON at a time: those of all revisions cannot be met by one description of members.
    let forms = needs
        .iter()
        .filter(|(_, need)| matches!(need, Need::Form(_)));
    let count = forms.count().max(1);
    for turn in 0..count {
        let mut asked = schema(ty);
        meet(&mut asked, needs, turn);
        alternatives.extend(std::iter::repeat_n(asked, 6 / count + 1));
    }
    json!({ "anyOf": alternatives })
}

fn meet(schema: &mut Value, needs: &Needs, turn: usize) {
    let mut form = 0;
    for (_, need) in needs {
        let number = |text: &String| serde_json::from_str::<Value>(text).expect("it is a number");
        match need {
            Need::Integral => schema["type"] = "integer".into(),
            Need::Minimum(least) => schema["minimum"] = number(least),
            Need::Maximum(most) => schema["maximum"] = number(most),
            Need::MinItems(least) => schema["minItems"] = (*least).into(),
            Need::MaxItems(most) => schema["maxItems"] = (*most).into(),
            Need::MinLength(least) => schema["minLength"] = (*least).into(),
            Need::MaxLength(most) => schema["maxLength"] = (*most).into(),
            Need::Format(format) => schema["format"] = format.clone().into(),
            Need::OneOf(values) => schema["enum"] = values.clone().into(),
            Need::Form(wanted) => {
                if form == turn {
                    *schema = raw(wanted);
                }
                form += 1;
            }
            Need::Each(inner) => {
                let inside = match schema.get("items") {
                    Some(_) => "items",
                    None => "additionalProperties",
                };
                meet(&mut schema[inside], inner, turn);
            }
            _ => panic!("a need that the tests do not know"),
        }
    }
}

fn raw(form: &Form) -> Value {
    match form {
        Form::Any => json!({}),
        Form::Kind(kind) => {
            json!({ "type": if *kind == "Bool" { "boolean".to_owned() } else { kind.to_lowercase() } })
        }
        Form::Integer => json!({ "type": "integer" }),
        Form::OneOf(values) => json!({ "enum": values }),
        Form::Array(items) => json!({ "type": "array", "items": raw(items) }),
        Form::Object(members, others) => {
            let properties: Map<String, Value> = members
                .iter()
                .map(|(name, _, form)| (name.clone(), raw(form)))
                .collect();
            let required: Vec<&str> = members
                .iter()
                .filter(|(_, required, _)| *required)
                .map(|(name, ..)| name.as_str())
                .collect();
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": raw(others) })
        }
        _ => panic!("a form that the tests do not know"),
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
