//! When people are busy (contract B 4.9): times and kinds, and nothing of what is in them.

use domain::{
    Email, Error, Timestamp,
    calendar::{
        AVAILABILITY_EMAILS_LEN_MAX, Busy, BusyTime, EventOccurrence, Window, addresses, merged,
        recurrence::{Form, Series, Start, Wall},
        zone_named,
    },
    id::{CalendarId, OrgId},
    mail::Mailbox,
    notify::Zone,
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::{Store, calendar::WindowEvent};
use utoipa::{IntoParams, ToSchema};

use super::windows::look;

/// Characters of a `uid` that is left out (contract B 4.9).
const UID_LEN_MAX: usize = 1_000;
/// Mailboxes that a person is looked for in, by the address of their account.
const MAILBOXES_MAX: u64 = 20;
/// Milliseconds by which a day of another zone may be elsewhere.
const DAY_MS: i64 = 86_400_000;

/// Whose time.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct AvailabilityQuery {
    /// Addresses between commas: up to 20.
    emails: Option<String>,
    /// `1` for the mailbox itself, too.
    #[serde(rename = "self")]
    with_self: Option<String>,
    /// The beginning of the window, in milliseconds.
    from: i64,
    /// Its end: at most 62 days behind.
    to: i64,
    /// The zone whose days those of whole days are; the caller's own where nothing is said.
    time_zone: Option<String>,
    /// What an event is known by that doesn't count: up to 1,000 characters.
    exclude_uid: Option<String>,
}

impl RequestQuery for AvailabilityQuery {
    fn check(&self, problems: &mut Problems) {
        let count = |text: &Option<String>| text.as_deref().unwrap_or_default().chars().count();
        let emails = count(&self.emails) <= AVAILABILITY_EMAILS_LEN_MAX;
        problems.require(emails, "emails", "Use at most 4,000 characters.");
        let with_self = self.with_self.as_deref().is_none_or(|text| matches!(text, "0" | "1"));
        problems.require(with_self, "self", "Use 0 or 1.");
        let zone = self.time_zone.as_deref().is_none_or(|name| zone_named(name).is_some());
        problems.require(zone, "timeZone", "This isn't a time zone such as Europe/Vienna.");
        problems.require(count(&self.exclude_uid) <= UID_LEN_MAX, "excludeUid", "Use at most 1,000 characters.");
    }
}

/// A time at which somebody is busy.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"start": 1_795_420_800_000_i64, "end": 1_795_421_700_000_i64, "status": "busy"}))]
pub(crate) struct BusyBody {
    /// When it begins.
    start: i64,
    /// When it ends.
    end: i64,
    /// `busy`, `tentative`, `oof` or `workingElsewhere`.
    status: &'static str,
}

/// Somebody's time.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PersonAvailability {
    /// The address.
    email: String,
    /// Whether it is known here.
    known: bool,
    /// When they are busy, in order and without overlaps.
    busy: Vec<BusyBody>,
    /// True for the mailbox itself.
    #[serde(rename = "self", skip_serializing_if = "Option::is_none")]
    is_self: Option<bool>,
}

/// People's time.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AvailabilityAnswer {
    /// In the order in which they were asked for.
    people: Vec<PersonAvailability>,
}

/// When people are busy
///
/// Of addresses of this organization: of its mailboxes, and of its members' accounts. Others aren't known.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/availability", responses(
    (status = 400, description = "Ask for at most 20 addresses at a time.\n\nAsk for at least one address.\n\n\
        Choose a window of at most 62 days.\n\nChoose a shorter window.")))]
