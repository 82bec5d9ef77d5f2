//! SQLite with `synchronous=FULL`.

use std::path::Path;

use domain::id::KeptId;
use rusqlite::{Connection, params};
use sea_orm::{ConnectOptions, Database, DatabaseConnection};
use store::{Clock, KeptMessage, testing::Scratch};

use super::{INSERT, ROUNDS, ROWS, Rate, Rates, Stopwatch, grouped, message, single};
use crate::report::{Report, Result};

/// Writes of one round, so that each candidate takes about a second.
const GROUPED_WRITES: u64 = 40_000;
const SINGLE_WRITES: u64 = 4_000;
const RAW_WRITES: u64 = 100_000;

#[expect(clippy::cast_precision_loss, reason = "a mean")]
pub(super) async fn measure(report: &mut Report) -> Result<()> {
    let scratch = Scratch::sqlite()?;
    let store = scratch.store(Clock::system()).await?;
    let connection = connect(scratch.url()).await?;
    let file = scratch.folder().join("troupe.sqlite");
    let mut rates = Rates::default();
    for round in 0..ROUNDS {
        let grouped = grouped(&store, GROUPED_WRITES).await?;
        let single = single(&connection, SINGLE_WRITES).await?;
        let raw = raw(&file, RAW_WRITES)?;
        rates.add(round, "SQLite", [grouped, single, raw]);
    }
    let stats = store.writer_stats();
    report.figure("group_changes", stats.committed as f64 / stats.groups as f64);
    rates.report("", report);
    Ok(())
}

/// One connection with the settings of the store's writer.
async fn connect(url: &str) -> Result<DatabaseConnection> {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).test_before_acquire(false).sqlx_logging(false);
    options.map_sqlx_sqlite_opts(|sqlite| {
        use sea_orm::sqlx::sqlite::{SqliteJournalMode::Wal, SqliteSynchronous::Full};
        sqlite.journal_mode(Wal).synchronous(Full).foreign_keys(true)
    });
    Ok(Database::connect(options).await?)
}

/// The same rows through `rusqlite`, with nothing around it.
fn raw(file: &Path, count: u64) -> Result<Rate> {
    let rows: Vec<(String, KeptMessage)> = (0..count)
        .map(|_| {
            let message = message();
            (KeptId::new(message.created_at).to_string(), message)
        })
        .collect();
    let mut connection = Connection::open(file)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", "on")?;
    let stopwatch = Stopwatch::start()?;
    for rows in rows.chunks(usize::try_from(ROWS)?) {
        let transaction = connection.transaction()?;
        let mut insert = transaction.prepare_cached(INSERT)?;
        for (id, message) in rows {
            let KeptMessage { gateway, channel, recipient, subject, body, created_at } = message;
            insert.execute(params![id, gateway, channel, recipient, subject, body, created_at.0])?;
        }
        drop(insert);
        transaction.commit()?;
    }
    stopwatch.rate(count)
}
