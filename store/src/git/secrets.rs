//! What finds secrets in what is pushed, and which ones a repository knows of.

use std::collections::HashSet;

use domain::{
    Result, Timestamp,
    git::{
        ALLOWED_SECRETS_MAX, AllowReason, AllowanceDraft, Fingerprint, FoundSecret, KnownSecret, OPEN_SECRETS_MAX,
        SecretAllowance, SecretFinding, SecretRule, SecretScanner, SecretState,
    },
    id::UserId,
};
use hmac::Mac;
use sea_orm::Value;

use super::{RepositoryNo, refs::oid_of};
use crate::{
    Change, Expect, Store, StoreError,
    change::{Form, RowStatement},
    reader::row,
    sql::Sql,
};

/// What the secret of fingerprints is made of, beside the server's.
const LABEL: &[u8] = b"troupe-secret-scan/v1";

/// Repository, fingerprint; where it was found, when, and by whom.
static FOUND: RowStatement = RowStatement {
    tables: &["secret_findings"],
    // SQLite takes what follows a list of rows for a condition of a join, unless there is another one.
    text: "INSERT INTO secret_findings (repo_no, fingerprint, rule, preview, path, line, blob_oid, commit_oid, first_seen, \
           last_seen, pushed_by, state) SELECT column1, column2, column3, column4, column5, column6, column7, column8, \
           column9, column9, column10, 'open' FROM (/*rows*/) AS new WHERE true \
           ON CONFLICT (repo_no, fingerprint) DO UPDATE SET path = excluded.path, line = excluded.line, \
           blob_oid = excluded.blob_oid, commit_oid = excluded.commit_oid, last_seen = excluded.last_seen, \
           pushed_by = excluded.pushed_by",
    form: Form::Listed,
    key: 2,
    expect: Expect::Rows(1),
};

/// Where a secret stands in the list: by when it was found first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretPlace {
    /// When it was found first.
    pub first_seen: Timestamp,
    /// Which one it is.
    pub fingerprint: Fingerprint,
}

/// Which secrets of a repository are listed.
#[derive(Clone, Copy, Debug)]
pub struct SecretList {
    /// Those that are in this state.
    pub state: SecretState,
    /// Those behind this one.
    pub after: Option<SecretPlace>,
    /// How many at most.
    pub limit: u64,
}

row! {
    struct FingerprintRow {
        fingerprint: Vec<u8>,
    }
}

row! {
    struct SecretRow {
        fingerprint: Vec<u8>,
        rule: String,
        preview: String,
        path: Option<String>,
        line: i64,
        blob_oid: Vec<u8>,
        commit_oid: Option<Vec<u8>>,
        first_seen: i64,
        last_seen: i64,
        pushed_by: String,
        reason: Option<String>,
        note: Option<String>,
        allowed_by: Option<String>,
        allowed_at: Option<i64>,
    }
}

/// What a [`SecretRow`] is read from.
const SELECT: &str = "SELECT fingerprint, rule, preview, path, line, blob_oid, commit_oid, first_seen, last_seen, \
                      pushed_by, reason, note, allowed_by, allowed_at FROM secret_findings";

fn fingerprint_of(bytes: Vec<u8>) -> Result<Fingerprint, StoreError> {
    bytes.try_into().map(Fingerprint::of_bytes).map_err(|_| StoreError::corrupt("secret_findings.fingerprint"))
}

impl SecretRow {
    fn allowance(&self) -> Result<Option<SecretAllowance>, StoreError> {
        let (Some(reason), Some(by), Some(at)) = (&self.reason, &self.allowed_by, self.allowed_at) else {
            return Ok(None);
        };
        let reason = AllowReason::from_name(reason).ok_or_else(|| StoreError::corrupt("secret_findings.reason"))?;
        let draft = AllowanceDraft { reason, note: self.note.clone().unwrap_or_default() };
        let by = by.parse().map_err(|_| StoreError::corrupt("secret_findings.allowed_by"))?;
        Ok(Some(SecretAllowance { draft, by, at: Timestamp(at) }))
    }
}

impl TryFrom<SecretRow> for KnownSecret {
    type Error = StoreError;

    fn try_from(row: SecretRow) -> Result<Self, StoreError> {
        let allowance = row.allowance()?;
        let secret = FoundSecret {
            rule: SecretRule::from_name(&row.rule).ok_or_else(|| StoreError::corrupt("secret_findings.rule"))?,
            line: u32::try_from(row.line).map_err(StoreError::corrupt)?,
            fingerprint: fingerprint_of(row.fingerprint)?,
            preview: row.preview,
        };
        let (blob, commit) = (oid_of(row.blob_oid)?, row.commit_oid.map(oid_of).transpose()?);
        Ok(Self {
            finding: SecretFinding { secret, path: row.path, blob, commit },
            first_seen: Timestamp(row.first_seen),
            last_seen: Timestamp(row.last_seen),
            pushed_by: row.pushed_by.parse().map_err(|_| StoreError::corrupt("secret_findings.pushed_by"))?,
            allowance,
        })
    }
}

