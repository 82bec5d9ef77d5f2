//! Who takes part in a request.

use domain::{
    Email, Error, Result,
    id::{OrgId, UserId},
    issues::portal::{PARTICIPANT_NOT_FOUND, PARTICIPANT_REFUSED, PARTICIPANTS_MAX, admits},
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

/// The person with this address, who may come in; 400 that doesn't tell why not.
async fn guest(store: &Store, opened: &Opened, address: &str) -> Result<UserId> {
    let refused = || Error::invalid("email", PARTICIPANT_REFUSED);
    let email = Email::parse("email", address.trim()).map_err(|_| refused())?;
    let person = store.person_by_email(&email).await?.ok_or_else(refused)?;
    let guest = visitor(store, opened.space.org_id, person.id).await?;
    admits(&opened.space, &guest).ok_or_else(refused)?;
    Ok(person.id)
}

impl Handle<AddParticipant> for IssueOwner {
    async fn handle(&mut self, command: &AddParticipant, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        let guest = guest(&turn.services().store, &opened, &command.email).await?;
        let stored = &opened.stored;
        if stored.issue.reporter_id == Some(guest) || stored.issue.participants.contains(&guest.to_string()) {
            return Ok(());
        }
        if stored.issue.participants.len() >= PARTICIPANTS_MAX {
            let message = format!("A request has at most {PARTICIPANTS_MAX} participants.");
            return Err(Error::bad_request("limit_reached", message));
        }
        let (mut after, now) = (stored.clone(), turn.now());
        after.issue.participants.push(guest.to_string());
        touched(&mut after, now);
        let mut change = Change::new();
        change.issue_set(&after, stored);
        change.issue_participant_add(after.issue.issue_id, guest, (opened.person, now));
        tell_touched(&mut change, &turn.services().store, &after.issue, now).await?;
        turn.commit(change).await
    }
}

/// The participant whom an id or an address names.
async fn named(store: &Store, opened: &Opened, who: &str) -> Result<UserId> {
    let gone = || Error::not_found(PARTICIPANT_NOT_FOUND);
    let id = match (who.parse::<UserId>(), Email::parse("who", who)) {
        (Ok(id), _) => Some(id),
        (_, Ok(email)) => store.person_by_email(&email).await?.map(|person| person.id),
        _ => None,
    };
    id.filter(|id| opened.stored.issue.participants.contains(&id.to_string())).ok_or_else(gone)
}

impl Handle<RemoveParticipant> for IssueOwner {
    async fn handle(&mut self, command: &RemoveParticipant, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        let person = named(&turn.services().store, &opened, &command.who).await?;
        let stored = &opened.stored;
        if person != opened.person && stored.issue.reporter_id != Some(opened.person) {
            let message = "Only the person who raised the request can remove others.";
            return Err(Error::forbidden("reporter_only", message));
        }
        let (mut after, now) = (stored.clone(), turn.now());
        after.issue.participants.retain(|id| *id != person.to_string());
        touched(&mut after, now);
        let mut change = Change::new();
        change.issue_set(&after, stored);
        change.issue_participant_remove(after.issue.issue_id, person);
        tell_touched(&mut change, &turn.services().store, &after.issue, now).await?;
        turn.commit(change).await
    }
}
