//! The commit writer.

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, TransactionTrait};

use crate::{
    Change, CommitError, Expect, StoreOptions,
    change::{Row, Step},
    connection::Connections,
};

pub(crate) struct Writer {
    connection: DatabaseConnection,
}

impl Writer {
    pub fn start(connections: &Connections, _options: &StoreOptions) -> Self {
        Self { connection: connections.writer.clone() }
    }

    pub async fn commit(&self, change: Change) -> Result<(), CommitError> {
        if change.is_empty() {
            return Ok(());
        }
        let backend = self.connection.get_database_backend();
        let transaction = self.connection.begin().await?;
        for step in change.into_steps(backend) {
            let (statement, expect) = match step {
                Step::Insert(row) => (insert(backend, row), Expect::Rows(1)),
                Step::Run { statement, expect } => (statement, expect),
            };
            let met = transaction.execute_raw(statement).await?.rows_affected();
            if let Expect::Rows(expected) = expect
                && met != expected
            {
                return Err(CommitError::Stale);
            }
        }
        Ok(transaction.commit().await?)
    }
}

fn insert(backend: DbBackend, row: Row) -> Statement {
    let columns = row.columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ");
    let places = (1..=row.values.len()).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ");
    let sql = format!("INSERT INTO \"{}\" ({columns}) VALUES ({places})", row.table);
    Statement::from_sql_and_values(backend, sql, row.values)
}
