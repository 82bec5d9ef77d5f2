//! Leaving the list that a message came over: over HTTP, or by a message of the mailbox's, which its sender reads among what was sent.

use domain::{
    Context, Result,
    id::MailMessageId,
    mail::{
        Correspondent, DraftContent, Mailbox, Unsubscribing, compose, no_message, own_message_id, sender_of,
        unsubscribe_failed, unsubscribing,
    },
};

use crate::writing::{MailWriting, Submission};

/// How a list was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsubscribed {
    /// By a request.
    OneClick,
    /// By a message.
    Mail,
}

impl MailWriting {
    /// Leaves the list that a message of the mailbox came over.
    ///
    /// 404 for a message that isn't there; 400 and 409 for one that can't be answered so, 502 where the list's server doesn't take
    /// it, and what is said to who sends where it takes a message.
    pub async fn unsubscribe(&self, mailbox: &Mailbox, id: MailMessageId, asking: Context) -> Result<Unsubscribed> {
        let store = &self.services.store;
        let (_, message) = store.mail_message(mailbox.id, id).await?.ok_or_else(no_message)?;
        let raw = store.mail_raw_bytes(message.raw_id).await?.ok_or_else(no_message)?;
        let (to, subject, text) = match unsubscribing(&raw, &message.verdict)? {
            Unsubscribing::Mail { to, subject, text } => (to, subject, text),
            Unsubscribing::OneClick(address) => {
                let left = self.services.post.one_click(&address).await;
                return left.map(|()| Unsubscribed::OneClick).map_err(|error| {
                    tracing::info!(%error, "a list was not left");
                    unsubscribe_failed()
                });
            }
        };
        let (sender, now) = (sender_of(mailbox, None)?, store.now());
        let person = |email: &domain::Email| Correspondent { name: None, email: email.to_string() };
        let (from, recipients) = (person(&sender), vec![to.clone()]);
        let content = DraftContent { from, to: vec![person(&to)], subject, text, ..DraftContent::default() };
        let bytes = compose(&content, &own_message_id(MailMessageId::new(now), &sender), now, &[]).into();
        self.submit(mailbox, Submission { sender, recipients, bytes }, asking).await?;
        Ok(Unsubscribed::Mail)
    }
}
