//! The connections that read SQLite without a thread of their own.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, ToSql,
    config::DbConfig,
    types::{ToSqlOutput, Value as Owned, ValueRef},
};
use sea_orm::{DbBackend, Statement, Value};
use tokio::sync::Semaphore;

use super::columns::{Kind, Wanted};
use crate::{StoreError, deadline};

/// Prepared statements that a connection keeps.
const STATEMENTS_KEPT: usize = 512;
/// How often a read is asked whether to go on, in steps of SQLite's machine.
const STEPS_PER_QUESTION: i32 = 10_000;
/// How many of these questions a read that stands in the way of others may hear: with three it takes about a millisecond.
const QUESTIONS_MAX: u32 = 3;
/// How long a read on a thread of its own waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The connections; a cheap handle. There are as many as reads run at the same time.
#[derive(Clone, Debug)]
pub(crate) struct SqliteReader {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// Reads that run on a thread of their own.
    long: Arc<Semaphore>,
    /// How long one of these may take at most.
    timeout: Duration,
    /// Where the connection goes back to that reads what there was at one moment.
    home: Option<Arc<Parts>>,
}

impl Drop for Parts {
    fn drop(&mut self) {
        let Some(home) = self.home.take() else { return };
        let ended = |connection: &Connection| connection.execute_batch("ROLLBACK").is_ok();
        home.idle.lock().extend(self.idle.get_mut().drain(..).filter(ended));
    }
}

impl SqliteReader {
    /// Reads of the database at `path`, which must exist; at most `long_max` long ones at the same time, for `timeout`.
    pub fn open(path: &Path, long_max: u32, timeout: Duration) -> Result<Self, StoreError> {
        let long = Arc::new(Semaphore::new(long_max.max(1) as usize));
        let parts = Parts { path: path.to_owned(), idle: Mutex::default(), long, timeout, home: None };
        let reader = Self { parts: Arc::new(parts) };
        let connection = reader.parts.connect().map_err(|error| failed(&error))?;
        reader.parts.idle.lock().push(connection);
        Ok(reader)
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let statement = Statement::from_string(DbBackend::Sqlite, "SELECT 1");
        self.rows(statement, Vec::new(), |_| Ok(())).await.map(drop)
    }

    /// Reads of what there is at the first of them; one after the other, on one connection.
    pub fn snapshot(&self) -> Result<Self, StoreError> {
        let idle = self.parts.idle.lock().pop();
        let begun = idle.map_or_else(|| self.parts.connect(), Ok).and_then(|connection| {
            connection.execute_batch("BEGIN")?;
            Ok(connection)
        });
        let parts = Parts {
            path: self.parts.path.clone(),
            idle: Mutex::new(vec![begun.map_err(|error| failed(&error))?]),
            long: Arc::clone(&self.parts.long),
            timeout: self.parts.timeout,
            home: Some(Arc::clone(&self.parts)),
        };
        Ok(Self { parts: Arc::new(parts) })
    }

    /// Closes the connections; a read after this opens its own.
    pub fn close(&self) {
        self.parts.idle.lock().clear();
    }

    /// Every row that a statement selects, as `read` reads the wanted columns.
    pub async fn rows<T: Send + 'static>(
        &self,
        statement: Statement,
        wanted: Vec<Wanted>,
        read: fn(Vec<Value>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        match self.parts.rows(&statement, &wanted, read, Patience::Short) {
            Err(error) if is_long(&error) => self.many_rows(statement, wanted, read).await,
            outcome => outcome.map_err(|error| failed(&error))?,
        }
    }

    /// The same of a statement that is known to select many: on a thread of its own from the start.
    pub async fn many_rows<T: Send + 'static>(
        &self,
        statement: Statement,
        wanted: Vec<Wanted>,
        read: fn(Vec<Value>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let deadline = deadline::of_read(self.parts.timeout);
        let turn = tokio::time::timeout_at(deadline.into(), Arc::clone(&self.parts.long).acquire_owned()).await;
        let turn = turn.map_err(|_| StoreError::late())?.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let parts = Arc::clone(&self.parts);
        let patience = Patience::Until(deadline);
        let reading = tokio::task::spawn_blocking(move || {
            // Held for as long as the read runs, also when nobody waits for it any more.
            let _turn = turn;
            parts.rows(&statement, &wanted, read, patience)
        });
        let outcome = reading.await.map_err(|error| StoreError::Failed(error.to_string()))?;
        outcome.map_err(|error| if is_long(&error) { StoreError::late() } else { failed(&error) })?
    }
}

