//! Deleting what is left of pages that are gone, a batch a turn.
//!
//! Pages go out of sight in one small commit, and everything that hangs on them is deleted afterwards: contents, versions and
//! comments of thousands of pages may be a gigabyte, and everybody else's commits would wait for it. A durable timer has each
//! batch delete the next, so that a crash only ever leaves the rest for later.

use domain::{Result, Timestamp, id::OrgId};
use store::Change;

use super::PageTree;
use crate::kernel::{Resource, Turn};

/// The name of the timer of what is gone.
pub(super) const GONE: &str = "remains";
/// The name of the timer of what was staged and never came.
pub(super) const STAGED: &str = "staged";

/// Has what the change takes out of sight be deleted after it.
pub(super) fn delete_after(change: &mut Change, turn: &Turn<'_, PageTree>) {
    set(change, turn, GONE, turn.now());
}

/// Has what the change stages be deleted at `due`, unless its pages have come by then.
pub(super) fn delete_staged(change: &mut Change, turn: &Turn<'_, PageTree>, due: Timestamp) {
    set(change, turn, STAGED, due);
}

/// Has the pages of an organization that the change deletes be deleted after it.
pub(crate) fn delete_pages_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.page_tree_remove(org_id);
    change.timer_set(PageTree::KIND, &org_id.to_string(), GONE, now);
}

fn set(change: &mut Change, turn: &Turn<'_, PageTree>, timer: &str, due: Timestamp) {
    change.timer_set(PageTree::KIND, &turn.key().to_string(), timer, due);
}

/// Deletes a batch, and has the timer come again while there is more.
pub(super) async fn delete_batch(turn: &mut Turn<'_, PageTree>, timer: &str) -> Result<()> {
    let (org_id, now, store) = (*turn.key(), turn.now(), turn.services().store.clone());
    let mut change = Change::new();
    match store.page_remains_next(org_id).await? {
        Some(due) if due <= now => {
            change.page_remains_clear(org_id, now);
            set(&mut change, turn, timer, now);
        }
        // The organization was deleted, and its pages with it.
        _ if store.page_tree(org_id).await?.revision == 0 && store.has_pages(org_id).await? => {
            change.pages_take(org_id, now);
            set(&mut change, turn, timer, now);
        }
        // What was staged has a timer of its own.
        Some(due) if timer == STAGED => set(&mut change, turn, timer, due),
        _ => return Ok(()),
    }
    turn.commit(change).await
}
