//! PostgreSQL, against what it does itself over 16 connections.

use sea_orm::{ConnectOptions, Database, DatabaseConnection, sqlx};
use store::{Clock, testing::Scratch};

use super::{Failure, ROUNDS, ROWS, Rate, Rates, grouped, message, rate, single};
use crate::report::{Report, Result};

/// Connections of the candidates without a writer.
const CONNECTIONS: u32 = 16;
/// Writes of one round.
const GROUPED_WRITES: u64 = 20_000;
const SINGLE_WRITES: u64 = 10_000;
const RAW_TRANSACTIONS: u64 = 200;

pub(super) async fn measure(database: &str, report: &mut Report) -> Result<()> {
    let scratch = Scratch::postgres(database).await?;
    let store = scratch.store(Clock::system()).await?;
    let mut options = ConnectOptions::new(scratch.url());
    options.max_connections(CONNECTIONS).min_connections(CONNECTIONS).test_before_acquire(false).sqlx_logging(false);
    let connection = Database::connect(options).await?;
    let mut rates = Rates::default();
    for round in 0..ROUNDS {
        let grouped = grouped(&store, GROUPED_WRITES).await?;
        let single = single(&connection, SINGLE_WRITES).await?;
        let raw = raw(&connection, RAW_TRANSACTIONS).await?;
        rates.add(round, "PostgreSQL", [grouped, single, raw]);
    }
    rates.report("postgres_", report);
    Ok(())
}

/// The same rows through `sqlx`, [`ROWS`] a transaction.
#[expect(clippy::cast_precision_loss, reason = "a hundred rows")]
async fn raw(connection: &DatabaseConnection, transactions: u64) -> Result<Rate> {
    let pool = connection.get_postgres_connection_pool().clone();
    let write = move || {
        let pool = pool.clone();
        async move {
            let mut transaction = pool.begin().await?;
            for _ in 0..ROWS {
                insert(&mut transaction).await?;
            }
            Ok(transaction.commit().await?)
        }
    };
    let Rate { per_s, cpu_us } = rate(u64::from(CONNECTIONS), transactions, write).await?;
    Ok(Rate { per_s: per_s * ROWS as f64, cpu_us: cpu_us / ROWS as f64 })
}

async fn insert(transaction: &mut sqlx::Transaction<'_, sqlx::Postgres>) -> std::result::Result<(), Failure> {
    let message = message();
    sqlx::query(super::INSERT)
        .bind(domain::id::KeptId::new(message.created_at).to_string())
        .bind(message.gateway)
        .bind(message.channel)
        .bind(message.recipient)
        .bind(message.subject)
        .bind(message.body)
        .bind(message.created_at.0)
        .execute(&mut **transaction)
        .await?;
    Ok(())
}
