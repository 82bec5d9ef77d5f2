//! The bytes of what the server sends for a mailbox: such a message stands in no conversation that would name them, so that they are
//! kept for as long as it is tried, and are let go by a timer that comes once a day while there are any.

use std::time::Duration;

use domain::{Result, Timestamp, mail::Mailbox};
use kernel::{Resource, Turn};
use store::Change;

use super::MailboxOwner;

/// The name of the timer.
pub(super) const AUTOMATIC: &str = "automatic";
/// How often the timer comes.
const EVERY: Duration = Duration::from_hours(24);
/// Messages whose bytes one commit lets go.
const AT_ONCE: u32 = 500;

/// Has the timer come in a day, unless it is set.
pub(super) fn let_go_later(change: &mut Change, mailbox: &Mailbox, now: Timestamp) {
    let key = mailbox.id.to_string();
    change.timer_set_once(mailbox.org_id, MailboxOwner::KIND, &key, AUTOMATIC, now.after(EVERY));
}

impl MailboxOwner {
    /// Lets the bytes go that are kept long enough, some at a time.
    pub(super) async fn let_go(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox) -> Result<()> {
        let (store, now) = (turn.services().store.clone(), turn.now());
        let batch = store.mail_automatic_next(mailbox.id, false, AT_ONCE).await?;
        if batch.rows.is_empty() && !store.mail_has_automatic(mailbox.id).await? {
            return Ok(());
        }
        let mut draft = self.draft(mailbox);
        draft.change.append(batch.change);
        let has_more = batch.rows.iter().any(|(_, count)| *count == AT_ONCE);
        let next = if has_more { now } else { now.after(EVERY) };
        draft.change.timer_set_for(mailbox.org_id, Self::KIND, &mailbox.id.to_string(), AUTOMATIC, next);
        self.commit(turn, mailbox, draft).await
    }
}
