//! What is started, how, and how long its end may take.

use std::{
    ffi::{OsStr, OsString},
    fmt, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process::Command;

use crate::jsonrpc::sentence;

/// The command that starts a server, and how long its end may take. It can be used for any number of processes.
///
/// `Debug` shows neither arguments nor values of the environment, which may be secret.
#[derive(Clone)]
pub struct ServerCommand {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    is_environment_cleared: bool,
    directory: Option<PathBuf>,
    pub(super) waits: Waits,
}

/// How long the steps of an end may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) close: Duration,
    pub(super) term: Duration,
    pub(super) kill: Duration,
    pub(super) last_output: Duration,
}

impl ServerCommand {
    /// How long the process may take by default to exit after its standard input is closed: 2 s.
    pub const DEFAULT_CLOSE_WAIT: Duration = Duration::from_secs(2);
    /// How long the process group may take by default to exit after SIGTERM: 2 s.
    pub const DEFAULT_TERM_WAIT: Duration = Duration::from_secs(2);
    /// How long the exit of a killed process is waited for by default: 5 s.
    pub const DEFAULT_KILL_WAIT: Duration = Duration::from_secs(5);
    /// How long the exit is waited for by default after the end of the output, and the end of the output after the exit: 1 s.
    pub const DEFAULT_LAST_OUTPUT: Duration = Duration::from_secs(1);

    /// Starts `program`, which is looked for in the folders of `PATH` if it has no path separator. A relative path of a program with
    /// a [`current_dir`](Self::current_dir) means different files on different systems, so give an absolute one.
    #[must_use]
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            is_environment_cleared: false,
            directory: None,
            waits: Waits {
                close: Self::DEFAULT_CLOSE_WAIT,
                term: Self::DEFAULT_TERM_WAIT,
                kill: Self::DEFAULT_KILL_WAIT,
                last_output: Self::DEFAULT_LAST_OUTPUT,
            },
        }
    }

    /// Adds an argument. No shell reads it.
    ///
    /// ```
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").arg("src");
    /// ```
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments. No shell reads them.
    ///
    /// ```
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").args(["--hidden", "src"]);
    /// ```
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let arguments = arguments.into_iter();
        self.arguments
            .extend(arguments.map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable of the environment. All others are the client's own.
    ///
    /// ```
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").env("RUST_LOG", "debug");
    /// ```
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let value = Some(value.as_ref().to_owned());
        self.environment.push((name.as_ref().to_owned(), value));
        self
    }

    /// Sets variables of the environment.
    ///
    /// ```
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").envs([("RUST_LOG", "debug"), ("NO_COLOR", "1")]);
    /// ```
    #[must_use]
    pub fn envs(
        self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Self {
        variables
            .into_iter()
            .fold(self, |command, (name, value)| command.env(name, value))
    }

    /// Removes a variable of the client's own environment.
    ///
    /// ```
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").env_remove("AWS_SECRET_ACCESS_KEY");
    /// ```
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), None));
        self
    }

    /// Leaves out all variables of the client's own environment, `PATH` included, and those that were set before.
    ///
    /// ```
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("/usr/bin/code_search").env_clear().env("LANG", "C.UTF-8");
    /// ```
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.environment.clear();
        self.is_environment_cleared = true;
        self
    }

    /// Sets the working directory of the process; the client's own by default.
    ///
    /// ```
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").current_dir("/srv/repository");
    /// ```
    #[must_use]
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets how long the process may take to exit after its standard input is closed; zero: no time. Then its group gets SIGTERM.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").close_wait(Duration::from_secs(10));
    /// ```
    #[must_use]
    pub fn close_wait(mut self, time: Duration) -> Self {
        self.waits.close = time;
        self
    }

    /// Sets how long the process group may take to exit after SIGTERM; zero: no time. Then it is killed.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").term_wait(Duration::from_secs(10));
    /// ```
    #[must_use]
    pub fn term_wait(mut self, time: Duration) -> Self {
        self.waits.term = time;
        self
    }

    /// Sets how long the client waits for the exit of a killed process; zero: it does not wait. Only a process that the operating system
    /// blocks, for example because of a broken disk, takes so long.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").kill_wait(Duration::from_secs(1));
    /// ```
    #[must_use]
    pub fn kill_wait(mut self, time: Duration) -> Self {
        self.waits.kill = time;
        self
    }

    /// Sets two times. After the end of standard output, the client waits so long for the exit, before it reports that the process goes
    /// on without standard output. After the exit, it reads so long from an output that other processes hold open.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("code_search").last_output(Duration::from_secs(1));
    /// ```
    #[must_use]
    pub fn last_output(mut self, time: Duration) -> Self {
        self.waits.last_output = time;
        self
    }

    /// The program, for messages.
    pub(super) fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// The command with pipes for its streams.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if self.is_environment_cleared {
            command.env_clear();
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command
    }

    /// The error of a process that could not be started.
    #[cold]
    pub(super) fn failed(&self, error: io::Error) -> SpawnError {
        let is_path = Path::new(&self.program).components().count() > 1;
        let directory = self.directory.as_ref();
        let cause = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                if directory.is_some_and(|directory| !directory.is_dir()) =>
            {
                SpawnCause::Directory(directory.cloned().unwrap_or_default())
            }
            io::ErrorKind::NotFound if !is_path => SpawnCause::NotOnPath,
            io::ErrorKind::NotFound if Path::new(&self.program).exists() => SpawnCause::Interpreter,
            io::ErrorKind::NotFound => SpawnCause::NoFile,
            io::ErrorKind::PermissionDenied => SpawnCause::NotExecutable,
            _ => SpawnCause::Other,
        };
        SpawnError {
            program: self.name(),
            cause,
            error,
        }
    }
}

