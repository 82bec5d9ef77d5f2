//! What organizers and guests send each other of an event: a text, and the same for programs (RFC 5545, RFC 5546).

use super::{
    ical::{Part, Writing, write},
    record::{Attendee, Event},
    recurrence::{Form, Wall},
};
use crate::{Result, Timestamp, app::names};

names! {
    /// What a message about an event asks for (RFC 5546).
    Method {
        Request = "REQUEST", Cancel = "CANCEL", Reply = "REPLY", Counter = "COUNTER", Refresh = "REFRESH",
        DeclineCounter = "DECLINECOUNTER", Publish = "PUBLISH",
    }
}

names! {
    /// What became of a message about an event that came by mail.
    InvitationState {
        Waiting = "waiting", Applied = "applied", Stale = "stale", Refused = "refused", Proposed = "proposed",
        Accepted = "accepted", Declined = "declined",
    }
}

/// A message about an event.
#[derive(Clone, Copy, Debug)]
pub struct Itip<'e> {
    /// The event as who writes has it.
    pub event: &'e Event,
    /// What is asked for.
    pub method: Method,
    /// Of this occurrence alone.
    pub at: Option<Wall>,
    /// Those who stand in it; all who are asked, where nothing is said.
    pub attendees: Option<&'e [Attendee]>,
    /// What somebody adds.
    pub comment: Option<&'e str>,
    /// Another time than the event has.
    pub moved: Option<(Wall, Wall)>,
}

impl<'e> Itip<'e> {
    /// A message that says the event as it is.
    pub const fn of(event: &'e Event, method: Method, at: Option<Wall>) -> Self {
        Self { event, method, at, attendees: None, comment: None, moved: None }
    }

    /// The message as a program reads it.
    ///
    /// # Errors
    /// Where its series can't be.
    pub fn file(&self, now: Timestamp) -> Result<String> {
        let Self { event, method, at, attendees, comment, moved } = *self;
        write(&[Part { event, at, attendees, comment, moved }], &Writing { method: Some(method), name: None, now })
    }

    /// The message as a text for people, in the event's zone.
    ///
    /// # Errors
    /// Where its series can't be.
    pub fn text(&self) -> Result<String> {
        let text = event_text(self.event, self.at, self.moved)?;
        Ok(match self.comment.map(str::trim).filter(|comment| !comment.is_empty()) {
            Some(comment) => format!("{comment}\n\n{text}"),
            None => text,
        })
    }
}

/// The event as a text for people, in its zone; of at most one of its occurrences where `at` names one.
fn event_text(event: &Event, at: Option<Wall>, moved: Option<(Wall, Wall)>) -> Result<String> {
    let series = event.head.timing.series()?;
    let exception = at.and_then(|at| event.exceptions.iter().find(|it| it.recurrence == at));
    let timing = &event.head.timing;
    let start = exception.map_or_else(|| at.unwrap_or(timing.start.at), |it| it.start);
    let end = exception.map_or_else(|| timing.end_of(&series, start), |it| it.end);
    let (start, end) = moved.unwrap_or((start, end));
    let location = exception.map_or(event.head.location.as_str(), |it| it.location.as_str());
    let summary = exception.map_or(event.head.summary.as_str(), |it| it.summary.as_str());
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(name);
            text.push_str(value);
            text.push('\n');
        }
    };
    line("", summary);
    line("When: ", &when(event, start, end));
    if at.is_none() && timing.rule.is_some() {
        line("Repeats: ", &series.rule_text().unwrap_or_default());
    }
    line("Where: ", location);
    line("More: ", event.detail.url.as_deref().unwrap_or_default());
    line("Organizer: ", event.detail.organizer.as_ref().map_or("", |it| it.email.as_str()));
    line("\n", &event.detail.description);
    Ok(text)
}

fn when(event: &Event, start: Wall, end: Wall) -> String {
    let timing = &event.head.timing;
    let clock = |wall: Wall| wall.to_string()[..16].replace('T', " ");
    match timing.start.form {
        Form::Days if end.plus(-1).day() == start.day() => start.day().to_string(),
        Form::Days => format!("{} to {}", start.day(), end.plus(-1).day()),
        Form::Zoned | Form::Floating if start.day() == end.day() => {
            format!("{} to {} ({})", clock(start), &clock(end)[11..], timing.start.zone.name())
        }
        Form::Zoned | Form::Floating => {
            format!("{} to {} ({})", clock(start), clock(end), timing.start.zone.name())
        }
    }
}
