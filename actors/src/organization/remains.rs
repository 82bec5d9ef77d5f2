//! Deleting what is left of an organization that is gone, a batch a turn.
//!
//! An organization is gone for everybody once its row is: whatever asks about a member or a key asks for the row with it. Its
//! members, of which there may be thousands, are deleted afterwards, and its pages by their tree. A durable timer has each
//! batch delete the next.

use domain::Result;
use store::Change;

use super::Organization;
use crate::{
    kernel::{Handle, Resource, TimerFired, Turn},
    pages::tree::delete_pages_after,
};

/// The name of the timer.
const TIMER: &str = "remains";

/// Has everything of the organization that the change removes be deleted after it.
pub(super) fn delete_after(change: &mut Change, turn: &Turn<'_, Organization>) {
    change.timer_set(Organization::KIND, &turn.key().to_string(), TIMER, turn.now());
    delete_pages_after(change, *turn.key(), turn.now());
}

impl Handle<TimerFired> for Organization {
    async fn handle(&mut self, _: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (org_id, store) = (*turn.key(), &turn.services().store);
        if !store.organization_has_remains(org_id).await? {
            return Ok(());
        }
        let mut change = Change::new();
        change.organization_remains_clear(org_id);
        change.timer_set(Self::KIND, &org_id.to_string(), TIMER, turn.now());
        turn.commit(change).await
    }
}
