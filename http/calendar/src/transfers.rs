//! Calendars as files of iCalendar: events that come in one, all events of a calendar in one, and an address at which others follow
//! a calendar.

use std::sync::Arc;

use actix_web::{HttpResponse, http::header};
use actors::calendar::{CalendarFeedSet, EventsImport, EventsImported};
use bytes::Bytes;
use domain::{
    Error, Tenant,
    calendar::{
        CALENDAR_AT_ONCE, CALENDAR_FAULTS_MAX, CALENDAR_FILE_MAX, CALENDAR_FILE_TOO_LARGE, Calendar,
        ical::{ReadCalendar, ReadFault, Writing, read_calendar, write_calendar},
        no_calendar, no_feed, zone_named,
    },
    id::{CalendarId, EventId, MailboxId, OrgId},
    mail::Mailbox,
    token::{Token, TokenKind},
};
use futures::{Stream, stream};
use http_shell::{
    answer::{Json, NoContent},
    argument::Argument,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
    mailbox::MailPerson,
    origin::base_url,
    owned::Owned,
    path::Path,
    state::State,
};
use kernel::{Cpu, CpuKind};
use serde::Serialize;
use store::Store;
use utoipa::ToSchema;

/// The type of calendars' files.
const ICALENDAR: &str = "text/calendar; charset=utf-8";

/// A file of iCalendar, as it was sent.
pub(crate) struct SentCalendar(Bytes);

impl Argument for SentCalendar {
    fn describe(facts: &mut Facts) {
        facts.stream(&["text/calendar"]);
        facts.error(413, CALENDAR_FILE_TOO_LARGE);
        facts.error(415, "Send the body as text/calendar.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let content_type = call.header(header::CONTENT_TYPE).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("text/calendar") {
            return Err(ApiError::UnsupportedMediaType("text/calendar"));
        }
        Ok(Self(call.read_body(CALENDAR_FILE_MAX, CALENDAR_FILE_TOO_LARGE).await?))
    }
}

/// Why an event of a file was not taken.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"uid": "7@example.org", "line": 12, "reason": "It ends before it begins."}))]
pub(crate) struct CalendarFaultBody {
    /// The `UID`; absent where the event has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    /// The line of the file on which it begins, from 1 on.
    line: usize,
    /// What is wrong.
    reason: String,
}

/// What an import came to.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"added": 12, "updated": 1, "unchanged": 0, "failed": []}))]
pub(crate) struct CalendarImportAnswer {
    /// How many events are new.
    added: usize,
    /// How many changed.
    updated: usize,
    /// How many were there as the file has them, or later.
    unchanged: usize,
    /// What was not taken; the first 1,000.
    failed: Vec<CalendarFaultBody>,
}

impl From<EventsImported> for CalendarImportAnswer {
    fn from(imported: EventsImported) -> Self {
        let EventsImported { added, updated, unchanged, mut failed } = imported;
        failed.sort_by_key(|fault| fault.line);
        let fault = |it: ReadFault| CalendarFaultBody { uid: it.uid, line: it.line, reason: it.reason };
        let failed = failed.into_iter().take(CALENDAR_FAULTS_MAX).map(fault).collect();
        Self { added, updated, unchanged, failed }
    }
}

/// Import events into a calendar
///
/// A file of iCalendar (`text/calendar`) of at most 20 MB. An event that the mailbox has, by its `UID`, becomes what the file says
/// unless that is older. What can't be read is told with its line, the rest is taken. Nobody is sent anything.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/import", responses(
    (status = 400, description = "This file isn't a calendar.")))]
pub(crate) async fn calendar_import(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    calendar_id: Path<CalendarId>,
    file: SentCalendar,
    state: State,
) -> Result<Json<CalendarImportAnswer>> {
    let zone = state.store.person(person.user_id()).await?.and_then(|person| person.time_zone);
    let here = zone.and_then(|name| zone_named(&name)).unwrap_or_default();
    let reading = move || read_calendar(&String::from_utf8_lossy(&file.0), &here);
    let tenant = Tenant::Org(person.id());
    let read = state.actors.kernel.cpu().run(tenant, CpuKind::Calendar, reading).await??;
    let ReadCalendar { events, failed, .. } = read;
    let mut imported = EventsImported { failed, ..EventsImported::default() };
    let mut events = events.into_iter().peekable();
    let mut is_first = true;
    while is_first || events.peek().is_some() {
        is_first = false;
        let some = Arc::new(events.by_ref().take(CALENDAR_AT_ONCE).collect());
        let command = EventsImport { org_id: person.id(), calendar_id: *calendar_id, events: some };
        let more = state.actors.calendars.ask(&mailbox_id, command, person.context()).await?;
        imported.added += more.added;
        imported.updated += more.updated;
        imported.unchanged += more.unchanged;
        imported.failed.extend(more.failed);
    }
    Ok(Json(imported.into()))
}

/// A calendar that is being written to a file.
struct Written {
    store: Store,
    cpu: Cpu,
    org_id: OrgId,
    calendar: Calendar,
    after: Option<EventId>,
    is_begun: bool,
}

/// The events of a calendar as calendars of iCalendar, one behind the other (RFC 5545, 3.4), each with some of them.
fn written(state: &State, org_id: OrgId, calendar: Calendar) -> impl Stream<Item = std::io::Result<Bytes>> + use<> {
    let (store, cpu) = (state.store.clone(), state.actors.kernel.cpu().clone());
    let written = Written { store, cpu, org_id, calendar, after: None, is_begun: false };
    stream::try_unfold(written, |mut written| async move {
        let broken = |error: domain::Error| {
            tracing::warn!(%error, "the file of a calendar broke off");
            std::io::Error::other("the file broke off")
        };
        Ok(written.next().await.map_err(broken)?.map(|piece| (piece, written)))
    })
}

