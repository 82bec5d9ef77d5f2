//! What group commit is worth: durable writes per second of many writers, grouped, against one transaction each, and
//! against the bare database with 100 rows a transaction.

mod postgres;
mod sqlite;

use std::{
    env,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use domain::id::KeptId;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, TransactionTrait};
use store::{Change, Clock, KeptMessage, Store};

use crate::report::{Report, Result, median};

/// Who writes at the same time, each waiting for its write before the next.
const WRITERS: u64 = 128;
/// Rows of one transaction of the bare database.
const ROWS: u64 = 100;
/// How often the candidates take turns; the first round only warms up.
const ROUNDS: usize = 6;
/// One row into the table that all of them write to.
const INSERT: &str = "INSERT INTO kept_messages (id, gateway, channel, recipient, subject, body, created_at) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7)";

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Measures.
pub fn run() -> Result<Report> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut report = Report::new("commit");
    runtime.block_on(sqlite::measure(&mut report))?;
    let url = ["TROUPE_BENCH_DATABASE_URL", store::testing::DATABASE_URL_VARIABLE];
    match url.iter().find_map(|variable| env::var(variable).ok().filter(|url| !url.is_empty())) {
        Some(url) => runtime.block_on(postgres::measure(&url, &mut report))?,
        None => println!("PostgreSQL: not measured, because {} is not set", url[0]),
    }
    Ok(report)
}

/// The rates of every round but the first, in writes per second.
#[derive(Default)]
struct Rates {
    grouped: Vec<f64>,
    single: Vec<f64>,
    raw: Vec<f64>,
}

impl Rates {
    fn add(&mut self, round: usize, database: &str, [grouped, single, raw]: [f64; 3]) {
        println!("{database}, round {round}: grouped {grouped:.0}/s, one by one {single:.0}/s, bare {raw:.0}/s");
        if round > 0 {
            self.grouped.push(grouped);
            self.single.push(single);
            self.raw.push(raw);
        }
    }

    fn report(&self, prefix: &str, report: &mut Report) {
        let to = |others: &[f64]| median(self.grouped.iter().zip(others).map(|(grouped, other)| grouped / other));
        report.ratio(format!("{prefix}grouped_to_single"), to(&self.single));
        report.ratio(format!("{prefix}grouped_to_raw"), to(&self.raw));
        for (name, rates) in [("grouped", &self.grouped), ("single", &self.single), ("raw", &self.raw)] {
            report.figure(format!("{prefix}{name}_per_s"), median(rates.iter().copied()));
        }
    }
}

/// Writes `count` times with `writers` at once; in writes per second.
async fn rate<F>(writers: u64, count: u64, write: impl Fn() -> F + Clone + Send + 'static) -> Result<f64>
where
    F: Future<Output = Result<()>> + Send,
{
    let left = Arc::new(AtomicU64::new(count));
    let started = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|_| {
            let (write, left) = (write.clone(), Arc::clone(&left));
            tokio::spawn(async move {
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
                    write().await?;
                }
                Ok::<_, Failure>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(per_second(count, started.elapsed()))
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn per_second(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

fn message() -> KeptMessage {
    KeptMessage {
        gateway: "console".into(),
        channel: "email".into(),
        recipient: "ada@example.com".into(),
        subject: Some("A new sign-in".into()),
        body: "Somebody signed in to your account from an address that we have not seen before.".into(),
        created_at: Clock::system().now(),
    }
}

/// The writers' changes through the store, merged by its writer.
async fn grouped(store: &Store, count: u64) -> Result<f64> {
    let store = store.clone();
    let write = move || {
        let store = store.clone();
        async move {
            let mut change = Change::new();
            change.kept_add(message());
            Ok(store.commit(change).await?)
        }
    };
    rate(WRITERS, count, write).await
}

/// The same, one transaction each on `connection`.
async fn single(connection: &DatabaseConnection, count: u64) -> Result<f64> {
    let connection = connection.clone();
    let write = move || {
        let connection = connection.clone();
        async move {
            let transaction = connection.begin().await?;
            transaction.execute_raw(statement(connection.get_database_backend())).await?;
            Ok(transaction.commit().await?)
        }
    };
    rate(WRITERS, count, write).await
}

fn statement(backend: sea_orm::DbBackend) -> Statement {
    let KeptMessage { gateway, channel, recipient, subject, body, created_at } = message();
    let id = KeptId::new(created_at).to_string();
    let values =
        [id.into(), gateway.into(), channel.into(), recipient.into(), subject.into(), body.into(), created_at.0.into()];
    Statement::from_sql_and_values(backend, INSERT, values)
}
