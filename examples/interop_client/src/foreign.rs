//! The server: how it is started, reached, signalled and ended.

use std::{
    env,
    fs::{self, File},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::sleep,
};
use trueform::client::{Client, ClientError, ClientOptions, HttpEndpoint, ServerCommand};

use crate::{
    Failure,
    plan::{HttpArguments, Plan},
};

/// How long a server may take until it listens, or answers.
pub(crate) const START: Duration = Duration::from_secs(45);
/// How long a closed server may take to exit, and to exit after SIGTERM.
pub(crate) const CLOSE_WAIT: Duration = Duration::from_secs(5);

/// How the server is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

impl Transport {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

/// A temporary folder, removed at the end: `argument` is for the server's command line, `root` is the client's root.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        let path = env::temp_dir().join(format!("interop-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("argument"))?;
        fs::create_dir_all(path.join("root"))?;
        fs::write(path.join("root/note.txt"), "The note.")?;
        Ok(Self(path.canonicalize()?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{} is left over: {error}", self.0.display());
        }
    }
}

/// A server that another library serves.
pub(crate) struct Foreign {
    pub(crate) plan: Plan,
    pub(crate) transport: Transport,
    program: String,
    arguments: Vec<String>,
    folder: PathBuf,
    root: PathBuf,
    port: u16,
    /// The process of a server over HTTP.
    process: Option<Child>,
}

impl Foreign {
    pub(crate) fn new(
        plan: Plan,
        transport: Transport,
        command: Vec<String>,
        folder: &Folder,
    ) -> Result<Self, Failure> {
        let argument = folder.path().join("argument");
        let mut words = command
            .into_iter()
            .map(|word| word.replace("{dir}", &argument.to_string_lossy()));
        let program = words.next().ok_or("no command")?;
        // The port is free now. The server uses it again after a restart.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(Self {
            plan,
            transport,
            program,
            arguments: words.collect(),
            folder: folder.path().to_owned(),
            root: folder.path().join("root"),
            port,
            process: None,
        })
    }

    /// The client's root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Starts the server, if it speaks HTTP, and waits until it listens.
    pub(crate) async fn start(&mut self) -> Result<(), Failure> {
        if self.transport == Transport::Stdio {
            return Ok(());
        }
        let log = self.folder.join("server.log");
        let file = File::create(&log)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .kill_on_drop(true);
        match self.plan.http {
            HttpArguments::Flag => command.arg("--http").arg(self.port.to_string()),
            HttpArguments::Everything => {
                let port = self.port.to_string();
                command.arg("streamableHttp").env("PORT", port)
            }
        };
        let mut process = command.spawn()?;
        let until = Instant::now() + START;
        while TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
            let exited = process.try_wait()?;
            if exited.is_some() || Instant::now() > until {
                let log = fs::read_to_string(&log)?;
                return Err(format!("the server does not listen ({exited:?}): {log}").into());
            }
            sleep(Duration::from_millis(20)).await;
        }
        self.process = Some(process);
        Ok(())
    }

    /// Connects, and over stdio starts the server.
    pub(crate) async fn connect(&self, options: ClientOptions) -> Result<Client, ClientError> {
        match self.transport {
            Transport::Stdio => Client::spawn(&self.command(), options).await,
            Transport::Http => self.endpoint().connect_as(options).await,
        }
    }

    /// The command of a server over stdio.
    pub(crate) fn command(&self) -> ServerCommand {
        ServerCommand::new(&self.program)
            .args(&self.arguments)
            .close_wait(CLOSE_WAIT)
    }

    /// The same for a server that is paused before it reads anything.
    pub(crate) fn stopped_command(&self) -> ServerCommand {
        ServerCommand::new("sh")
            .args(["-c", "kill -STOP $$; exec \"$0\" \"$@\"", &self.program])
            .args(&self.arguments)
            .close_wait(Duration::from_millis(300))
            .term_wait(Duration::from_millis(300))
    }

    pub(crate) fn endpoint(&self) -> HttpEndpoint {
        HttpEndpoint::new(format!("http://127.0.0.1:{}/mcp", self.port))
    }

    /// The process: over stdio this program has no other.
    pub(crate) fn pid(&self) -> Result<u32, Failure> {
        match self.transport {
            Transport::Stdio => match *children()? {
                [pid] => Ok(pid),
                ref pids => Err(format!("one process expected, found {pids:?}").into()),
            },
            Transport::Http => {
                let process = self.process.as_ref().and_then(Child::id);
                process.ok_or_else(|| "the server does not run".into())
            }
        }
    }

    /// Sends a signal, such as `KILL`, to the server.
    pub(crate) async fn signal(&self, signal: &str) -> Result<(), Failure> {
        let pid = self.pid()?;
        let mut kill = Command::new("kill");
        let sent = kill
            .arg(format!("-{signal}"))
            .arg(pid.to_string())
            .status()
            .await?;
        if !sent.success() {
            return Err(format!("SIG{signal} was not sent").into());
        }
        // Each thread stops by itself.
        let until = Instant::now() + START;
        while signal == "STOP" && !has_stopped(pid)? {
            if Instant::now() > until {
                return Err(format!("the process {pid} does not stop").into());
            }
            sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    /// Waits for the exit of a server over HTTP that was killed.
    pub(crate) async fn exited(&mut self) -> Result<(), Failure> {
        if let Some(mut process) = self.process.take() {
            process.wait().await?;
        }
        Ok(())
    }

    /// Ends the server.
    pub(crate) async fn end(&mut self) -> Result<(), Failure> {
        if let Some(process) = &mut self.process {
            process.kill().await?;
        }
        self.process = None;
        Ok(())
    }
}

/// Whether all threads of a process have stopped.
fn has_stopped(pid: u32) -> Result<bool, Failure> {
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let stat = fs::read_to_string(thread?.path().join("stat"))?;
        if stat
            .rsplit_once(") ")
            .is_none_or(|(_, after)| !after.starts_with('T'))
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The child processes of this program that have not exited.
pub(crate) fn children() -> Result<Vec<u32>, Failure> {
    let own = std::process::id().to_string();
    let mut pids = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // It may have exited since.
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // After the name in parentheses: the state, and the parent.
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let mut fields = after.split_whitespace();
        let state = fields.next();
        if fields.next() == Some(&own) && state != Some("Z") {
            pids.push(pid);
        }
    }
    Ok(pids)
}