impl Store {
    /// The scanner whose fingerprints are the same on every node.
    pub fn secret_scanner(&self) -> Result<SecretScanner> {
        let secret = self.blobs().signer().clone().chain_update(LABEL).finalize().into_bytes();
        SecretScanner::new(&secret)
    }

    /// The secrets that are allowed in a repository.
    pub async fn allowed_secrets(&self, no: RepositoryNo) -> Result<HashSet<Fingerprint>, StoreError> {
        let statement = "SELECT fingerprint FROM secret_findings WHERE repo_no = $1 AND state = $2 LIMIT $3";
        let most = i64::try_from(ALLOWED_SECRETS_MAX).unwrap_or(i64::MAX);
        let values = [no.0.into(), SecretState::Allowed.as_str().into(), most.into()];
        let rows: Vec<FingerprintRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(|row| fingerprint_of(row.fingerprint)).collect()
    }

    /// Secrets that a repository knows of, those first that were found last.
    pub async fn secret_findings(&self, no: RepositoryNo, list: SecretList) -> Result<Vec<KnownSecret>, StoreError> {
        let SecretList { state, after, limit } = list;
        let mut values: Vec<Value> =
            vec![no.0.into(), state.as_str().into(), i64::try_from(limit).unwrap_or(i64::MAX).into()];
        let behind = match after {
            Some(SecretPlace { first_seen, fingerprint }) => {
                values.extend([first_seen.0.into(), fingerprint.as_bytes().to_vec().into()]);
                " AND (first_seen, fingerprint) < ($4, $5)"
            }
            None => "",
        };
        let statement = format!(
            "{SELECT} WHERE repo_no = $1 AND state = $2{behind} ORDER BY first_seen DESC, fingerprint DESC LIMIT $3"
        );
        let rows: Vec<SecretRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(KnownSecret::try_from).collect()
    }

    /// The secret of this fingerprint, where the repository knows of it.
    pub async fn secret_finding(
        &self,
        no: RepositoryNo,
        fingerprint: Fingerprint,
    ) -> Result<Option<KnownSecret>, StoreError> {
        let statement = format!("{SELECT} WHERE repo_no = $1 AND fingerprint = $2");
        let values = [no.0.into(), fingerprint.as_bytes().to_vec().into()];
        let found: Option<SecretRow> = self.reader().row(&Sql::new(statement, values)).await?;
        found.map(KnownSecret::try_from).transpose()
    }
}

impl Change {
    /// Notes secrets that were found, and who brought them. What is allowed stays so; of what isn't, the oldest beyond the limit go.
    pub fn secrets_found(&mut self, no: RepositoryNo, by: UserId, now: Timestamp, findings: &[SecretFinding]) {
        for SecretFinding { secret, path, blob, commit } in findings {
            let values = [
                no.0.into(),
                secret.fingerprint.as_bytes().to_vec().into(),
                secret.rule.as_str().into(),
                secret.preview.as_str().into(),
                path.clone().into(),
                i64::from(secret.line).into(),
                blob.as_bytes().to_vec().into(),
                commit.map(|oid| oid.as_bytes().to_vec()).into(),
                now.0.into(),
                by.to_string().into(),
            ];
            self.row(&FOUND, values);
        }
        let forget = "DELETE FROM secret_findings WHERE repo_no = $1 AND state = $2 AND first_seen < (\
             SELECT first_seen FROM secret_findings WHERE repo_no = $1 AND state = $2 \
             ORDER BY first_seen DESC LIMIT 1 OFFSET $3)";
        let most = i64::try_from(OPEN_SECRETS_MAX - 1).unwrap_or(i64::MAX);
        let values = [no.0.into(), SecretState::Open.as_str().into(), most.into()];
        self.run_statement(Sql::new(forget, values), Expect::Any);
    }

    /// Allows a secret that the repository knows of; stale where it doesn't.
    pub fn secret_allow(&mut self, no: RepositoryNo, fingerprint: Fingerprint, allowance: &SecretAllowance) {
        let SecretAllowance { draft, by, at } = allowance;
        let statement = "UPDATE secret_findings SET state = $3, reason = $4, note = $5, allowed_by = $6, allowed_at = $7 \
                         WHERE repo_no = $1 AND fingerprint = $2";
        let values = [
            no.0.into(),
            fingerprint.as_bytes().to_vec().into(),
            SecretState::Allowed.as_str().into(),
            draft.reason.as_str().into(),
            draft.note.as_str().into(),
            by.to_string().into(),
            at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Has a secret be allowed no longer; stale where it isn't.
    pub fn secret_withdraw(&mut self, no: RepositoryNo, fingerprint: Fingerprint) {
        let statement = "UPDATE secret_findings SET state = $4, reason = NULL, note = NULL, allowed_by = NULL, \
                         allowed_at = NULL WHERE repo_no = $1 AND fingerprint = $2 AND state = $3";
        let values = [
            no.0.into(),
            fingerprint.as_bytes().to_vec().into(),
            SecretState::Allowed.as_str().into(),
            SecretState::Open.as_str().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
