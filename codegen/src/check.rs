//! Proof of the committed schemas: each equals the normal form of its official file, and the official file has the recorded
//! digest.
//!
//! Reads only. The official files are not part of the project, so they may be absent. That is reported, never ignored.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use crate::import::normal_form;
use crate::problem::Problem;
use crate::provenance::{Entry, Provenance, Source, sha256};
use crate::store;

/// Result of checking one committed file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Equal to the normal form of the official file, whose digest is the recorded one.
    Equal,
    /// There is no official file to compare with.
    Skipped(String),
    /// Differs from the normal form, or the digest differs.
    Wrong(Problem),
}

/// One line of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The subject of the check, such as `revision 2025-11-25`.
    pub subject: String,
    /// The result.
    pub verdict: Verdict,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Verdict::Equal => write!(f, "ok       {}", self.subject),
            Verdict::Skipped(why) => write!(f, "SKIPPED  {}: {why}", self.subject),
            Verdict::Wrong(problem) => write!(f, "WRONG    {}: {problem}", self.subject),
        }
    }
}

/// Checks every committed schema under `schema` against the official files under `official`.
///
/// # Errors
/// The provenance cannot be read. Everything else is a finding.
pub fn check(schema: &Path, official: &Path) -> Result<Vec<Finding>, Problem> {
    let provenance = Provenance::read(schema)?;
    let mut findings: Vec<Finding> = provenance
        .sources()
        .map(|(source, entry)| Finding {
            subject: source.to_string(),
            verdict: verdict(schema, official, &source, entry),
        })
        .collect();
    findings.extend(strays(schema, &provenance));
    if findings.is_empty() {
        let problem =
            Problem::at("", "no schema files and no provenance").in_file(schema.display());
        findings.push(Finding {
            subject: "schema folder".into(),
            verdict: Verdict::Wrong(problem),
        });
    }
    Ok(findings)
}

fn verdict(schema: &Path, official: &Path, source: &Source, entry: &Entry) -> Verdict {
    let committed = schema.join(source.committed());
    let text = match store::read(&committed) {
        Ok(text) => text,
        Err(problem) => return Verdict::Wrong(problem),
    };
    if !official.is_dir() {
        return Verdict::Skipped(format!("`{}` does not exist", official.display()));
    }
    let file = official.join(source.official());
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Verdict::Skipped(format!("`{}` does not exist", file.display()));
        }
        Err(error) => {
            return Verdict::Wrong(Problem::at("", error.to_string()).in_file(file.display()));
        }
    };
    let digest = sha256(&bytes);
    if digest != entry.sha256 {
        let message = format!("sha256 is {digest}, recorded is {}", entry.sha256);
        return Verdict::Wrong(Problem::at("", message).in_file(file.display()));
    }
    match normal_form(&String::from_utf8_lossy(&bytes)) {
        Err(problem) => Verdict::Wrong(problem.in_file(file.display())),
        Ok(normal) if normal == text => Verdict::Equal,
        Ok(normal) => Verdict::Wrong(difference(&normal, &text).in_file(committed.display())),
    }
}

/// Returns the first place where the committed text is not the normal form.
fn difference(normal: &str, committed: &str) -> Problem {
    let same = normal
        .lines()
        .zip(committed.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let line = |text: &str| {
        text.lines()
            .nth(same)
            .map_or("the end of the file".to_owned(), |line| {
                format!("`{}`", line.trim())
            })
    };
    let message = format!(
        "line {} is {}, the normal form of the official file has {}; import it again",
        same + 1,
        line(committed),
        line(normal)
    );
    Problem::at("", message)
}

/// Returns the committed files without an entry.
fn strays(schema: &Path, provenance: &Provenance) -> Vec<Finding> {
    let known: BTreeSet<_> = provenance
        .sources()
        .map(|(source, _)| source.committed())
        .collect();
    let mut found = Vec::new();
    for folder in ["revisions", "extensions"] {
        let Ok(entries) = fs::read_dir(schema.join(folder)) else {
            continue;
        };
        let names =
            entries.filter_map(|entry| Some(Path::new(folder).join(entry.ok()?.file_name())));
        found.extend(names.filter(|file| {
            file.extension().is_some_and(|ext| ext == "json") && !known.contains(file)
        }));
    }
    found.sort();
    let finding = |file: std::path::PathBuf| Finding {
        subject: file.display().to_string(),
        verdict: Verdict::Wrong(
            Problem::at("", format!("no entry in `{}`", crate::provenance::FILE))
                .in_file(schema.join(&file).display()),
        ),
    };
    found.into_iter().map(finding).collect()
}
