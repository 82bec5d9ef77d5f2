//! What guests are sent.

use actors_base::Services;
use domain::{
    Email, Error, Result, Timestamp,
    calendar::{Attendee, AttendeeStatus, Event, Itip, Method, recurrence::Wall},
    id::{MailMessageId, MailboxId},
    mail::{Mailbox, OrgDomain, domain_removed},
};
use store::{
    Change, NewWork,
    calendar::{CALENDAR_POSTING, CalendarBook, CalendarPost},
};

use crate::scheduling::{CALENDAR_SCHEDULING, Scheduled};

/// Guests whom a mailbox sends something on a day (UTC), as mail has it (contract B 4.8, `sendPerDay`).
const SENT_MAX: i64 = 2_000;
/// What somebody reads who sends more.
const TOO_MANY_SENT: &str = "This mailbox has sent to 2,000 recipients in the last day.";
const DAY_MS: i64 = 86_400_000;

/// How many guests are sent something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notified {
    /// Guests.
    pub sent: usize,
}

/// What is sent, and about which of an event's occurrences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending<'e> {
    pub event: &'e Event,
    pub method: Method,
    pub at: Option<Wall>,
}

/// 409 where the mailbox can't send.
pub(crate) async fn can_send(services: &Services, mailbox: &Mailbox) -> Result<()> {
    let (store, platform) = (&services.store, &services.settings.platform_domain);
    let name = mailbox.domain().parse().map_err(|_| domain_removed())?;
    match store.org_domain(mailbox.org_id, &name, platform).await?.ok_or_else(domain_removed)? {
        OrgDomain::Lent { .. } => Ok(()),
        OrgDomain::Claimed(domain) => domain.sending_check(),
    }
}

/// The book once so many guests were sent something; 429 where these are too many for a day.
pub(crate) fn counted(book: CalendarBook, now: Timestamp, guests: usize) -> Result<CalendarBook> {
    let book = book.with_sent(now, i64::try_from(guests).unwrap_or(i64::MAX));
    if book.sent <= SENT_MAX {
        return Ok(book);
    }
    let left = DAY_MS - now.0.rem_euclid(DAY_MS);
    let retry_after = std::time::Duration::from_millis(left.unsigned_abs());
    Err(Error::RateLimited { message: TOO_MANY_SENT.into(), retry_after })
}

/// Adds what these guests are sent to the change: one message for all of them. Whoever has a mailbox here is told without one.
pub(crate) async fn send(
    change: &mut Change,
    services: &Services,
    mailbox: &Mailbox,
    sending: Sending<'_>,
    guests: &[Attendee],
) -> Result<()> {
    let now = services.store.now();
    let Sending { event, method, at } = sending;
    let mut elsewhere = Vec::new();
    for guest in guests {
        if let Some(local) = local_mailbox(services, &guest.email).await? {
            let scheduled = Scheduled::Look { mailbox_id: local, organizer: mailbox.id, uid: event.uid.clone() };
            change.work_add(now, NewWork::new(CALENDAR_SCHEDULING.name, mailbox.org_id, &scheduled));
            continue;
        }
        elsewhere.push(guest.email.clone());
    }
    if elsewhere.is_empty() { Ok(()) } else { post(change, now, mailbox, &Itip::of(event, method, at), elsewhere) }
}

/// Has the mailbox send a message about an event. It is written as the event is now, and leaves as all that the mailbox sends.
pub(crate) fn post(
    change: &mut Change,
    now: Timestamp,
    mailbox: &Mailbox,
    itip: &Itip<'_>,
    recipients: Vec<String>,
) -> Result<()> {
    let post = CalendarPost {
        mailbox_id: mailbox.id,
        message_id: MailMessageId::new(now),
        recipients,
        subject: subject(itip),
        text: itip.text()?,
        method: itip.method.as_str().to_owned(),
        file: itip.file(now)?,
    };
    change.work_add(now, NewWork::new(CALENDAR_POSTING, mailbox.org_id, &post));
    Ok(())
}

/// The mailbox on this server that has the address, if there is one.
pub(crate) async fn local_mailbox(services: &Services, address: &str) -> Result<Option<MailboxId>> {
    let Ok(address) = Email::parse("email", address) else { return Ok(None) };
    Ok(services.store.mailbox_at(&address, &services.settings.platform_domain).await?.map(|mailbox| mailbox.id))
}

fn subject(itip: &Itip<'_>) -> String {
    let summary = &itip.event.head.summary;
    let summary = if summary.is_empty() { "An event" } else { summary.as_str() };
    let status = itip.attendees.and_then(|all| all.first()).map(|it| it.status);
    let word = match (itip.method, status) {
        (Method::Request, _) if itip.event.sequence > 0 => "Updated invitation",
        (Method::Request | Method::Publish, _) => "Invitation",
        (Method::Cancel, _) => "Cancelled",
        (Method::Reply, Some(AttendeeStatus::Accepted)) => "Accepted",
        (Method::Reply, Some(AttendeeStatus::Declined)) => "Declined",
        (Method::Reply, _) => "Tentative",
        (Method::Counter, _) => "New time proposed",
        (Method::Refresh, _) => "Asked again",
        (Method::DeclineCounter, _) => "Proposal declined",
    };
    format!("{word}: {summary}")
}
