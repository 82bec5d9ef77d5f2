//! How the two databases are connected to.

use std::path::{Path, PathBuf};

use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode,
    TransactionOptions, TransactionTrait, sqlx,
};
use sqlx::{
    Connection as _,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use crate::{
    StoreError, StoreOptions,
    error::is_busy,
    reader::{Reader, SqliteReader},
};

/// How long SQLite waits for another process's lock (a backup, a second program).
const SQLITE_BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// How long it is left alone then, where it doesn't wait by itself.
const SQLITE_BUSY_PAUSE: std::time::Duration = std::time::Duration::from_millis(10);
/// Prepared statements that a connection keeps: multi-row inserts come in several sizes.
const STATEMENTS_KEPT: usize = 512;

/// A connection of PostgreSQL's that was idle for longer is tried before it is used.
const PING_AFTER_IDLE: std::time::Duration = std::time::Duration::from_secs(1);
/// Groups of two nodes may take the same rows in opposite orders. PostgreSQL looks for that after a second only; who may
/// change it (a superuser) has it look sooner.
const DETECT_DEADLOCKS_SOON: &str = "SELECT set_config('deadlock_timeout', '100ms', false) FROM pg_roles \
                                     WHERE rolname = current_user AND rolsuper";

/// Leaves SQLite no page to write to, for tests: less than what the database has, it never has.
pub(crate) const FILL_THE_DISK: &str = "PRAGMA max_page_count = 1";
/// As many pages as SQLite lets a database have.
pub(crate) const MAKE_ROOM: &str = "PRAGMA max_page_count = 4294967294";

/// The connections of one store.
pub(crate) struct Connections {
    /// Many, for reads.
    pub reader: Reader,
    /// One on SQLite, one per lane on PostgreSQL; only the writer and the migrations use them.
    pub writer: DatabaseConnection,
}

impl Connections {
    /// Connects to what `options.url` names.
    pub async fn open(options: &StoreOptions) -> Result<Self, StoreError> {
        if options.url.starts_with("sqlite:") {
            let file = sqlite_file(&options.url)?;
            make_private(&options.url, &file)?;
            let writer = sqlite_writer(options).await?;
            // After the writer, which makes the database what it must be.
            let reader = Reader::Sqlite(SqliteReader::open(&file, options.read_connections)?);
            Ok(Self { reader, writer })
        } else if options.url.starts_with("postgres:") || options.url.starts_with("postgresql:") {
            let writer = Database::connect(postgres(options, options.write_lanes)).await?;
            let reader = Database::connect(postgres(options, options.read_connections)).await?;
            Ok(Self { reader: Reader::Pool(reader), writer })
        } else {
            Err(StoreError::Failed("the database's URL must start with sqlite: or postgres:".into()))
        }
    }

    /// Closes all of them.
    pub async fn close(&self) {
        let closed = [self.reader.close().await, self.writer.close_by_ref().await.map_err(StoreError::from)];
        for error in closed.into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "a database connection did not close cleanly");
        }
    }

    /// Which of the two databases it is.
    pub fn backend(&self) -> DbBackend {
        self.writer.get_database_backend()
    }
}

/// Begins a transaction that writes.
pub(crate) async fn begin(connection: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    let sqlite = connection.get_database_backend() == DbBackend::Sqlite;
    let options = TransactionOptions {
        // A transaction that takes the lock at its first write only can lose it to another program's before.
        sqlite_transaction_mode: sqlite.then_some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    connection.begin_with_options(options).await
}

fn common(options: &StoreOptions, connections: u32) -> ConnectOptions {
    let mut connect = ConnectOptions::new(options.url.clone());
    connect
        .max_connections(connections.max(1))
        .min_connections(1)
        .acquire_timeout(options.connect_timeout)
        .test_before_acquire(false)
        .sqlx_logging(false)
        .record_stmt_in_spans(false);
    connect
}

/// Connects to SQLite's file, again while another program is just making the same one: SQLite waits for its turn to read
/// and to write, but not for its turn to begin a write-ahead log.
async fn sqlite_writer(options: &StoreOptions) -> Result<DatabaseConnection, DbErr> {
    let patience = tokio::time::Instant::now() + SQLITE_BUSY_TIMEOUT;
    loop {
        match Database::connect(sqlite(options)).await {
            Err(error) if is_busy(&error) && tokio::time::Instant::now() < patience => {
                tokio::time::sleep(SQLITE_BUSY_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

fn sqlite(options: &StoreOptions) -> ConnectOptions {
    let mut connect = common(options, 1);
    // An idle connection costs nothing, and a new one its prepared statements.
    connect.idle_timeout(None).max_lifetime(None);
    let faults = options.faults.clone();
    connect.map_sqlx_sqlite_pool_opts(move |pool| {
        let faults = faults.clone();
        // SQLite rolls back by itself when the disk fails it, and a transaction whose commit failed may be open still.
        // Either way the connection counts one, and would run the next as a part of it: what seemed committed never were.
        let pool = pool.before_acquire(|connection, _| {
            let is_free = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_free) })
        });
        pool.after_connect(move |connection, _| {
            let is_full = faults.disk_is_full();
            Box::pin(async move {
                if is_full {
                    sqlx::query(FILL_THE_DISK).execute(connection).await?;
                }
                Ok(())
            })
        })
    });
    connect.map_sqlx_sqlite_opts(|sqlite: SqliteConnectOptions| {
        sqlite
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(SQLITE_BUSY_TIMEOUT)
            .statement_cache_capacity(STATEMENTS_KEPT)
    });
    connect
}

/// The file that a URL of SQLite names.
pub(crate) fn sqlite_file(url: &str) -> Result<PathBuf, StoreError> {
    let options = url.parse::<SqliteConnectOptions>();
    let options = options.map_err(|error| StoreError::Failed(format!("the database's URL can't be read: {error}")))?;
    Ok(options.get_filename().to_owned())
}

/// Makes the file that SQLite is to make, so that only its owner reads it; what SQLite puts beside it has the same mode.
fn make_private(url: &str, path: &Path) -> Result<(), StoreError> {
    if !url.contains("mode=rwc") {
        return Ok(());
    }
    let mut file = std::fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    match file.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::Failed(format!("the database can't be made: {error}"))),
    }
}

fn postgres(options: &StoreOptions, connections: u32) -> ConnectOptions {
    let mut connect = common(options, connections);
    connect.test_before_acquire_if_idle_for(PING_AFTER_IDLE);
    connect.map_sqlx_postgres_opts(|postgres| postgres.statement_cache_capacity(STATEMENTS_KEPT));
    connect.map_sqlx_postgres_pool_opts(|pool| {
        pool.after_connect(|connection, _| {
            Box::pin(async move { sqlx::query(DETECT_DEADLOCKS_SOON).execute(connection).await.map(drop) })
        })
    });
    connect
}
