//! The connections that read PostgreSQL.

use std::time::Duration;

use sea_orm::{
    AccessMode, DatabaseConnection, DatabaseExecutor, DatabaseTransaction, DbErr, IsolationLevel, TransactionTrait,
};

use crate::{StoreError, deadline};

/// The connections, or one of them that reads what there was at one moment.
#[derive(Debug)]
pub(crate) struct PoolReader {
    reads: On,
    /// How long a read may take at most. The database breaks off by itself what has taken so long, so that a connection
    /// whose reader has gone comes back.
    timeout: Duration,
}

/// What reads are made on.
#[derive(Debug)]
enum On {
    Pool(DatabaseConnection),
    Snapshot(DatabaseTransaction),
}

impl PoolReader {
    /// Reads through `pool`, whose connections have `timeout` as their `statement_timeout`.
    pub const fn new(pool: DatabaseConnection, timeout: Duration) -> Self {
        Self { reads: On::Pool(pool), timeout }
    }

    /// What reads are made on.
    pub const fn connection(&self) -> DatabaseExecutor<'_> {
        match &self.reads {
            On::Pool(pool) => DatabaseExecutor::Connection(pool),
            On::Snapshot(transaction) => DatabaseExecutor::Transaction(transaction),
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        match &self.reads {
            On::Pool(pool) => self.read(pool.ping()).await,
            On::Snapshot(_) => Ok(()),
        }
    }

    /// Reads of what there is at the first of them; one after the other, on one connection.
    pub async fn snapshot(&self) -> Result<Self, StoreError> {
        let (isolation, access) = (Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly));
        let transaction = match &self.reads {
            On::Pool(pool) => self.read(pool.begin_with_config(isolation, access)).await?,
            // Which is what this one reads.
            On::Snapshot(transaction) => self.read(transaction.begin_with_config(None, None)).await?,
        };
        Ok(Self { reads: On::Snapshot(transaction), timeout: self.timeout })
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
        match &self.reads {
            On::Pool(pool) => Ok(pool.close_by_ref().await?),
            On::Snapshot(_) => Ok(()),
        }
    }
}
