//! What SQLite takes for the like of a search and of a list, with nothing around it, in this process: a list on the program's
//! own file, a search on an FTS5 table of the same words as one would first make it, with the organization in a column.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{Connection, types::ValueRef};

use crate::report::Result;

/// The best 50 by FTS5's own rank: without the title's precedence, rights, trash, or a snippet.
const SEARCH: &str = "SELECT page_texts.page_id, page_texts.title_words FROM all_words \
     JOIN page_texts ON page_texts.seq = all_words.rowid WHERE all_words MATCH ?1 ORDER BY all_words.rank LIMIT 50";
/// An index of every page that the program has.
const INDEX: &str = "CREATE VIRTUAL TABLE all_words USING fts5(org, title, body, content = '', \
     tokenize = 'porter unicode61 remove_diacritics 0', prefix = '2 3'); \
     INSERT INTO all_words(rowid, org, title, body) SELECT seq, substr(org_id, 5), title_words, words FROM page_texts; \
     INSERT INTO all_words(all_words) VALUES ('optimize')";
/// As many pages as a list answers, with all that is stored of them but the content.
const LIST: &str = "SELECT * FROM pages WHERE org_id = ?1 AND archived_at IS NULL LIMIT 5000";

/// The program's database.
pub struct Bare {
    connection: Connection,
    org_id: String,
}

impl Bare {
    /// Makes the index in a file beside the program's, `file`.
    pub fn open(file: &Path, org_id: &str) -> Result<Self> {
        let connection = Connection::open(file.with_extension("bare"))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.execute("ATTACH DATABASE ?1 AS troupe", [file.to_str().ok_or("a folder's name is no text")?])?;
        println!("making the index of the baseline");
        connection.execute_batch(INDEX)?;
        Ok(Self { connection, org_id: org_id.to_owned() })
    }

    /// How long each of these questions takes.
    pub fn search(&self, questions: &[String]) -> Result<Vec<Duration>> {
        let times = questions.iter().map(|question| {
            let words: Vec<_> = question.split(' ').map(|word| format!("\"{word}\"")).collect();
            let of_org = self.org_id.split_once('_').map_or("", |(_, characters)| characters);
            self.rows(SEARCH, &format!("{{org}} : \"{of_org}\" AND {{title body}} : ({} *)", words.join(" AND ")))
        });
        times.collect()
    }

    /// How long so many lists take, each.
    pub fn lists(&self, count: usize) -> Result<Vec<Duration>> {
        (0..count).map(|_| self.rows(LIST, &self.org_id)).collect()
    }

    /// Reads every value of every row.
    fn rows(&self, statement: &str, parameter: &str) -> Result<Duration> {
        let begun = Instant::now();
        let mut statement = self.connection.prepare_cached(statement)?;
        let columns = statement.column_count();
        let mut rows = statement.query([parameter])?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                bytes += match row.get_ref(column)? {
                    ValueRef::Text(text) => text.len(),
                    ValueRef::Blob(blob) => blob.len(),
                    _ => 8,
                };
            }
        }
        if bytes == 0 {
            return Err("a statement found nothing".into());
        }
        Ok(begun.elapsed())
    }
}
