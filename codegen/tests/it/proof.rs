//! Proof that the bindings round-trip all values that the schemas allow: every legal value decodes, and is written unchanged.
//!
//! Values come from generators that know only JSON schemas ([`Values`]); `jsonschema` decides which are legal.

mod conform;
mod dispatch;
mod formats;
mod incoming;
mod judge;
mod model_schema;
mod parts;
mod refused;
mod rows;
mod table;
mod twin;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use expect_test::expect_file;
use serde_json::Value;
use trueform_codegen::model::{Model, TypeRef};
use trueform_codegen::{Inputs, generate, model};
use trueform_schema::{Revision, View};

use crate::support::{REVISIONS, committed, definitions, oracle, rounds, schema_folder};
use crate::values::Values;
use model_schema::superset;
use table::{Broken, Codec, Module};

/// One committed schema file with its model.
struct Source {
    name: &'static str,
    /// Index of its revision; an extension has that of the revision it extends.
    revision: usize,
    module: Module,
    document: Value,
}

fn sources() -> Vec<Source> {
    let revision = |(index, name)| Source {
        name,
        revision: index,
        module: Module::Core,
        document: committed(name),
    };
    let mut sources: Vec<Source> = REVISIONS.into_iter().enumerate().map(revision).collect();
    sources.push(Source {
        name: "tasks",
        revision: 4,
        module: Module::Tasks,
        document: committed("tasks"),
    });
    sources
}

fn read() -> (Inputs, Model) {
    let inputs = Inputs::read(&schema_folder()).unwrap();
    let model = model(&inputs).unwrap();
    (inputs, model)
}

impl Source {
    fn model<'m>(&self, model: &'m Model) -> &'m Model {
        match self.module {
            Module::Core => model,
            Module::Tasks => &model.extensions["tasks"],
        }
    }

    /// The type of a definition, and how to decode it.
    fn codec(&self, model: &Model, definition: &str) -> Option<(TypeRef, Codec)> {
        let ty = self
            .model(model)
            .definitions
            .get(&(self.revision, definition.to_owned()))?;
        Some((ty.clone(), Codec::of(self.module, ty)))
    }

    fn view(&self) -> View<'static> {
        View::at(Revision::ALL[self.revision])
    }
}

/// The file `proof/table/*.rs` names every generated type; `UPDATE_EXPECT=1` rewrites it.
#[test]
fn the_table_of_types_is_complete() {
    let (_, model) = read();
    let list = |model: &Model| {
        let mut text = "// Every generated type of the module; written by the test that reads it.\n\ntable! {\n".to_owned();
        for name in model.types.keys() {
            _ = writeln!(text, "    {name}");
        }
        text + "}\n"
    };
    expect_file!["proof/table/core.rs"].assert_eq(&list(&model));
    expect_file!["proof/table/tasks.rs"].assert_eq(&list(&model.extensions["tasks"]));
}

/// Every definition of every file is generated, part of the envelope, or listed as dropped.
#[test]
fn every_definition_is_accounted_for() {
    let (_, model) = read();
    let mut text = String::new();
    for source in sources() {
        let of = source.model(&model);
        let mut other: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for definition in definitions(&source.document) {
            let kind = match of.definitions.get(&(source.revision, definition.clone())) {
                Some(TypeRef::Named(name)) if *name == definition => continue,
                Some(ty) => format!("{definition} = {}", spell(ty)),
                None => definition.clone(),
            };
            let dropped = of
                .unreached
                .get(&definition)
                .is_some_and(|bits| bits.has(source.revision));
            let class = if kind != definition {
                "generated under another name, or written by hand"
            } else if dropped {
                "dropped: no method reaches it"
            } else if source.module == Module::Tasks
                && is_same_in_core(&source.document, &definition)
            {
                "equal to the core's"
            } else if of.types.contains_key(&definition) {
                "generated from where it is used"
            } else if is_envelope(&source.document["$defs"][&definition], &definition) {
                "envelope"
            } else {
                panic!("{}, `{definition}`: nothing became of it", source.name)
            };
            other.entry(class).or_default().push(kind);
        }
        _ = writeln!(text, "# {}", source.name);
        for (class, names) in other {
            _ = writeln!(text, "\n## {class}\n{}", names.join("\n"));
        }
        text.push('\n');
    }
    expect_file!["golden/definitions.txt"].assert_eq(&text);
}

fn is_same_in_core(document: &Value, definition: &str) -> bool {
    committed("2026-07-28")["$defs"].get(definition) == Some(&document["$defs"][definition])
}

/// The envelopes: messages, the unions of messages and of results, the bases of both, and errors as responses.
fn is_envelope(schema: &Value, name: &str) -> bool {
    const BASES: [&str; 3] = ["CacheableResult", "PaginatedResult", "Result"];
    const UNIONS: [&str; 6] = [
        "ClientNotification",
        "ClientRequest",
        "ClientResult",
        "ServerNotification",
        "ServerRequest",
        "ServerResult",
    ];
    let has = |member: &str| {
        let parts = schema["allOf"]
            .as_array()
            .map_or(std::slice::from_ref(schema), Vec::as_slice);
        parts
            .iter()
            .any(|part| part["properties"].get(member).is_some())
    };
    name.starts_with("JSONRPC")
        || BASES.contains(&name)
        || UNIONS.contains(&name)
        || has("method")
        || has("jsonrpc")
        || name.ends_with("Error") && (has("error") || has("code"))
}

