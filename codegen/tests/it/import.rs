//! The committed schemas are the normal forms of the official files, and accept exactly the same values.

use std::fs;

use trueform_codegen::check::{Verdict, check};
use trueform_codegen::import::normal_form;
use trueform_codegen::provenance::{Provenance, Source};
use trueform_codegen::store::{self, Origin};

use crate::support::{
    committed, definitions, json_file, official_folder, oracle, rounds, schema_folder, scratch,
};
use crate::values::Values;

#[test]
fn committed_schemas_are_the_normal_forms_of_the_official_files() {
    let Some(official) = official_folder() else {
        return;
    };
    let findings = check(&schema_folder(), &official).unwrap();
    assert_eq!(findings.len(), 6);
    for finding in findings {
        assert_eq!(finding.verdict, Verdict::Equal, "{finding}");
    }
}

#[test]
fn committed_schemas_are_in_normal_form() {
    let provenance = Provenance::read(&schema_folder()).unwrap();
    for (source, entry) in provenance.sources() {
        let text = fs::read_to_string(schema_folder().join(source.committed())).unwrap();
        assert_eq!(normal_form(&text).unwrap(), text, "{source}");
        assert!(
            entry.commit.is_some() && entry.repository.is_some() && entry.path.is_some(),
            "{source}"
        );
        assert_eq!(entry.sha256.len(), 64, "{source}");
    }
}

/// Both verdicts, on legal, nearly legal and damaged values of every definition.
#[test]
fn normal_form_accepts_what_the_official_file_accepts() {
    let Some(folder) = official_folder() else {
        return;
    };
    let (mut accepted, mut refused) = (0, 0);
    for (source, _) in Provenance::read(&schema_folder()).unwrap().sources() {
        let official = json_file(&folder.join(source.official()));
        let normal = json_file(&schema_folder().join(source.committed()));
        assert_eq!(
            definitions(&official)
                .into_iter()
                .collect::<std::collections::BTreeSet<_>>(),
            definitions(&normal).into_iter().collect(),
        );
        for definition in definitions(&normal) {
            let (before, after) = (oracle(&official, &definition), oracle(&normal, &definition));
            let mut values = Values::new(&normal, 7);
            for round in 0..rounds(40) {
                let mut value = values.random(&definition);
                for _ in 0..round % 4 {
                    value = values.damaged(value);
                }
                let verdict = before.is_valid(&value);
                assert_eq!(
                    verdict,
                    after.is_valid(&value),
                    "{source}, `{definition}`: {value}"
                );
                *(if verdict { &mut accepted } else { &mut refused }) += 1;
            }
        }
    }
    // Were one of the two missing, the comparison would prove little.
    assert!(
        accepted > 5_000 && refused > 5_000,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn smallest_and_fullest_values_are_legal() {
    for name in crate::support::REVISIONS.into_iter().chain(["tasks"]) {
        let document = committed(name);
        for definition in definitions(&document) {
            let oracle = oracle(&document, &definition);
            let mut values = Values::new(&document, 11);
            for value in
                std::iter::once(values.smallest(&definition)).chain(values.fullest(&definition))
            {
                if let Err(error) = oracle.validate(&value) {
                    panic!("{name}, `{definition}`: {error}\n{value}");
                }
            }
        }
    }
}

#[test]
fn import_records_where_a_file_came_from() {
    let schema = scratch("import-provenance");
    let file = schema.join("official.json");
    let text = r#"{ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": { "A": { "title": "A" } } }"#;
    fs::write(&file, text).unwrap();
    let source = Source::revision("2030-01-01").unwrap();

    let origin = Origin {
        commit: Some("abc".into()),
        ..Origin::default()
    };
    let first = store::import(&schema, &source, &file, origin).unwrap();
    assert!(first.changed);
    assert_eq!(
        first.entry.repository.as_deref(),
        Some("modelcontextprotocol/modelcontextprotocol")
    );
    assert_eq!(
        first.entry.path.as_deref(),
        Some("schema/2030-01-01/schema.json")
    );

    let again = store::import(&schema, &source, &file, Origin::default()).unwrap();
    assert!(!again.changed);
    assert_eq!(again.entry, first.entry, "the same file keeps its commit");

    fs::write(
        &file,
        text.replace("\"A\" }", "\"A\", \"type\": \"object\" }"),
    )
    .unwrap();
    let amended = store::import(&schema, &source, &file, Origin::default()).unwrap();
    assert!(amended.changed);
    assert_eq!(
        amended.entry.commit, None,
        "another file is not from that commit"
    );
    assert_eq!(
        Provenance::read(&schema).unwrap().get(&source),
        Some(&amended.entry)
    );
}

#[test]
fn check_finds_what_is_wrong_and_says_what_it_cannot_see() {
    let schema = scratch("check-schema");
    let official = scratch("check-official");
    let file = official.join("2030-01-01/schema.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(
        &file,
        r#"{ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": { "A": {} } }"#,
    )
    .unwrap();
    let source = Source::revision("2030-01-01").unwrap();
    store::import(&schema, &source, &file, Origin::default()).unwrap();
    let verdict = || check(&schema, &official).unwrap().remove(0).to_string();
    assert_eq!(verdict(), "ok       revision 2030-01-01");

    let committed = schema.join(source.committed());
    let normal = fs::read_to_string(&committed).unwrap();
    fs::write(&committed, normal.replace("\"A\": {}", "\"A\": true")).unwrap();
    assert!(
        verdict().contains(
            "line 3 is `\"A\": true`, the normal form of the official file has `\"A\": {}`"
        ),
        "{}",
        verdict()
    );
    fs::write(&committed, normal).unwrap();

    fs::write(
        &file,
        r#"{ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": { "A": {} }  }"#,
    )
    .unwrap();
    assert!(verdict().contains("sha256 is"), "{}", verdict());
    fs::remove_file(&file).unwrap();
    assert!(verdict().starts_with("SKIPPED"), "{}", verdict());

    fs::write(schema.join("revisions/2031-01-01.json"), "{}").unwrap();
    let stray = check(&schema, &official).unwrap().remove(1).to_string();
    assert!(stray.contains("no entry in `PROVENANCE.toml`"), "{stray}");
}
