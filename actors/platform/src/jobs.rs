//! What operators do with jobs.

use domain::{Context, Error, Result, id::OrgId};
use serde_json::{Value, json};
use store::{AuditEntry, AuditTarget, Change, CommitError};

use super::Platform;

/// What is answered about a job that is over, was given up, or never was.
pub const NO_JOB: &str = "There is no such job.";

impl Platform {
    /// Has the job `seq` stop at its next step, and writes that into the trail of `org_id`, the platform's organization, in
    /// the same commit. 409 for one that must go on.
    pub async fn job_cancel(&self, seq: i64, org_id: OrgId, context: &Context) -> Result<()> {
        let store = &self.shared.services.store;
        let gone = || Error::not_found(NO_JOB);
        let work = store.work(seq).await?.filter(|work| work.wake_at.is_some()).ok_or_else(gone)?;
        let topic = (self.shared.job_topic)(&work.topic).ok_or_else(gone)?;
        if let Some(reason) = topic.goes_on_because {
            return Err(Error::conflict("job_goes_on", reason));
        }
        let target = AuditTarget::new("job", seq).labelled(format!("{} {seq}", work.topic));
        let progress = work.progress.as_deref().and_then(|progress| serde_json::from_str::<Value>(progress).ok());
        let metadata = json!({"topic": work.topic, "progress": progress});
        let entry = AuditEntry::new(context, "job.cancelled", target).in_org(org_id).with_metadata(metadata);
        let mut change = Change::new();
        change.work_cancel_one(topic.name, seq);
        change.audit_add(store.now(), entry);
        match store.commit(change).await {
            Err(CommitError::Stale) => Err(gone()),
            done => Ok(done?),
        }
    }
}
