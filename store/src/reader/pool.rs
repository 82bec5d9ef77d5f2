//! The connections that read PostgreSQL.

use std::time::Duration;

use sea_orm::{DatabaseConnection, DbErr};

use crate::{StoreError, deadline};

/// The connections; a cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct PoolReader {
    pool: DatabaseConnection,
    /// How long a read may take at most. The database breaks off by itself what has taken so long, so that a connection
    /// whose reader has gone comes back.
    timeout: Duration,
}

impl PoolReader {
    /// Reads through `pool`, whose connections have `timeout` as their `statement_timeout`.
    pub const fn new(pool: DatabaseConnection, timeout: Duration) -> Self {
        Self { pool, timeout }
    }

    /// What reads are made on.
    pub const fn connection(&self) -> &DatabaseConnection {
        &self.pool
    }

    /// Does a read until the deadline of the work that the read is part of.
    pub async fn read<T>(&self, read: impl Future<Output = Result<T, DbErr>>) -> Result<T, StoreError> {
        let deadline = deadline::of_read(self.timeout);
        match tokio::time::timeout_at(deadline.into(), read).await {
            Ok(outcome) => Ok(outcome?),
            Err(_) => Err(StoreError::late()),
        }
    }

    /// Closes the connections.
    pub async fn close(&self) -> Result<(), StoreError> {
        Ok(self.pool.close_by_ref().await?)
    }
}
