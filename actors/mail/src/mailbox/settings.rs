//! A mailbox's settings (contract B 4.8), which its members share.

use domain::{Result, id::OrgId, mail::clean_html};
use kernel::{Command, Handle, Turn};
use store::mail::MailState;

use super::{MailboxOwner, open};

/// Changes settings; nothing of what is `None`.
#[derive(Clone, Debug)]
pub struct MailboxSettings {
    /// The organization.
    pub org_id: OrgId,
    /// What new messages end with, as HTML; it is cleaned.
    pub signature: Option<String>,
    /// Whether reminders are also filed as messages.
    pub reminder_mail: Option<bool>,
}

impl Command for MailboxSettings {
    type Reply = MailState;

    const NAME: &'static str = "mailbox_settings";
}

impl Handle<MailboxSettings> for MailboxOwner {
    async fn handle(&mut self, command: &MailboxSettings, turn: &mut Turn<'_, Self>) -> Result<MailState> {
        let mailbox = open(turn, command.org_id).await?;
        let mut next = self.state.clone();
        if let Some(signature) = &command.signature {
            next.signature = clean_html(signature);
        }
        next.reminder_mail = command.reminder_mail.unwrap_or(next.reminder_mail);
        if next != self.state {
            self.state_commit(turn, &mailbox, next).await?;
        }
        Ok(self.state.clone())
    }
}

impl MailboxOwner {
    async fn state_commit(
        &mut self,
        turn: &mut Turn<'_, Self>,
        mailbox: &domain::mail::Mailbox,
        next: MailState,
    ) -> Result<()> {
        let next = MailState { revision: self.state.revision + 1, ..next };
        let mut change = store::Change::new();
        change.mailbox_confirm(mailbox.id);
        change.mail_state_turn(mailbox.id, &next);
        turn.commit(change).await?;
        self.state = next;
        Ok(())
    }
}
