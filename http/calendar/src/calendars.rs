//! Calendars: listing, making, changing and deleting them.

use actors::calendar::{CalendarCreate, CalendarDelete, CalendarUpdate, CalendarsOpen};
use domain::{
    Error,
    calendar::{Calendar, CalendarColor, calendar_description_check, calendar_name_check},
    id::{CalendarId, MailboxId},
    mail::Mailbox,
    problems::all,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::Path,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A calendar.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "calendarId": "cal_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Calendar", "color": "blue", "description": "",
    "isDefault": true, "version": 1
}))]
pub(crate) struct CalendarBody {
    /// The calendar's id.
    calendar_id: String,
    /// What it is called.
    name: String,
    /// `blue`, `orange`, `teal`, `amber`, `pink`, `green`, `red` or `gray`.
    color: &'static str,
    /// What it is about.
    description: String,
    /// Whether events come here where nothing is said.
    is_default: bool,
    /// Counts its changes.
    version: i64,
}

impl From<Calendar> for CalendarBody {
    fn from(calendar: Calendar) -> Self {
        Self {
            calendar_id: calendar.id.to_string(),
            name: calendar.name,
            color: calendar.color.as_str(),
            description: calendar.description,
            is_default: calendar.is_default,
            version: calendar.version,
        }
    }
}

/// A calendar.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CalendarAnswer {
    /// The calendar.
    calendar: CalendarBody,
}

impl From<Calendar> for CalendarAnswer {
    fn from(calendar: Calendar) -> Self {
        Self { calendar: calendar.into() }
    }
}

/// Calendars.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CalendarsAnswer {
    /// The default one first, the others in the order in which they were made.
    calendars: Vec<CalendarBody>,
}

/// The calendars of a mailbox
///
/// The first one is made when they are first asked for.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars")]
pub(crate) async fn calendars_list(
    caller: MailPerson,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<CalendarsAnswer>> {
    let mut calendars = state.store.calendars(mailbox.id).await?;
    if calendars.is_empty() {
        let open = CalendarsOpen { org_id: caller.id() };
        calendars = state.actors.calendars.ask(&mailbox.id, open, caller.context()).await?;
    }
    Ok(Json(CalendarsAnswer { calendars: calendars.into_iter().map(CalendarBody::from).collect() }))
}

fn color_read(color: Option<&str>) -> domain::Result<Option<CalendarColor>> {
    let refused = || Error::invalid("color", "Choose blue, orange, teal, amber, pink, green, red or gray.");
    color.map(|name| CalendarColor::from_name(name).ok_or_else(refused)).transpose()
}

/// A new calendar.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "Holidays", "color": "teal"}))]
pub(crate) struct CalendarCreateBody {
    /// What it is called: 1 to 100 characters.
    name: String,
    /// `blue`, `orange`, `teal`, `amber`, `pink`, `green`, `red` or `gray`; the one that the mailbox uses least where nothing
    /// is said.
    color: Option<String>,
    /// What it is about: up to 1,000 characters.
    description: Option<String>,
}

impl RequestBody for CalendarCreateBody {}

/// Make a calendar
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars", responses(
    (status = 400, description = "A mailbox has at most 50 calendars.")))]
pub(crate) async fn calendar_create(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    body: Body<CalendarCreateBody>,
    state: State,
) -> Result<Created<CalendarAnswer>> {
    let (name, color, description) = all((
        calendar_name_check("name", &body.name),
        color_read(body.color.as_deref()),
        calendar_description_check("description", body.description.as_deref().unwrap_or_default()),
    ))?;
    let command = CalendarCreate { org_id: caller.id(), name, color, description };
    let made = state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(Created(made.into()))
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"color": "red"}))]
pub(crate) struct CalendarPatchBody {
    /// What it is called: 1 to 100 characters.
    name: Option<String>,
    /// `blue`, `orange`, `teal`, `amber`, `pink`, `green`, `red` or `gray`.
    color: Option<String>,
    /// What it is about: up to 1,000 characters.
    description: Option<String>,
    /// True makes it the default calendar; another one ends to be it by that alone.
    is_default: Option<bool>,
}

impl RequestBody for CalendarPatchBody {}

/// Change a calendar
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}")]
pub(crate) async fn calendar_update(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<CalendarId>,
    body: Body<CalendarPatchBody>,
    state: State,
) -> Result<Json<CalendarAnswer>> {
    let (name, color, description) = all((
        body.name.as_deref().map(|name| calendar_name_check("name", name)).transpose(),
        color_read(body.color.as_deref()),
        body.description.as_deref().map(|text| calendar_description_check("description", text)).transpose(),
    ))?;
    let becomes_default = body.is_default.unwrap_or(false);
    let command = CalendarUpdate { org_id: caller.id(), id: *id, name, color, description, becomes_default };
    let changed = state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(Json(changed.into()))
}

/// Delete a calendar
///
/// With its events. Nobody is sent anything.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}", responses(
    (status = 400, description = "The default calendar can't be deleted.")))]
pub(crate) async fn calendar_delete(
    caller: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<CalendarId>,
    state: State,
) -> Result<NoContent> {
    let command = CalendarDelete { org_id: caller.id(), id: *id };
    state.actors.calendars.ask(&mailbox_id, command, caller.context()).await?;
    Ok(NoContent)
}
