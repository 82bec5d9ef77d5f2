//! Policies of other domains (MTA-STS, RFC 8461), as they were fetched: they hold for as long as they said, on all nodes.

use std::time::Duration;

use domain::{
    Timestamp,
    mail::{KnownPolicy, MailPolicy, PolicyMode},
};
use sea_orm::Value;

use crate::{Change, Expect, Purge, Store, StoreError, reader::row, sql::Sql};

row! {
    struct PolicyRow {
        record: String,
        mode: String,
        hosts: String,
        fetched_at: i64,
        expires_at: i64,
    }
}

impl Store {
    /// The policy of a domain that was fetched last.
    pub async fn mail_policy(&self, domain: &str) -> Result<Option<KnownPolicy>, StoreError> {
        let statement = "SELECT record, mode, hosts, fetched_at, expires_at FROM mail_policies WHERE domain = $1";
        let row: Option<PolicyRow> = self.reader().row(&Sql::new(statement, [domain.into()])).await?;
        row.map(|row| {
            let mode = PolicyMode::from_name(&row.mode).ok_or_else(|| StoreError::corrupt("mail_policies.mode"))?;
            let hosts = row.hosts.split_ascii_whitespace().map(str::to_owned).collect();
            let max_age = Duration::from_millis(row.expires_at.saturating_sub(row.fetched_at).max(0).unsigned_abs());
            let policy = MailPolicy { mode, hosts, max_age };
            Ok(KnownPolicy { record: row.record, policy, fetched_at: Timestamp(row.fetched_at) })
        })
        .transpose()
    }
}

impl Change {
    /// Writes a policy that was fetched. Of two that were, the later one stays.
    pub fn mail_policy_set(&mut self, domain: &str, known: &KnownPolicy) {
        let statement = "INSERT INTO mail_policies (domain, record, mode, hosts, fetched_at, expires_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (domain) DO UPDATE SET record = excluded.record, \
                         mode = excluded.mode, hosts = excluded.hosts, fetched_at = excluded.fetched_at, \
                         expires_at = excluded.expires_at WHERE mail_policies.fetched_at <= excluded.fetched_at";
        let values: [Value; 6] = [
            domain.into(),
            known.record.as_str().into(),
            known.policy.mode.as_str().into(),
            known.policy.hosts.join(" ").into(),
            known.fetched_at.0.into(),
            known.expires_at().0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }
}

impl Purge {
    /// Policies that hold no more.
    pub fn mail_policies(now: Timestamp) -> Self {
        Self::new("policies of mail", ["mail_policies", "domain", "expires_at < $1"], now.0)
    }
}
