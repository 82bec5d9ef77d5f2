//! What a mailbox sends without anybody asking for it: what its calendars say.

use domain::{
    Email, Result,
    id::MailMessageId,
    mail::{Leaving, MailBox},
};
use kernel::{Command, Handle, Turn};

use super::{
    MailboxOwner,
    filing::{Filing, Written},
    sending::sender_check,
    writing::{WrittenBytes, own_message},
};

/// Sends a message that nobody wrote; one that was sent already isn't sent again.
#[derive(Clone, Debug)]
pub struct MailPost {
    /// Its id.
    pub id: MailMessageId,
    /// Who sends it by the envelope: an address of the mailbox.
    pub sender: Email,
    /// To whom; each once.
    pub recipients: Vec<Email>,
    /// The message.
    pub bytes: WrittenBytes,
}

/// By what the rule of such a message's place is known.
const CALENDAR_RULE: &str = "calendar";

impl Command for MailPost {
    type Reply = ();

    const NAME: &'static str = "mail_post";
}

impl Handle<MailPost> for MailboxOwner {
    async fn handle(&mut self, command: &MailPost, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (now, store) = (turn.now(), turn.services().store.clone());
        let Some(mailbox) = store.mailbox_by_id(*turn.key()).await? else { return Ok(()) };
        if !store.mail_outgoing(mailbox.id, command.id).await?.is_empty() {
            return Ok(());
        }
        sender_check(turn, &mailbox, &command.sender).await?;
        let mut message = own_message(command.id, MailBox::Sent, now, &command.bytes, command.sender.to_string());
        CALENDAR_RULE.clone_into(&mut message.rule);
        let mut filing = Filing::new(&store, &mailbox, self.draft(&mailbox), now);
        let (content, raw) = (&*command.bytes.content, &command.bytes.raw);
        filing.write(Written { message, content, raw, there: None }).await?;
        let mut end = filing.end();
        for person in &content.to {
            end.change.mail_person_written(mailbox.id, person, now);
        }
        let (org_id, mailbox_id) = (mailbox.org_id, mailbox.id);
        let leaving = Leaving { org_id, mailbox_id, message_id: command.id, raw_id: raw.id(), sender: &command.sender };
        let rows = command.recipients.iter().map(|recipient| leaving.to(recipient, now));
        end.change.mail_outgoing_add(now, &rows.collect::<Vec<_>>());
        self.commit(turn, &mailbox, end).await
    }
}