impl fmt::Debug for ServerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCommand")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("directory", &self.directory)
            .field("waits", &self.waits)
            .finish_non_exhaustive()
    }
}

/// Why a server process could not be started.
#[derive(Debug)]
pub struct SpawnError {
    program: String,
    cause: SpawnCause,
    error: io::Error,
}

#[derive(Debug)]
enum SpawnCause {
    Directory(PathBuf),
    NotOnPath,
    NoFile,
    Interpreter,
    NotExecutable,
    Other,
}

impl SpawnError {
    /// The program that was to be started.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The error of the system.
    #[must_use]
    pub fn io_error(&self) -> &io::Error {
        &self.error
    }
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = sentence(&self.program);
        write!(f, "the server `{program}` cannot be started: ")?;
        match &self.cause {
            SpawnCause::Directory(directory) => {
                let directory = directory.display().to_string();
                write!(
                    f,
                    "its working directory `{}` does not exist; set another `ServerCommand::current_dir`",
                    sentence(&directory)
                )
            }
            SpawnCause::NotOnPath | SpawnCause::NoFile if self.program.contains(' ') => f.write_str(
                "there is no program of this name, spaces included; check the path, and give each argument by `ServerCommand::arg`",
            ),
            SpawnCause::NotOnPath => f.write_str(
                "no folder of the environment variable `PATH` has a program of this name; install it, or give its absolute path",
            ),
            SpawnCause::NoFile if Path::new(&self.program).is_absolute() => {
                f.write_str("there is no such file; check the path")
            }
            SpawnCause::NoFile => f.write_str(
                "there is no such file; check the path, and give an absolute one",
            ),
            SpawnCause::Interpreter => f.write_str(
                "the file exists, but the interpreter that its first line names does not; install it, or start the file by another",
            ),
            SpawnCause::NotExecutable => write!(
                f,
                "{}; check that it is a file and executable (`chmod +x`), or start it by its interpreter",
                self.error
            ),
            SpawnCause::Other => write!(f, "{}", self.error),
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
