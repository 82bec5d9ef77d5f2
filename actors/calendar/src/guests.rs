//! What guests are sent.

use actors_base::Services;
use domain::{
    Email, Error, Result, Timestamp,
    calendar::{Attendee, Event, Method, invitation, invitation_text, recurrence::Wall},
    id::MailboxId,
    mail::{Mailbox, OrgDomain, domain_removed},
};
use store::{Change, EmailCalendar, EmailTo, NewWork, OutboxEntry, calendar::CalendarBook};

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

/// Adds what these guests are sent to the change. Whoever has a mailbox here is told without an e-mail.
pub(crate) async fn send(
    change: &mut Change,
    services: &Services,
    mailbox: &Mailbox,
    sending: Sending<'_>,
    guests: &[Attendee],
) -> Result<()> {
    let now = services.store.now();
    let Sending { event, method, at } = sending;
    let mut written = None;
    for guest in guests {
        if let Some(local) = local_mailbox(services, &guest.email).await? {
            let scheduled = Scheduled::Look { mailbox_id: local, organizer: mailbox.id, uid: event.uid.clone() };
            change.work_add(now, NewWork::new(CALENDAR_SCHEDULING.name, mailbox.org_id, &scheduled));
            continue;
        }
        if written.is_none() {
            written = Some((invitation_text(event, at)?, invitation(event, method, at, now)?));
        }
        let Some((body, file)) = &written else { continue };
        let entry = OutboxEntry::Email {
            to: EmailTo::Address(guest.email.clone()),
            subject: subject(event, method),
            body: body.clone(),
            calendar: Some(EmailCalendar {
                method: method.as_str().to_owned(),
                file: file.clone(),
                reply_to: mailbox.address.to_string(),
            }),
        };
        change.outbox_add_for(mailbox.org_id, now, &entry);
    }
    Ok(())
}

/// The mailbox on this server that has the address, if there is one.
pub(crate) async fn local_mailbox(services: &Services, address: &str) -> Result<Option<MailboxId>> {
    let Ok(address) = Email::parse("email", address) else { return Ok(None) };
    Ok(services.store.mailbox_at(&address, &services.settings.platform_domain).await?.map(|mailbox| mailbox.id))
}

fn subject(event: &Event, method: Method) -> String {
    let summary = if event.head.summary.is_empty() { "An event" } else { event.head.summary.as_str() };
    match method {
        Method::Request if event.sequence > 0 => format!("Updated invitation: {summary}"),
        Method::Request => format!("Invitation: {summary}"),
        Method::Cancel => format!("Cancelled: {summary}"),
    }
}
