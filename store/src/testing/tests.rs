//! What tests start from is what the migrations make.

use super::*;
use crate::{reader::row, sql::Sql};

const MIGRATIONS: &str = "SELECT version AS line FROM seaql_migrations ORDER BY 1";
const SCHEMA: &str = "SELECT type || ' ' || name || ': ' || COALESCE(sql, '') AS line FROM sqlite_schema ORDER BY 1";
const SEQUENCES: &str = "SELECT name || ' ' || seq AS line FROM sqlite_sequence ORDER BY 1";
const TABLES: &str = "SELECT name AS line FROM sqlite_schema WHERE type = 'table' ORDER BY 1";

row! {
    struct Line {
        line: String,
    }
}

async fn lines(store: &Store, sql: String) -> Vec<String> {
    let rows = store.reader().rows::<Line>(&Sql::new(sql, [])).await.unwrap();
    rows.into_iter().map(|row| row.line).collect()
}

/// Which migrations ran, the schema, and how many rows each table has.
async fn description(store: &Store) -> Vec<String> {
    let mut all = Vec::new();
    for sql in [MIGRATIONS, SCHEMA, SEQUENCES] {
        all.extend(lines(store, sql.to_owned()).await);
    }
    for table in lines(store, TABLES.to_owned()).await {
        all.extend(lines(store, format!("SELECT '{table} ' || COUNT(*) AS line FROM {table}")).await);
    }
    all
}

#[tokio::test]
async fn what_tests_start_from_is_what_the_migrations_make() {
    let (copied, unmigrated) = (Scratch::sqlite().unwrap(), Scratch::unmigrated_sqlite().unwrap());
    let copied = Store::connect(&copied.options(), Clock::system()).await.unwrap();
    assert!(copied.pending_migrations().await.unwrap().is_empty());
    let made = Store::connect(&unmigrated.options(), Clock::system()).await.unwrap();
    made.migrate().await.unwrap();
    let (copied, made) = (description(&copied).await, description(&made).await);
    assert!(made.len() > 100, "{made:#?}");
    assert_eq!(copied, made);
}
