//! Staging what the pages of an archive say, before there are these pages.

use std::time::Duration;

use domain::{
    Result, Timestamp,
    pages::{Parent, import_check},
};
use store::{
    Change,
    pages::{StagedPage, Staging},
};

use super::{PageTree, place::Place, remains, writer};
use crate::kernel::{Command, Handle, Turn};

/// How long what was staged waits for its pages. Longer than an import may take.
pub(in crate::pages) const STAGED_LASTS: Duration = Duration::from_hours(1);

/// Writes down what pages say that [`ImportPages`](super::ImportPages) makes later. Nobody sees it before.
#[derive(Clone, Debug)]
pub struct StagePages {
    /// Where what is at the top of the archive comes to lie.
    pub parent: Parent,
    /// How deep the archive is.
    pub height: u32,
    /// Some of its pages.
    pub pages: Vec<StagedPage>,
    /// When what was staged is deleted, unless its pages have come.
    pub due: Timestamp,
}

impl Command for StagePages {
    type Reply = ();

    const NAME: &'static str = "stage_pages";
}

impl Handle<StagePages> for PageTree {
    async fn handle(&mut self, command: &StagePages, turn: &mut Turn<'_, Self>) -> Result<()> {
        let by = writer(turn).await?;
        let (org_id, now) = (*turn.key(), turn.now());
        // What can't come to lie there is refused before all of it was written.
        let place = Place::find(&turn.services().store, org_id, command.parent).await?;
        import_check(command.height, &place.landing())?;
        let mut change = Change::new();
        change.pages_stage(Staging { org_id, by, now, due: command.due }, &command.pages);
        remains::delete_staged(&mut change, turn, command.due);
        turn.commit(change).await
    }
}
