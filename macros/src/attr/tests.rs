//! The tables of keys on the pages of the attributes contain exactly the keys that the macros accept.

use std::{collections::BTreeSet, path::Path};

use super::{ICON_KEYS, Kind, NEEDS, PROFILES, TASKS, resource::ROLES, timeout::TIMEOUT_KEYS};

/// Returns the first cells of the table of keys, of the page of the attribute of `kind`.
fn cells(kind: Kind) -> Vec<String> {
    const TABLE: &str = "| key | meaning |\n| --- | --- |\n";
    let (page, head) = match kind {
        // Its table has the parameters and the results too.
        Kind::Tool => ("tools/tool.md", "| **keys of the attribute** | |\n"),
        Kind::Prompt => ("prompts/prompt.md", TABLE),
        Kind::Resource => ("resources/resource.md", TABLE),
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/feature");
    let text = std::fs::read_to_string(path.join(page)).unwrap();
    let mut tables = text.split(head).skip(1);
    let (table, another) = (tables.next().unwrap(), tables.next());
    assert!(another.is_none(), "{page}: one table has all keys");
    let rows = table.lines().take_while(|line| line.starts_with("| "));
    rows.map(|row| {
        row.trim_start_matches("| ")
            .split(" | ")
            .next()
            .unwrap()
            .to_owned()
    })
    .collect()
}

/// Returns the code in `cell`: the text between backquotes.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Returns the word that `code` begins with.
fn first_word(code: &str) -> &str {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap()
}

#[test]
fn the_tables_have_every_key() {
    for kind in Kind::ALL {
        let cells = cells(kind);
        let documented: BTreeSet<&str> = cells
            .iter()
            .flat_map(|cell| code(cell))
            .map(first_word)
            .collect();
        let known: BTreeSet<&str> = kind.keys().iter().copied().collect();
        assert_eq!(
            documented, known,
            "the page of `#[{kind}]`, and what the macro knows"
        );
    }
}

#[test]
fn the_tables_have_every_word_within_a_key() {
    let names = |pairs: &[(&'static str, &str)]| pairs.iter().map(|(name, _)| *name).collect();
    let words: [(&str, Vec<&str>); 6] = [
        ("icons", ICON_KEYS.to_vec()),
        ("timeout", TIMEOUT_KEYS.to_vec()),
        ("needs", NEEDS.to_vec()),
        ("profile", names(PROFILES)),
        ("task", names(TASKS)),
        ("audience", ROLES.to_vec()),
    ];
    for kind in Kind::ALL {
        let cells = cells(kind);
        for (key, words) in words.iter().filter(|(key, _)| kind.keys().contains(key)) {
            let documented: BTreeSet<&str> = cells
                .iter()
                .flat_map(|cell| code(cell))
                .filter(|code| first_word(code) == *key)
                .flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'))
                .collect();
            for word in words {
                assert!(
                    documented.contains(word),
                    "`{word}` of `{key}` is not on the page of `#[{kind}]`"
                );
            }
        }
    }
}
