//! Events as rows.

use domain::{
    Timestamp,
    calendar::{
        AttendeeStatus, BusyStatus, Event, EventHead, EventStatus, Exception, Span, Timing,
        recurrence::{Form, Start, Wall},
    },
    id::{CalendarId, EventId},
    notify::Zone,
};
use sea_orm::entity::prelude::*;

use crate::{StoreError, json};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "calendar_events")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub mailbox_id: String,
    pub calendar_id: String,
    pub uid: String,
    pub href: String,
    pub etag: String,
    pub schedule_tag: Option<String>,
    pub modseq: i64,
    pub version: i64,
    pub sequence: i64,
    pub kind: String,
    pub first_at: i64,
    pub last_at: i64,
    pub lasts_ms: i64,
    pub form: String,
    pub zone: String,
    pub start_wall: i64,
    pub end_wall: i64,
    pub rule: Option<String>,
    pub last_wall: Option<i64>,
    pub beside: Option<String>,
    pub removed: Option<String>,
    pub summary: String,
    pub location: String,
    pub status: String,
    pub busy_status: String,
    pub reminders: String,
    pub attendees: i32,
    pub is_organizer: bool,
    pub my_status: Option<String>,
    pub detail: String,
    pub ics: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

pub mod exception {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "calendar_exceptions")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub event_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub recurrence: i64,
        pub recurrence_at: i64,
        pub start_wall: i64,
        pub end_wall: i64,
        pub start_at: i64,
        pub end_at: i64,
        pub summary: String,
        pub location: String,
        pub status: String,
        pub busy_status: String,
        pub my_status: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

crate::reader::row! {
    /// What lists show of an event, in columns.
    pub struct HeadRow {
        id: String,
        calendar_id: String,
        uid: String,
        form: String,
        zone: String,
        start_wall: i64,
        end_wall: i64,
        rule: Option<String>,
        last_wall: Option<i64>,
        beside: Option<String>,
        removed: Option<String>,
        summary: String,
        location: String,
        status: String,
        busy_status: String,
        reminders: String,
        attendees: i32,
        is_organizer: bool,
        my_status: Option<String>,
    }
}

/// The columns of a [`HeadRow`].
pub const HEAD: &str = "id, calendar_id, uid, form, zone, start_wall, end_wall, rule, last_wall, beside, removed, summary, \
                        location, status, busy_status, reminders, attendees, is_organizer, my_status";

const fn form_name(form: Form) -> &'static str {
    match form {
        Form::Days => "days",
        Form::Zoned => "zoned",
        Form::Floating => "floating",
    }
}

fn form_of(name: &str) -> Option<Form> {
    [Form::Days, Form::Zoned, Form::Floating].into_iter().find(|it| form_name(*it) == name)
}

/// A list of walls; nothing for an empty one.
fn walls_text(walls: &[Wall]) -> Option<String> {
    (!walls.is_empty()).then(|| json::text(&walls.iter().map(|wall| wall.0).collect::<Vec<_>>()))
}

fn walls_of(text: Option<&str>) -> Option<Vec<Wall>> {
    let walls: Vec<i64> = text.map_or(Some(Vec::new()), |text| serde_json::from_str(text).ok())?;
    Some(walls.into_iter().map(Wall).collect())
}

impl HeadRow {
    /// What the event is known by.
    pub fn uid(&self) -> String {
        self.uid.clone()
    }

    /// What the row says; nothing where it can't be read.
    fn head(self) -> Option<EventHead> {
        let start = Start { at: Wall(self.start_wall), form: form_of(&self.form)?, zone: Zone::find(&self.zone)? };
        let mut beside = walls_of(self.beside.as_deref())?;
        beside.push(start.at);
        beside.sort_unstable();
        beside.dedup();
        Some(EventHead {
            id: self.id.parse::<EventId>().ok()?,
            calendar_id: self.calendar_id.parse::<CalendarId>().ok()?,
            timing: Timing {
                start,
                end: Wall(self.end_wall),
                rule: self.rule.as_deref().map(str::parse).transpose().ok()?,
                last: self.last_wall.map(Wall),
                beside,
                removed: walls_of(self.removed.as_deref())?,
            },
            summary: self.summary,
            location: self.location,
            status: EventStatus::from_name(&self.status)?,
            busy_status: BusyStatus::from_name(&self.busy_status)?,
            reminders: serde_json::from_str(&self.reminders).ok()?,
            attendees: usize::try_from(self.attendees).ok()?,
            is_organizer: self.is_organizer,
            my_status: answer_of(self.my_status.as_deref()).ok()?,
        })
    }
}

/// The answer of this name, where there is one.
fn answer_of(name: Option<&str>) -> Result<Option<AttendeeStatus>, StoreError> {
    let read = |name| AttendeeStatus::from_name(name).ok_or_else(|| StoreError::corrupt("my_status"));
    name.map(read).transpose()
}

impl TryFrom<HeadRow> for EventHead {
    type Error = StoreError;

    fn try_from(row: HeadRow) -> Result<Self, StoreError> {
        let id = row.id.clone();
        row.head().ok_or_else(|| StoreError::corrupt(format_args!("calendar_events {id}")))
    }
}

