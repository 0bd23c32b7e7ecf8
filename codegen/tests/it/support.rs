//! Where things are, and the oracle: the `jsonschema` crate on one definition of one schema file.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};

/// The five revisions that are committed.
pub(crate) const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// Number of values to try, `few` by default; `TRUEFORM_ROUNDS` multiplies it.
pub(crate) fn rounds(few: usize) -> usize {
    let times = std::env::var("TRUEFORM_ROUNDS")
        .ok()
        .and_then(|times| times.parse().ok())
        .unwrap_or(1);
    few * times
}

/// How many comparisons of each revision a proof must make: `TRUEFORM_COMPARISONS`, else a number that every run can afford.
pub(crate) fn comparisons() -> usize {
    match std::env::var("TRUEFORM_COMPARISONS") {
        Ok(number) => number
            .replace('_', "")
            .parse()
            .unwrap_or_else(|_| panic!("TRUEFORM_COMPARISONS is not a number: `{number}`")),
        Err(_) => 5_000,
    }
}

/// The committed schema folder.
pub(crate) fn schema_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema")
}

/// The folder of official files, which is not part of the project; prints a note if it is absent.
#[expect(clippy::print_stdout, reason = "a skipped test must say so")]
pub(crate) fn official_folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/schema");
    match folder.is_dir() {
        true => Some(folder),
        false => {
            println!("SKIPPED: the official schema files are not at `../shared/schema`");
            None
        }
    }
}

/// An empty folder for one test.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

/// Set in a process that runs one test alone.
const ALONE: &str = "TRUEFORM_TEST_ALONE";

/// Runs the test `name` again, in a separate process, so that [`cpu_time`] is the time of this test only. Returns `true` in that process.
/// Returns `false` in the first process, after the test has passed.
pub(crate) fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().expect("a test has a program"))
        .args([name, "--exact"])
        .env(ALONE, "1")
        .output()
        .expect("the tests can be run");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    false
}

/// Returns the CPU time of all threads of this process, to hundredths of a second. The elapsed time would also include other work of the
/// machine. Returns zero on other systems than Linux.
pub(crate) fn cpu_time() -> Duration {
    /// `USER_HZ`: Linux counts in this unit for programs, whatever its own clock is.
    const TICKS_PER_SECOND: u64 = 100;
    if !cfg!(target_os = "linux") {
        return Duration::ZERO;
    }
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has it");
    // The name of the program, in brackets, may have spaces. The state is the third field; `utime` and `stime` are 14 and 15.
    let (_, fields) = stat.rsplit_once(')').expect("the name is in brackets");
    let times = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = times
        .map(|time| time.parse::<u64>().expect("a number"))
        .sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = std::fs::copy(entry.path(), target).unwrap(),
        }
    }
}

/// Runs the command line.
pub(crate) fn codegen<A: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = A>) -> Output {
    let binary = env!("CARGO_BIN_EXE_trueform-codegen");
    Command::new(binary)
        .args(args)
        .output()
        .expect("the binary is built with the tests")
}

/// Reads a JSON file.
pub(crate) fn json_file(file: &Path) -> Value {
    let text =
        std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The committed normal form of a revision (`2025-11-25`) or an extension (`tasks`).
pub(crate) fn committed(name: &str) -> Value {
    let folder = if name.starts_with("20") {
        "revisions"
    } else {
        "extensions"
    };
    json_file(&schema_folder().join(folder).join(format!("{name}.json")))
}

/// The member of a schema file that holds its definitions.
pub(crate) fn holder(document: &Value) -> &'static str {
    if document.get("$defs").is_some() {
        "$defs"
    } else {
        "definitions"
    }
}

/// Names of all definitions.
pub(crate) fn definitions(document: &Value) -> Vec<String> {
    document[holder(document)]
        .as_object()
        .expect("definitions are an object")
        .keys()
        .cloned()
        .collect()
}

/// Validates values against one definition of a schema file, with formats asserted.
pub(crate) fn oracle(document: &Value, definition: &str) -> jsonschema::Validator {
    let mut schema = document.clone();
    schema["$ref"] = json!(format!("#/{}/{definition}", holder(document)));
    validator(&schema).unwrap_or_else(|error| panic!("definition `{definition}`: {error}"))
}

/// Validates values against a schema, with formats asserted.
pub(crate) fn validator(
    schema: &Value,
) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options()
        .should_validate_formats(true)
        .with_format("byte", is_base64)
        .build(schema)
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}
