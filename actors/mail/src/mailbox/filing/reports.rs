//! Reports of other servers on messages that the mailbox sent: each is filed in its message's conversation, and says there what became
//! of it.

use std::collections::BTreeSet;

use domain::{
    Result, Timestamp,
    id::MailThreadId,
    mail::{BounceAddress, Mailbox, Outgoing, settled},
};
use serde_json::json;
use store::{Change, OutboxEntry};

use super::{Arrived, Filing, Touched};

impl Filing<'_> {
    /// Takes note of what a report says; the conversation that it belongs to, where it is one on a message of the mailbox's.
    pub(super) async fn reported(&mut self, arrived: &Arrived, platform: &str) -> Result<Option<MailThreadId>> {
        let (arrival, mailbox) = (&arrived.arrival, self.mailbox);
        let address = arrival.envelope_to.parse().ok().as_ref().and_then(BounceAddress::read);
        let Some(address) = address.filter(|_| arrival.envelope_from.is_empty()) else { return Ok(None) };
        let bounced = self.store.mail_bounced(&address, platform).await?.filter(|it| it.mailbox_id == mailbox.id);
        let Some(bounced) = bounced else { return Ok(None) };
        let rows = self.store.mail_outgoing(mailbox.id, bounced.message_id).await?;
        for row in settled(&rows, &bounced.domain, &arrived.reported) {
            self.draft.change.mail_outgoing_report(&row);
            tell_of_delivery(&mut self.draft.change, self.now, mailbox, &row);
        }
        let Some(thread_id) = self.store.mail_thread_of(mailbox.id, bounced.message_id).await? else {
            return Ok(None);
        };
        let thread_id = self.now_named(thread_id);
        for conversation in self.load(&BTreeSet::from([thread_id])).await? {
            self.touched.entry(conversation.id).or_insert_with(|| Touched::there(conversation));
        }
        Ok(self.touched.contains_key(&thread_id).then_some(thread_id))
    }
}

/// Tells the members of a mailbox what became of a message for a recipient.
pub(crate) fn tell_of_delivery(change: &mut Change, now: Timestamp, mailbox: &Mailbox, row: &Outgoing) {
    let message = json!({
        "type": "mail.delivery", "mailboxId": mailbox.id, "messageId": row.message_id,
        "address": row.recipient.as_str(), "state": row.state.as_str(),
    });
    for &user_id in &mailbox.members {
        change.outbox_add(now, &OutboxEntry::Live { user_id, message: message.clone() });
    }
}
