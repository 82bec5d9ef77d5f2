//! Deleting what is left of pages that are gone, as a job.
//!
//! Pages go out of sight in one small commit, and everything that hangs on them is deleted afterwards: contents, versions and
//! comments of thousands of pages may be a gigabyte, and everybody else's commits would wait for it. Each removal adds an
//! entry of its own to the work queue: one that is about to end must not keep the next one out. Of several, the first deletes
//! what is left of all, and the others find nothing.

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{
    Result, Tenant, Timestamp,
    id::{OrgId, PageImportId},
};
use store::{Change, NewWork, Permits, Purge, Store, StoreError};

/// The job that deletes what is left of an organization's gone pages, one at a time for each organization.
pub const PAGES_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("These pages are deleted; what is left of them can't be kept."),
    ..Topic::new("pages.removal")
};

/// Has what the change takes out of sight be deleted after it.
pub(crate) fn delete_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.work_add(now, NewWork::new(PAGES_REMOVAL.name, org_id, &None::<PageImportId>));
}

/// Has what was staged for an import be deleted, which came to nothing by the change at the latest.
pub(crate) fn delete_staged_after(change: &mut Change, org_id: OrgId, import_id: PageImportId, now: Timestamp) {
    change.work_add(now, NewWork::new(PAGES_REMOVAL.name, org_id, &import_id));
}

/// Has the pages of an organization that the change deletes be deleted after it.
pub(crate) fn delete_pages_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.page_tree_remove(org_id);
    delete_after(change, org_id, now);
}

/// Deletes what is left of an organization's gone pages.
#[derive(Clone, Copy, Debug)]
pub struct PagesRemoval;

impl Handler for PagesRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let mut cleared = Cleared::of(job)?;
        if let Some(import_id) = job.payload::<Option<PageImportId>>()? {
            release(job, import_id, &mut cleared).await?;
        }
        loop {
            let (store, now) = (job.store(), job.store().now());
            match store.page_remains_next(org_id).await? {
                Some(due) if due <= now => {
                    cleared.clear_next(job, &Purge::page_remains(org_id, now)).await?;
                }
                _ if has_lost_its_tree(store, org_id).await? => {
                    let mut change = Change::new();
                    change.pages_take(org_id, now);
                    cleared.step(job, change, &[]).await?;
                }
                // What is staged for an import that is under way stays.
                _ => return Ok(Change::new()),
            }
        }
    }
}

/// Lets go of what was staged for an import that came to nothing.
async fn release(job: &Job, import_id: PageImportId, cleared: &mut Cleared) -> Result<(), Halt> {
    while job.store().page_import_has_staged(import_id).await? {
        let mut change = Change::new();
        change.page_import_release(import_id, job.store().now());
        cleared.step(job, change, &[]).await?;
    }
    Ok(())
}

/// Whether the organization was deleted, and its pages are not yet.
async fn has_lost_its_tree(store: &Store, org_id: OrgId) -> Result<bool, StoreError> {
    Ok(store.page_tree(org_id).await?.revision == 0 && store.has_pages(org_id).await?)
}
