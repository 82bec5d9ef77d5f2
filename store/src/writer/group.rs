//! One group of changes, to its end.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, Statement};

use super::{
    Job,
    plan::{Planned, plan},
    stats::Tally,
};
use crate::{CommitError, Expect, connection, error};

/// How often a change runs that other transactions keep colliding with.
const COLLISIONS_MAX: u32 = 5;
/// The wait after the first collision; it grows with each further one.
const COLLISION_PAUSE: Duration = Duration::from_millis(5);

/// How one change ended.
pub(super) type Outcome = Result<(), CommitError>;

/// Why a transaction did not end well.
#[derive(Debug)]
pub(super) enum Fault {
    /// A change asked for what can't be: it has left no trace.
    Refused(CommitError),
    /// Transactions got in each other's way; this one has left no trace.
    Collided,
    /// The database finds no room to write to; nothing has left a trace.
    Full(String),
    /// The database went away before the commit was sent; nothing has left a trace.
    Away(String),
    /// The database went away over the commit.
    Unknown(String),
}

impl Fault {
    /// Of a statement before the commit.
    fn before_commit(error: DbErr) -> Self {
        if error::is_collision(&error) {
            Self::Collided
        } else if error::is_full(&error) {
            Self::Full(error.to_string())
        } else if error::is_connection(&error) {
            Self::Away(error.to_string())
        } else {
            Self::Refused(error.into())
        }
    }

    /// Of the commit itself.
    fn over_commit(error: DbErr) -> Self {
        if error::is_collision(&error) {
            Self::Collided
        } else if error::is_refusal(&error) && !error::is_connection(&error) && !error::is_full(&error) {
            Self::Refused(error.into())
        } else {
            Self::Unknown(format!("the outcome is unknown: {error}"))
        }
    }

    /// As each change of the transaction reads it.
    pub fn into_error(self) -> CommitError {
        match self {
            Self::Refused(error) => error,
            Self::Collided => CommitError::Stale,
            Self::Full(message) | Self::Away(message) | Self::Unknown(message) => CommitError::Unavailable(message),
        }
    }
}

/// Commits `jobs`, together as far as they let it; answers how each ended, or that the database is away.
pub(super) async fn commit(
    connection: &DatabaseConnection,
    jobs: &[Job],
    tally: &Tally,
) -> Result<Vec<Outcome>, Fault> {
    let fault = match together(connection, jobs).await {
        Ok(()) => return Ok(jobs.iter().map(|_| Ok(())).collect()),
        Err(fault) => fault,
    };
    let fault = match fault {
        Fault::Refused(error) if jobs.len() == 1 => return Ok(vec![Err(error)]),
        Fault::Refused(_) => {
            tally.rerun();
            match in_order(connection, jobs).await {
                Ok(outcomes) => return Ok(outcomes),
                Err(fault) => fault,
            }
        }
        fault => fault,
    };
    match fault {
        Fault::Collided => {
            tally.collided();
            Ok(one_by_one(connection, jobs).await)
        }
        Fault::Full(message) => {
            tracing::error!(message, changes = jobs.len(), "the database finds no room to write to");
            // What needs no more room than there is may still be done.
            Ok(one_by_one(connection, jobs).await)
        }
        fault => Err(fault),
    }
}

/// All of them as one, statements merged across them.
async fn together(connection: &DatabaseConnection, jobs: &[Job]) -> Result<(), Fault> {
    let backend = connection.get_database_backend();
    let planned = plan(backend, jobs.iter().map(|job| job.steps.as_slice()));
    let transaction = connection::begin(connection).await.map_err(Fault::before_commit)?;
    run(&transaction, planned).await?;
    transaction.commit().await.map_err(Fault::over_commit)
}

/// One after the other, so that only those fail that are at fault.
async fn in_order(connection: &DatabaseConnection, jobs: &[Job]) -> Result<Vec<Outcome>, Fault> {
    let backend = connection.get_database_backend();
    let transaction = connection::begin(connection).await.map_err(Fault::before_commit)?;
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        control(&transaction, "SAVEPOINT change").await?;
        match run(&transaction, plan(backend, [job.steps.as_slice()])).await {
            Ok(()) => outcomes.push(Ok(())),
            Err(Fault::Refused(error)) => {
                control(&transaction, "ROLLBACK TO SAVEPOINT change").await?;
                outcomes.push(Err(error));
            }
            Err(fault) => return Err(fault),
        }
        control(&transaction, "RELEASE SAVEPOINT change").await?;
    }
    match transaction.commit().await.map_err(Fault::over_commit) {
        Ok(()) => Ok(outcomes),
        Err(fault @ (Fault::Collided | Fault::Away(_))) => Err(fault),
        Err(fault) => {
            let error = fault.into_error();
            Ok(outcomes.into_iter().map(|outcome| outcome.and(Err(error.clone()))).collect())
        }
    }
}

/// A transaction each: two that take the same rows in opposite orders as parts of groups, don't on their own.
async fn one_by_one(connection: &DatabaseConnection, jobs: &[Job]) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        outcomes.push(patiently(connection, job).await.map_err(Fault::into_error));
    }
    outcomes
}

async fn patiently(connection: &DatabaseConnection, job: &Job) -> Result<(), Fault> {
    for collision in 1..=COLLISIONS_MAX {
        match together(connection, std::slice::from_ref(job)).await {
            Err(Fault::Collided) => tokio::time::sleep(COLLISION_PAUSE * collision).await,
            end => return end,
        }
    }
    Err(Fault::Collided)
}

async fn run(transaction: &DatabaseTransaction, planned: Vec<Planned>) -> Result<(), Fault> {
    for Planned { statement, expect } in planned {
        let met = transaction.execute_raw(statement).await.map_err(Fault::before_commit)?.rows_affected();
        if let Expect::Rows(expected) = expect
            && met != expected
        {
            return Err(Fault::Refused(CommitError::Stale));
        }
    }
    Ok(())
}

async fn control(transaction: &DatabaseTransaction, sql: &str) -> Result<(), Fault> {
    let statement = Statement::from_string(transaction.get_database_backend(), sql);
    transaction.execute_raw(statement).await.map(drop).map_err(Fault::before_commit)
}
