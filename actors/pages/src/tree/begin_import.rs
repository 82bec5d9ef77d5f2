//! Beginning an import: whether it may be, and its row.

use domain::{
    Caller, Result,
    pages::{
        Parent,
        import::{IMPORTS_AT_ONCE_MAX, ImportState, PageImport},
        import_check,
    },
};
use kernel::{Command, Handle, Turn};
use store::{Change, NewWork};

use super::{PageTree, place::Place, writer};
use crate::imports::{ImportWork, KEEPING_MAX, PAGES_IMPORT, others_are_under_way};

/// Notes that the pages of an archive are to come, and has the job that makes them look once the archive is kept.
#[derive(Clone, Debug)]
pub(crate) struct BeginImport {
    /// Where what is at the top of the archive comes to lie.
    pub parent: Parent,
    /// How deep the archive is.
    pub height: u32,
    /// How many pages it has.
    pub pages: usize,
    /// Files that are left out.
    pub skipped: Vec<String>,
    /// What the job is to do.
    pub work: ImportWork,
}

impl Command for BeginImport {
    type Reply = ();

    const NAME: &'static str = "begin_import";
}

impl Handle<BeginImport> for PageTree {
    async fn handle(&mut self, command: &BeginImport, turn: &mut Turn<'_, Self>) -> Result<()> {
        let created_by = writer(turn).await?;
        let (org_id, now, store) = (*turn.key(), turn.now(), &turn.services().store);
        let place = Place::find(store, org_id, command.parent).await?;
        import_check(command.height, &place.landing())?;
        if store.page_imports_running(org_id).await? >= IMPORTS_AT_ONCE_MAX {
            return Err(others_are_under_way());
        }
        let key_id = if let Caller::Key(key) = &turn.context().caller { Some(key.key_id) } else { None };
        let id = command.work.import_id;
        let mut change = Change::new();
        change.page_import_add(&PageImport {
            id,
            org_id,
            created_by,
            key_id,
            parent_id: place.parent().map(|parent| parent.id),
            state: ImportState::Running,
            pages: u32::try_from(command.pages).unwrap_or(u32::MAX),
            pages_done: 0,
            skipped: command.skipped.clone(),
            made: Vec::new(),
            error: None,
            created_at: now,
            ended_at: None,
        });
        let work = NewWork::new(PAGES_IMPORT.name, org_id, &command.work).with_key(id.to_string());
        change.work_add(now, work.not_before(now.after(KEEPING_MAX)));
        turn.commit(change).await
    }
}
