//! Statements that both databases understand as they are written.

use sea_orm::{DbBackend, Statement, StatementBuilder, Value};

/// Stands where PostgreSQL shall skip the rows that another transaction holds; a comment to SQLite, which has one writer.
const SKIP_LOCKED: &str = "/*skip locked*/";

/// A statement with `$1`, `$2`, … for `values`; a number may stand more than once.
pub(crate) struct Sql {
    pub text: &'static str,
    pub values: Vec<Value>,
}

impl Sql {
    pub fn new(text: &'static str, values: impl IntoIterator<Item = Value>) -> Self {
        Self { text, values: values.into_iter().collect() }
    }
}

impl StatementBuilder for Sql {
    fn build(&self, backend: &DbBackend) -> Statement {
        let text = match backend {
            DbBackend::Postgres => self.text.replace(SKIP_LOCKED, "FOR UPDATE SKIP LOCKED"),
            _ => self.text.to_owned(),
        };
        Statement::from_sql_and_values(*backend, text, self.values.iter().cloned())
    }
}
