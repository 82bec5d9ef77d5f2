//! Repositories a pack of which is gone: their record says so, operators are told, and both is taken back once the pack is there
//! again.
//!
//! Who makes a view of a repository and misses a pack, or reads blobs again and misses one, leaves an entry of the work queue
//! (`Change::packs_look`). The job looks at all packs of the repository, and as long as one is missing, looks again.

use std::time::{Duration, Instant};

use actors_base::{
    Services,
    event::Event,
    resources::{ChangeResource, ResourceBook, ResourceChange, ResourceKind},
    work::job::{Halt, Handler, Job, Topic},
};
use domain::{
    Context, Error, Origin, Result, Scope, Tenant,
    git::ObjectId,
    id::ResourceId,
    resource::{Resource, ResourceStatus},
};
use kernel::Registry;
use serde_json::{Value, json};
use store::{
    Change, Store,
    git::{PACKS_LOST, StoredRepository},
};

use crate::resource::{REPOSITORY, found};

/// The job that looks whether all packs of a repository are there.
pub const PACKS_LOOKED_AT: Topic = Topic {
    goes_on_because: Some("Operators are told where objects of a repository are gone."),
    ..Topic::new(PACKS_LOST)
};
/// When it is looked again for a pack that is gone.
const LOOK_AGAIN_AFTER: Duration = Duration::from_mins(10);
/// How long a turn may take.
const TURN_MAX: Duration = Duration::from_mins(1);

/// A pack that isn't there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostPack {
    /// What git calls it.
    pub hash: ObjectId,
    /// What is missing of it: a blob, or a content where that is gone.
    pub missing: String,
}

/// The first pack of a repository that isn't there.
async fn lost_pack(store: &Store, repository: &StoredRepository) -> Result<Option<LostPack>> {
    for pack in store.repository_packs(repository.no).await? {
        for content in [pack.pack, pack.index] {
            if let Some(missing) = store.content_lost(repository.resource.org_id, content).await?
                // One that was joined with others meanwhile went with its contents.
                && store.repository_has_pack(repository.no, pack.hash).await?
            {
                return Ok(Some(LostPack { hash: pack.hash, missing }));
            }
        }
    }
    Ok(None)
}

/// Looks whether all packs of a repository are there.
#[derive(Clone)]
pub struct PackLooking(pub Registry<ResourceBook>);

impl Handler for PackLooking {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (store, id) = (job.store(), job.payload::<ResourceId>()?);
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let mut change = Change::new();
        let there = store.repository(org_id, id).await?.filter(|repository| repository.purge_at.is_none());
        let Some(repository) = there else { return Ok(change) };
        let lost = lost_pack(store, &repository).await?;
        if lost.is_some() {
            let now = store.now();
            change.packs_look(now, (org_id, id), now.after(LOOK_AGAIN_AFTER));
        }
        if lost.is_some() != (repository.resource.status == ResourceStatus::Error) {
            let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
            match self.0.ask(&org_id, ChangeResource(NotePacks { id, lost }), context).await {
                // Whoever changed it meanwhile knew of it, or deleted it.
                Ok(_) | Err(Error::Conflict { .. } | Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(change)
    }
}

/// Notes that a pack of a repository is gone, or that all are there again.
#[derive(Clone, Debug)]
struct NotePacks {
    id: ResourceId,
    lost: Option<LostPack>,
}

impl ResourceChange for NotePacks {
    const COMMAND: &'static str = "note_packs";
    const KIND: ResourceKind = REPOSITORY;
    const ACT: &'static str = "recovered";
    const SCOPE: Scope = Scope::GitAdmin;

    fn id(&self) -> ResourceId {
        self.id
    }

    fn audited(&self, _: &Resource) -> (&'static str, Option<Value>) {
        match &self.lost {
            Some(lost) => ("lost_pack", Some(json!({ "pack": lost.hash, "missing": lost.missing }))),
            None => (Self::ACT, None),
        }
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        let repository = found(&services.store, resource.org_id, self.id).await?;
        let (expected, status) = match self.lost {
            Some(_) => (ResourceStatus::Active, ResourceStatus::Error),
            None => (ResourceStatus::Error, ResourceStatus::Active),
        };
        if resource.status != expected {
            return Err(Error::conflict("repository_status", "The repository's status is another one."));
        }
        resource.status = status;
        resource.status_reason = self.lost.as_ref().map(|lost| format!("The pack {} is gone.", lost.hash));
        let mut change = Change::new();
        change.repository_set(&repository);
        alarm(resource, self.lost.as_ref()).emit(&mut change, services.store.now());
        Ok(change)
    }
}

/// Has operators be told no more of a repository that is deleted: there is nothing to bring back.
pub(crate) fn end_alarm(change: &mut Change, services: &Services, resource: &Resource) {
    if resource.status == ResourceStatus::Error {
        alarm(resource, None).emit(change, services.store.now());
    }
}

/// The alarm about a repository, which happens in no organization, as only operators can bring a blob back.
fn alarm(resource: &Resource, lost: Option<&LostPack>) -> Event {
    let (id, name) = (resource.id, &resource.name);
    let title = format!("Objects of the repository {name} are gone");
    let event = Event {
        dedup_key: Some(format!("lost_pack:{id}")),
        ..Event::new("ops.alarm", ("repository", id.to_string()), title)
    };
    let Some(LostPack { hash, missing }) = lost else {
        return Event { resolved: true, body: "Nobody misses them any more.".to_owned(), ..event };
    };
    let data = json!({
        "alarm": "pack_lost", "orgId": resource.org_id, "repository": { "resourceId": id, "name": name }, "pack": hash,
        "missing": missing,
    });
    Event {
        body: format!(
            "The pack {hash} of the repository {name} ({id}) can't be read, since {missing} is gone from the blobs, or \
             changed. Bring it back from a back-up, to the same place: the repository is looked at again every ten minutes. \
             Until then, it can be read as far as its other packs go, and nothing is written to it."
        ),
        data: data.as_object().cloned().unwrap_or_default(),
        ..event
    }
}
