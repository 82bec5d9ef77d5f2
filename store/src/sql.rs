//! Statements that both databases understand as they are written.

use std::borrow::Cow;

use sea_orm::{DbBackend, Statement, StatementBuilder, Value};

/// Stands where PostgreSQL shall skip the rows that another transaction holds; a comment to SQLite, which has one writer.
const SKIP_LOCKED: &str = "/*skip locked*/";

/// Stands where PostgreSQL shall keep the shared document's row from being deleted until the commit, and let it be changed;
/// a comment to SQLite, which has one writer.
const DOCUMENT_STAYS: &str = "/*document stays*/";

/// Stands where PostgreSQL shall keep a row as it is until the commit; a comment to SQLite, which has one writer.
const ROW_STAYS: &str = "/*row stays*/";

/// Stands where PostgreSQL shall keep the bucket's row from being changed or deleted until the commit, while others do so too; a
/// comment to SQLite, which has one writer.
const BUCKET_STAYS: &str = "/*bucket stays*/";

/// Stands behind a parameter of which PostgreSQL shall know that it is bytes; a comment to SQLite, where a value is what it is.
const AS_BYTES: &str = "/*as bytes*/";

/// A statement with `$1`, `$2`, … for `values`, in any order; a number may stand more than once.
pub(crate) struct Sql {
    pub text: Cow<'static, str>,
    pub values: Vec<Value>,
}

impl Sql {
    pub fn new(text: impl Into<Cow<'static, str>>, values: impl IntoIterator<Item = Value>) -> Self {
        Self { text: text.into(), values: values.into_iter().collect() }
    }
}

/// A statement in the language of a database.
pub(crate) fn dialect(backend: DbBackend, text: &str) -> String {
    match backend {
        DbBackend::Postgres => text
            .replace(SKIP_LOCKED, "FOR UPDATE SKIP LOCKED")
            .replace(ROW_STAYS, "FOR UPDATE")
            .replace(DOCUMENT_STAYS, "FOR KEY SHARE OF page_docs")
            .replace(BUCKET_STAYS, "FOR SHARE OF buckets")
            .replace(AS_BYTES, "::bytea"),
        // To SQLite `$1` is a name like any other, numbered where it first appears; `?1` is the first value.
        _ => text.replace('$', "?"),
    }
}

impl StatementBuilder for Sql {
    fn build(&self, backend: &DbBackend) -> Statement {
        Statement::from_sql_and_values(*backend, dialect(*backend, &self.text), self.values.iter().cloned())
    }
}
