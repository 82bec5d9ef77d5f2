//! Reads.
//!
//! On PostgreSQL a read goes to a pool of connections. On SQLite it runs where it is asked for: a read of a row takes a
//! few microseconds, and to hand it to another thread and back takes many times that. One that turns out to be long is
//! broken off and starts over on a thread that may wait. Either way it ends with the request that it is for
//! ([`deadline`](crate::deadline)).
//!
//! A selection is made of entities either way, and read with [`Reads`]: as models, as tuples of some of their columns,
//! or counted.

mod columns;
mod pool;
mod sqlite;

use sea_orm::{
    ActiveModelTrait, DbBackend, EntityTrait, FromQueryResult, PaginatorTrait, QuerySelect, QueryTrait, Select,
    SelectTwo, StatementBuilder, TryGetableMany, TryIntoModel,
    sea_query::{Asterisk, Expr, ExprTrait},
};

pub(crate) use self::{
    columns::{Columns, Wanted, column, row},
    pool::PoolReader,
    sqlite::SqliteReader,
};
use crate::{StoreError, sql::Sql};

/// Where reads go.
#[derive(Debug)]
pub(crate) enum Reader {
    /// SQLite.
    Sqlite(SqliteReader),
    /// PostgreSQL.
    Pool(PoolReader),
}

impl Reader {
    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.ping().await,
            Self::Pool(pool) => pool.ping().await,
        }
    }

    /// The first row that a statement of ours selects.
    pub async fn row<T: Columns + FromQueryResult + Send + 'static>(&self, sql: &Sql) -> Result<Option<T>, StoreError> {
        match self {
            Self::Sqlite(sqlite) => {
                let rows = sqlite.rows(sql.build(&DbBackend::Sqlite), T::wanted(), T::from_values).await?;
                Ok(rows.into_iter().next())
            }
            Self::Pool(pool) => {
                let found = T::find_by_statement(sql.build(&DbBackend::Postgres));
                pool.read(found.one(&pool.connection())).await
            }
        }
    }

    /// Every row that a statement of ours selects.
    pub async fn rows<T: Columns + FromQueryResult + Send + 'static>(&self, sql: &Sql) -> Result<Vec<T>, StoreError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.rows(sql.build(&DbBackend::Sqlite), T::wanted(), T::from_values).await,
            Self::Pool(pool) => {
                let found = T::find_by_statement(sql.build(&DbBackend::Postgres));
                pool.read(found.all(&pool.connection())).await
            }
        }
    }

    /// The same of a statement that is known to look at much: it never stands in the way of what else its thread does.
    pub async fn rows_of_many<T: Columns + FromQueryResult + Send + 'static>(
        &self,
        sql: &Sql,
    ) -> Result<Vec<T>, StoreError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.many_rows(sql.build(&DbBackend::Sqlite), T::wanted(), T::from_values).await,
            Self::Pool(_) => self.rows(sql).await,
        }
    }

    /// Reads of what there is at the first of them, for what several statements make up: one after the other, and not for long,
    /// since a connection waits for them.
    pub async fn snapshot(&self) -> Result<Self, StoreError> {
        Ok(match self {
            Self::Sqlite(sqlite) => Self::Sqlite(sqlite.snapshot()?),
            Self::Pool(pool) => Self::Pool(pool.snapshot().await?),
        })
    }

    /// Closes the connections.
    pub async fn close(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.close(),
            Self::Pool(pool) => pool.close().await?,
        }
        Ok(())
    }
}

/// Reads what a selection selects.
pub(crate) trait Reads<E: EntityTrait>: Sized {
    /// The first row.
    async fn read_one(self, reader: &Reader) -> Result<Option<E::Model>, StoreError>;

    /// Every row.
    async fn read_all(self, reader: &Reader) -> Result<Vec<E::Model>, StoreError>;

    /// Every row of what may be thousands.
    async fn read_list(self, reader: &Reader) -> Result<Vec<E::Model>, StoreError>;

    /// The columns of the first row, after `select_only`.
    async fn read_columns<T: Columns + TryGetableMany + Send + Sync + 'static>(
        self,
        reader: &Reader,
    ) -> Result<Option<T>, StoreError>;

    /// The columns of every row, after `select_only`.
    async fn read_all_columns<T: Columns + TryGetableMany + Send + Sync + 'static>(
        self,
        reader: &Reader,
    ) -> Result<Vec<T>, StoreError>;

    /// How many rows there are.
    async fn read_count(self, reader: &Reader) -> Result<u64, StoreError>;
}

