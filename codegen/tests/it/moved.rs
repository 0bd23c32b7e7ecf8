//! Two checkouts that share one target folder: the build scripts look at the files of the checkout that is built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{copy, schema_folder, scratch};

/// Builds the package at `root`; all packages of one test share a target folder.
fn check(root: &Path) -> Output {
    Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--offline"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.with_file_name("target"))
        .output()
        .unwrap()
}

/// A package of the same name in each of two checkouts: `build.rs` of the crate at `from`, and `code` as its library.
fn checkouts(folder: &Path, from: &Path, code: &str) -> [PathBuf; 2] {
    ["one", "two"].map(|name| {
        let root = folder.join(name);
        fs::create_dir_all(root.join("src")).unwrap();
        fs::copy(from.join("build.rs"), root.join("build.rs")).unwrap();
        let manifest =
            "[package]\nname = \"scripted\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
        fs::write(root.join("Cargo.toml"), manifest).unwrap();
        fs::write(root.join("src/lib.rs"), code).unwrap();
        root
    })
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Bindings that are stale in one checkout do not pass because they are up to date in another.
#[test]
fn stale_bindings_do_not_build_where_others_were_built() {
    let folder = scratch("moved-schema");
    let schema = schema_folder();
    let [fresh, stale] = checkouts(&folder, &schema, "");
    for root in [&fresh, &stale] {
        for input in ["revisions", "extensions"] {
            copy(&schema.join(input), &root.join(input));
        }
        for file in ["overlay.toml", "docs.toml", "src/generated.rs"] {
            fs::copy(schema.join(file), root.join(file)).unwrap();
        }
    }
    let overlay = stale.join("overlay.toml");
    let changed = fs::read_to_string(&overlay).unwrap() + "# changed\n";
    fs::write(overlay, changed).unwrap();

    for _ in 0..2 {
        let output = check(&fresh);
        assert!(output.status.success(), "{}", stderr(&output));
        let output = check(&stale);
        assert!(!output.status.success(), "stale bindings were built");
        let stderr = stderr(&output);
        assert!(stderr.contains("run `cargo regenerate`"), "{stderr}");
    }
}

/// The generator embeds the schemas of its own checkout.
#[test]
fn the_generator_embeds_its_own_schemas() {
    let folder = scratch("moved-codegen");
    let codegen = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Each knows from its manifest where it is, and from the build script what it has embedded.
    let code = "mod core { include!(concat!(env!(\"OUT_DIR\"), \"/core.rs\")); pub const ALL: (&[(&str, &str)], &str) = (REVISIONS, OVERLAY); }\n\
                const _: () = assert!(core::ALL.1.len() == include_str!(\"../core/overlay.toml\").len());\n";
    let [one, two] = checkouts(&folder, codegen, code);
    for root in [&one, &two] {
        copy(
            &schema_folder().join("revisions"),
            &root.join("core/revisions"),
        );
        fs::write(root.join("core/overlay.toml"), "# short\n").unwrap();
    }
    fs::write(two.join("core/overlay.toml"), "# not as short\n").unwrap();
    for root in [&one, &two, &one] {
        let output = check(root);
        assert!(
            output.status.success(),
            "{}: {}",
            root.display(),
            stderr(&output)
        );
    }
}
