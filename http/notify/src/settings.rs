//! How a person wants to be told things.

use std::collections::BTreeSet;

use actors::notify::inbox::{ChangePrefs, ChooseChannels};
use domain::{
    Error,
    id::UserId,
    notify::{Channel, Channels, EventType, NotifyPrefs, PrefsChange, QuietHours, TimeOfDay, Zone},
    problems::Problems,
};
use http_shell::{
    answer::{Json, Object},
    body::{Body, RequestBody},
    error::Result,
    path::{Path, PathParameter},
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::NotifyPerson;

/// Days in a request (contract A 4.3).
const DAYS_LEN_MAX: usize = 7;
/// Channels in a request: each once.
const CHANNELS_LEN_MAX: usize = 5;

/// A type of event, and how the person is told of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "type": "ops.alarm", "app": "admin", "label": "Alarm",
    "description": "Something that is watched over needs somebody to act.",
    "channels": ["email", "sms", "push", "inapp"], "urgent": true
}))]
pub(crate) struct SettingsEvent {
    /// The type.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The app that it belongs to.
    app: &'static str,
    /// What it is called.
    label: &'static str,
    /// What it is.
    description: &'static str,
    /// The channels over which the person is told of it.
    #[schema(value_type = Vec<String>)]
    channels: Channels,
    /// True where it may interrupt quiet hours that allow what is urgent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    urgent: bool,
    /// True where it never texts or calls.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    texts_off: bool,
}

impl SettingsEvent {
    fn new(event: &EventType, channels: Channels) -> Self {
        Self {
            kind: event.kind,
            app: event.app.as_str(),
            label: event.label,
            description: event.description,
            channels,
            urgent: event.urgent,
            texts_off: event.texts_off,
        }
    }
}

/// When not to interrupt the person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuietHoursBody {
    /// When a period starts: `HH:MM`.
    #[schema(example = "22:00")]
    start: String,
    /// When it ends: `HH:MM`; on the next day where it isn't after `start`.
    #[schema(example = "07:00")]
    end: String,
    /// The days on which a period starts, 0 (Sunday) to 6; every day where they are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    days: Option<BTreeSet<u8>>,
    /// Whether what is urgent interrupts all the same.
    allow_urgent: bool,
}

impl From<QuietHours> for QuietHoursBody {
    fn from(quiet: QuietHours) -> Self {
        Self {
            start: quiet.start.to_string(),
            end: quiet.end.to_string(),
            days: quiet.days,
            allow_urgent: quiet.allow_urgent,
        }
    }
}

/// How a person is told things.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SettingsAnswer {
    /// Every type of event.
    events: Vec<SettingsEvent>,
    /// Whether there is a confirmed telephone number.
    has_phone: bool,
    /// Whether this server can text and call.
    calls_available: bool,
    /// When not to interrupt.
    quiet_hours: Option<QuietHoursBody>,
    /// The time zone of quiet hours: the profile's until another is chosen here, or else UTC.
    #[schema(example = "Europe/Vienna")]
    time_zone: String,
    /// Senders whose mail is a `mail.vip`.
    vip_senders: Vec<String>,
    /// How many minutes before a meeting to hear of it.
    meeting_lead_minutes: u16,
    /// Whether the calendar reminds.
    calendar_reminders: bool,
}

async fn settings(prefs: NotifyPrefs, user_id: UserId, state: &State) -> Result<SettingsAnswer> {
    let events = EventType::all().iter().map(|event| SettingsEvent::new(event, prefs.channels(event))).collect();
    Ok(SettingsAnswer {
        events,
        has_phone: state.store.confirmed_phone(user_id).await?.is_some(),
        calls_available: state.settings.calls_available,
        quiet_hours: prefs.quiet_hours.map(QuietHoursBody::from),
        time_zone: prefs.zone.name().to_owned(),
        vip_senders: prefs.vip_senders,
        meeting_lead_minutes: prefs.meeting_lead_minutes,
        calendar_reminders: prefs.calendar_reminders,
    })
}

/// How you are told things
#[utoipa::path(get, path = "/v1/me/notifications/settings")]
pub(crate) async fn notify_settings_get(person: NotifyPerson, state: State) -> Result<Object<SettingsAnswer>> {
    let stored = state.store.notify_prefs(person.user_id()).await?;
    Ok(Object(settings(stored.prefs, person.user_id(), &state).await?))
}

/// When not to interrupt the person.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct QuietHoursPut {
    /// When a period starts: `HH:MM`, of 24 hours.
    start: String,
    /// When it ends: `HH:MM`; on the next day where it isn't after `start`.
    end: String,
    /// The days on which a period starts, 0 (Sunday) to 6: up to 7; every day where they are left out.
    days: Option<Vec<u8>>,
    /// Whether what is urgent interrupts all the same.
    allow_urgent: bool,
}

