//! What people do with conversations (contract B 4.8), and what comes back by itself.

use domain::{
    Error, Result, Timestamp,
    id::{MailLabelId, MailThreadId, OrgId},
    mail::{Acted, Mailbox, ThreadAction, no_label},
};
use kernel::{Command, Handle, Resource, TimerFired, Turn};

use super::{MailboxOwner, automatic::AUTOMATIC, labels::UNLABEL, open, purging::PURGE};

/// How the timers of conversations that come back are called.
const WAKE: &str = "wake:";

/// Does something with conversations; those that aren't there are passed over.
#[derive(Clone, Debug)]
pub struct ThreadsAct {
    /// The organization.
    pub org_id: OrgId,
    /// Which conversations.
    pub ids: Vec<MailThreadId>,
    /// The name of what is done.
    pub action: String,
    /// The label that it is about.
    pub label: Option<MailLabelId>,
    /// When the conversations come back.
    pub until: Option<Timestamp>,
}

impl Command for ThreadsAct {
    /// How many conversations changed.
    type Reply = usize;

    const NAME: &'static str = "threads_act";
}

impl Handle<ThreadsAct> for MailboxOwner {
    async fn handle(&mut self, command: &ThreadsAct, turn: &mut Turn<'_, Self>) -> Result<usize> {
        let (mailbox, now) = (open(turn, command.org_id).await?, turn.now());
        let action = ThreadAction::read(&command.action, command.label, command.until, now)?
            .ok_or_else(|| Error::invalid("action", "This is no action."))?;
        if let ThreadAction::Label(id) | ThreadAction::Unlabel(id) = action {
            turn.services().store.mail_label(mailbox.id, id).await?.ok_or_else(no_label)?;
        }
        let found = turn.services().store.mail_conversations(mailbox.id, &command.ids).await?;
        let mut draft = self.draft(&mailbox);
        let mut changed = 0;
        for mut conversation in found.into_values() {
            // Two ids may be of one conversation.
            if draft.touched.contains(&conversation.id) {
                continue;
            }
            let before = conversation.state();
            match before.act(action, now)? {
                Acted::Same => continue,
                Acted::Changed(after) => {
                    conversation.apply(after);
                    draft.rewrite(&before, &conversation);
                }
                Acted::Deleted => draft.delete(now, &conversation),
            }
            if let ThreadAction::Snooze(until) = action {
                let (key, name) = (mailbox.id.to_string(), format!("{WAKE}{}", conversation.id));
                draft.change.timer_set_for(mailbox.org_id, Self::KIND, &key, &name, until);
            }
            changed += 1;
        }
        if changed > 0 {
            self.commit(turn, &mailbox, draft).await?;
        }
        Ok(changed)
    }
}

impl Handle<TimerFired> for MailboxOwner {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let store = turn.services().store.clone();
        let Some(mailbox) = store.mailbox_by_id(*turn.key()).await? else { return Ok(()) };
        if let Some(id) = fired.name.strip_prefix(UNLABEL).and_then(|id| id.parse::<MailLabelId>().ok()) {
            return self.unlabel_on(turn, &mailbox, id).await;
        }
        if fired.name == AUTOMATIC {
            return self.let_go(turn, &mailbox).await;
        }
        if fired.name == PURGE {
            return self.purge(turn, &mailbox).await;
        }
        let id = fired.name.strip_prefix(WAKE).and_then(|id| id.parse::<MailThreadId>().ok());
        let Some(id) = id else { return Ok(()) };
        self.wake(turn, &mailbox, id).await
    }
}

impl MailboxOwner {
    /// Brings a conversation back whose time has come.
    async fn wake(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox, id: MailThreadId) -> Result<()> {
        let (store, now) = (turn.services().store.clone(), turn.now());
        let Some(mut conversation) = store.mail_conversations(mailbox.id, &[id]).await?.remove(&id) else {
            return Ok(());
        };
        // It may have come back before, or was put off further.
        if conversation.snoozed_until.is_none_or(|until| until > now) {
            return Ok(());
        }
        let before = conversation.state();
        let mut after = before.clone();
        after.come_back(now);
        conversation.apply(after);
        let mut draft = self.draft(mailbox);
        draft.rewrite(&before, &conversation);
        self.commit(turn, mailbox, draft).await
    }
}
