//! Where messages lie, and in which views a conversation stands by that.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::MailCategory;
use crate::{
    Timestamp,
    id::{MailLabelId, MailMessageId, MailThreadId},
};

/// Where a message lies. Each is one of IMAP's folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailBox {
    /// The inbox.
    Inbox,
    /// Neither the inbox nor one of the others.
    Archive,
    /// Spam.
    Spam,
    /// The trash.
    Trash,
    /// What the mailbox sent.
    Sent,
    /// What is being written.
    Drafts,
    /// What leaves later.
    Scheduled,
}

impl MailBox {
    /// All of them. The first four in the order in which a conversation's `box` is looked for.
    pub const ALL: [Self; 7] =
        [Self::Inbox, Self::Archive, Self::Spam, Self::Trash, Self::Sent, Self::Drafts, Self::Scheduled];
    /// Those that what is thrown away lies in before: what is written, or leaves later, stays until it is deleted or taken back
    /// itself.
    pub const THROWN_FROM: [Self; 5] = [Self::Inbox, Self::Archive, Self::Spam, Self::Trash, Self::Sent];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Archive => "archive",
            Self::Spam => "spam",
            Self::Trash => "trash",
            Self::Sent => "sent",
            Self::Drafts => "drafts",
            Self::Scheduled => "scheduled",
        }
    }

    /// The box with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// A view of a mailbox's conversations (contract B 4.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// What has a message in the inbox.
    Inbox,
    /// What is starred.
    Starred,
    /// What comes back later.
    Snoozed,
    /// What the mailbox wrote in.
    Sent,
    /// What is being written.
    Drafts,
    /// What leaves later.
    Scheduled,
    /// What has a message in the archive.
    Archive,
    /// Everything but spam and trash.
    All,
    /// Spam.
    Spam,
    /// The trash.
    Trash,
    /// What has a label.
    Label(MailLabelId),
}

impl View {
    /// The name that rows of it carry.
    pub fn place(self) -> String {
        match self {
            Self::Label(id) => format!("l:{id}"),
            view => view.name().to_owned(),
        }
    }

    /// The contract's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Starred => "starred",
            Self::Snoozed => "snoozed",
            Self::Sent => "sent",
            Self::Drafts => "drafts",
            Self::Scheduled => "scheduled",
            Self::Archive => "archive",
            Self::All => "all",
            Self::Spam => "spam",
            Self::Trash => "trash",
            Self::Label(_) => "label",
        }
    }
}

/// What of a message decides on where its conversation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placing {
    /// Its id.
    pub id: MailMessageId,
    /// Where it lies.
    pub place: MailBox,
    /// Whether it came in; what the mailbox wrote itself is always read.
    pub is_incoming: bool,
    /// Whether nobody has read it.
    pub is_unread: bool,
    /// Whether it has a star.
    pub is_starred: bool,
    /// Of which category it is.
    pub category: MailCategory,
    /// When it came.
    pub at: Timestamp,
}

/// A conversation as far as its messages and what people did with it decide where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// Its id.
    pub id: MailThreadId,
    /// Its messages, as they came.
    pub messages: Vec<Placing>,
    /// Its labels.
    pub labels: BTreeSet<MailLabelId>,
    /// When it comes back.
    pub snoozed_until: Option<Timestamp>,
    /// Where it is listed where that isn't its last message's moment: when it came back.
    pub raised_at: Option<Timestamp>,
}

impl ThreadState {
    fn has(&self, place: MailBox) -> bool {
        self.messages.iter().any(|it| it.place == place)
    }

    /// Whether a message of it is neither spam nor in the trash.
    fn is_kept(&self) -> bool {
        self.messages.iter().any(|it| !matches!(it.place, MailBox::Spam | MailBox::Trash))
    }

    /// Its `box` (contract B 2.7): the first of inbox, archive, spam and trash that holds a message of it.
    pub fn main_box(&self) -> MailBox {
        let found = MailBox::ALL.into_iter().take(4).find(|place| self.has(*place));
        found.unwrap_or(MailBox::Archive)
    }

    /// How many of its messages nobody has read.
    pub fn unread(&self) -> usize {
        self.messages.iter().filter(|it| it.is_unread).count()
    }

    /// Whether a message of it has a star.
    pub fn is_starred(&self) -> bool {
        self.messages.iter().any(|it| it.is_starred)
    }

    /// The category of its last message that came in.
    pub fn category(&self) -> MailCategory {
        let incoming = self.messages.iter().filter(|it| it.is_incoming);
        incoming.max_by_key(|it| (it.at, it.id)).map(|it| it.category).unwrap_or_default()
    }

    /// When its last message came.
    pub fn last_at(&self) -> Timestamp {
        self.messages.iter().map(|it| it.at).max().unwrap_or(Timestamp(0))
    }

    /// By what it is listed.
    pub fn sort_at(&self) -> Timestamp {
        self.last_at().max(self.raised_at.unwrap_or(Timestamp(0)))
    }

    /// The views that it stands in.
    pub fn views(&self) -> BTreeSet<View> {
        let mut views = BTreeSet::new();
        let boxes = [
            (MailBox::Inbox, View::Inbox),
            (MailBox::Archive, View::Archive),
            (MailBox::Spam, View::Spam),
            (MailBox::Trash, View::Trash),
            (MailBox::Sent, View::Sent),
            (MailBox::Drafts, View::Drafts),
            (MailBox::Scheduled, View::Scheduled),
        ];
        views.extend(boxes.into_iter().filter(|(place, _)| self.has(*place)).map(|(_, view)| view));
        if self.is_kept() {
            views.insert(View::All);
            views.extend(self.labels.iter().map(|id| View::Label(*id)));
            if self.is_starred() {
                views.insert(View::Starred);
            }
            if self.snoozed_until.is_some() {
                views.insert(View::Snoozed);
            }
        }
        views
    }
}
