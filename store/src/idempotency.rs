//! Creating twice: what a request with an `Idempotency-Key` has come to.
//!
//! A request looks its key up and claims it, durably, where nobody has. The commit that does its work marks the claim
//! committed in the same transaction ([`Change::idempotency_commit`]), so the work is done exactly once, whatever happens to
//! the process. The answer is stored afterwards; until the claim's lease has passed, it may still come. A claim whose process
//! died before it committed is taken over once its lease has passed; taking over gives it a new id, so that the first owner,
//! should it still live, can't commit any more.

use std::{sync::Arc, time::Duration};

use domain::time::Timestamp;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};

use crate::{Change, CommitError, Expect, Purge, Store, StoreError, json, reader::Reads, sql::Sql};

/// How long a key is remembered.
pub const KEPT_FOR: Duration = Duration::from_hours(24);
/// How often a claim is tried when others take and lose the same key meanwhile.
const ROUNDS_MAX: usize = 4;

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "idempotency")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub caller: String,
        pub key: String,
        pub fingerprint: String,
        pub state: String,
        pub status: Option<i32>,
        pub headers: Option<String>,
        pub body: Option<Vec<u8>>,
        pub created_at: i64,
        pub claimed_until: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

const CLAIMED: &str = "claimed";
const COMMITTED: &str = "committed";

/// A request that carries a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRequest {
    /// Who asks: keys of different callers have nothing to do with each other.
    pub caller: String,
    /// The `Idempotency-Key`.
    pub key: String,
    /// SHA-256 of method, path and body.
    pub fingerprint: String,
}

/// An answer to give again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The headers that belong to it, by name.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What a key has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idempotency {
    /// The key is this request's: do the work, and settle this claim in its commit.
    Claimed(Arc<str>),
    /// Another request with the key is being worked on.
    InProgress,
    /// The key belongs to another request.
    Mismatch,
    /// The work was done and answered so.
    Answered(IdempotencyAnswer),
    /// The work was done, and its answer lost with the process.
    AnswerLost,
}

impl row::Model {
    /// Whether `request` may claim the key anew: the row's time is over, or its request was abandoned and this is the same.
    fn is_free(&self, request: &IdempotencyRequest, now: Timestamp) -> bool {
        let is_expired = Timestamp(self.created_at).after(KEPT_FOR) <= now;
        let is_abandoned = self.state == CLAIMED && Timestamp(self.claimed_until) <= now;
        is_expired || (is_abandoned && self.fingerprint == request.fingerprint)
    }
}

impl Change {
    /// Marks the claim as done by this very commit; [`Stale`](CommitError::Stale) when it is done already, or lost.
    pub fn idempotency_commit(&mut self, claim: &str) {
        self.run_statement(
            Sql::new("UPDATE idempotency SET state = 'committed' WHERE id = $1 AND state = 'claimed'", [claim.into()]),
            Expect::Rows(1),
        );
    }
}

impl Purge {
    /// The keys from before `before`.
    pub fn idempotency_keys(before: Timestamp) -> Self {
        Self::new("idempotency keys", ["idempotency", "id", "created_at < $1"], before.0)
    }
}

