//! Embeds the core schemas and the overlay, so that a user's build script needs no copy of them.
//!
//! `core/` links to the files in `schema/`; a published package holds the files themselves.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=core");
    // At run time, because two checkouts with one target folder share the compiled script.
    let Some(folder) = env::var_os("CARGO_MANIFEST_DIR") else {
        println!("cargo::error=cargo sets CARGO_MANIFEST_DIR for build scripts");
        return;
    };
    let core = Path::new(&folder).join("core");
    if let Err(error) = embed(&core) {
        println!("cargo::error=cannot embed `{}`: {error}", core.display());
    }
}

fn embed(core: &Path) -> std::io::Result<()> {
    let mut names: Vec<String> = fs::read_dir(core.join("revisions"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    let mut text = String::from("pub(super) const REVISIONS: &[(&str, &str)] = &[\n");
    for name in names {
        let file = core.join("revisions").join(format!("{name}.json"));
        println!("cargo::rerun-if-changed={}", file.display());
        let _ = writeln!(text, "    ({name:?}, include_str!({file:?})),");
    }
    let overlay = core.join("overlay.toml");
    println!("cargo::rerun-if-changed={}", overlay.display());
    let _ = write!(
        text,
        "];\npub(super) const OVERLAY: &str = include_str!({overlay:?});\n"
    );
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&out).join("core.rs"), text)
}
