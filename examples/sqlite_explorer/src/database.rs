//! The database file, and a connection for each call. The connection cannot access other files, and its statements have a time limit.

use std::{
    convert::Infallible,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, InterruptHandle, MAIN_DB, OpenFlags, Statement,
    config::DbConfig,
    fallible_iterator::FallibleIterator,
    hooks::{AuthContext, Authorization},
    limits::Limit,
};

use crate::{
    functions::{self, Stops},
    permission::{Access, OTHER_FILES, refusal},
    problem::Problem,
};

/// How long a statement may run.
pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a statement waits while another process has locked the file. It cannot be cancelled during the wait.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest statement, in bytes.
pub const MAX_SQL_BYTES: i32 = 100_000;
/// Largest text or BLOB that a statement may read or make, in bytes. Within a row SQLite works on its values without interruption: with
/// larger ones a row could take minutes.
pub const MAX_VALUE_BYTES: i32 = 1 << 20;
/// Longest pattern of LIKE and GLOB, in bytes: it is compared with each place of a text.
pub const MAX_PATTERN_BYTES: i32 = 256;
/// Most memory that SQLite takes for all calls together, in bytes. A statement that needs more fails.
pub const MAX_SQLITE_BYTES: i64 = 256 << 20;
/// How many steps SQLite takes before it looks at the time and at cancellation again. It counts jumps only, and a step may be a whole
/// function.
const STEPS_BETWEEN_LOOKS: i32 = 1000;
/// How often the thread that watches a statement looks at the time and at cancellation.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);

/// An SQLite file. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Database {
    file: Arc<PathBuf>,
    timeout: Duration,
    writable: bool,
}

impl Database {
    /// The database in `file`, for reading only.
    ///
    /// # Errors
    /// If the file cannot be read, or holds no database.
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, Problem> {
        let this = Self {
            file: Arc::new(file.into()),
            timeout: STATEMENT_TIMEOUT,
            writable: false,
        };
        let session = this.session(Access::Read, || false)?;
        session.read_schema()?;
        // The functions of this server read a BLOB as UTF-8, as SQLite does in such a file only.
        let encoding = session
            .connection
            .pragma_query_value(None, "encoding", |row| row.get::<_, String>(0));
        if session.explained(encoding)? != "UTF-8" {
            return Err(Problem::Encoding);
        }
        Ok(this)
    }

    /// Sets how long a statement may run, in place of [`STATEMENT_TIMEOUT`].
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Opens the database for writes too. The user is asked before each of them.
    #[must_use]
    pub fn writable(mut self) -> Self {
        self.writable = true;
        self
    }

    /// A connection for one call. `is_cancelled` stops the statement that runs.
    ///
    /// Calls share nothing but the file, so none waits for another one.
    pub(crate) fn session(
        &self,
        access: Access,
        is_cancelled: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Session, Problem> {
        if access == Access::Write && !self.writable {
            return Err(Problem::NotWritable);
        }
        let flags = match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection =
            Connection::open_with_flags(&*self.file, flags).map_err(Problem::Unopened)?;
        // SQLite opens a file that it may not write to for reading.
        if access == Access::Write && connection.is_readonly(MAIN_DB)? {
            return Err(Problem::WriteProtected);
        }
        connection.busy_timeout(LOCK_TIMEOUT)?;
        connection.pragma_update(None, "query_only", access == Access::Read)?;
        // A maximum for the process, which any connection may set.
        connection.pragma_update(None, "hard_heap_limit", MAX_SQLITE_BYTES)?;
        // Views and triggers of the file get no more rights than a statement.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
        connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES)?;

        let reason = Reason::default();
        let asks = Arc::new(AtomicBool::new(false));
        let (refused, has_asked) = (reason.clone(), asks.clone());
        connection.authorizer(Some(move |asked: AuthContext<'_>| {
            has_asked.store(true, Ordering::Relaxed);
            match refusal(&asked.action, access) {
                None => Authorization::Allow,
                Some(why) => {
                    refused.set(Problem::Refused(why));
                    Authorization::Deny
                }
            }
        }))?;
        let (stopped, limit, began) = (reason.clone(), self.timeout, Instant::now());
        let stops: Stops = Arc::new(move || {
            let why = match () {
                () if is_cancelled() => Problem::Cancelled,
                () if began.elapsed() > limit => Problem::TimedOut(limit),
                () => return false,
            };
            stopped.set(why);
            true
        });
        functions::install(&connection, &stops)?;
        let looks = stops.clone();
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || looks()))?;
        let watched = watch(connection.get_interrupt_handle(), stops);
        Ok(Session {
            _watched: watched,
            connection,
            reason,
            asks,
        })
    }
}

/// Interrupts a statement that has to stop, also while SQLite takes no steps, for example when it counts the rows of a table. Ends when
/// the returned value is dropped.
fn watch(statement: InterruptHandle, stops: Stops) -> Sender<Infallible> {
    let (watched, ended) = mpsc::channel();
    std::thread::spawn(move || {
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(WATCH_INTERVAL) {
            if stops() {
                statement.interrupt();
            }
        }
    });
    watched
}

/// The connection of one call.
#[derive(Debug)]
pub(crate) struct Session {
    /// When this is dropped, the thread that watches ends.
    _watched: Sender<Infallible>,
    connection: Connection,
    reason: Reason,
    /// Whether SQLite asked for an action.
    asks: Arc<AtomicBool>,
}

impl Session {
    /// Prepares `sql`, which must be one statement.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement<'_>, Problem> {
        if sql.contains('\0') {
            return Err(Problem::Nul);
        }
        // `Connection::prepare` calls itself for each further statement.
        let mut statements = rusqlite::Batch::new(&self.connection, sql);
        self.asks.store(false, Ordering::Relaxed);
        let first = self.explained(statements.next())?;
        let first = first.ok_or(Problem::NoStatement)?;
        // VACUUM is the statement that SQLite asks nothing about until it runs.
        if !first.readonly() && !self.asks.load(Ordering::Relaxed) {
            return Err(Problem::Refused(OTHER_FILES.to_owned()));
        }
        match statements.next() {
            Ok(None) => Ok(first),
            Ok(Some(_)) | Err(_) => Err(Problem::SeveralStatements),
        }
    }

    /// `result`, with the reason why the statement was refused or stopped in place of SQLite's error.
    pub(crate) fn explained<T>(&self, result: rusqlite::Result<T>) -> Result<T, Problem> {
        result.map_err(|error| self.reason.take().unwrap_or_else(|| error.into()))
    }

    /// How many rows the last statement inserted, updated or deleted.
    pub(crate) fn changed_rows(&self) -> u64 {
        self.connection.changes()
    }

    fn read_schema(&self) -> Result<(), Problem> {
        let version = self
            .connection
            .query_row("SELECT count(*) FROM sqlite_schema", (), |row| {
                row.get::<_, i64>(0)
            });
        self.explained(version).map(|_| ())
    }
}

/// Why the statement was refused or stopped. SQLite itself reports only that it happened.
#[derive(Clone, Debug, Default)]
struct Reason(Arc<Mutex<Option<Problem>>>);

impl Reason {
    fn set(&self, why: Problem) {
        *self.lock() = Some(why);
    }

    fn take(&self) -> Option<Problem> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Problem>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