impl Store {
    /// Claims the key of `request` for `lease`, or says what it has come to.
    pub async fn idempotency_claim(
        &self,
        request: &IdempotencyRequest,
        lease: Duration,
    ) -> Result<Idempotency, StoreError> {
        for _ in 0..ROUNDS_MAX {
            let id = domain::id::new_uuid(self.now()).to_string();
            // Looked up first: an insertion that meets another row has the whole group of commits run a second time.
            let claim = match self.idempotency_row(request).await? {
                None => self.idempotency_first(&id, request, lease),
                Some(known) if known.is_free(request, self.now()) => {
                    self.idempotency_again(&known, &id, request, lease)
                }
                Some(known) if known.fingerprint != request.fingerprint => return Ok(Idempotency::Mismatch),
                Some(known) => return outcome(known, self.now()),
            };
            match self.commit(claim).await {
                Ok(()) => return Ok(Idempotency::Claimed(id.into())),
                // Somebody else was quicker.
                Err(CommitError::Duplicate { .. } | CommitError::Stale) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Idempotency::InProgress)
    }

    fn idempotency_first(&self, id: &str, request: &IdempotencyRequest, lease: Duration) -> Change {
        let mut change = Change::new();
        change.insert(row::ActiveModel {
            id: Set(id.to_owned()),
            caller: Set(request.caller.clone()),
            key: Set(request.key.clone()),
            fingerprint: Set(request.fingerprint.clone()),
            state: Set(CLAIMED.to_owned()),
            created_at: Set(self.now().0),
            claimed_until: Set(self.now().after(lease).0),
            ..Default::default()
        });
        change
    }

    /// Puts a new claim in the place of an expired or abandoned one, unless it moved meanwhile.
    fn idempotency_again(&self, known: &row::Model, id: &str, request: &IdempotencyRequest, lease: Duration) -> Change {
        let mut change = Change::new();
        change.run_statement(
            Sql::new(
                "DELETE FROM idempotency WHERE id = $1 AND state = $2",
                [known.id.as_str().into(), known.state.as_str().into()],
            ),
            Expect::Rows(1),
        );
        change.append(self.idempotency_first(id, request, lease));
        change
    }

    async fn idempotency_row(&self, request: &IdempotencyRequest) -> Result<Option<row::Model>, StoreError> {
        let find = row::Entity::find()
            .filter(row::Column::Caller.eq(request.caller.as_str()))
            .filter(row::Column::Key.eq(request.key.as_str()));
        find.read_one(self.reader()).await
    }

    /// Stores the answer to the request that holds `claim`, for those that repeat it.
    pub async fn idempotency_answer(&self, claim: &str, answer: &IdempotencyAnswer) -> Result<(), CommitError> {
        let mut change = Change::new();
        change.run_statement(
            Sql::new(
                "UPDATE idempotency SET state = 'answered', status = $2, headers = $3, body = $4 WHERE id = $1",
                [
                    claim.into(),
                    i32::from(answer.status).into(),
                    json::text(&answer.headers).into(),
                    answer.body.clone().into(),
                ],
            ),
            Expect::Any,
        );
        self.commit(change).await
    }

    /// Gives the key back: the request came to nothing. Keeps it when the work was committed after all, and then notes
    /// that no answer will come.
    pub async fn idempotency_release(&self, claim: &str) -> Result<(), CommitError> {
        let mut change = Change::new();
        change.run_statement(
            Sql::new("DELETE FROM idempotency WHERE id = $1 AND state = 'claimed'", [claim.into()]),
            Expect::Any,
        );
        change.run_statement(
            Sql::new("UPDATE idempotency SET claimed_until = 0 WHERE id = $1 AND state = 'committed'", [claim.into()]),
            Expect::Any,
        );
        self.commit(change).await
    }
}

fn outcome(row: row::Model, now: Timestamp) -> Result<Idempotency, StoreError> {
    match row.state.as_str() {
        CLAIMED => Ok(Idempotency::InProgress),
        COMMITTED if now < Timestamp(row.claimed_until) => Ok(Idempotency::InProgress),
        COMMITTED => Ok(Idempotency::AnswerLost),
        _ => {
            let corrupt = || StoreError::corrupt(format_args!("idempotency {}", row.id));
            let status = row.status.and_then(|status| u16::try_from(status).ok()).ok_or_else(corrupt)?;
            let headers = serde_json::from_str(row.headers.as_deref().unwrap_or("[]")).map_err(|_| corrupt())?;
            Ok(Idempotency::Answered(IdempotencyAnswer { status, headers, body: row.body.unwrap_or_default() }))
        }
    }
}
