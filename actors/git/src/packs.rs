//! Joining packs of repositories, as a job: each push brings a pack of its own, and git looks for an object in all of them.
//!
//! Nothing is left out of what is joined. Packs never change, so all that a push can do meanwhile is to add another one; the
//! commit that puts the new pack in the place of the old ones names each of these, and is stale where one is gone.

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Result, Tenant, Timestamp,
    git::{Joining, PackFacts},
    id::ResourceId,
    resource::ResourceStatus,
};
use store::{
    Change, NewWork, Permits, Store,
    git::{NewPack, StoredPack, StoredRepository},
};

use crate::host::GitHost;

/// The job that joins packs of a repository, of which a node does two at the same time.
pub const PACK_JOINING: Topic = Topic { permits: Permits::with_spare(1, 1), ..Topic::new("git.packs") };

/// Has packs of a repository be joined, at once or later, that the change adds one to.
pub(crate) async fn join_after(
    change: &mut Change,
    store: &Store,
    (repository, taken): (&StoredRepository, &NewPack),
    now: Timestamp,
) -> Result<()> {
    let packs = store.repository_packs(repository.no).await?;
    let taken = PackFacts { size: taken.size(), made_at: now };
    let packs: Vec<_> = packs.iter().map(|pack| pack.facts).chain([taken]).collect();
    if let Some(joining) = Joining::of(&packs) {
        add(change, repository, &joining, now);
    }
    Ok(())
}

/// Adds an entry for it: one for all pushes from which the same follows.
fn add(change: &mut Change, repository: &StoredRepository, joining: &Joining, now: Timestamp) {
    let id = repository.id();
    let key = if joining.is_urgent() { format!("{id}/many") } else { format!("{id}/{}", joining.due) };
    let work = NewWork::new(PACK_JOINING.name, repository.resource.org_id, &id);
    change.work_add(now, work.with_key(key).not_before(joining.due));
}

/// Joins packs.
#[derive(Clone, Debug)]
pub struct PackJoining(pub GitHost);

impl Handler for PackJoining {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (store, id) = (job.store(), job.payload::<ResourceId>()?);
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let mut joined = job.progress::<u64>()?.unwrap_or_default();
        let mut change = Change::new();
        loop {
            let found = store.repository(org_id, id).await?.filter(|repository| repository.purge_at.is_none());
            let Some(repository) = found else { return Ok(change) };
            if repository.resource.status == ResourceStatus::Error {
                // The next push has it looked at again.
                return Ok(change);
            }
            let packs = store.repository_packs(repository.no).await?;
            let facts: Vec<_> = packs.iter().map(|pack| pack.facts).collect();
            let Some(joining) = Joining::of(&facts) else { return Ok(change) };
            let now = store.now();
            if !joining.is_urgent() && joining.due > now {
                add(&mut change, &repository, &joining, now);
                return Ok(change);
            }
            let packs: Vec<_> = joining.packs.iter().filter_map(|place| packs.get(*place)).cloned().collect();
            joined += 1;
            self.join(job, (&repository, &packs), joined).await?;
        }
    }
}

impl PackJoining {
    /// Puts one pack in the place of these.
    async fn join(
        &self,
        job: &Job,
        (repository, packs): (&StoredRepository, &[StoredPack]),
        joined: u64,
    ) -> Result<(), Halt> {
        let (store, host) = (job.store(), &self.0);
        let pack = host.join_packs(repository, packs).await?;
        let mut change = Change::new();
        change.repository_packs_join(store.now(), repository, (packs, &pack));
        let stepped = job.step(change, &joined).await;
        // Where a commit has named it all the same, it stays.
        if stepped.is_err()
            && let Err(error) = store.repository_pack_abandon(&pack).await
        {
            tracing::warn!(%error, "a pack that others were joined to could not be deleted yet");
        }
        stepped?;
        metrics::counter!("troupe_git_packs_joined_total").increment(packs.len() as u64);
        host.packs_joined(repository).await;
        Ok(())
    }
}
