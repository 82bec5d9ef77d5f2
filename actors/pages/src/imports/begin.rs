//! Beginning an import: its row and its job, then its archive.
//!
//! All of that is done on a task of the node's own ([`Keeping`](super::keeping::Keeping)), from where the upload is complete:
//! a client that leaves then changes nothing.

use std::{
    fs::File,
    time::{Duration, Instant},
};

use domain::{
    Context, Error, Result,
    id::{OrgId, PageImportId},
    pages::{
        Parent,
        import::{ImportFault, SKIPPED_MAX},
    },
};
use kernel::CpuKind;
use store::Change;
use tokio::time::timeout;

use super::{ImportWork, Imports, PAGES_IMPORT, archive, keeping::Ends, upload_lost};
use crate::{archive::ArchiveFormat, tree::BeginImport};

/// How long keeping the archive may take. The job looks then, if nobody told it before: whoever kept it has died.
pub(crate) const KEEPING_MAX: Duration = Duration::from_mins(15);
/// How long the tree may take to let the import begin.
const TURN_MAX: Duration = Duration::from_secs(30);

/// An archive that is to become pages.
#[derive(Debug)]
pub struct NewImport {
    /// The import's id.
    pub id: PageImportId,
    /// Where what is at the top of the archive comes to lie.
    pub parent: Parent,
    /// What the archive is.
    pub format: ArchiveFormat,
    /// What the page of a single Markdown file is called where it doesn't say so itself.
    pub title: String,
    /// The archive.
    pub file: File,
}

impl Imports {
    /// Begins an import, which goes on by itself, also when nobody waits for this to return. `place` is dropped once the
    /// upload is worked on no more.
    ///
    /// 400 for an archive that can't be read, 503 when the organization has two imports under way. Otherwise as for making a
    /// page.
    pub async fn begin(
        &self,
        org_id: OrgId,
        new: NewImport,
        context: Context,
        place: impl Send + 'static,
    ) -> Result<()> {
        let imports = self.clone();
        let work = |ends| async move {
            let begun = imports.take_up(org_id, new, context, ends).await;
            drop(place);
            begun
        };
        self.keeping.run(work).await
    }

    async fn take_up(&self, org_id: OrgId, new: NewImport, context: Context, ends: Ends) -> Result<()> {
        let NewImport { id, parent, format, title, file } = new;
        let (planned, named) = (file.try_clone().map_err(Error::internal)?, title.clone());
        let planning = move || format.plan(planned, &named, id).map(|(plan, _)| plan);
        let plan = self.cpu.run(org_id.into(), CpuKind::Archive, planning).await??;
        let height = plan.pages.iter().map(|page| page.depth).max().unwrap_or(1);
        let mut skipped = plan.skipped;
        skipped.truncate(SKIPPED_MAX);
        let (work, pages) = (ImportWork { import_id: id, format, title }, plan.pages.len());
        let context = Context { deadline: Instant::now() + TURN_MAX, ..context };
        self.tree.ask(&org_id, BeginImport { parent, height, pages, skipped, work }, context).await?;
        self.keep(id, file, ends).await
    }

    /// Keeps the archive of an import that has begun, and has its job take it up.
    async fn keep(&self, id: PageImportId, file: File, mut ends: Ends) -> Result<()> {
        let store = &self.services.store;
        let kept = tokio::select! {
            kept = timeout(KEEPING_MAX, archive::keep(store.blobs(), id, file)) => {
                kept.unwrap_or_else(|_elapsed| Err(upload_lost()))
            }
            () = ends.told() => Err(upload_lost()),
        };
        let mut change = Change::new();
        match &kept {
            Ok(()) => change.work_hasten(PAGES_IMPORT.name, &id.to_string()),
            Err(error) => {
                change.page_import_fail(id, &ImportFault::from(error), store.now());
                change.work_cancel(PAGES_IMPORT.name, &id.to_string());
            }
        }
        store.commit(change).await?;
        kept
    }
}
