//! Migrated schemas of PostgreSQL that tests of this process take, empty and give back: migrating takes longer than nearly any test.
//!
//! A schema is renamed when it comes back, so whatever a test left running finds no table of the next one. One whose tables a test
//! changed is dropped. What a process leaves at its end is dropped by the next one that starts.

use std::{
    future::Future,
    sync::{Mutex, OnceLock, PoisonError},
};

use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend, DbErr, Statement};
use tokio::runtime::Runtime;

use super::{DATABASE_URL_VARIABLE, Scratch, name};
use crate::{Clock, Store, StoreError};

/// What the names of all schemas of the pool begin with.
const PREFIX: &str = "troupe_pool";

/// A schema with the tables that the migrations make.
#[derive(Debug)]
pub(super) struct Migrated {
    /// The schema's name.
    pub name: String,
    /// What its tables looked like when they were made.
    shape: String,
}

struct Pool {
    runtime: Runtime,
    database: String,
    /// Named after the pool, so that other processes see that its schemas are still somebody's.
    connection: DatabaseConnection,
    free: Mutex<Vec<Migrated>>,
}

/// A schema that is as the migrations leave it, in the database that [`DATABASE_URL_VARIABLE`] names.
pub(super) async fn take() -> Result<Migrated, StoreError> {
    let pool = pool()?;
    let free = pool.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
    match free {
        Some(schema) => Ok(schema),
        None => pool.runtime.spawn(make(pool)).await.map_err(failed)?,
    }
}

/// Empties the schema for the next test; blocks until that is done.
pub(super) fn give_back(schema: Migrated) {
    let Some(Ok(pool)) = POOL.get() else { return };
    let given = on_a_thread(pool, async move {
        let fresh = Migrated { name: fresh_name(), shape: schema.shape };
        match renew(&pool.connection, &schema.name, &fresh).await {
            Ok(true) => pool.free.lock().unwrap_or_else(PoisonError::into_inner).push(fresh),
            Ok(false) | Err(_) => {
                for name in [schema.name, fresh.name] {
                    let _ = drop_schema(&pool.connection, &name).await;
                }
            }
        }
    });
    let _ = given.join();
}

static POOL: OnceLock<Result<Pool, String>> = OnceLock::new();

fn pool() -> Result<&'static Pool, StoreError> {
    // A thread of its own, because whoever asks first may be within a runtime.
    let opened = || std::thread::spawn(open).join().unwrap_or_else(|_| Err("the pool panicked".to_owned()));
    POOL.get_or_init(opened).as_ref().map_err(failed)
}

