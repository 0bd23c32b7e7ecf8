//! Commands of `trueform-codegen`.
//!
//! Exit codes: 0 success, 1 a finding or a difference, from commands that look for them, 2 wrong usage or bad input.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trueform_codegen::check::{self, Verdict};
use trueform_codegen::coverage;
use trueform_codegen::diff;
use trueform_codegen::docs;
use trueform_codegen::import::normalise;
use trueform_codegen::problem::Problem;
use trueform_codegen::provenance::Source;
use trueform_codegen::store::{self, Origin};
use trueform_codegen::{Inputs, generate, model, report};

#[derive(Parser)]
#[command(
    name = "trueform-codegen",
    version,
    about = "Imports official Model Context Protocol schemas and generates Rust bindings from them"
)]
#[command(
    after_help = "Exit codes: 0 success, 1 a finding or a difference, 2 wrong usage or bad input."
)]
struct Cli {
    /// The schema folder [default: the nearest `schema` with `revisions` in it, here or above]
    #[arg(long, global = true, value_name = "DIR")]
    schema: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the normal form of an official schema file, and where the file came from, into the schema folder
    Import(Import),
    /// Prove that every committed schema is the normal form of its official file
    Check(Check),
    /// Write the Rust bindings of all schemas in the schema folder
    Generate(Generate),
    /// Print the changes between two schemas, in the terms of the protocol
    Diff(Diff),
}

#[derive(Args)]
struct Import {
    /// The official schema file
    file: PathBuf,
    /// The revision it defines, such as `2026-07-28`
    #[arg(
        long,
        value_name = "REVISION",
        required_unless_present = "extension",
        conflicts_with = "extension"
    )]
    revision: Option<String>,
    /// The extension it defines, such as `tasks`
    #[arg(long, value_name = "NAME")]
    extension: Option<String>,
    /// The repository it was taken from, as `owner/name` [default: as recorded before, else the official one]
    #[arg(long, value_name = "OWNER/NAME")]
    repository: Option<String>,
    /// Its path in that repository [default: as recorded before, else the official one]
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// The commit it was taken from [default: as recorded before, if the file is the same]
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
}

#[derive(Args)]
struct Check {
    /// The folder of official files: `REVISION/schema.json` and `extensions/NAME/schema.json`
    #[arg(long, value_name = "DIR")]
    official: PathBuf,
}

#[derive(Args)]
struct Generate {
    /// Where to write [default: `src` in the schema folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write nothing; name the files that would change and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    /// Write nothing; print every type, the differences between revisions, the rules of unions and the corrections
    #[arg(long, conflicts_with = "check")]
    report: bool,
}

#[derive(Args)]
struct Diff {
    /// The older schema: a revision (`2025-11-25`), an extension (`tasks`) or a file, official or in normal form
    a: String,
    /// The newer schema
    b: String,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// One line per change
    Text,
    /// One JSON object with all changes
    Json,
}

/// Runs the command that the process was started with.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Problem> {
    match &cli.command {
        Command::Import(args) => args.run(&schema_folder(cli)?),
        Command::Check(args) => args.run(&schema_folder(cli)?),
        Command::Generate(args) => args.run(&schema_folder(cli)?),
        Command::Diff(args) => args.run(cli),
    }
}

fn schema_folder(cli: &Cli) -> Result<PathBuf, Problem> {
    if let Some(folder) = &cli.schema {
        return match folder.is_dir() {
            true => Ok(folder.clone()),
            false => Err(Problem::at("", "no such folder").in_file(folder.display())),
        };
    }
    let here = std::env::current_dir()
        .map_err(|error| Problem::at("", format!("no current folder: {error}")))?;
    store::find_schema(&here).ok_or_else(|| {
        Problem::at(
            "",
            "no folder `schema` with `revisions` in it here or above; name one with `--schema DIR`",
        )
    })
}

/// Writes a line. Errors are ignored: if the reader has gone away (`| head`), a panic would not help.
fn say(text: impl std::fmt::Display) {
    _ = writeln!(std::io::stdout(), "{text}");
}

