//! What a person chose of their mailboxes in an organization (contract B 4.8).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::MailboxId;

/// Recipients whom a mailbox sends to in a day; the contract has no numbers.
pub const SEND_PER_DAY: u32 = 2_000;
/// Megabytes of a message.
pub const MESSAGE_MB_MAX: u32 = 25;
/// Recipients of a message.
pub const RECIPIENTS_MAX: u32 = 500;

/// Of which messages of a mailbox a person is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailPush {
    /// All.
    All,
    /// Those of the first category.
    #[default]
    Primary,
    /// None.
    Off,
}

/// What a person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailPreferences {
    /// Whether the inbox is shown by categories.
    pub categories: bool,
    /// Of which messages they are told, where they chose otherwise than [`MailPush::default`].
    pub push: BTreeMap<MailboxId, MailPush>,
    /// Counts changes; 0 while nothing was chosen.
    pub version: i64,
}

impl Default for MailPreferences {
    fn default() -> Self {
        Self { categories: true, push: BTreeMap::new(), version: 0 }
    }
}

impl MailPreferences {
    /// Of which messages of this mailbox the person is told.
    pub fn push_of(&self, id: MailboxId) -> MailPush {
        self.push.get(&id).copied().unwrap_or_default()
    }
}