impl Parts {
    fn rows<T>(
        &self,
        statement: &Statement,
        wanted: &[Wanted],
        read: fn(Vec<Value>) -> Result<T, StoreError>,
        patience: Patience,
    ) -> rusqlite::Result<Result<Vec<T>, StoreError>> {
        let idle = self.idle.lock().pop();
        let connection = idle.map_or_else(|| self.connect(), Ok)?;
        patience.apply(&connection)?;
        let rows = rows(&connection, statement, wanted, read);
        self.idle.lock().push(connection);
        rows
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        // Otherwise a bound LIMIT has SQLite plan its statement anew at every run.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }
}

/// How long a read may take.
#[derive(Clone, Copy)]
enum Patience {
    /// It stands in the way of other work of its thread.
    Short,
    /// It has a thread of its own, and is of use until then.
    Until(Instant),
}

impl Patience {
    fn apply(self, connection: &Connection) -> rusqlite::Result<()> {
        match self {
            Self::Short => {
                let mut left = QUESTIONS_MAX;
                let is_enough = move || {
                    left = left.saturating_sub(1);
                    left == 0
                };
                connection.progress_handler(STEPS_PER_QUESTION, Some(is_enough))?;
                connection.busy_timeout(Duration::ZERO)
            }
            Self::Until(deadline) => {
                connection.progress_handler(STEPS_PER_QUESTION, Some(move || Instant::now() >= deadline))?;
                connection.busy_timeout(deadline.saturating_duration_since(Instant::now()).min(BUSY_TIMEOUT))
            }
        }
    }
}

/// Whether a read would have gone on with more patience.
fn is_long(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::OperationInterrupted | ErrorCode::DatabaseBusy))
}

fn failed(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => {
            StoreError::Unavailable(error.to_string())
        }
        _ => StoreError::Failed(error.to_string()),
    }
}

/// The rows, as they are read one by one: the values of one are gone before those of the next are there.
fn rows<T>(
    connection: &Connection,
    statement: &Statement,
    wanted: &[Wanted],
    read: fn(Vec<Value>) -> Result<T, StoreError>,
) -> rusqlite::Result<Result<Vec<T>, StoreError>> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    for (at, value) in statement.values.iter().flat_map(|values| &values.0).enumerate() {
        prepared.raw_bind_parameter(at + 1, Bound(value))?;
    }
    let place = |(next, wanted): (usize, &Wanted)| wanted.name.map_or(Ok(next), |name| prepared.column_index(name));
    let places = wanted.iter().enumerate().map(place).collect::<rusqlite::Result<Vec<_>>>()?;
    let mut rows = prepared.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut values = Vec::with_capacity(places.len());
        for (place, wanted) in places.iter().zip(wanted) {
            values.push(column(wanted.kind, row.get_ref(*place)?));
        }
        match read(values) {
            Ok(row) => found.push(row),
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(found))
}

/// A column's value. One that is not of this kind stays as it is, and whoever reads it refuses it.
fn column(kind: Kind, value: ValueRef<'_>) -> Value {
    match (kind, value) {
        (Kind::Boolean, ValueRef::Null) => Value::Bool(None),
        (Kind::Integer, ValueRef::Null) => Value::Int(None),
        (Kind::BigInteger, ValueRef::Null) => Value::BigInt(None),
        (Kind::Real, ValueRef::Null) => Value::Double(None),
        (Kind::Text, ValueRef::Null) => Value::String(None),
        (Kind::Bytes, ValueRef::Null) => Value::Bytes(None),
        (Kind::Boolean, ValueRef::Integer(number)) => Value::Bool(Some(number != 0)),
        (Kind::Integer, ValueRef::Integer(number)) => {
            i32::try_from(number).map_or(Value::BigInt(Some(number)), |number| Value::Int(Some(number)))
        }
        (_, ValueRef::Integer(number)) => Value::BigInt(Some(number)),
        (_, ValueRef::Real(number)) => Value::Double(Some(number)),
        (_, ValueRef::Text(text)) => match std::str::from_utf8(text) {
            Ok(text) => Value::String(Some(text.to_owned())),
            // No text at all: better refused than read as another one.
            Err(_) => Value::Bytes(Some(text.to_vec())),
        },
        (_, ValueRef::Blob(bytes)) => Value::Bytes(Some(bytes.to_vec())),
    }
}

/// A value of a statement, as SQLite takes it.
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let integer = |number: Option<i64>| Ok(ToSqlOutput::Owned(number.map_or(Owned::Null, Owned::Integer)));
        match self.0 {
            Value::Bool(flag) => integer(flag.map(i64::from)),
            Value::Int(number) => integer(number.map(i64::from)),
            Value::Unsigned(number) => integer(number.map(i64::from)),
            Value::BigInt(number) => integer(*number),
            Value::BigUnsigned(number) => integer(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX))),
            Value::Double(number) => Ok(ToSqlOutput::Owned(number.map_or(Owned::Null, Owned::Real))),
            Value::String(Some(text)) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))),
            Value::Bytes(Some(bytes)) => Ok(ToSqlOutput::Borrowed(ValueRef::Blob(bytes))),
            Value::String(None) | Value::Bytes(None) => integer(None),
            other => Err(rusqlite::Error::ToSqlConversionFailure(format!("a read is given {other:?}").into())),
        }
    }
}
