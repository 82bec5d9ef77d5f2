//! The job that makes pages of an archive.

use std::{
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Error, Origin, Timestamp,
    id::PageImportId,
    pages::{
        archive::{Links, PlannedPage},
        import::{ImportFault, ImportState, PageImport},
    },
};
use kernel::CpuKind;
use serde::Serialize;
use store::{
    Change, StoreError,
    pages::{StagedPage, Staging},
};
use tokio::time::timeout;

use super::{ImportWork, Imports, archive, upload_lost};
use crate::{
    archive::ArchiveContents,
    tree::{ImportPages, delete_staged_after},
};

/// The job that makes pages of an archive.
pub const PAGES_IMPORT: Topic = Topic::new("pages.import");
/// Pages whose contents are staged by one step, at most.
const PAGES_PER_STEP: usize = 100;
/// Bytes of contents that one step stages; it may be one page more.
const BYTES_PER_STEP: usize = 1024 * 1024;
/// How long an import may take from where it was taken up.
const RUN_MAX: Duration = Duration::from_mins(15);
/// How long the turn may take that makes the pages.
const LAST_TURN_MAX: Duration = Duration::from_mins(2);

/// How far the job is.
#[derive(Serialize)]
struct Progress {
    pages: usize,
}

/// Why an import goes no further now.
enum Stop {
    /// The job ends here.
    Halt(Halt),
    /// The import comes to nothing.
    Refused(Error),
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Halt(error.into())
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        if error.status() < 500 { Self::Refused(error) } else { Self::Halt(error.into()) }
    }
}

impl Handler for Imports {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let work: ImportWork = job.payload()?;
        let Some(import) = running(job, work.import_id).await? else { return self.end(&work).await };
        let made = timeout(RUN_MAX, self.make(job, &work, &import)).await;
        match made.unwrap_or_else(|_elapsed| Err(Stop::Refused(took_too_long()))) {
            Ok(()) => {}
            Err(Stop::Halt(halt)) => return Err(halt),
            Err(Stop::Refused(error)) => {
                let change = failing(&import, &error, job.store().now());
                job.step(change, &Progress { pages: 0 }).await?;
            }
        }
        self.end(&work).await
    }

    async fn cancelled(&self, job: &Job) -> Result<Change, Halt> {
        let work: ImportWork = job.payload()?;
        let mut change = self.end(&work).await?;
        let (store, now) = (job.store(), job.store().now());
        // An operator cancels the job, and whoever imports cancels the import, with its job.
        if running(job, work.import_id).await?.is_some() {
            change.page_import_cancel(work.import_id, now);
        }
        if let domain::Tenant::Org(org_id) = job.tenant() {
            delete_staged_after(&mut change, org_id, work.import_id, store.now());
        }
        Ok(change)
    }

    async fn given_up(&self, job: &Job) -> Result<Change, Halt> {
        let Ok(work) = job.payload::<ImportWork>() else { return Ok(Change::new()) };
        let mut change = self.end(&work).await?;
        if let Some(import) = running(job, work.import_id).await? {
            change.append(failing(&import, &Error::internal("given up"), job.store().now()));
        }
        Ok(change)
    }
}

impl Imports {
    /// Has the import's pages be there, behind what was staged already.
    async fn make(&self, job: &Job, work: &ImportWork, import: &PageImport) -> Result<(), Stop> {
        let blobs = self.services.store.blobs();
        let folder = &self.services.settings.spool;
        let file = archive::fetch(blobs, import.id, folder).await?.ok_or_else(|| Stop::Refused(upload_lost()))?;
        let (format, title, id) = (work.format, work.title.clone(), import.id);
        let planning = move || format.plan(file, &title, id);
        let (plan, mut contents) = self.cpu.run(job.tenant(), CpuKind::Archive, planning).await??;
        let (pages, links) = (Arc::new(plan.pages), Arc::new(plan.links));
        let mut next = usize::try_from(import.pages_done).unwrap_or(usize::MAX).min(pages.len());
        while next < pages.len() {
            let batch = next..batch_end(&pages, next);
            next = batch.end;
            let (staged, read) = self.read(job, batch, (&pages, &links), contents).await?;
            contents = read;
            job.step(staging(import, &staged, next, job.store().now()), &Progress { pages: next }).await?;
        }
        let context = Context::system(Origin::Actor, Instant::now() + LAST_TURN_MAX);
        self.tree.ask(&import.org_id, ImportPages { import_id: id, pages }, context).await?;
        Ok(())
    }

    /// What the pages of a batch say.
    async fn read(
        &self,
        job: &Job,
        batch: Range<usize>,
        (pages, links): (&Arc<Vec<PlannedPage>>, &Arc<Links>),
        mut contents: ArchiveContents,
    ) -> Result<(Vec<StagedPage>, ArchiveContents), Stop> {
        let (pages, links) = (Arc::clone(pages), Arc::clone(links));
        let reading = move || {
            let staged: domain::Result<Vec<_>> =
                pages[batch].iter().map(|page| staged(page, &mut contents, &links)).collect();
            staged.map(|staged| (staged, contents))
        };
        Ok(self.cpu.run(job.tenant(), CpuKind::Archive, reading).await??)
    }

    /// What is left to do once the import is over.
    async fn end(&self, work: &ImportWork) -> Result<Change, Halt> {
        archive::forget(self.services.store.blobs(), work.import_id).await?;
        Ok(Change::new())
    }
}

/// The import, as long as it is under way.
async fn running(job: &Job, id: PageImportId) -> Result<Option<PageImport>, Halt> {
    let domain::Tenant::Org(org_id) = job.tenant() else { return Ok(None) };
    let import = job.store().page_import(org_id, id).await?;
    Ok(import.filter(|import| import.state == ImportState::Running))
}

/// Where the batch that begins with the page at `start` ends.
fn batch_end(pages: &[PlannedPage], start: usize) -> usize {
    let mut bytes = 0;
    let fitting = pages[start..].iter().take(PAGES_PER_STEP).take_while(|page| {
        let fits = bytes < BYTES_PER_STEP;
        bytes += page.source.bytes;
        fits
    });
    start + fitting.count()
}

fn staged(planned: &PlannedPage, contents: &mut ArchiveContents, links: &Links) -> domain::Result<StagedPage> {
    let content = if planned.source.says_something() { Some(contents.read(planned, links)?) } else { None };
    Ok(StagedPage { id: planned.id, title: planned.page.title.clone(), content })
}

fn staging(import: &PageImport, pages: &[StagedPage], pages_done: usize, now: Timestamp) -> Change {
    let mut change = Change::new();
    let staging = Staging { org_id: import.org_id, by: import.created_by, now, import_id: import.id };
    change.pages_stage(staging, pages);
    change.page_import_advance(import.id, u32::try_from(pages_done).unwrap_or(u32::MAX));
    change
}

/// Notes why the import came to nothing, and has what it staged be deleted.
fn failing(import: &PageImport, error: &Error, now: Timestamp) -> Change {
    let mut change = Change::new();
    change.page_import_fail(import.id, &ImportFault::from(error), now);
    delete_staged_after(&mut change, import.org_id, import.id, now);
    change
}

fn took_too_long() -> Error {
    Error::bad_request("too_slow", "The import took too long.")
}
