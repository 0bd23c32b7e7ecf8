//! The committed bindings are those of the schema.

use std::path::Path;

use trueform_codegen::bind::Extension;

/// Checked in, so that users build no generator. A run of this test writes what it misses, and fails once.
#[test]
fn the_bindings_are_those_of_the_schema() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let extension = Extension::new("skills")
        .schema(crate_folder.join("skills.schema.json"))
        .facts(crate_folder.join("skills.toml"));
    let generated = extension.generate().expect("the schema is bound");
    let file = crate_folder.join("src/generated.rs");
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    if generated != committed {
        std::fs::write(&file, generated).expect("the crate is writable");
        panic!(
            "`src/generated.rs` was not what the schema says; it is rewritten, look at the difference"
        );
    }
}
