//! Why the store did not do something.

use std::time::Duration;

use sea_orm::{DbErr, RuntimeErr, SqlErr, sqlx};

const SQLITE_BUSY: u16 = 5;
const SQLITE_IOERR: u16 = 10;
const SQLITE_FULL: u16 = 13;
const SQLITE_CANTOPEN: u16 = 14;
/// The length of PostgreSQL's codes, which SQLite's numbers never have.
const SQLSTATE_LEN: usize = 5;
/// What is said of a key that PostgreSQL can't keep.
const KEY_TOO_LONG: &str = "These keys are too long together for this server's database.";
/// When a caller may try again after the store was away or overloaded.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Why a read, a connection or a blob failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database or the blobs' place can't be reached, or has no connection to spare.
    #[error("the store can't be reached: {0}")]
    Unavailable(String),
    /// The store refused or broke off the work, or a row doesn't read as what it should be.
    #[error("the store failed: {0}")]
    Failed(String),
}

impl StoreError {
    /// A read that is not done by the time that it was of use.
    pub(crate) fn late() -> Self {
        Self::Unavailable("a read took longer than it may".to_owned())
    }

    /// A row that does not read as what it should be; `what` names it for the log.
    pub fn corrupt(what: impl std::fmt::Display) -> Self {
        Self::Failed(format!("unreadable row: {what}"))
    }
}

impl From<DbErr> for StoreError {
    fn from(error: DbErr) -> Self {
        if is_canceled(&error) {
            Self::late()
        } else if is_connection(&error) || is_full(&error) {
            Self::Unavailable(error.to_string())
        } else {
            Self::Failed(error.to_string())
        }
    }
}

/// A commit that nothing should have stood in the way of.
impl From<CommitError> for StoreError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Unavailable(message) => Self::Unavailable(message),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<StoreError> for domain::error::Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::busy(RETRY_AFTER),
            StoreError::Failed(log) => Self::internal(log),
        }
    }
}

/// Why a change was not committed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A statement met another number of rows than it expected, or a row that it refers to is gone: what the change
    /// was decided on is no longer there. Load, decide again.
    #[error("decided on a state that is no longer there")]
    Stale,
    /// A row with the same unique values exists already.
    #[error("a row with these values exists: {constraint}")]
    Duplicate {
        /// The constraint as the database names it: `table.column, …` on SQLite, the index's name on PostgreSQL.
        constraint: String,
    },
    /// PostgreSQL can't keep an entry of an index that is as long as the change would make it.
    #[error("too long for an index of the database: {0}")]
    TooLong(String),
    /// The database is away, has a full disk, or too much waits for it. When the message says so, the outcome is unknown.
    #[error("the store can't be reached: {0}")]
    Unavailable(String),
    /// The database refused the change: a defect.
    #[error("the store failed: {0}")]
    Failed(String),
}

impl From<CommitError> for domain::error::Error {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Stale | CommitError::Duplicate { .. } => Self::Stale,
            CommitError::TooLong(_) => Self::bad_request("key_too_long", KEY_TOO_LONG),
            CommitError::Unavailable(_) => Self::busy(RETRY_AFTER),
            CommitError::Failed(log) => Self::internal(log),
        }
    }
}

impl From<DbErr> for CommitError {
    fn from(error: DbErr) -> Self {
        match error.sql_err() {
            Some(SqlErr::UniqueConstraintViolation(message)) => {
                Self::Duplicate { constraint: constraint(&error).unwrap_or(message) }
            }
            Some(SqlErr::ForeignKeyConstraintViolation(_)) => Self::Stale,
            _ if is_too_long(&error) => Self::TooLong(error.to_string()),
            _ if is_connection(&error) || is_full(&error) => Self::Unavailable(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// Whether an entry of an index would be longer than a third of one of PostgreSQL's pages, compressed.
fn is_too_long(error: &DbErr) -> bool {
    const PROGRAM_LIMIT_EXCEEDED: &str = "54000";
    database_error(error)
        .and_then(|database| database.code().map(|code| code == PROGRAM_LIMIT_EXCEEDED))
        .unwrap_or(false)
}

/// The violated constraint's name; SQLite gives it in its message only.
fn constraint(error: &DbErr) -> Option<String> {
    let database = database_error(error)?;
    match database.constraint() {
        Some(name) => Some(name.to_owned()),
        None => database.message().rsplit_once("failed: ").map(|(_, name)| name.to_owned()),
    }
}

fn sqlx_error(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => Some(error),
        _ => None,
    }
}

fn database_error(error: &DbErr) -> Option<&dyn sqlx::error::DatabaseError> {
    match sqlx_error(error)? {
        sqlx::Error::Database(database) => Some(database.as_ref()),
        _ => None,
    }
}

/// PostgreSQL's classes 08 (connection), 53 (resources) and 57P (shut-down); that SQLite is busy, can't open its file, or
/// is failed by the disk. Not a defect of ours.
fn is_away(code: &str) -> bool {
    if code.len() == SQLSTATE_LEN {
        code.starts_with("08") || code.starts_with("53") || code.starts_with("57P")
    } else {
        matches!(sqlite_code(code), Some(SQLITE_BUSY | SQLITE_IOERR | SQLITE_CANTOPEN))
    }
}

/// Whether the disk has no room for what was to be written.
pub(crate) fn is_full(error: &DbErr) -> bool {
    const DISK_FULL: &str = "53100";
    let is_full =
        |code: &str| code == DISK_FULL || code.len() != SQLSTATE_LEN && sqlite_code(code) == Some(SQLITE_FULL);
    database_error(error).and_then(|database| database.code().map(|code| is_full(&code))).unwrap_or(false)
}

/// Whether another program holds a lock of SQLite's.
pub(crate) fn is_busy(error: &DbErr) -> bool {
    database_error(error).and_then(|database| database.code().map(|code| is_busy_code(&code))).unwrap_or(false)
}

fn is_busy_code(code: &str) -> bool {
    sqlite_code(code) == Some(SQLITE_BUSY)
}

/// A plain code of SQLite's: the low byte of an extended one.
fn sqlite_code(code: &str) -> Option<u16> {
    code.parse::<u16>().ok().map(|code| code & 0xff)
}

/// Whether PostgreSQL broke a statement off because it took too long.
fn is_canceled(error: &DbErr) -> bool {
    const QUERY_CANCELED: &str = "57014";
    database_error(error).and_then(|database| database.code().map(|code| code == QUERY_CANCELED)).unwrap_or(false)
}

/// Whether two transactions of PostgreSQL's got in each other's way: either may simply be run again.
pub(crate) fn is_collision(error: &DbErr) -> bool {
    const SERIALIZATION_FAILURE: &str = "40001";
    const DEADLOCK: &str = "40P01";
    database_error(error)
        .and_then(|database| database.code().map(|code| code == SERIALIZATION_FAILURE || code == DEADLOCK))
        .unwrap_or(false)
}

/// Whether the database itself said no, so that what it was asked for has certainly not happened.
pub(crate) fn is_refusal(error: &DbErr) -> bool {
    database_error(error).is_some()
}

/// Whether the database was out of reach, rather than displeased.
pub(crate) fn is_connection(error: &DbErr) -> bool {
    match error {
        DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
        _ => match sqlx_error(error) {
            Some(sqlx::Error::Database(database)) => database.code().is_some_and(|code| is_away(&code)),
            Some(
                sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::Protocol(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed,
            ) => true,
            _ => false,
        },
    }
}
