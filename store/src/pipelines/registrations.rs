//! What registers runners, once each.

use domain::{
    Timestamp,
    id::{OrgId, UserId},
    token::TokenHash,
};

use crate::{Change, Expect, Purge, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct RegistrationRow {
        org_id: String,
        labels: String,
        ephemeral: bool,
        made_by: String,
        expires_at: i64,
    }
}

/// What registers one runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerRegistration {
    /// Whose jobs the runner will take.
    pub org_id: OrgId,
    /// Labels that the runner has beside those that it says.
    pub labels: Vec<String>,
    /// Whether the runner takes one job and is gone.
    pub is_ephemeral: bool,
    /// Who asked for it.
    pub made_by: UserId,
    /// Until when it works.
    pub expires_at: Timestamp,
}

/// Registrations that are over at `now`.
pub fn registrations_over(now: Timestamp) -> Purge {
    Purge::new("registrations of runners", ["runner_tokens", "token_hash", "expires_at < $1"], now.0)
}

impl Store {
    /// The registration that this token is of, also once it is over.
    pub async fn runner_registration(&self, hash: &TokenHash) -> Result<Option<RunnerRegistration>, StoreError> {
        let statement =
            "SELECT org_id, labels, ephemeral, made_by, expires_at FROM runner_tokens WHERE token_hash = $1";
        let rows: Vec<RegistrationRow> = self.reader().rows(&Sql::new(statement, [hash.0.to_vec().into()])).await?;
        let read = |row: RegistrationRow| {
            Ok(RunnerRegistration {
                org_id: row.org_id.parse().map_err(|_| StoreError::corrupt("runner_tokens.org_id"))?,
                labels: json::read("runner_tokens.labels", &row.labels)?,
                is_ephemeral: row.ephemeral,
                made_by: row.made_by.parse().map_err(|_| StoreError::corrupt("runner_tokens.made_by"))?,
                expires_at: Timestamp(row.expires_at),
            })
        };
        rows.into_iter().next().map(read).transpose()
    }
}

impl Change {
    /// Adds what registers a runner.
    pub fn runner_registration_add(&mut self, hash: &TokenHash, registration: &RunnerRegistration) {
        let statement = "INSERT INTO runner_tokens (token_hash, org_id, labels, ephemeral, made_by, expires_at) \
                         VALUES ($1, $2, $3, $4, $5, $6)";
        let values = [
            hash.0.to_vec().into(),
            registration.org_id.to_string().into(),
            json::text(&registration.labels).into(),
            registration.is_ephemeral.into(),
            registration.made_by.to_string().into(),
            registration.expires_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Uses a registration up; stale where somebody did so before.
    pub fn runner_registration_use(&mut self, hash: &TokenHash) {
        let statement = "DELETE FROM runner_tokens WHERE token_hash = $1";
        self.run_statement(Sql::new(statement, [hash.0.to_vec().into()]), Expect::Rows(1));
    }
}
