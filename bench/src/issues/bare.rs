//! The baseline: the same page and the same bounded count, by statements of one's own on the program's own file, in this process,
//! without a right, a query language or an answer in JSON.

use std::{
    path::Path,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, params_from_iter, types::Value};

use super::{
    shapes::{Bound, PAGE, Shape},
    texts::word,
};
use crate::report::Result;

/// Issues that are counted one by one, as the program does.
const COUNTED: usize = 101_000;
const DAY_MS: i64 = 86_400_000;

/// The program's database.
pub struct Bare {
    connection: Connection,
    org_id: String,
    space_id: String,
    reader_id: String,
    /// The letters that stand before the organization's words.
    letters: String,
}

impl Bare {
    /// Opens the program's file.
    pub fn open(file: &Path, [org_id, space_id, reader_id]: [&str; 3]) -> Result<Self> {
        let connection = Connection::open(file)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        let words: String = connection.query_row(
            "SELECT words FROM issue_texts WHERE field = 'summary' ORDER BY no LIMIT 1",
            [],
            |row| row.get(0),
        )?;
        let first = words.split(' ').next().unwrap_or_default();
        let own = word(0).len();
        let letters = first.get(..first.len().saturating_sub(own)).unwrap_or_default().to_owned();
        let [org_id, space_id, reader_id] = [org_id, space_id, reader_id].map(str::to_owned);
        Ok(Self { connection, org_id, space_id, reader_id, letters })
    }

    fn no(&self, kind: &str, value: &str) -> Result<Value> {
        let statement = "SELECT no FROM issue_values WHERE org_id = ?1 AND kind = ?2 AND value = ?3";
        let no: i64 = self.connection.query_row(statement, [self.org_id.as_str(), kind, value], |row| row.get(0))?;
        Ok(Value::Integer(no))
    }

    fn value(&self, bound: &Bound) -> Result<Value> {
        match bound {
            Bound::No("org", _) => self.no("org", &self.org_id),
            Bound::No(kind, value) => self.no(kind, value),
            Bound::Space => self.no("space", &self.space_id),
            Bound::Reader => self.no("person", &self.reader_id),
            Bound::Word(word) => Ok(Value::Text(format!("\"{}{word}\"", self.letters))),
            Bound::DaysBack(days) => {
                let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
                Ok(Value::Integer(now - days * DAY_MS))
            }
            Bound::Number(number) => Ok(Value::Real(*number)),
        }
    }

    /// How long so many askings take, each, and how many issues one finds.
    pub fn ask(&self, shape: &Shape, times: usize) -> Result<(Vec<Duration>, u64)> {
        let values = shape.values.iter().map(|bound| self.value(bound)).collect::<Result<Vec<_>>>()?;
        let Shape { from, order, .. } = shape;
        // A text and a description that both have a word are one issue.
        let count = format!("SELECT COUNT(*) FROM (SELECT DISTINCT i.seq FROM {from} LIMIT {COUNTED})");
        let page = format!(
            "SELECT d.doc, d.description FROM (SELECT DISTINCT i.seq AS seq, i.id AS id, i.updated, i.created, i.rank \
             FROM {from} ORDER BY {order} LIMIT {PAGE}) AS page JOIN issue_docs d ON d.id = page.id"
        );
        let mut found = 0_i64;
        let mut each = Vec::with_capacity(times);
        for _ in 0..times {
            let begun = Instant::now();
            found = self.connection.prepare_cached(&count)?.query_row(params_from_iter(&values), |row| row.get(0))?;
            let mut statement = self.connection.prepare_cached(&page)?;
            let mut rows = statement.query(params_from_iter(&values))?;
            let mut bytes = 0;
            while let Some(row) = rows.next()? {
                bytes += row.get_ref(0)?.as_str()?.len() + row.get_ref(1)?.as_str()?.len();
            }
            if bytes == 0 {
                return Err(format!("the statement of {} found nothing", shape.name).into());
            }
            each.push(begun.elapsed());
        }
        Ok((each, u64::try_from(found)?))
    }
}