impl Import {
    fn run(&self, schema: &Path) -> Result<ExitCode, Problem> {
        let source = match (&self.revision, &self.extension) {
            (Some(name), _) => Source::revision(name)?,
            (None, Some(name)) => Source::extension(name)?,
            (None, None) => {
                return Err(Problem::at(
                    "",
                    "name what the file defines: `--revision` or `--extension`",
                ));
            }
        };
        let origin = Origin {
            repository: self.repository.clone(),
            path: self.path.clone(),
            commit: self.commit.clone(),
        };
        let imported = store::import(schema, &source, &self.file, origin)?;
        let state = if imported.changed {
            "written"
        } else {
            "unchanged"
        };
        say(format_args!(
            "{source}: `{}` {state}, sha256 {}",
            imported.file.display(),
            imported.entry.sha256
        ));
        Ok(ExitCode::SUCCESS)
    }
}

impl Check {
    fn run(&self, schema: &Path) -> Result<ExitCode, Problem> {
        let findings = check::check(schema, &self.official)?;
        for finding in &findings {
            say(finding);
        }
        let wrong = findings
            .iter()
            .any(|finding| matches!(finding.verdict, Verdict::Wrong(_)));
        Ok(ExitCode::from(u8::from(wrong)))
    }
}

impl Generate {
    fn run(&self, schema: &Path) -> Result<ExitCode, Problem> {
        let inputs = Inputs::read(schema)?;
        if self.report {
            _ = std::io::stdout().write_all(report(&model(&inputs)?, &inputs).as_bytes());
            return Ok(ExitCode::SUCCESS);
        }
        let model = model(&inputs)?;
        let generated = generate(&inputs)?;
        for item in docs::undescribed(&model, &inputs) {
            say(format_args!(
                "undescribed `{item}`: describe it in `docs.toml`"
            ));
        }
        let out = self.out.clone().unwrap_or_else(|| schema.join("src"));
        if self.check {
            let stale = store::stale(&out, &generated)?;
            for file in &stale {
                say(format_args!(
                    "stale    `{}`: run `cargo regenerate`",
                    file.display()
                ));
            }
            return Ok(ExitCode::from(u8::from(!stale.is_empty())));
        }
        let mut written = store::write_generated(&out, &generated)?;
        // A page of the guide, in the workspace of the schema folder, has the table of methods.
        let page = schema.with_file_name(coverage::PAGE);
        if self.out.is_none()
            && let Ok(text) = std::fs::read_to_string(&page)
            && let Some(text) = coverage::update(&text, &model)
            && store::write_if_changed(&page, &text)?
        {
            written.push(page);
        }
        for file in &written {
            let state = if file.exists() { "written" } else { "removed" };
            say(format_args!("{state}  `{}`", file.display()));
        }
        if written.is_empty() {
            say("nothing changed");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Diff {
    fn run(&self, cli: &Cli) -> Result<ExitCode, Problem> {
        let a = schema(cli, &self.a)?;
        let b = schema(cli, &self.b)?;
        let diff = diff::diff(&a, &b)?;
        match self.format {
            Format::Text => write!(std::io::stdout(), "{diff}"),
            Format::Json => serde_json::to_writer_pretty(std::io::stdout(), &diff)
                .map_err(Into::into)
                .and_then(|()| writeln!(std::io::stdout())),
        }
        .unwrap_or_default();
        Ok(ExitCode::from(u8::from(!diff.is_empty())))
    }
}

/// The schema that a user named: a file, else a revision or extension of the schema folder.
fn schema(cli: &Cli, name: &str) -> Result<serde_json::Value, Problem> {
    let file = match Path::new(name) {
        file if file.is_file() => file.to_owned(),
        _ => committed(cli, name)?,
    };
    let text = store::read(&file)?;
    serde_json::from_str(&text)
        .map_err(|error| Problem::at("", format!("not JSON: {error}")))
        .and_then(|document| normalise(&document))
        .map_err(|problem| problem.in_file(file.display()))
}

/// The file of a revision or extension in the schema folder.
fn committed(cli: &Cli, name: &str) -> Result<PathBuf, Problem> {
    let folder = schema_folder(cli).map_err(|problem| {
        let message = format!("not a file, and {}", problem.message);
        match problem.file.is_empty() {
            true => Problem::at("", message).in_file(name),
            false => problem,
        }
    })?;
    let known = store::sources(&folder)?;
    if let Some(source) = known.iter().find(|source| source.name() == name) {
        return Ok(folder.join(source.committed()));
    }
    let known: Vec<String> = (known.iter())
        .map(|source| format!("`{}`", source.name()))
        .collect();
    let message = format!("neither a file nor one of {}", known.join(", "));
    Err(Problem::at("", message).in_file(name))
}
