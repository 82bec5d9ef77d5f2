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

/// How fast writes were, and what each took of the processors.
#[derive(Clone, Copy)]
struct Rate {
    per_s: f64,
    cpu_us: f64,
}

/// Counts writes from now on.
struct Stopwatch {
    started: Instant,
    cpu: Duration,
}

impl Stopwatch {
    fn start() -> Result<Self> {
        Ok(Self { started: Instant::now(), cpu: cpu_time()? })
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn rate(&self, count: u64) -> Result<Rate> {
        let per_s = count as f64 / self.started.elapsed().as_secs_f64();
        Ok(Rate { per_s, cpu_us: (cpu_time()? - self.cpu).as_secs_f64() * 1e6 / count as f64 })
    }
}

/// What this process has taken of the processors so far.
fn cpu_time() -> Result<Duration> {
    /// Of every Linux that this runs on.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("no CPU time")?;
    let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u32>).sum::<std::result::Result<u32, _>>()?;
    Ok(TICK * ticks)
}

/// The rates of every round but the first.
#[derive(Default)]
struct Rates {
    grouped: Vec<Rate>,
    single: Vec<Rate>,
    raw: Vec<Rate>,
}

impl Rates {
    fn add(&mut self, round: usize, database: &str, [grouped, single, raw]: [Rate; 3]) {
        let show = |Rate { per_s, cpu_us }: Rate| format!("{per_s:.0}/s ({cpu_us:.0} us of CPU each)");
        let (shown_grouped, shown_single, shown_raw) = (show(grouped), show(single), show(raw));
        println!("{database}, round {round}: grouped {shown_grouped}, one by one {shown_single}, bare {shown_raw}");
        if round > 0 {
            self.grouped.push(grouped);
            self.single.push(single);
            self.raw.push(raw);
        }
    }

    fn report(&self, prefix: &str, report: &mut Report) {
        let to = |others: &[Rate]| {
            median(self.grouped.iter().zip(others).map(|(grouped, other)| grouped.per_s / other.per_s))
        };
        report.ratio(format!("{prefix}grouped_to_single"), to(&self.single));
        report.ratio(format!("{prefix}grouped_to_raw"), to(&self.raw));
        for (name, rates) in [("grouped", &self.grouped), ("single", &self.single), ("raw", &self.raw)] {
            report.figure(format!("{prefix}{name}_per_s"), median(rates.iter().map(|rate| rate.per_s)));
            report.figure(format!("{prefix}{name}_cpu_us"), median(rates.iter().map(|rate| rate.cpu_us)));
        }
    }
}

/// Writes `count` times with `writers` at once.
async fn rate<F>(writers: u64, count: u64, write: impl Fn() -> F + Clone + Send + 'static) -> Result<Rate>
where
    F: Future<Output = Result<()>> + Send,
{
    let left = Arc::new(AtomicU64::new(count));
    let stopwatch = Stopwatch::start()?;
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
    stopwatch.rate(count)
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
async fn grouped(store: &Store, count: u64) -> Result<Rate> {
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
async fn single(connection: &DatabaseConnection, count: u64) -> Result<Rate> {
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
