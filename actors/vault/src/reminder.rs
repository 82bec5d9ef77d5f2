//! Mailing a person again while the reset of their vault waits (decisions, "Passwords vault").
//!
//! The first e-mail may lie unread while somebody else waits for seven days to be over; so one durable timer of the vault
//! brings two more.

use domain::{Result, Timestamp, id::UserId, vault::Reset};
use kernel::{Handle, Resource, TimerFired, Turn};
use store::{Change, EmailTo, OutboxEntry};

use super::Vault;

/// The name of the timer.
const TIMER: &str = "reset";

/// Has the person mailed again when the next reminder after `now` is due, if there is one.
pub(super) fn set(change: &mut Change, user_id: UserId, reset: Reset, now: Timestamp) {
    if let Some(at) = reset.next_reminder(now) {
        change.timer_set(Vault::KIND, &user_id.to_string(), TIMER, at);
    }
}

/// Mails nobody any more: no reset waits.
pub(super) fn cancel(change: &mut Change, user_id: UserId) {
    change.timer_cancel(Vault::KIND, &user_id.to_string(), TIMER);
}

impl Handle<TimerFired> for Vault {
    async fn handle(&mut self, _: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (user_id, now) = (*turn.key(), turn.now());
        self.confirm(&turn.services().store, user_id).await?;
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(reset) = open.reset.filter(|reset| !reset.is_due(now)) else { return Ok(()) };
        let mut change = Change::new();
        change.vault_confirm(open.seen);
        change.outbox_add(now, &letter(user_id, reset.days_left(now)));
        set(&mut change, user_id, reset, now);
        turn.commit(change).await?;
        open.seen = open.seen.next();
        Ok(())
    }
}

fn letter(user_id: UserId, days_left: u64) -> OutboxEntry {
    let days = if days_left == 1 { "1 day".to_owned() } else { format!("{days_left} days") };
    let body = format!(
        "Somebody who is signed in as you, and can't open your passwords vault, asked to reset it. In {days} a new vault may \
         take its place, and everything in it will be lost. Open the vault on one of your devices to cancel the reset.\n\n\
         If this wasn't you, change your password and look through your devices.\n"
    );
    OutboxEntry::Email {
        to: EmailTo::Person(user_id),
        subject: format!("Your passwords vault will be reset in {days}"),
        body,
        calendar: None,
    }
}
