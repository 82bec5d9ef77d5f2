//! How the two databases are connected to.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

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
    reader::{PoolReader, Reader, SqliteReader},
};

/// How long SQLite waits for another process's lock (a backup, a second program).
const SQLITE_BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long it is left alone then, where it doesn't wait by itself.
const SQLITE_BUSY_PAUSE: Duration = Duration::from_millis(10);
/// Prepared statements that a connection keeps: multi-row inserts come in several sizes.
const STATEMENTS_KEPT: usize = 512;

/// How much of SQLite's file its writer keeps in memory at most, in KiB, as the pragma takes it.
const WRITER_CACHE: &str = "-16384";

/// Connections for the look-ups of credentials, each of which takes one row by its index.
const CREDENTIAL_CONNECTIONS: u32 = 2;
/// A connection of PostgreSQL's that was idle for longer is tried before it is used.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);
/// Groups of two nodes may take the same rows in opposite orders. PostgreSQL looks for that after a second only; who may
/// change it (a superuser) has it look sooner.
const DETECT_DEADLOCKS_SOON: &str = "SELECT set_config('deadlock_timeout', '100ms', false) FROM pg_roles \
                                     WHERE rolname = current_user AND rolsuper";
/// How many milliseconds a statement may take.
const LIMIT_STATEMENTS: &str = "SELECT set_config('statement_timeout', $1, false)";

/// PostgreSQL remarks on what it skips (`relation "seaql_migrations" already exists`), and the driver logs every remark as if
/// it were ours.
const NO_NOTICES: &str = "SELECT set_config('client_min_messages', 'warning', false)";

/// Leaves SQLite no page to write to, for tests: less than what the database has, it never has.
pub(crate) const FILL_THE_DISK: &str = "PRAGMA max_page_count = 1";
/// As many pages as SQLite lets a database have.
pub(crate) const MAKE_ROOM: &str = "PRAGMA max_page_count = 4294967294";

/// The connections of one store.
pub(crate) struct Connections {
    /// Many, for reads.
    pub reader: Reader,
    /// A few for the look-ups of credentials, so that these never wait for other reads.
    pub credential_reader: Reader,
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
            let reader = |count| SqliteReader::open(&file, count, options.read_timeout).map(Reader::Sqlite);
            let (reader, credential_reader) = (reader(options.read_connections)?, reader(CREDENTIAL_CONNECTIONS)?);
            Ok(Self { reader, credential_reader, writer })
        } else if options.url.starts_with("postgres:") || options.url.starts_with("postgresql:") {
            let writer = Database::connect(postgres(options, options.write_lanes, None)).await?;
            let reader = postgres_reader(options, options.read_connections).await?;
            let credential_reader = postgres_reader(options, CREDENTIAL_CONNECTIONS).await?;
            Ok(Self { reader, credential_reader, writer })
        } else {
            Err(StoreError::Failed("the database's URL must start with sqlite: or postgres:".into()))
        }
    }

    /// Closes all of them.
    pub async fn close(&self) {
        let closed = [
            self.reader.close().await,
            self.credential_reader.close().await,
            self.writer.close_by_ref().await.map_err(StoreError::from),
        ];
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
            // The writer makes its checkpoints beside its commits, has no files for what is soon gone, and finds in memory the
            // pages that it wrote lately. A reader's would be dropped at every commit.
            .pragma("wal_autocheckpoint", "0")
            .pragma("temp_store", "MEMORY")
            .pragma("cache_size", WRITER_CACHE)
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
pub(crate) fn make_private(url: &str, path: &Path) -> Result<(), StoreError> {
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

async fn postgres_reader(options: &StoreOptions, connections: u32) -> Result<Reader, StoreError> {
    let pool = Database::connect(postgres(options, connections, Some(options.read_timeout))).await?;
    Ok(Reader::Pool(PoolReader::new(pool, options.read_timeout)))
}

/// Connections whose statements PostgreSQL breaks off after `timeout`. They are told so once, when they are opened, so that
/// no read takes a round trip more.
fn postgres(options: &StoreOptions, connections: u32, timeout: Option<Duration>) -> ConnectOptions {
    let mut connect = common(options, connections);
    connect.test_before_acquire_if_idle_for(PING_AFTER_IDLE);
    connect.map_sqlx_postgres_opts(|postgres| postgres.statement_cache_capacity(STATEMENTS_KEPT));
    connect.map_sqlx_postgres_pool_opts(move |pool| {
        pool.after_connect(move |connection, _| {
            Box::pin(async move {
                sqlx::query(NO_NOTICES).execute(&mut *connection).await?;
                if let Some(timeout) = timeout {
                    let limit = sqlx::query(LIMIT_STATEMENTS).bind(timeout.as_millis().to_string());
                    limit.execute(&mut *connection).await?;
                }
                sqlx::query(DETECT_DEADLOCKS_SOON).execute(connection).await.map(drop)
            })
        })
    });
    connect
}
