//! Generates the bindings of the bookmarks extension into `OUT_DIR`.

fn main() {
    trueform_codegen::bind::Extension::new("bookmarks")
        .schema("bookmarks.schema.json")
        .facts("bookmarks.toml")
        .build();
}
