//! Importing an archive, as a job: however much it says, only a few of its pages are in memory at once.
//!
//! An import is all or nothing, and thousands of pages with megabytes of text are too much for one commit and for one turn of
//! the tree. So what the pages say is staged first, a batch a step, where nobody sees it; the tree's last turn makes the pages
//! themselves, which makes all of it visible, and notes that the import is done.
//!
//! The archive is a blob meanwhile. Whoever goes on behind a crash reads it again and plans the same pages: their ids follow
//! from the import's. The row of an import comes before its blob, and its job deletes the blob whatever the import came to, so
//! that none is left over. What an import staged that comes to nothing is deleted by the job that deletes what is left of pages.

mod archive;
mod begin;
mod importer;
mod job;
mod keeping;

use std::{sync::Arc, time::Duration};

use actors_base::Services;
use domain::{
    Context, Error, Outcome, Result,
    id::{OrgId, PageImportId},
    pages::{author, import::PageImport},
};
use kernel::{Cpu, Registry};
use serde::{Deserialize, Serialize};
use store::{Change, CommitError};
use tokio::time::{sleep, timeout};

pub(crate) use self::begin::KEEPING_MAX;
pub(super) use self::importer::importer;
use self::keeping::Keeping;
pub use self::{archive::unnamed_file, begin::NewImport, job::PAGES_IMPORT};
use super::{archive::ArchiveFormat, tree::PageTree};

/// What is answered about an import that is not known, or not any more.
pub const NO_IMPORT: &str = "Import not found.";
/// When whoever found as many imports under way as may be may try again.
const OTHERS_RETRY: Duration = Duration::from_secs(10);
/// How often whoever waits for an import's end looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The imports of a node: begins them, works on them, calls them off. A cheap handle.
#[derive(Clone)]
pub struct Imports {
    services: Services,
    tree: Registry<PageTree>,
    cpu: Cpu,
    keeping: Arc<Keeping>,
}

/// What the job is to do, beside what stands in the import's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ImportWork {
    /// The import.
    pub import_id: PageImportId,
    /// What its archive is.
    pub format: ArchiveFormat,
    /// What the page of a single Markdown file is called where it doesn't say so itself.
    pub title: String,
}

impl Imports {
    /// The imports of a node with these services. Must be called on a tokio runtime that outlives them.
    pub fn new(services: Services, tree: Registry<PageTree>, cpu: Cpu) -> Self {
        Self { services, tree, cpu, keeping: Arc::new(Keeping::new()) }
    }

    /// The import once it is over, or as it is after `at_most`.
    pub async fn wait(&self, org_id: OrgId, id: PageImportId, at_most: Duration) -> Result<PageImport> {
        let over = async {
            loop {
                let import = self.import(org_id, id).await?;
                if import.ended_at.is_some() {
                    return Ok(import);
                }
                sleep(LOOK_EVERY).await;
            }
        };
        match timeout(at_most, over).await {
            Ok(import) => import,
            Err(_elapsed) => self.import(org_id, id).await,
        }
    }

    /// Calls the import off: none of its pages comes. 409 once it is over.
    pub async fn cancel(&self, org_id: OrgId, id: PageImportId, context: &Context) -> Result<()> {
        let store = &self.services.store;
        author(&store.authority(org_id, &context.caller).await?)?;
        let import = self.import(org_id, id).await?;
        if import.ended_at.is_some() {
            return Err(is_over());
        }
        let mut change = Change::new();
        change.page_import_cancel(id, store.now());
        change.work_cancel(PAGES_IMPORT.name, &id.to_string());
        match store.commit(change).await {
            Err(CommitError::Stale) => Err(is_over()),
            done => Ok(done?),
        }
    }

    /// Returns once every archive that was uploaded is kept, at the latest after `grace`; those that are not by then fail.
    pub async fn stop(&self, grace: Duration) {
        self.keeping.stop(grace).await;
    }

    async fn import(&self, org_id: OrgId, id: PageImportId) -> Result<PageImport> {
        self.services.store.page_import(org_id, id).await?.ok_or_else(|| Error::not_found(NO_IMPORT))
    }
}

impl std::fmt::Debug for Imports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Imports").finish_non_exhaustive()
    }
}

/// 503: as many imports are under way as may be.
pub fn others_are_under_way() -> Error {
    let message = "Other imports are under way; try again in a moment.".into();
    Error::Busy { code: "busy", message, retry_after: OTHERS_RETRY, outcome: Outcome::NotDone }
}

/// 400: the archive is not there.
fn upload_lost() -> Error {
    Error::bad_request("upload_lost", "The upload was lost; import it again.")
}

/// 409: there is nothing to call off, or to make, any more.
pub(super) fn is_over() -> Error {
    Error::conflict("import_over", "This import is over.")
}
