//! Bringing the schema up to date.

use migrations::{Migrator, MigratorTrait};
use sea_orm::{ConnectionTrait, DbBackend};

use crate::{Store, StoreError, connection};

/// Lets one node at a time migrate a schema of PostgreSQL's, until its transaction ends; SQLite has one writer anyway.
const ONE_AT_A_TIME: &str = "SELECT pg_advisory_xact_lock(hashtext('troupe migrations of ' || current_schema()))";

impl Store {
    /// Brings the schema up to date, all of it or nothing; does nothing when it is. Nodes that start together wait for
    /// the one that came first.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let transaction = connection::begin(&self.parts.connections.writer).await?;
        if transaction.get_database_backend() == DbBackend::Postgres {
            transaction.execute_unprepared(ONE_AT_A_TIME).await?;
        }
        Migrator::up(&transaction, None).await?;
        Ok(transaction.commit().await?)
    }

    /// The migrations that [`migrate`](Self::migrate) would run, oldest first.
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        let pending = Migrator::get_pending_migrations(&self.parts.connections.writer).await?;
        Ok(pending.iter().map(|migration| migration.name().to_owned()).collect())
    }
}

#[cfg(test)]
mod tests;
