//! Conversations as lists show them (contract B 2.7).

use std::collections::BTreeMap;

use domain::{
    id::MailboxId,
    mail::{Correspondent, Count, MailCategory, Mailbox, ThreadRow},
};
use serde::Serialize;
use utoipa::ToSchema;

/// A person or a list that a message is from or to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"name": "Bob", "email": "bob@example.org"}))]
pub(crate) struct CorrespondentBody {
    /// What they are called.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The address, in small letters.
    email: String,
}

impl From<Correspondent> for CorrespondentBody {
    fn from(it: Correspondent) -> Self {
        Self { name: it.name, email: it.email }
    }
}

/// A conversation, as lists show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "mailboxId": "mbx_01jd7rt4m5e9fv2w8x3c6k0hqz", "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "threadId": "thr_01jd7rt4m5e9fv2w8x3c6k0hqz", "subject": "Lunch", "snippet": "See you there.",
    "participants": [{"name": "Bob", "email": "bob@example.org"}], "lastAt": 1_767_225_600_000_i64, "messageCount": 2,
    "unreadCount": 1, "starred": false, "labels": [], "box": "inbox", "hasAttachments": false, "category": "primary",
    "sender": {"name": "Bob", "email": "bob@example.org"}
}))]
pub(crate) struct MailThreadBody {
    /// The mailbox's id.
    mailbox_id: String,
    /// The organization's id.
    org_id: String,
    /// The conversation's id.
    thread_id: String,
    /// What the first message is about.
    subject: String,
    /// The beginning of the last message.
    snippet: String,
    /// Up to five of those who wrote, in the order in which they spoke.
    participants: Vec<CorrespondentBody>,
    /// When the last message came.
    last_at: i64,
    /// How many messages there are.
    message_count: usize,
    /// How many of them nobody has read.
    unread_count: usize,
    /// Whether a message has a star.
    starred: bool,
    /// The ids of labels.
    labels: Vec<String>,
    /// `inbox`, `archive`, `spam` or `trash`: the first of them that holds a message of the conversation.
    #[serde(rename = "box")]
    place: &'static str,
    /// Whether there are files.
    has_attachments: bool,
    /// `primary`, `transactions`, `updates` or `promotions`.
    category: &'static str,
    /// The last sender but the mailbox itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    sender: Option<CorrespondentBody>,
    /// When the conversation comes back into the inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    snoozed_until: Option<i64>,
}

impl MailThreadBody {
    pub(crate) fn new(mailbox: &Mailbox, row: ThreadRow) -> Self {
        Self {
            mailbox_id: mailbox.id.to_string(),
            org_id: mailbox.org_id.to_string(),
            thread_id: row.id.to_string(),
            subject: row.subject,
            snippet: row.snippet,
            participants: row.participants.into_iter().map(Into::into).collect(),
            last_at: row.last_at.0,
            message_count: row.messages,
            unread_count: row.unread,
            starred: row.is_starred,
            labels: row.labels.iter().map(ToString::to_string).collect(),
            place: row.place.as_str(),
            has_attachments: row.has_files,
            category: row.category.as_str(),
            sender: row.sender.map(Into::into),
            snoozed_until: row.snoozed_until.map(|at| at.0),
        }
    }
}

/// Conversations in the inbox that have something unread, by category.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
#[schema(example = json!({"primary": 2, "transactions": 0, "updates": 1, "promotions": 0}))]
pub(crate) struct CategoryCountsBody {
    /// Mail from people.
    primary: i64,
    /// Orders, invoices, tickets.
    transactions: i64,
    /// Lists, notices, what programs send.
    updates: i64,
    /// What is sent to many to sell.
    promotions: i64,
}

impl CategoryCountsBody {
    pub(crate) fn new(counts: Option<&BTreeMap<MailCategory, Count>>) -> Self {
        let of = |category| counts.and_then(|it| it.get(&category)).map_or(0, |count| count.unread);
        Self {
            primary: of(MailCategory::Primary),
            transactions: of(MailCategory::Transactions),
            updates: of(MailCategory::Updates),
            promotions: of(MailCategory::Promotions),
        }
    }

    pub(crate) const fn primary(&self) -> i64 {
        self.primary
    }

    pub(crate) const fn sum(&self) -> i64 {
        self.primary + self.transactions + self.updates + self.promotions
    }

    pub(crate) const fn add(&mut self, other: &Self) {
        self.primary += other.primary;
        self.transactions += other.transactions;
        self.updates += other.updates;
        self.promotions += other.promotions;
    }
}

/// Counts by mailbox.
pub(crate) type CountsByMailbox = BTreeMap<MailboxId, BTreeMap<MailCategory, Count>>;
