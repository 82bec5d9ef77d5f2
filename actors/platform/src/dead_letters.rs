//! What operators do with dead letters: work that was given up.

use domain::{Context, Error, Result, id::OrgId};
use serde_json::json;
use store::{AuditEntry, AuditTarget, Change, CommitError};

use super::Platform;

/// What is answered about work that was not given up, or is gone.
pub const NO_DEAD_LETTER: &str = "There is no such dead letter.";

/// What can be done with a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadLetterAct {
    /// It is tried again, from its first attempt.
    Repeat,
    /// It is forgotten.
    Drop,
}

impl DeadLetterAct {
    /// What the audit trail calls it.
    const fn action(self) -> &'static str {
        match self {
            Self::Repeat => "dead_letter.repeated",
            Self::Drop => "dead_letter.dropped",
        }
    }
}

impl Platform {
    /// Does `act` with the dead letter `seq`, and writes it into the trail of `org_id`, the platform's organization, in the
    /// same commit.
    pub async fn dead_letter_act(&self, seq: i64, act: DeadLetterAct, org_id: OrgId, context: &Context) -> Result<()> {
        let store = &self.shared.services.store;
        let gone = || Error::not_found(NO_DEAD_LETTER);
        let work = store.work(seq).await?.filter(|work| work.wake_at.is_none()).ok_or_else(gone)?;
        let target = AuditTarget::new("dead_letter", seq).labelled(format!("{} {seq}", work.topic));
        let metadata = json!({"topic": work.topic, "error": work.last_error});
        let entry = AuditEntry::new(context, act.action(), target).in_org(org_id).with_metadata(metadata);
        let mut change = Change::new();
        match act {
            DeadLetterAct::Repeat => change.work_repeat(seq),
            DeadLetterAct::Drop => change.work_drop(seq),
        }
        change.audit_add(store.now(), entry);
        match store.commit(change).await {
            Err(CommitError::Stale) => Err(gone()),
            done => Ok(done?),
        }
    }
}