pub(crate) async fn calendar_availability(
    caller: MailPerson,
    query: Query<AvailabilityQuery>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<AvailabilityAnswer>> {
    let own = (query.with_self.as_deref() == Some("1")).then_some(mailbox.address.as_str());
    let wanted = addresses(query.emails.as_deref().unwrap_or_default(), own)?;
    let look = Look {
        state: &state,
        org_id: caller.id(),
        window: Window::mine(query.from, query.to)?,
        zone: zone(&state.store, &caller, query.time_zone.as_deref()).await?,
        without: query.exclude_uid.as_deref(),
    };
    let mut people = Vec::with_capacity(wanted.len());
    for email in wanted {
        let is_self = (own == Some(email.as_str())).then_some(true);
        let busy = look.busy(&email).await?;
        people.push(PersonAvailability { email, known: busy.is_some(), busy: busy.unwrap_or_default(), is_self });
    }
    Ok(Json(AvailabilityAnswer { people }))
}

/// The zone that is named, or else the caller's.
async fn zone(store: &Store, caller: &MailPerson, name: Option<&str>) -> domain::Result<Zone> {
    if let Some(name) = name {
        return zone_named(name)
            .ok_or_else(|| Error::invalid("timeZone", "This isn't a time zone such as Europe/Vienna."));
    }
    let person = store.person(caller.user_id()).await?;
    Ok(person.and_then(|person| person.time_zone).and_then(|name| zone_named(&name)).unwrap_or_default())
}

/// What is looked for.
struct Look<'a> {
    state: &'a State,
    org_id: OrgId,
    window: Window,
    zone: Zone,
    without: Option<&'a str>,
}

impl Look<'_> {
    /// When whoever has this address is busy; none where the address isn't known here.
    async fn busy(&self, address: &str) -> domain::Result<Option<Vec<BusyBody>>> {
        let Some(mailboxes) = self.mailboxes(address).await? else { return Ok(None) };
        let mut times = Vec::new();
        for mailbox in &mailboxes {
            self.times(mailbox, &mut times).await?;
        }
        let merged = merged(&times, self.window.from, self.window.to);
        let busy = |it: BusyTime| BusyBody { start: it.start.0, end: it.end.0, status: it.status.code() };
        Ok(Some(merged.into_iter().map(busy).collect()))
    }

    /// The mailboxes that tell the time of whoever has this address: the one with the address, or those that a member of the
    /// organization has alone. None where the address isn't known here.
    async fn mailboxes(&self, address: &str) -> domain::Result<Option<Vec<Mailbox>>> {
        let Ok(email) = Email::parse("emails", address) else { return Ok(None) };
        let store = &self.state.store;
        if let Some(mailbox) = store.mailbox_within(self.org_id, &email).await? {
            return Ok(Some(vec![mailbox]));
        }
        let Some(person) = store.person_by_email(&email).await? else { return Ok(None) };
        if store.membership(self.org_id, person.id).await?.is_none() {
            return Ok(None);
        }
        let mut mailboxes = store.mailboxes_of_person(self.org_id, person.id, MAILBOXES_MAX).await?;
        mailboxes.retain(|mailbox| mailbox.members == [person.id]);
        Ok(Some(mailboxes))
    }

    /// Adds the times at which a mailbox is busy.
    async fn times(&self, mailbox: &Mailbox, times: &mut Vec<BusyTime>) -> domain::Result<()> {
        let calendars: Vec<CalendarId> = self.state.store.calendars(mailbox.id).await?.iter().map(|it| it.id).collect();
        // A day may begin elsewhere in another zone.
        let Window { from, to } = self.window;
        let window =
            Window { from: Timestamp(from.0.saturating_sub(DAY_MS)), to: Timestamp(to.0.saturating_add(DAY_MS)) };
        let found = look(self.state, self.org_id, mailbox.id, &calendars, window).await?;
        let in_zone =
            Series::stored(Start { at: Wall(0), form: Form::Days, zone: self.zone.clone() }, None, Some(Wall(0)));
        for (at, it) in &found.occurrences {
            let event = &found.events[*at];
            if self.without == Some(event.uid.as_str()) {
                continue;
            }
            if let Some(status) = busy_of(event, it) {
                let (start, end) = match it.days {
                    Some((start, end)) => (in_zone.instant(start), in_zone.instant(end)),
                    None => (it.start, it.end),
                };
                times.push(BusyTime { start, end, status });
            }
        }
        Ok(())
    }
}

fn busy_of(event: &WindowEvent, it: &EventOccurrence) -> Option<Busy> {
    let (head, exception) = (&event.head, it.exception.and_then(|at| event.exceptions.get(at)));
    let answer = if head.is_organizer { None } else { exception.and_then(|it| it.my_status).or(head.my_status) };
    let status = exception.map_or(head.status, |it| it.status);
    Busy::of(status, answer, exception.map_or(head.busy_status, |it| it.busy_status))
}
