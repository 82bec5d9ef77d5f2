//! What people do with single messages.

use std::collections::BTreeSet;

use domain::{
    Error, Result,
    id::{MailLabelId, MailMessageId, MailThreadId, OrgId},
    mail::{ActedOn, ThreadAction, no_label},
};
use kernel::{Command, Handle, Turn};

use super::{MailboxOwner, open};

/// Does something with messages; those that aren't there are passed over.
#[derive(Clone, Debug)]
pub struct MessagesAct {
    /// The organization.
    pub org_id: OrgId,
    /// Which messages.
    pub ids: BTreeSet<MailMessageId>,
    /// The name of what is done.
    pub action: String,
    /// The label that it is about.
    pub label: Option<MailLabelId>,
}

impl Command for MessagesAct {
    /// How many messages changed.
    type Reply = usize;

    const NAME: &'static str = "messages_act";
}

impl Handle<MessagesAct> for MailboxOwner {
    async fn handle(&mut self, command: &MessagesAct, turn: &mut Turn<'_, Self>) -> Result<usize> {
        let (mailbox, now) = (open(turn, command.org_id).await?, turn.now());
        let action = ThreadAction::read(&command.action, command.label, None, now)?
            .ok_or_else(|| Error::invalid("action", "This is no action."))?;
        let store = turn.services().store.clone();
        if let ThreadAction::Label(id) | ThreadAction::Unlabel(id) = action {
            store.mail_label(mailbox.id, id).await?.ok_or_else(no_label)?;
        }
        let threads: Vec<MailThreadId> = store.mail_threads_of(mailbox.id, &command.ids).await?;
        let mut draft = self.draft(&mailbox);
        let mut changed = 0;
        for mut conversation in store.mail_conversations(mailbox.id, &threads).await?.into_values() {
            let before = conversation.state();
            match before.act_on(&command.ids, action, now)? {
                ActedOn::Same => {}
                ActedOn::Changed(after, count) => {
                    conversation.apply(after);
                    draft.rewrite(&before, &conversation);
                    changed += count;
                }
                ActedOn::Deleted(gone) => {
                    changed += gone.len();
                    if gone.len() == conversation.messages.len() {
                        draft.delete(now, &conversation);
                        continue;
                    }
                    let messages = std::mem::take(&mut conversation.messages).into_iter();
                    let (deleted, kept): (Vec<_>, Vec<_>) = messages.partition(|it| gone.contains(&it.placing.id));
                    conversation.messages = kept;
                    draft.change.mail_messages_delete(now, mailbox.id, &deleted);
                    draft.set(Some(&before), &conversation);
                }
            }
        }
        if changed > 0 {
            self.commit(turn, &mailbox, draft).await?;
        }
        Ok(changed)
    }
}
