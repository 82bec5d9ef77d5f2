//! What calendars have their mailboxes send.

use domain::id::{MailMessageId, MailboxId};
use serde::{Deserialize, Serialize};

/// The topic of the jobs that have mailboxes send what their calendars say.
pub const CALENDAR_POSTING: &str = "calendar.posting";

/// A message about an event, as it is to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CalendarPost {
    /// Whose calendar says it.
    pub mailbox_id: MailboxId,
    /// The message's id, so that it is sent once.
    pub message_id: MailMessageId,
    /// To whom.
    pub recipients: Vec<String>,
    /// What it is about.
    pub subject: String,
    /// The text for people.
    pub text: String,
    /// What it asks for (RFC 5546).
    pub method: String,
    /// The same for programs.
    pub file: String,
}