impl Written {
    async fn next(&mut self) -> domain::Result<Option<Bytes>> {
        let limit = CALENDAR_AT_ONCE as u64;
        let events = self.store.calendar_events_after(self.calendar.id, self.after, limit).await?;
        if events.is_empty() && self.is_begun {
            return Ok(None);
        }
        self.is_begun = true;
        self.after = events.last().map(|event| event.head.id).or(self.after);
        let (name, now) = (self.calendar.name.clone(), self.store.now());
        let writing = move || write_calendar(&events, &Writing { method: None, name: Some(&name), now });
        let text = self.cpu.run(Tenant::Org(self.org_id), CpuKind::Calendar, writing).await??;
        Ok(Some(text.into()))
    }
}

async fn calendar_of(state: &State, mailbox: &Mailbox, id: CalendarId) -> domain::Result<Calendar> {
    let calendars = state.store.calendars(mailbox.id).await?;
    calendars.into_iter().find(|calendar| calendar.id == id).ok_or_else(no_calendar)
}

/// Export a calendar
///
/// All of its events as iCalendar; a large calendar is several of them, one behind the other (RFC 5545, 3.4).
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/export", responses(
    (status = 200, description = "The events.", content_type = "text/calendar")))]
pub(crate) async fn calendar_export(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    calendar_id: Path<CalendarId>,
    state: State,
) -> Result<HttpResponse> {
    let calendar = calendar_of(&state, &mailbox, *calendar_id).await?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, ICALENDAR))
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"calendar.ics\""))
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .streaming(written(&state, mailbox.org_id, calendar)))
}

/// Where a calendar is followed.
#[derive(Serialize, ToSchema)]
pub(crate) struct CalendarFeedAnswer {
    /// The address at which programs follow the calendar; knowing it is enough to read it. Shown once.
    #[schema(
        example = "https://troupe.example.com/v1/hooks/calendar/trp_h_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2"
    )]
    url: String,
}

/// Where the client reaches the server.
pub(crate) struct Base(String);

impl Argument for Base {
    fn describe(_facts: &mut Facts) {}

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(base_url(&call.state, call.header(header::HOST))))
    }
}

/// Have a calendar be followed
///
/// The address is shown once and not kept; asking again makes another one, and the former one ends.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/feed")]
pub(crate) async fn calendar_feed_create(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    calendar_id: Path<CalendarId>,
    base: Base,
    state: State,
) -> Result<Json<CalendarFeedAnswer>> {
    let command = CalendarFeedSet { org_id: person.id(), calendar_id: *calendar_id, is_followed: true };
    let token = state.actors.calendars.ask(&mailbox_id, command, person.context()).await?;
    let token = token.ok_or_else(|| Error::internal("a feed without a token"))?;
    Ok(Json(CalendarFeedAnswer { url: format!("{}/v1/hooks/calendar/{}", base.0, token.reveal()) }))
}

/// Have a calendar be followed no more
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/feed")]
pub(crate) async fn calendar_feed_delete(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    calendar_id: Path<CalendarId>,
    state: State,
) -> Result<NoContent> {
    let command = CalendarFeedSet { org_id: person.id(), calendar_id: *calendar_id, is_followed: false };
    state.actors.calendars.ask(&mailbox_id, command, person.context()).await?;
    Ok(NoContent)
}

/// The calendar whose address somebody has, and what they have of it.
pub(crate) struct Followed {
    calendar: Calendar,
    known: Option<String>,
}

impl Argument for Followed {
    fn describe(facts: &mut Facts) {
        facts.open();
        facts.path_parameter(
            "token",
            "The secret of the address.",
            "trp_h_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2",
        );
        facts.header("If-None-Match", "The `ETag` of what the client has.", false);
        facts.error(404, "Calendar not found");
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let token: Token = call.path_value("token")?.parse().map_err(|_| no_feed())?;
        if token.kind() != TokenKind::Hook {
            return Err(no_feed().into());
        }
        let calendar = call.state.store.calendar_of_feed(&token.hash()).await?.ok_or_else(no_feed)?;
        Ok(Self { calendar, known: call.header(header::IF_NONE_MATCH).map(str::to_owned) })
    }
}

/// Follow a calendar
///
/// The secret in the address is the credential.
#[utoipa::path(get, path = "/v1/hooks/calendar/{token}", responses(
    (status = 200, description = "The events.", content_type = "text/calendar"),
    (status = 304, description = "The calendar is the one that the client has.")))]
pub(crate) async fn calendar_feed_get(followed: Followed, state: State) -> Result<HttpResponse> {
    let Followed { calendar, known } = followed;
    let tag = format!("\"{}-{}\"", calendar.id, calendar.modseq);
    let has_it = known.is_some_and(|known| known.split(',').any(|it| it.trim().trim_start_matches("W/") == tag));
    let mut response = if has_it { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((header::ETAG, tag)).insert_header((header::CACHE_CONTROL, "private, no-cache"));
    if has_it {
        return Ok(response.finish());
    }
    let mailbox = state.store.mailbox_by_id(calendar.mailbox_id).await?.ok_or_else(no_feed)?;
    response.insert_header((header::CONTENT_TYPE, ICALENDAR));
    Ok(response.streaming(written(&state, mailbox.org_id, calendar)))
}