fn spell(ty: &TypeRef) -> String {
    match ty {
        TypeRef::Named(name) | TypeRef::Leaf(name) => name.clone(),
        TypeRef::Map(value) => format!("map of {}", spell(value)),
        TypeRef::Vec(item) => format!("array of {}", spell(item)),
        other => format!("{other:?}"),
    }
}

#[test]
fn smallest_and_fullest_values_of_every_definition_decode() {
    let (_, model) = read();
    let mut failures = Vec::new();
    for source in sources() {
        for definition in definitions(&source.document) {
            let Some((_, codec)) = source.codec(&model, &definition) else {
                continue;
            };
            let mut values = Values::new(&source.document, 3);
            let smallest = values.smallest(&definition);
            for value in std::iter::once(smallest).chain(values.fullest(&definition)) {
                if let Err(problem) = codec.keeps(&value, source.view()) {
                    failures.push(format!("{}, `{definition}`: {problem}", source.name));
                }
            }
        }
    }
    report(failures);
}

/// Places where the bindings accept less than the schema, each with the reason.
const STRICTER: [(&str, &str); 3] = [
    (
        "/resultType",
        "the schema allows any text, the specification knows which results there are",
    ),
    (
        "/enum",
        "`enum` and `enumNames` announce a select, although a plain text field may have unknown members",
    ),
    ("/oneOf", "the same"),
];

/// Every value that the oracle accepts decodes, and is written unchanged at that revision. A value that it refuses may decode too,
/// but nothing of it is lost silently.
#[test]
fn what_a_revision_allows_comes_out_as_it_went_in() {
    let (_, model) = read();
    let (mut accepted, mut refused, mut stricter, mut failures) = (0, 0, 0, Vec::new());
    for source in sources() {
        for definition in definitions(&source.document) {
            let Some((_, codec)) = source.codec(&model, &definition) else {
                continue;
            };
            let oracle = oracle(&source.document, &definition);
            let mut values = Values::new(&source.document, 5);
            for round in 0..rounds(60) {
                let mut value = values.random(&definition);
                if round % 3 == 2 {
                    value = values.damaged(value);
                }
                let legal = oracle.is_valid(&value);
                *(if legal { &mut accepted } else { &mut refused }) += 1;
                let view = if legal { source.view() } else { View::ALL };
                match codec.keeps(&value, view) {
                    Ok(()) => {}
                    Err(Broken::Refused(..)) if !legal => {}
                    Err(Broken::Refused(error, _))
                        if refused::is_inexact(&error, &value)
                            || STRICTER
                                .iter()
                                .any(|(part, _)| error.pointer().contains(part)) =>
                    {
                        stricter += 1;
                    }
                    Err(broken) => {
                        failures.push(format!("{}, `{definition}`: {broken}", source.name))
                    }
                }
            }
        }
    }
    report(failures);
    assert!(
        accepted > 10_000 && refused > 1_000,
        "{accepted} accepted, {refused} refused"
    );
    assert!(
        stricter < accepted / 100,
        "{stricter} legal values were refused by the listed exceptions"
    );
}

/// Values with all members of all revisions.
#[test]
fn what_the_superset_model_allows_comes_out_as_it_went_in() {
    let (_, model) = read();
    let mut failures = Vec::new();
    for (module, of) in [
        (Module::Core, &model),
        (Module::Tasks, &model.extensions["tasks"]),
    ] {
        let document = superset(&model, of);
        for name in of.types.keys() {
            let codec = Codec::of(module, &TypeRef::Named(name.clone()));
            let mut values = Values::new(&document, 9);
            let fullest = values.fullest(name);
            let random: Vec<Value> = (0..rounds(100)).map(|_| values.random(name)).collect();
            for value in fullest.into_iter().chain(random) {
                if let Err(problem) = codec.keeps(&value, View::ALL) {
                    failures.push(format!("`{name}`: {problem}"));
                }
            }
        }
    }
    report(failures);
}

#[test]
fn generation_is_byte_stable() {
    let (inputs, _) = read();
    let first = generate(&inputs).unwrap();
    assert!(first.contains_key("generated.rs"), "{:?}", first.keys());
    assert_eq!(
        first,
        generate(&Inputs::read(&schema_folder()).unwrap()).unwrap()
    );
}

/// The first failure of each kind is enough to read.
fn report(failures: Vec<String>) {
    let count = failures.len();
    let mut seen = BTreeSet::new();
    let distinct: Vec<String> = failures
        .into_iter()
        .filter(|failure| seen.insert(failure.chars().take(60).collect::<String>()))
        .take(25)
        .collect();
    assert!(
        distinct.is_empty(),
        "{count} failures, among them:\n{}",
        distinct.join("\n")
    );
}
