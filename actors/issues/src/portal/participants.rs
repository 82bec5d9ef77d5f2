//! Who takes part in a request.

use domain::{
    Email, Error, Result,
    id::{OrgId, UserId},
    issues::{
        issue::Issue,
        portal::{PARTICIPANT_NOT_FOUND, PARTICIPANT_REFUSED, PARTICIPANTS_MAX, admits},
    },
};
use kernel::{Command, Handle, Turn};
use store::{Change, Store};

use super::{Opened, news::tell_touched, visitor};
use crate::{fields::touched, issue::IssueOwner};

/// Has somebody take part in a request.
#[derive(Clone, Debug)]
pub struct AddParticipant {
    /// The organization.
    pub org_id: OrgId,
    /// Their address.
    pub email: String,
}

/// Has somebody take part no more.
#[derive(Clone, Debug)]
pub struct RemoveParticipant {
    /// The organization.
    pub org_id: OrgId,
    /// Their id or address.
    pub who: String,
}

impl Command for AddParticipant {
    type Reply = ();

    const NAME: &'static str = "add_issue_participant";
}

impl Command for RemoveParticipant {
    type Reply = ();

    const NAME: &'static str = "remove_issue_participant";
}

/// Somebody who may take part.
enum Guest {
    /// A person who may come in.
    Person(UserId),
    /// Somebody who is reached by mail, where the desk takes mail of them.
    Address(String),
}

/// Whoever has this address; 400 that doesn't tell why they can't take part.
async fn guest(store: &Store, opened: &Opened, address: &str) -> Result<Guest> {
    let refused = || Error::invalid("email", PARTICIPANT_REFUSED);
    let email = Email::parse("email", address.trim()).map_err(|_| refused())?;
    if let Some(person) = store.person_by_email(&email).await? {
        let guest = visitor(store, opened.space.org_id, person.id).await?;
        if admits(&opened.space, &guest).is_some() {
            return Ok(Guest::Person(person.id));
        }
    }
    let is_taken = opened.desk.takes_mail_of(email.as_str(), None);
    is_taken.then(|| Guest::Address(email.to_string())).ok_or_else(refused)
}

impl Guest {
    fn takes_part(&self, issue: &Issue) -> bool {
        match self {
            Self::Person(person) => {
                issue.reporter_id == Some(*person) || issue.participants.contains(&person.to_string())
            }
            Self::Address(address) => {
                issue.requester_email.as_ref() == Some(address) || issue.email_participants.contains(address)
            }
        }
    }
}

impl Handle<AddParticipant> for IssueOwner {
    async fn handle(&mut self, command: &AddParticipant, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        let guest = guest(&turn.services().store, &opened, &command.email).await?;
        let stored = &opened.stored;
        if guest.takes_part(&stored.issue) {
            return Ok(());
        }
        if stored.issue.participants.len() + stored.issue.email_participants.len() >= PARTICIPANTS_MAX {
            let message = format!("A request has at most {PARTICIPANTS_MAX} participants.");
            return Err(Error::bad_request("limit_reached", message));
        }
        let (mut after, now) = (stored.clone(), turn.now());
        match &guest {
            Guest::Person(person) => after.issue.participants.push(person.to_string()),
            Guest::Address(address) => after.issue.email_participants.push(address.clone()),
        }
        touched(&mut after, now);
        let mut change = Change::new();
        change.issue_set(&after, stored);
        if let Guest::Person(person) = guest {
            change.issue_participant_add(after.issue.issue_id, person, (opened.person, now));
        }
        tell_touched(&mut change, &turn.services().store, &after.issue, now).await?;
        turn.commit(change).await
    }
}

/// The participant whom an id or an address names.
async fn named(store: &Store, opened: &Opened, who: &str) -> Result<Guest> {
    let gone = || Error::not_found(PARTICIPANT_NOT_FOUND);
    let issue = &opened.stored.issue;
    if let Ok(email) = Email::parse("who", who)
        && issue.email_participants.iter().any(|address| address == email.as_str())
    {
        return Ok(Guest::Address(email.to_string()));
    }
    let id = match (who.parse::<UserId>(), Email::parse("who", who)) {
        (Ok(id), _) => Some(id),
        (_, Ok(email)) => store.person_by_email(&email).await?.map(|person| person.id),
        _ => None,
    };
    let id = id.filter(|id| issue.participants.contains(&id.to_string()));
    id.map(Guest::Person).ok_or_else(gone)
}

impl Handle<RemoveParticipant> for IssueOwner {
    async fn handle(&mut self, command: &RemoveParticipant, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        let guest = named(&turn.services().store, &opened, &command.who).await?;
        let stored = &opened.stored;
        let is_oneself = matches!(guest, Guest::Person(person) if person == opened.person);
        if !is_oneself && stored.issue.reporter_id != Some(opened.person) {
            let message = "Only the person who raised the request can remove others.";
            return Err(Error::forbidden("reporter_only", message));
        }
        let (mut after, now) = (stored.clone(), turn.now());
        match &guest {
            Guest::Person(person) => after.issue.participants.retain(|id| *id != person.to_string()),
            Guest::Address(address) => after.issue.email_participants.retain(|it| it != address),
        }
        touched(&mut after, now);
        let mut change = Change::new();
        change.issue_set(&after, stored);
        if let Guest::Person(person) = guest {
            change.issue_participant_remove(after.issue.issue_id, person);
        }
        tell_touched(&mut change, &turn.services().store, &after.issue, now).await?;
        turn.commit(change).await
    }
}
