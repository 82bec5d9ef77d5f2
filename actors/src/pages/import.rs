//! Importing an archive: however much it says, only a few of its pages are in memory at once.
//!
//! An import is all or nothing, and thousands of pages with megabytes of text are too much for one commit and for one turn of
//! the tree. So what the pages say is staged first, a batch a turn, where nobody sees it; the last turn makes the pages
//! themselves, which makes all of it visible. What was staged for an import that came to nothing is deleted when its time is
//! over (`remains`).

use std::{ops::Range, sync::Arc};

use domain::{
    Context, Result, Timestamp,
    id::OrgId,
    pages::{
        Page, Parent,
        archive::{ArchivePlan, Links, PlannedPage},
        content::ContentDraft,
    },
};
use store::pages::StagedPage;

use super::tree::{ImportPages, STAGED_LASTS, StagePages};
use crate::{Actors, kernel::CpuKind};

/// Pages whose contents are staged by one commit, at most.
const PAGES_PER_COMMIT: usize = 100;
/// Bytes of contents that one commit stages; it may be one page more.
const BYTES_PER_COMMIT: usize = 1024 * 1024;

/// Reads what the pages of an archive say.
pub trait ArchiveContents: Send + 'static {
    /// What the page says, with the links to the new pages. Takes the processor, and waits for nothing but a disk.
    fn read(&mut self, page: &PlannedPage, links: &Links) -> Result<ContentDraft>;
}

/// An archive that is to become pages.
pub struct Import {
    /// Where what is at the top of it comes to lie.
    pub parent: Parent,
    /// The pages.
    pub plan: ArchivePlan,
    /// What they say.
    pub contents: Box<dyn ArchiveContents>,
}

/// An import under way.
struct Staging<'a> {
    actors: &'a Actors,
    org_id: OrgId,
    context: &'a dyn Fn() -> Context,
    parent: Parent,
    pages: Arc<Vec<PlannedPage>>,
    links: Arc<Links>,
    due: Timestamp,
}

/// Makes the pages of an archive, behind those that lie there already; those at its top. `context` is the one to ask with, whose
/// deadline counts from when it is made.
pub async fn import(
    actors: &Actors,
    org_id: OrgId,
    import: Import,
    now: Timestamp,
    context: &dyn Fn() -> Context,
) -> Result<Vec<Page>> {
    let Import { parent, plan, mut contents } = import;
    let (pages, links) = (Arc::new(plan.pages), Arc::new(plan.links));
    let due = now.after(STAGED_LASTS);
    let staging = Staging { actors, org_id, context, parent, pages, links, due };
    let mut next = 0;
    while next < staging.pages.len() {
        let batch = next..batch_end(&staging.pages, next);
        next = batch.end;
        contents = staging.stage(batch, contents).await?;
    }
    let pages = staging.pages;
    actors.page_tree.ask(&org_id, ImportPages { parent, pages }, context()).await
}

/// Where the batch that begins with the page at `start` ends.
fn batch_end(pages: &[PlannedPage], start: usize) -> usize {
    let mut bytes = 0;
    let fitting = pages[start..].iter().take(PAGES_PER_COMMIT).take_while(|page| {
        let fits = bytes < BYTES_PER_COMMIT;
        bytes += page.source.bytes;
        fits
    });
    start + fitting.count()
}

impl Staging<'_> {
    async fn stage(
        &self,
        batch: Range<usize>,
        mut contents: Box<dyn ArchiveContents>,
    ) -> Result<Box<dyn ArchiveContents>> {
        let (pages, links) = (Arc::clone(&self.pages), Arc::clone(&self.links));
        let reading = move || {
            let staged: Result<Vec<_>> = pages[batch].iter().map(|page| staged(page, &mut *contents, &links)).collect();
            (staged, contents)
        };
        let (staged, contents) = self.actors.kernel.cpu().run(self.org_id.into(), CpuKind::Archive, reading).await?;
        let height = self.pages.iter().map(|page| page.depth).max().unwrap_or(1);
        let command = StagePages { parent: self.parent, height, pages: staged?, due: self.due };
        self.actors.page_tree.ask(&self.org_id, command, (self.context)()).await?;
        Ok(contents)
    }
}

fn staged(planned: &PlannedPage, contents: &mut dyn ArchiveContents, links: &Links) -> Result<StagedPage> {
    let content = if planned.source.says_something() { Some(contents.read(planned, links)?) } else { None };
    Ok(StagedPage { id: planned.id, title: planned.page.title.clone(), content })
}
