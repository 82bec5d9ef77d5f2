//! Beginning an import: its row and its job, then its archive.

use std::{fs::File, time::Duration};

use domain::{
    Context, Result,
    id::{OrgId, PageImportId},
    pages::{
        Parent,
        archive::ArchivePlan,
        import::{ImportFault, SKIPPED_MAX},
    },
};
use store::Change;

use super::{ImportWork, Imports, PAGES_IMPORT, archive};
use crate::{archive::ArchiveFormat, tree::BeginImport};

/// How long keeping the archive may take. The job looks then, if nobody told it before: whoever kept it has died.
pub(crate) const KEEPING_MAX: Duration = Duration::from_mins(15);

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
    /// What becomes of it.
    pub plan: ArchivePlan,
    /// The archive.
    pub file: File,
}

impl Imports {
    /// Begins an import, which goes on by itself.
    ///
    /// 503 when the organization has two under way. Otherwise as for making a page.
    pub async fn begin(&self, org_id: OrgId, new: NewImport, context: Context) -> Result<()> {
        let NewImport { id, parent, format, title, plan, file } = new;
        let height = plan.pages.iter().map(|page| page.depth).max().unwrap_or(1);
        let mut skipped = plan.skipped;
        skipped.truncate(SKIPPED_MAX);
        let (work, pages) = (ImportWork { import_id: id, format, title }, plan.pages.len());
        self.tree.ask(&org_id, BeginImport { parent, height, pages, skipped, work }, context).await?;
        let kept = archive::keep(self.services.store.blobs(), id, file).await;
        let mut change = Change::new();
        match &kept {
            Ok(()) => change.work_hasten(PAGES_IMPORT.name, &id.to_string()),
            Err(error) => {
                change.page_import_fail(id, &ImportFault::from(error), self.services.store.now());
                change.work_cancel(PAGES_IMPORT.name, &id.to_string());
            }
        }
        self.services.store.commit(change).await?;
        kept
    }
}
