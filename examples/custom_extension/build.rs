//! Generates the bindings of the bookmarks extension into `OUT_DIR`, and those of an extension that only the tests serve.

use trueform_codegen::bind::Extension;

fn main() {
    Extension::new("bookmarks")
        .schema("bookmarks.schema.json")
        .facts("bookmarks.toml")
        .build();
    Extension::new("reading")
        .schema("tests/legacy/reading.schema.json")
        .facts("tests/legacy/reading.toml")
        .build();
}