impl<E> Reads<E> for Select<E>
where
    E: EntityTrait,
    E::Model: Send + Sync + 'static,
    E::ActiveModel: ActiveModelTrait<Entity = E> + TryIntoModel<E::Model>,
{
    async fn read_one(self, reader: &Reader) -> Result<Option<E::Model>, StoreError> {
        match reader {
            Reader::Sqlite(sqlite) => {
                let statement = self.limit(1).build(DbBackend::Sqlite);
                let rows = sqlite.rows(statement, columns::of_entity::<E>().collect(), columns::model::<E>).await?;
                Ok(rows.into_iter().next())
            }
            Reader::Pool(pool) => pool.read(self.one(&pool.connection())).await,
        }
    }

    async fn read_all(self, reader: &Reader) -> Result<Vec<E::Model>, StoreError> {
        match reader {
            Reader::Sqlite(sqlite) => {
                let (statement, wanted) = (self.build(DbBackend::Sqlite), columns::of_entity::<E>().collect());
                sqlite.rows(statement, wanted, columns::model::<E>).await
            }
            Reader::Pool(pool) => pool.read(self.all(&pool.connection())).await,
        }
    }

    async fn read_list(self, reader: &Reader) -> Result<Vec<E::Model>, StoreError> {
        match reader {
            Reader::Sqlite(sqlite) => {
                let (statement, wanted) = (self.build(DbBackend::Sqlite), columns::of_entity::<E>().collect());
                sqlite.many_rows(statement, wanted, columns::model::<E>).await
            }
            Reader::Pool(pool) => pool.read(self.all(&pool.connection())).await,
        }
    }

    async fn read_columns<T: Columns + TryGetableMany + Send + Sync + 'static>(
        self,
        reader: &Reader,
    ) -> Result<Option<T>, StoreError> {
        match reader {
            Reader::Sqlite(sqlite) => {
                let rows = sqlite.rows(self.limit(1).build(DbBackend::Sqlite), T::wanted(), T::from_values).await?;
                Ok(rows.into_iter().next())
            }
            Reader::Pool(pool) => pool.read(self.into_tuple().one(&pool.connection())).await,
        }
    }

    async fn read_all_columns<T: Columns + TryGetableMany + Send + Sync + 'static>(
        self,
        reader: &Reader,
    ) -> Result<Vec<T>, StoreError> {
        match reader {
            Reader::Sqlite(sqlite) => sqlite.rows(self.build(DbBackend::Sqlite), T::wanted(), T::from_values).await,
            Reader::Pool(pool) => pool.read(self.into_tuple().all(&pool.connection())).await,
        }
    }

    async fn read_count(self, reader: &Reader) -> Result<u64, StoreError> {
        match reader {
            Reader::Sqlite(_) => {
                let all = self.select_only().expr(Expr::col(Asterisk).count());
                let (count,) = all.read_columns::<(i64,)>(reader).await?.unwrap_or_default();
                u64::try_from(count).map_err(StoreError::corrupt)
            }
            Reader::Pool(pool) => pool.read(self.count(&pool.connection())).await,
        }
    }
}

/// Reads a row of one entity with the row of another that it refers to.
pub(crate) trait ReadsTwo<E: EntityTrait, F: EntityTrait> {
    /// The first row, with the other where there is one.
    async fn read_one(self, reader: &Reader) -> Result<Option<(E::Model, Option<F::Model>)>, StoreError>;
}

impl<E, F> ReadsTwo<E, F> for SelectTwo<E, F>
where
    E: EntityTrait,
    F: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E> + TryIntoModel<E::Model>,
    F::ActiveModel: ActiveModelTrait<Entity = F> + TryIntoModel<F::Model>,
{
    async fn read_one(self, reader: &Reader) -> Result<Option<(E::Model, Option<F::Model>)>, StoreError> {
        let sqlite = match reader {
            Reader::Sqlite(sqlite) => sqlite,
            Reader::Pool(pool) => return pool.read(self.one(&pool.connection())).await,
        };
        let wanted = columns::of_entity::<E>().chain(columns::of_entity::<F>()).collect();
        let rows = sqlite.rows(self.limit(1).build(DbBackend::Sqlite), wanted, Ok).await?;
        let Some(mut first) = rows.into_iter().next() else { return Ok(None) };
        let second = first.split_off(columns::of_entity::<E>().count());
        let is_there = second.iter().any(|value| *value != value.as_null());
        let second = if is_there { Some(columns::model::<F>(second)?) } else { None };
        Ok(Some((columns::model::<E>(first)?, second)))
    }
}

#[cfg(test)]
mod tests;
