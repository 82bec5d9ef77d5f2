//! Looking at the clocks of a space anew after its goals or hours changed, some issues at a time, as a job.
//!
//! A space may have a hundred thousand open issues, and everybody else's commits would wait for one that sets as many timers. What the
//! job leaves is a timer of each issue that is due; the issue looks at its clocks when that comes.

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Timestamp,
    id::{OrgId, SpaceId},
    tenant::Tenant,
};
use kernel::Resource;
use serde::{Deserialize, Serialize};
use store::{Change, NewWork, Permits};

use super::{clocks::TIMER, issue::IssueOwner};

/// Issues of a commit.
const AT_ONCE: u64 = 100;

/// The job that has the clocks of a space's issues be looked at anew.
pub(crate) const CLOCKS_WAKING: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("Goals of a desk changed; its issues must know."),
    ..Topic::new("issues.clocks")
};

/// Whose clocks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Waking {
    space_id: SpaceId,
}

/// How far it is: the number of the last issue that was woken.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Woken {
    number: i64,
}

/// Has the clocks of a space be looked at after the change.
pub(crate) fn wake_after(change: &mut Change, (org_id, space_id): (OrgId, SpaceId), now: Timestamp) {
    change.work_add(now, NewWork::new(CLOCKS_WAKING.name, org_id, &Waking { space_id }));
}

/// Wakes clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClocksWaking;

impl Handler for ClocksWaking {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let Waking { space_id } = job.payload()?;
        let mut woken: Woken = job.progress()?.unwrap_or_default();
        let of = (org_id, space_id);
        while let Some(last) = job.store().issue_clocks_next(of, woken.number, AT_ONCE).await? {
            let mut change = Change::new();
            change.issue_clocks_wake(of, (woken.number, last), (IssueOwner::KIND, TIMER, job.store().now()));
            woken.number = last;
            job.step(change, &woken).await?;
        }
        Ok(Change::new())
    }
}
