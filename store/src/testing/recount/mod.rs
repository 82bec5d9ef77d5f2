//! Recounts: whether what the rows say of one another is so.
//!
//! Each answers sentences, one for each thing that is wrong, and none where all is as it has to be. They read everything,
//! and are for a store into which nothing is written meanwhile.

mod databases;
mod mail;
mod storage;

pub use self::{
    databases::databases,
    mail::mail,
    storage::{Depth, storage, unswept},
};
use crate::{
    Store, StoreError,
    reader::{Reader, row},
    sql::Sql,
};

/// Sentences of one check, at most.
const LINES_MAX: usize = 5;

row! {
    struct Line {
        line: String,
    }
}

/// Statements that select what is wrong, each with what that is.
async fn check(store: &Store, checks: &[(&str, String)]) -> Result<Vec<String>, StoreError> {
    let mut wrong = Vec::new();
    for (what, select) in checks {
        let text = format!("SELECT CAST(line AS TEXT) AS line FROM ({select}) AS wrong LIMIT {LINES_MAX}");
        let found: Vec<Line> = store.reader().rows_of_many(&Sql::new(text, [])).await?;
        wrong.extend(found.into_iter().map(|found| format!("{what}: {}", found.line)));
    }
    Ok(wrong)
}

/// Bytes as hexadecimal digits, in small letters.
fn hex(store: &Store, column: &str) -> String {
    match store.reader() {
        Reader::Sqlite(_) => format!("LOWER(HEX({column}))"),
        Reader::Pool(_) => format!("ENCODE({column}, 'hex')"),
    }
}
