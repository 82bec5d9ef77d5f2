//! What messages say of events: kept in the commit that files them, and looked at by the mailbox's calendars afterwards.

use domain::{
    Timestamp,
    calendar::{
        InvitationState, Method,
        itip::{MailedFile, NOT_PROVED},
    },
    id::MailThreadId,
    mail::{MailBox, MailMessage, Outcome},
};
use store::{
    Change, NewWork,
    calendar::{CALENDAR_ARRIVALS, CalendarArrival, InboxMessage},
};

use super::Arrived;

/// Keeps what a message says of an event, and has the mailbox's calendars look at it where somebody vouches for its sender.
pub(super) fn keep_invitation(
    change: &mut Change,
    now: Timestamp,
    arrived: &Arrived,
    (thread_id, message): (MailThreadId, &MailMessage),
) {
    let (arrival, content) = (&arrived.arrival, &arrived.content);
    let Some(invitation) = &content.invitation else { return };
    let is_welcome = !matches!(message.placing.place, MailBox::Spam | MailBox::Trash);
    let is_proved = is_welcome && arrival.verdict.dmarc == Outcome::Pass;
    // Who looks at an invitation decides themselves; the rest would change something without anybody looking.
    let is_shown = [Method::Request, Method::Publish].map(Method::as_str).contains(&invitation.method.as_str());
    let (state, why) = match &invitation.fault {
        Some(fault) => (InvitationState::Refused, Some(fault.clone())),
        None if is_proved => (InvitationState::Waiting, None),
        None if is_shown => (InvitationState::Waiting, Some(NOT_PROVED.to_owned())),
        None => (InvitationState::Refused, Some(NOT_PROVED.to_owned())),
    };
    let is_looked_at = is_proved && state == InvitationState::Waiting;
    let file = MailedFile { is_proved, ..MailedFile::of(invitation) };
    change.calendar_message_add(&InboxMessage {
        id: message.placing.id,
        thread_id,
        mailbox_id: arrival.mailbox_id,
        method: invitation.method.clone(),
        uid: invitation.uid.clone(),
        sender: content.from.as_ref().map(|from| from.email.clone()).unwrap_or_default(),
        event: file.text(),
        received_at: arrival.received_at,
        state: Some(state),
        why,
    });
    if is_looked_at {
        let arrival_of = CalendarArrival { mailbox_id: arrival.mailbox_id, message_id: message.placing.id };
        change.work_add(now, NewWork::new(CALENDAR_ARRIVALS, arrival.org_id, &arrival_of));
    }
}
