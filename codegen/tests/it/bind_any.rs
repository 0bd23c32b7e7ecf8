//! Any schema binds, or is refused with file, definition, JSON pointer and reason, in bounded time; what binds compiles, and
//! agrees with an independent validator on what a value of it is.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use serde_json::Value;
use trueform_codegen::bind::Extension;
use trueform_codegen::problem::Problem;

use crate::any_schema::{AnySchema, PROBE, made, value};
use crate::support::{cpu_time, is_alone, rounds, schema_folder, scratch};
use crate::values::{Choices, Values};

fn bind(folder: &Path, any: &AnySchema) -> Result<String, Problem> {
    fs::write(folder.join("any.json"), any.schema.to_string()).unwrap();
    fs::write(folder.join("any.toml"), &any.facts).unwrap();
    Extension::new("any")
        .schema(folder.join("any.json"))
        .facts(folder.join("any.toml"))
        .generate()
}

/// Checks that `problem` names a place that a user finds.
fn assert_placed(seed: u64, any: &AnySchema, problem: &Problem) {
    let text = problem.to_string();
    let context = format!("seed {seed}: {text}\n{}\n{}", any.schema, any.facts);
    assert!(!problem.message.is_empty(), "{context}");
    for ours in ["overlay", "typify", "does not parse", "panicked", ".rs"] {
        assert!(!text.contains(ours), "{context}");
    }
    if problem.file.ends_with("any.toml") {
        return;
    }
    assert!(problem.file.ends_with("any.json"), "{context}");
    assert!(problem.definition().is_some(), "{context}");
    // The place is there, or is the one of a member that is missing.
    let (parent, _) = problem.pointer.rsplit_once('/').unwrap_or_default();
    let found = any
        .schema
        .pointer(&problem.pointer)
        .or_else(|| any.schema.pointer(parent));
    assert!(found.is_some(), "{context}");
}

#[test]
fn any_schema_binds_or_is_refused_with_its_place() {
    if !is_alone("bind_any::any_schema_binds_or_is_refused_with_its_place") {
        return;
    }
    let folder = scratch("bind-any");
    let (mut bound, mut refused) = (0, 0);
    for seed in 0..rounds(200) as u64 {
        let any = made(seed, seed % 2 == 0);
        let start = cpu_time();
        let result = bind(&folder, &any);
        let took = cpu_time() - start;
        // A hundred times the CPU time that it takes.
        assert!(
            took < Duration::from_secs(20),
            "seed {seed} took {took:?}: {}",
            any.schema
        );
        match result {
            Ok(_) => bound += 1,
            Err(problem) => {
                refused += 1;
                assert_placed(seed, &any, &problem);
            }
        }
    }
    assert!(
        100 < bound && 50 < refused,
        "{bound} bound, {refused} refused"
    );
}

/// How many schemas to compile: `TRUEFORM_BINDINGS`, else a number that every run can afford.
fn sample() -> usize {
    match env::var("TRUEFORM_BINDINGS") {
        Ok(number) => number.parse().unwrap(),
        Err(_) => 12,
    }
}

/// Values for each schema.
const VALUES: usize = 40;

