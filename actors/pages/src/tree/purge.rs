//! Emptying the trash of what has been in it for 30 days.
//!
//! An organization with something in its trash has one durable timer, for what has been there longest.

use domain::{Result, Timestamp, pages::TRASH_KEPT};
use kernel::{Handle, Resource, TimerFired, Turn};
use store::Change;

use super::{PageTree, delete, end_documents, removal};
use crate::{live::TreeChange, session::Ending};

/// The name of the timer.
const TIMER: &str = "purge";
/// Archived pages that one commit deletes, each with what lies below it.
const PAGES_PER_COMMIT: u64 = 50;

/// Sets the organization's timer to `due`, unless it is set: then for something that came into the trash earlier.
pub(super) async fn arm(change: &mut Change, turn: &Turn<'_, PageTree>, due: Timestamp) -> Result<()> {
    let key = turn.key().to_string();
    if turn.services().store.timer_get(PageTree::KIND, &key, TIMER).await?.is_none() {
        change.timer_set(PageTree::KIND, &key, TIMER, due);
    }
    Ok(())
}

impl Handle<TimerFired> for PageTree {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        if fired.name != TIMER {
            return removed_by_an_older_node(turn).await;
        }
        if self.tree.revision == 0 {
            // The organization was deleted, with its pages.
            return Ok(());
        }
        let (org_id, now, store) = (*turn.key(), turn.now(), turn.services().store.clone());
        // What is 30 days old to the millisecond goes too: its timer is due then.
        let before = Timestamp(now.before(TRASH_KEPT).0.saturating_add(1));
        let over = store.pages_trash_over(org_id, before, PAGES_PER_COMMIT).await?;
        // The tree is turned even where nothing goes, so that nothing comes into the trash meanwhile and counts on this timer.
        let mut change = self.change();
        let mut gone = Vec::new();
        for page in &over {
            gone.extend(delete::remove(&mut change, turn, page).await?);
        }
        if !over.is_empty() {
            removal::delete_after(&mut change, org_id, now);
        }
        let is_more = over.len() as u64 == PAGES_PER_COMMIT;
        let next = if is_more { None } else { store.page_trash_next(org_id, before).await? };
        if let Some(due) = next.map(|came| came.after(TRASH_KEPT)).or(is_more.then_some(now)) {
            change.timer_set(PageTree::KIND, &org_id.to_string(), TIMER, due);
        }
        let told = TreeChange::Deleted { page_ids: gone.iter().map(|page| page.id).collect() };
        self.commit(turn, change, None, told).await?;
        end_documents(turn, &gone, Ending::Deleted);
        Ok(())
    }
}

/// A timer that a release before this one set where there is a job now, or a node of it that still runs: its turn adds the job.
async fn removed_by_an_older_node(turn: &mut Turn<'_, PageTree>) -> Result<()> {
    let mut change = Change::new();
    removal::delete_after(&mut change, *turn.key(), turn.now());
    turn.commit(change).await
}
