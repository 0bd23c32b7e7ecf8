//! Keeps the bindings and the files they are generated from together. Not part of the published package.
//!
//! With feature `generate` the generator runs here and the crate compiles its output. Without it there is nothing to
//! build: only the fingerprint of the inputs is compared with the one in the checked-in file.

use std::path::Path;

const INPUTS: [&str; 4] = ["revisions", "extensions", "overlay.toml", "docs.toml"];

fn main() {
    for input in INPUTS.iter().chain(&["src/generated.rs", "src/generated"]) {
        println!("cargo::rerun-if-changed={input}");
    }
    // At run time, because two checkouts with one target folder share the compiled script.
    let built = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(schema) => build(Path::new(&schema)),
        None => Err("cargo sets CARGO_MANIFEST_DIR for build scripts".to_owned()),
    };
    if let Err(message) = built {
        println!("cargo::error={message}");
    }
}

#[cfg(feature = "generate")]
fn build(schema: &Path) -> Result<(), String> {
    let inputs = trueform_codegen::Inputs::read(schema).map_err(|problem| problem.to_string())?;
    let files = trueform_codegen::generate(&inputs).map_err(|problem| problem.to_string())?;
    let out = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts")?;
    for (name, text) in files {
        let path = Path::new(&out).join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        std::fs::write(path, text).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(not(feature = "generate"))]
fn build(schema: &Path) -> Result<(), String> {
    let inputs =
        fingerprint(schema).map_err(|error| format!("cannot read the schema files: {error}"))?;
    let generated = std::fs::read_to_string(schema.join("src/generated.rs")).unwrap_or_default();
    match generated.contains(&format!("// inputs: {inputs:016x}\n")) {
        true => Ok(()),
        false => Err(
            "`src/generated.rs` was not generated from the files in `schema/` as they are; run `cargo regenerate`"
                .to_owned(),
        ),
    }
}

/// FNV-1a over names and bytes of the inputs, as `trueform_codegen::Inputs::read` computes it.
#[cfg(not(feature = "generate"))]
fn fingerprint(schema: &Path) -> std::io::Result<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |name: &str, bytes: &[u8]| {
        for byte in [name.as_bytes(), &[0], bytes, &[0]].into_iter().flatten() {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for input in INPUTS {
        let path = schema.join(input);
        if path.is_file() {
            add(input, &std::fs::read(&path)?);
        } else if path.is_dir() {
            let mut names: Vec<String> = std::fs::read_dir(&path)?
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter(|name| name.ends_with(".json"))
                .collect();
            // By stem, as the generator sorts them.
            names.sort_by(|a, b| a.trim_end_matches(".json").cmp(b.trim_end_matches(".json")));
            for name in names {
                add(
                    &format!("{input}/{name}"),
                    &std::fs::read(path.join(&name))?,
                );
            }
        }
    }
    Ok(hash)
}
