//! How the two databases are connected to.

use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode,
    TransactionOptions, TransactionTrait, sqlx,
};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use crate::{StoreError, StoreOptions};

/// How long SQLite waits for another process's lock (a backup, a second program).
const SQLITE_BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// Prepared statements that a connection keeps: multi-row inserts come in several sizes.
const STATEMENTS_KEPT: usize = 512;

/// A connection of PostgreSQL's that was idle for longer is tried before it is used.
const PING_AFTER_IDLE: std::time::Duration = std::time::Duration::from_secs(1);
/// Groups of two nodes may take the same rows in opposite orders. PostgreSQL looks for that after a second only; who may
/// change it (a superuser) has it look sooner.
const DETECT_DEADLOCKS_SOON: &str = "SELECT set_config('deadlock_timeout', '100ms', false) FROM pg_roles \
                                     WHERE rolname = current_user AND rolsuper";

/// The connections of one store.
pub(crate) struct Connections {
    /// Many, for reads.
    pub reader: DatabaseConnection,
    /// One on SQLite, one per lane on PostgreSQL; only the writer and the migrations use them.
    pub writer: DatabaseConnection,
}

impl Connections {
    /// Connects to what `options.url` names.
    pub async fn open(options: &StoreOptions) -> Result<Self, StoreError> {
        if options.url.starts_with("sqlite:") {
            make_private(&options.url)?;
            let writer = Database::connect(sqlite(options, Use::Write)).await?;
            let reader = Database::connect(sqlite(options, Use::Read)).await?;
            Ok(Self { reader, writer })
        } else if options.url.starts_with("postgres:") || options.url.starts_with("postgresql:") {
            let writer = Database::connect(postgres(options, options.write_lanes)).await?;
            let reader = Database::connect(postgres(options, options.read_connections)).await?;
            Ok(Self { reader, writer })
        } else {
            Err(StoreError::Failed("the database's URL must start with sqlite: or postgres:".into()))
        }
    }

    /// Closes all of them.
    pub async fn close(&self) {
        for connection in [&self.reader, &self.writer] {
            if let Err(error) = connection.close_by_ref().await {
                tracing::warn!(%error, "a database connection did not close cleanly");
            }
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
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

fn sqlite(options: &StoreOptions, usage: Use) -> ConnectOptions {
    let mut connect = common(options, if usage == Use::Write { 1 } else { options.read_connections });
    // An idle connection costs nothing, and a new one its prepared statements.
    connect.idle_timeout(None).max_lifetime(None);
    connect.map_sqlx_sqlite_opts(move |sqlite: SqliteConnectOptions| {
        sqlite
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(SQLITE_BUSY_TIMEOUT)
            .statement_cache_capacity(STATEMENTS_KEPT)
            .pragma("query_only", if usage == Use::Read { "on" } else { "off" })
    });
    connect
}

/// Makes the file that SQLite is to make, so that only its owner reads it; what SQLite puts beside it has the same mode.
fn make_private(url: &str) -> Result<(), StoreError> {
    let options = url.parse::<SqliteConnectOptions>();
    let options = options.map_err(|error| StoreError::Failed(format!("the database's URL can't be read: {error}")))?;
    if !url.contains("mode=rwc") {
        return Ok(());
    }
    let mut file = std::fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    match file.open(options.get_filename()) {
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
