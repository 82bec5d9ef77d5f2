//! Help centers: another door to spaces and issues, for people who need no part in the organization (contract B 4.4).
//!
//! Commands that come through this door never ask for a scope. Each looks at the desk anew ([`desk_of`]) and, where it is about a
//! request, whether the person takes part in it.

mod approve;
mod attachments;
mod news;
mod participants;
mod raise;
mod rate;
mod reply;

use domain::{
    Caller, Context, Error, Result,
    id::{OrgId, SpaceId, UserId},
    issues::{
        portal::{
            HELP_CENTER_NOT_FOUND, HELP_CENTER_PEOPLE, REQUEST_NOT_FOUND, ServiceDesk, Visitor, admits, takes_part,
        },
        space::Space,
    },
};
use kernel::Turn;
use store::{Store, issues::StoredIssue};

pub(crate) use self::news::{Besides, tell_changed, tell_raised, tell_said, tell_unsaid, tell_written};
pub(crate) use self::raise::lead_takes;
pub use self::{
    approve::ApproveRequest,
    attachments::{BeginAttachment, CompleteAttachment, KeepAttachment},
    participants::{AddParticipant, RemoveParticipant},
    raise::RaiseRequest,
    rate::RateRequest,
    reply::ReplyToRequest,
};
use super::issue::IssueOwner;

/// A person at the doors of an organization's help centers.
pub async fn visitor(store: &Store, org_id: OrgId, user_id: UserId) -> Result<Visitor> {
    let is_member = store.membership(org_id, user_id).await?.is_some();
    let confirmed_email = store.confirmed_email(user_id).await?;
    Ok(Visitor { user_id, is_member, confirmed_email })
}

/// 400, where something is to be public in a space that is no desk.
pub(crate) fn require_desk(space: &Space, public: bool) -> Result<()> {
    if !public || space.config.servicedesk.is_some() {
        return Ok(());
    }
    Err(Error::invalid("public", "Public comments need a space with a desk."))
}

/// A desk that is open to whoever asks.
struct Entered {
    person: UserId,
    space: Space,
    desk: ServiceDesk,
}

/// Whoever asks; 403 for keys.
fn person_of(context: &Context) -> Result<UserId> {
    match &context.caller {
        Caller::Person(person) => Ok(person.user_id),
        _ => Err(Error::forbidden("people_only", HELP_CENTER_PEOPLE)),
    }
}

/// The desk of a space, which has to be open to whoever asks.
async fn desk_of(store: &Store, context: &Context, (org_id, space_id): (OrgId, SpaceId)) -> Result<Entered> {
    let gone = || Error::not_found(HELP_CENTER_NOT_FOUND);
    let person = person_of(context)?;
    let space = store.issue_space(org_id, space_id).await?.ok_or_else(gone)?;
    let visitor = visitor(store, org_id, person).await?;
    let desk = admits(&space, &visitor).cloned().ok_or_else(gone)?;
    Ok(Entered { person, space, desk })
}

/// A request that whoever asks takes part in.
struct Opened {
    person: UserId,
    space: Space,
    desk: ServiceDesk,
    stored: StoredIssue,
}

impl Opened {
    async fn of(turn: &Turn<'_, IssueOwner>, org_id: OrgId) -> Result<Self> {
        let store = &turn.services().store;
        let gone = || Error::not_found(REQUEST_NOT_FOUND);
        let stored = store.issue(org_id, *turn.key()).await?.ok_or_else(gone)?;
        let Entered { person, space, desk } = desk_of(store, turn.context(), (org_id, stored.issue.space_id)).await?;
        if !takes_part(&stored.issue, person) {
            return Err(gone());
        }
        Ok(Self { person, space, desk, stored })
    }
}