impl QuietHoursPut {
    fn read(&self, problems: &mut Problems) -> domain::Result<Option<QuietHours>> {
        let start = problems.keep(TimeOfDay::parse("quietHours.start", &self.start))?;
        let end = problems.keep(TimeOfDay::parse("quietHours.end", &self.end))?;
        let fits = self.days.as_ref().is_none_or(|days| days.len() <= DAYS_LEN_MAX);
        problems.require(fits, "quietHours.days", "Name at most 7 days.");
        let days = self.days.as_ref().map(|days| days.iter().copied().collect());
        let (Some(start), Some(end)) = (start, end) else { return Ok(None) };
        Ok(Some(QuietHours { start, end, days, allow_urgent: self.allow_urgent }))
    }
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({
    "quietHours": {"start": "22:00", "end": "07:00", "days": [0, 1, 2, 3, 4], "allowUrgent": true},
    "timeZone": "Europe/Vienna", "vipSenders": ["grace@example.com"], "meetingLeadMinutes": 10,
    "calendarReminders": true
}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct PrefsPut {
    /// When not to interrupt; null for never.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<QuietHoursPut>)]
    quiet_hours: Option<Option<QuietHoursPut>>,
    /// The time zone of quiet hours: 1 to 64 characters, such as `Europe/Vienna`.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = String, required = false)]
    time_zone: Option<String>,
    /// Senders whose mail is a `mail.vip`: up to 100, each of up to 254 characters.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Vec<String>, required = false)]
    vip_senders: Option<Vec<String>>,
    /// How many minutes before a meeting to hear of it: 0 to 120.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = u16, required = false)]
    meeting_lead_minutes: Option<u16>,
    /// Whether the calendar reminds.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = bool, required = false)]
    calendar_reminders: Option<bool>,
}

/// Reads a field that may be absent, but not null.
fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl RequestBody for PrefsPut {}

impl PrefsPut {
    pub(crate) fn read(self) -> domain::Result<PrefsChange> {
        let mut problems = Problems::new();
        let zone = self.time_zone.map(|text| problems.keep(Zone::parse("timeZone", &text))).transpose()?.flatten();
        let quiet_hours = match self.quiet_hours {
            None => None,
            Some(None) => Some(None),
            Some(Some(quiet)) => quiet.read(&mut problems)?.map(Some),
        };
        let change = PrefsChange {
            quiet_hours,
            zone,
            vip_senders: self.vip_senders,
            meeting_lead_minutes: self.meeting_lead_minutes,
            calendar_reminders: self.calendar_reminders,
        };
        change.check(&mut problems);
        problems.into_result()?;
        Ok(change)
    }
}

/// Change how you are told things
///
/// Answers all settings.
#[utoipa::path(put, path = "/v1/me/notifications/settings/prefs")]
pub(crate) async fn notify_prefs_put(
    person: NotifyPerson,
    body: Body<PrefsPut>,
    state: State,
) -> Result<Json<SettingsAnswer>> {
    let command = ChangePrefs(body.into_inner().read()?);
    let prefs = state.actors.inbox.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(settings(prefs, person.user_id(), &state).await?))
}

/// A type of event, by its name.
pub(crate) struct EventKind(&'static EventType);

impl PathParameter for EventKind {
    const NAME: &'static str = "type";
    const DESCRIPTION: &'static str = "A type of event.";
    const EXAMPLE: &'static str = "ops.alarm";
    const NOT_FOUND: &'static str = "There is no such event.";

    fn read(text: &str) -> Option<Self> {
        EventType::find(text).map(Self)
    }
}

/// The channels over which the person wants to be told.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"channels": ["push", "inapp"]}))]
pub(crate) struct ChannelsPut {
    /// Some of `email`, `sms`, `push`, `voice` and `inapp`, or none.
    #[schema(value_type = Vec<String>)]
    channels: Vec<Channel>,
}

impl RequestBody for ChannelsPut {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.channels.len() <= CHANNELS_LEN_MAX, "channels", "Name each channel once.");
    }
}

/// The event as it is now.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingsEventAnswer {
    /// The event.
    event: SettingsEvent,
}

/// Choose how you are told of one type of event
///
/// What isn't wanted in the app is listed all the same, and as read.
#[utoipa::path(put, path = "/v1/me/notifications/settings/events/{type}")]
pub(crate) async fn notify_event_put(
    person: NotifyPerson,
    Path(EventKind(event)): Path<EventKind>,
    body: Body<ChannelsPut>,
    state: State,
) -> Result<Json<SettingsEventAnswer>, Error> {
    let channels = body.channels.iter().copied().collect();
    let command = ChooseChannels { kind: event.kind.to_owned(), channels };
    let (event, channels) = state.actors.inbox.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(SettingsEventAnswer { event: SettingsEvent::new(event, channels) }))
}