fn open() -> Result<Pool, String> {
    let database = std::env::var(DATABASE_URL_VARIABLE).map_err(|error| format!("{DATABASE_URL_VARIABLE}: {error}"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut options = ConnectOptions::new(named(&database, &format!("application_name={}", owner())));
    options.min_connections(1).max_connections(4).sqlx_logging(false);
    let connection = runtime.block_on(Database::connect(options)).map_err(|error| error.to_string())?;
    runtime.block_on(drop_what_others_left(&connection)).map_err(|error| error.to_string())?;
    Ok(Pool { runtime, database, connection, free: Mutex::default() })
}

fn on_a_thread(pool: &'static Pool, what: impl Future<Output = ()> + Send + 'static) -> std::thread::JoinHandle<()> {
    std::thread::spawn(|| pool.runtime.block_on(what))
}

/// What this process is called among the connections of the database.
fn owner() -> &'static str {
    static OWNER: OnceLock<String> = OnceLock::new();
    OWNER.get_or_init(|| name().replacen("troupe_test", PREFIX, 1))
}

/// A name that no schema has had before.
fn fresh_name() -> String {
    let name = name();
    let number = name.rsplit('_').next().unwrap_or_default();
    format!("{}_{number}", owner())
}

/// The URL of the schema `name` in the database at `database`.
pub(super) fn url(database: &str, name: &str) -> String {
    named(database, &format!("options=-csearch_path%3D{name}&application_name={name}"))
}

fn named(database: &str, parameters: &str) -> String {
    let separator = if database.contains('?') { '&' } else { '?' };
    format!("{database}{separator}{parameters}")
}

async fn make(pool: &'static Pool) -> Result<Migrated, StoreError> {
    let name = fresh_name();
    pool.connection.execute_unprepared(&format!("CREATE SCHEMA {name}")).await?;
    let scratch = Scratch::bare(url(&pool.database, &name))?;
    let store = Store::connect(&scratch.options(), Clock::system()).await?;
    let migrated = store.migrate().await;
    store.close().await;
    migrated?;
    let filled = text(&pool.connection, &filled_tables(&name)).await?;
    if filled.is_empty() {
        let shape = shape(&pool.connection, &name).await?;
        Ok(Migrated { name, shape })
    } else {
        Err(failed(format!("migrations write rows, which a schema loses when it is emptied: {filled}")))
    }
}

/// Gives the schema the name of `fresh` and empties its tables; whether they still look as they did when they were made.
async fn renew(connection: &DatabaseConnection, old: &str, fresh: &Migrated) -> Result<bool, StoreError> {
    end_connections(connection, old).await?;
    connection.execute_unprepared(&format!("ALTER SCHEMA {old} RENAME TO {}", fresh.name)).await?;
    if shape(connection, &fresh.name).await? != fresh.shape {
        return Ok(false);
    }
    let emptying = text(connection, &emptying(&fresh.name)).await?;
    connection.execute_unprepared(&emptying).await?;
    connection.execute_unprepared(&restart_numbers(&fresh.name)).await?;
    Ok(true)
}

/// A task that a test left behind may hold locks.
pub(super) async fn end_connections(connection: &DatabaseConnection, name: &str) -> Result<(), DbErr> {
    let of_it = format!("FROM pg_stat_activity WHERE application_name = '{name}'");
    connection.execute_unprepared(&format!("SELECT pg_terminate_backend(pid) {of_it}")).await.map(drop)
}

pub(super) async fn drop_schema(connection: &DatabaseConnection, name: &str) -> Result<(), DbErr> {
    connection.execute_unprepared(&format!("DROP SCHEMA IF EXISTS {name} CASCADE")).await.map(drop)
}

/// Drops the schemas of pools whose processes are gone.
async fn drop_what_others_left(connection: &DatabaseConnection) -> Result<(), StoreError> {
    let left = format!(
        "SELECT COALESCE(string_agg(nspname::text, ' '), '') FROM pg_namespace WHERE starts_with(nspname::text, '{PREFIX}_') \
         AND NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name LIKE '{PREFIX}%' \
         AND (application_name = nspname OR starts_with(nspname::text, application_name || '_')))"
    );
    for name in text(connection, &left).await?.split_whitespace() {
        // Another process may be dropping the same.
        let _ = drop_schema(connection, name).await;
    }
    Ok(())
}

/// Answers the names of tables with rows, with commas between; not that of the migrations that ran.
fn filled_tables(schema: &str) -> String {
    format!(
        "SELECT COALESCE(string_agg(format('%I.%I', schemaname, tablename), ', '), '') FROM pg_tables \
         WHERE schemaname = '{schema}' AND tablename <> 'seaql_migrations' AND \
         (xpath('/row/filled/text()', query_to_xml(format('SELECT EXISTS (SELECT 1 FROM %I.%I) AS filled', schemaname, tablename), \
         false, true, '')))[1]::text = 'true'"
    )
}

/// Answers statements that empty the tables that have files: few rows are deleted, as another file for a table and for each of its
/// indexes takes many times as long; many are truncated, lest the file keeps its size.
fn emptying(schema: &str) -> String {
    format!(
        "SELECT COALESCE(string_agg(CASE WHEN pg_relation_size(oid) > 256 * 1024 THEN 'TRUNCATE ' ELSE 'DELETE FROM ' END \
         || oid::regclass, '; '), '') FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r' \
         AND relname <> 'seaql_migrations' AND pg_relation_size(oid) > 0"
    )
}

fn restart_numbers(schema: &str) -> String {
    format!(
        "DO $$ DECLARE used record; BEGIN FOR used IN SELECT sequencename FROM pg_sequences \
         WHERE schemaname = '{schema}' AND last_value IS NOT NULL \
         LOOP EXECUTE format('ALTER SEQUENCE {schema}.%I RESTART', used.sequencename); END LOOP; END $$"
    )
}

/// One text that says of all tables and indexes which columns of which types they have.
async fn shape(connection: &DatabaseConnection, schema: &str) -> Result<String, StoreError> {
    let columns = "string_agg(concat_ws(' ', relname, attname, atttypid, attnotnull), ',' ORDER BY relname, attnum)";
    let sql = format!(
        "SELECT COALESCE(md5({columns}), '') FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid \
         JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE nspname = '{schema}' AND attnum > 0 AND NOT attisdropped"
    );
    text(connection, &sql).await
}

async fn text(connection: &DatabaseConnection, sql: &str) -> Result<String, StoreError> {
    let row = connection.query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await?;
    let row = row.ok_or_else(|| failed("no row"))?;
    Ok(row.try_get_by_index(0)?)
}

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("no schema for a test: {error}"))
}