#[test]
fn what_binds_compiles_and_agrees_with_the_oracle() {
    let folder = scratch("bind-sample");
    fs::create_dir_all(folder.join("src")).unwrap();
    let mut modules: Vec<(u64, AnySchema)> = Vec::new();
    let mut lib = "#![deny(warnings)]\n".to_owned();
    let mut looks = String::new();
    for seed in 0.. {
        if modules.len() == sample() {
            break;
        }
        let any = made(seed, seed % 4 == 0);
        let Ok(text) = bind(&folder, &any) else {
            assert!(
                seed < 40 * (modules.len() as u64 + 5),
                "hardly any schema binds"
            );
            continue;
        };
        let i = modules.len();
        fs::write(folder.join(format!("src/m{i}.rs")), text).unwrap();
        let _ = writeln!(lib, "/// Seed {seed}.\npub mod m{i};");
        let _ = writeln!(looks, "        {i} => look::<sample::m{i}::{PROBE}>(text),");
        modules.push((seed, any));
    }
    fs::write(folder.join("src/lib.rs"), lib).unwrap();
    fs::write(folder.join("src/main.rs"), MAIN.replace("LOOKS", &looks)).unwrap();
    let manifest = format!(
        "[package]\nname = \"sample\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ntrueform-schema = {{ path = {:?} }}\n\n[profile.dev]\ndebug = 0\n",
        schema_folder()
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(
        schema_folder().join("../Cargo.lock"),
        folder.join("Cargo.lock"),
    )
    .unwrap();

    let mut asked = String::new();
    let mut expected = Vec::new();
    for (i, (seed, any)) in modules.iter().enumerate() {
        let mut oracle = any.schema.clone();
        oracle["$ref"] = format!("#/$defs/{PROBE}").into();
        let oracle = jsonschema::options().build(&oracle);
        let oracle = oracle.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut choices = Choices::new(*seed);
        let mut damage = Values::new(&any.schema, *seed);
        for round in 0..VALUES {
            let probe = &any.schema["$defs"][PROBE];
            let Some(mut value) = value(&any.schema, probe, &mut choices, 0) else {
                continue;
            };
            if round % 2 == 1 {
                value = damage.damaged(value);
            }
            let _ = writeln!(asked, "{i}\t{value}");
            let valid = oracle.is_valid(&value);
            expected.push((i, value, valid));
        }
    }
    fs::write(folder.join("asked"), asked).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .current_dir(&folder)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("bind-target"),
        )
        .stdin(fs::File::open(folder.join("asked")).unwrap())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), expected.len());
    let (mut valid, mut invalid) = (0, 0);
    for ((i, value, is_valid), answer) in expected.iter().zip(answers.lines()) {
        let (seed, any) = &modules[*i];
        let context = || {
            format!(
                "module {i}, seed {seed}: {value}\nis {is_valid}, but {answer}\n{}",
                any.schema
            )
        };
        let (verdict, text) = answer.split_once('\t').unwrap();
        match is_valid {
            true if is_beyond(value) && verdict == "undecoded" => {}
            true => {
                assert_eq!(verdict, "conforms", "{}", context());
                let written: Value = serde_json::from_str(text).unwrap();
                assert!(is_same(value, &written), "{}", context());
                valid += 1;
            }
            false => {
                assert_ne!(verdict, "conforms", "{}", context());
                invalid += 1;
            }
        }
    }
    let least = modules.len() * VALUES / 8;
    assert!(
        least < valid && least < invalid,
        "{valid} valid, {invalid} invalid"
    );
}

/// Whether `value` has a number that the schema may take for an integer and the bindings do not: beyond 64 bits, or as a fraction.
fn is_beyond(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            !number.is_i64() && number.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        Value::Array(items) => items.iter().any(is_beyond),
        Value::Object(members) => members.values().any(is_beyond),
        _ => false,
    }
}

/// Whether both are the same JSON, numbers compared by value.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, one)| other.get(name).is_some_and(|other| is_same(one, other)))
        }
        _ => one == other,
    }
}

/// Answers each line of a module number, a tab and JSON with a verdict, a tab and the JSON as written or the reason.
const MAIN: &str = r#"
use std::io::BufRead as _;
use trueform_schema::{At, Conform, Revision, conform, decode, support::serde::de::DeserializeOwned};

fn look<T: DeserializeOwned + Conform>(text: &str) -> (&'static str, String) {
    let value: T = match decode::from_str(text) {
        Ok(value) => value,
        Err(error) => return ("undecoded", error.to_string()),
    };
    match conform(&value, Revision::V2026_07_28) {
        Ok(()) => ("conforms", At::new(&value, Revision::V2026_07_28).to_string()),
        Err(violation) => ("violates", violation.to_string()),
    }
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (module, text) = line.split_once('\t').unwrap();
        let (verdict, text) = match module.parse::<usize>().unwrap() {
LOOKS            other => panic!("no module {other}"),
        };
        println!("{verdict}\t{}", text.replace('\n', " "));
    }
}
"#;
