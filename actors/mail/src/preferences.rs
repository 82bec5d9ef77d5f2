//! What a person chose of their mailboxes in an organization (contract B 4.8): nobody else writes it.

use std::{collections::BTreeMap, fmt, str::FromStr};

use actors_base::Services;
use domain::{
    Error, Result,
    id::{MailboxId, OrgId, UserId},
    mail::{MEMBERS_ONLY, MailPreferences, MailPush, no_mailbox},
};
use kernel::{Command, Handle, Resource, Turn};
use store::Change;

/// A person in an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MailPersonKey {
    /// The organization.
    pub org_id: OrgId,
    /// The person.
    pub user_id: UserId,
}

impl fmt::Display for MailPersonKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.org_id, self.user_id)
    }
}

impl FromStr for MailPersonKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let key = text
            .split_once('/')
            .and_then(|(org_id, user_id)| Some(Self { org_id: org_id.parse().ok()?, user_id: user_id.parse().ok()? }));
        key.ok_or_else(|| Error::internal(format_args!("{text} names no person in an organization")))
    }
}

/// What a person chose.
#[derive(Debug)]
pub struct MailChoices {
    chosen: MailPreferences,
}

impl Resource for MailChoices {
    type Key = MailPersonKey;
    type Services = Services;

    const KIND: &'static str = "mail_choices";

    async fn load(key: &MailPersonKey, services: &Services) -> Result<Self> {
        Ok(Self { chosen: services.store.mail_preferences(key.org_id, key.user_id).await? })
    }
}

/// Chooses; nothing of what is `None` or absent.
#[derive(Clone, Debug)]
pub struct MailChoose {
    /// Whether the inbox is shown by categories.
    pub categories: Option<bool>,
    /// Of which messages of a mailbox they are told.
    pub push: BTreeMap<MailboxId, MailPush>,
}

impl Command for MailChoose {
    type Reply = MailPreferences;

    const NAME: &'static str = "mail_choose";
}

impl Handle<MailChoose> for MailChoices {
    async fn handle(&mut self, command: &MailChoose, turn: &mut Turn<'_, Self>) -> Result<MailPreferences> {
        let MailPersonKey { org_id, user_id } = *turn.key();
        if turn.authority(org_id).await?.person(MEMBERS_ONLY)? != user_id {
            return Err(Error::internal("somebody chooses for somebody else"));
        }
        for id in command.push.keys() {
            turn.services().store.mailbox_of(org_id, *id, user_id).await?.ok_or_else(no_mailbox)?;
        }
        let mut chosen = self.chosen.clone();
        chosen.categories = command.categories.unwrap_or(chosen.categories);
        chosen.push.extend(&command.push);
        if chosen == self.chosen {
            return Ok(chosen);
        }
        let mut change = Change::new();
        change.mail_preferences_set(org_id, user_id, &chosen);
        turn.commit(change).await?;
        chosen.version += 1;
        self.chosen.clone_from(&chosen);
        Ok(chosen)
    }
}