impl Model {
    /// The event as it is stored between these instants.
    pub fn of(event: &Event, span: Span) -> Self {
        let (head, timing) = (&event.head, &event.head.timing);
        let beside: Vec<Wall> = timing.beside.iter().copied().filter(|&wall| wall != timing.start.at).collect();
        Self {
            id: head.id.to_string(),
            mailbox_id: event.mailbox_id.to_string(),
            calendar_id: head.calendar_id.to_string(),
            uid: event.uid.clone(),
            href: format!("{}.ics", head.id),
            etag: event.modseq.to_string(),
            schedule_tag: event.detail.organizer.as_ref().map(|_| format!("{}-{}", event.sequence, head.id)),
            modseq: event.modseq,
            version: event.version,
            sequence: event.sequence,
            kind: span.kind.as_str().to_owned(),
            first_at: span.first_at.0,
            last_at: span.last_at.0,
            lasts_ms: span.lasts_ms,
            form: form_name(timing.start.form).to_owned(),
            zone: timing.start.zone.name().to_owned(),
            start_wall: timing.start.at.0,
            end_wall: timing.end.0,
            rule: timing.rule.as_ref().map(ToString::to_string),
            last_wall: timing.last.map(|last| last.0),
            beside: walls_text(&beside),
            removed: walls_text(&timing.removed),
            summary: head.summary.clone(),
            location: head.location.clone(),
            status: head.status.to_string(),
            busy_status: head.busy_status.to_string(),
            reminders: json::text(&head.reminders),
            attendees: i32::try_from(event.detail.attendees.len()).unwrap_or(i32::MAX),
            is_organizer: head.is_organizer,
            my_status: head.my_status.map(|status| status.to_string()),
            detail: json::text(&event.detail),
            ics: None,
            created_at: event.created_at.0,
            updated_at: event.updated_at.0,
        }
    }

    /// The event with what was changed alone.
    pub fn event(self, exceptions: Vec<Exception>) -> Result<Event, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("calendar_events {}", self.id));
        let mailbox_id = self.mailbox_id.parse().map_err(|_| corrupt())?;
        let detail = json::read("calendar_events.detail", &self.detail)?;
        let (uid, sequence, version, modseq) = (self.uid.clone(), self.sequence, self.version, self.modseq);
        let (created_at, updated_at) = (Timestamp(self.created_at), Timestamp(self.updated_at));
        Ok(Event {
            head: EventHead::try_from(HeadRow::from(self))?,
            mailbox_id,
            uid,
            detail,
            exceptions,
            sequence,
            version,
            modseq,
            created_at,
            updated_at,
        })
    }
}

impl From<Model> for HeadRow {
    fn from(row: Model) -> Self {
        Self {
            id: row.id,
            calendar_id: row.calendar_id,
            uid: row.uid,
            form: row.form,
            zone: row.zone,
            start_wall: row.start_wall,
            end_wall: row.end_wall,
            rule: row.rule,
            last_wall: row.last_wall,
            beside: row.beside,
            removed: row.removed,
            summary: row.summary,
            location: row.location,
            status: row.status,
            busy_status: row.busy_status,
            reminders: row.reminders,
            attendees: row.attendees,
            is_organizer: row.is_organizer,
            my_status: row.my_status,
        }
    }
}

impl exception::Model {
    /// The exception as it is stored; the instants are those of the walls.
    pub fn of(id: EventId, exception: &Exception, instant: impl Fn(Wall) -> Timestamp) -> Self {
        Self {
            event_id: id.to_string(),
            recurrence: exception.recurrence.0,
            recurrence_at: instant(exception.recurrence).0,
            start_wall: exception.start.0,
            end_wall: exception.end.0,
            start_at: instant(exception.start).0,
            end_at: instant(exception.end).0,
            summary: exception.summary.clone(),
            location: exception.location.clone(),
            status: exception.status.to_string(),
            busy_status: exception.busy_status.to_string(),
            my_status: exception.my_status.map(|status| status.to_string()),
        }
    }
}

crate::reader::row! {
    /// What was changed alone, in columns.
    pub struct ExceptionRow {
        event_id: String,
        recurrence: i64,
        start_wall: i64,
        end_wall: i64,
        summary: String,
        location: String,
        status: String,
        busy_status: String,
        my_status: Option<String>,
    }
}

/// The columns of an [`ExceptionRow`], of the table `x`.
pub const EXCEPTION: &str =
    "x.event_id, x.recurrence, x.start_wall, x.end_wall, x.summary, x.location, x.status, x.busy_status, x.my_status";

impl ExceptionRow {
    fn exception(self) -> Option<(EventId, Exception)> {
        let exception = Exception {
            recurrence: Wall(self.recurrence),
            start: Wall(self.start_wall),
            end: Wall(self.end_wall),
            status: EventStatus::from_name(&self.status)?,
            busy_status: BusyStatus::from_name(&self.busy_status)?,
            my_status: answer_of(self.my_status.as_deref()).ok()?,
            summary: self.summary,
            location: self.location,
        };
        Some((self.event_id.parse().ok()?, exception))
    }

    /// The event that it is of, and what it says.
    pub fn read(self) -> Result<(EventId, Exception), StoreError> {
        self.exception().ok_or_else(|| StoreError::corrupt("calendar_exceptions"))
    }
}
