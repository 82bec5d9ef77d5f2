//! What has lain in spam or in the trash for 30 days is deleted, by a timer that comes once a day while anything lies there.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use domain::{
    Result, Timestamp,
    id::{MailMessageId, MailThreadId},
    mail::Mailbox,
};
use kernel::{Resource, Turn};
use store::Change;

use super::MailboxOwner;

/// The name of the timer.
pub(super) const PURGE: &str = "purge";
/// How long what was thrown away is kept.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);
/// How often the timer comes.
const EVERY: Duration = Duration::from_hours(24);
/// Messages that one commit deletes.
const AT_ONCE: u32 = 500;

/// Has the timer come in a day, unless it is set.
pub(super) fn purge_later(change: &mut Change, mailbox: &Mailbox, now: Timestamp) {
    let key = mailbox.id.to_string();
    change.timer_set_once(mailbox.org_id, MailboxOwner::KIND, &key, PURGE, now.after(EVERY));
}

impl MailboxOwner {
    /// Deletes what is over, some at a time.
    pub(super) async fn purge(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox) -> Result<()> {
        let (store, now) = (turn.services().store.clone(), turn.now());
        let over = store.mail_thrown_since(mailbox.id, now.before(KEPT_FOR), AT_ONCE).await?;
        if over.is_empty() && !store.mail_has_thrown(mailbox.id).await? {
            return Ok(());
        }
        let has_more = over.len() == usize::try_from(AT_ONCE).unwrap_or(usize::MAX);
        let mut gone: BTreeMap<MailThreadId, BTreeSet<MailMessageId>> = BTreeMap::new();
        for (thread_id, id) in over {
            gone.entry(thread_id).or_default().insert(id);
        }
        let ids: Vec<MailThreadId> = gone.keys().copied().collect();
        let mut draft = self.draft(mailbox);
        for (id, mut conversation) in store.mail_conversations(mailbox.id, &ids).await? {
            let Some(gone) = gone.get(&id) else { continue };
            let before = conversation.state();
            if conversation.messages.iter().all(|message| gone.contains(&message.placing.id)) {
                draft.delete(now, &conversation);
                continue;
            }
            let messages = std::mem::take(&mut conversation.messages).into_iter();
            let (deleted, kept): (Vec<_>, Vec<_>) = messages.partition(|message| gone.contains(&message.placing.id));
            conversation.messages = kept;
            draft.change.mail_messages_delete(now, mailbox.id, &deleted);
            draft.set(Some(&before), &conversation);
        }
        let next = if has_more { now } else { now.after(EVERY) };
        draft.change.timer_set_for(mailbox.org_id, Self::KIND, &mailbox.id.to_string(), PURGE, next);
        self.commit(turn, mailbox, draft).await
    }
}
