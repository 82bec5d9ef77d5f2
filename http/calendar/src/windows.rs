//! What of a mailbox's calendars lies in a window.

use domain::{
    Result, Tenant, Timestamp,
    calendar::{EventOccurrence, OCCURRENCES_MAX, Window, recurrence::Wall, too_many_occurrences},
    id::{CalendarId, MailboxId, OrgId},
};
use http_shell::state::State;
use kernel::CpuKind;
use store::calendar::{WindowEvent, WindowQuery};

/// The occurrences of a mailbox in a window.
pub(super) struct Found {
    /// The events that have some.
    pub events: Vec<WindowEvent>,
    /// Which of the events, and when; by their beginnings.
    pub occurrences: Vec<(usize, EventOccurrence)>,
}

/// The occurrences in these calendars; more than an answer has are refused.
pub(super) async fn look(
    state: &State,
    org_id: OrgId,
    mailbox_id: MailboxId,
    calendars: &[CalendarId],
    window: Window,
) -> Result<Found> {
    let Some(window) = within_calendar(window) else {
        return Ok(Found { events: Vec::new(), occurrences: Vec::new() });
    };
    let query = WindowQuery { mailbox_id, calendars, window, limit: OCCURRENCES_MAX + 1 };
    let events = state.store.calendar_window(&query).await?;
    let changed: usize = events.iter().map(|event| event.exceptions.len()).sum();
    if events.len() > OCCURRENCES_MAX || changed > OCCURRENCES_MAX {
        return Err(too_many_occurrences());
    }
    let expand = move || expanded(events, window);
    state.actors.kernel.cpu().run(Tenant::Org(org_id), CpuKind::Calendar, expand).await?
}

/// The part of a window that lies in the years that calendars know; none where it lies elsewhere.
fn within_calendar(window: Window) -> Option<Window> {
    let from = window.from.max(Timestamp(Wall::MIN.0 * 1000));
    let to = window.to.min(Timestamp(Wall::MAX.0 * 1000));
    (from < to).then_some(Window { from, to })
}

fn expanded(events: Vec<WindowEvent>, window: Window) -> Result<Found> {
    let mut occurrences: Vec<(usize, EventOccurrence)> = Vec::new();
    for (at, WindowEvent { head, exceptions, .. }) in events.iter().enumerate() {
        let left = OCCURRENCES_MAX - occurrences.len();
        occurrences.extend(head.occurrences(exceptions, window, left)?.into_iter().map(|it| (at, it)));
    }
    // Of those that begin at once, in the order in which the events were made.
    occurrences.sort_by_key(|(at, it)| (it.start, events[*at].head.id));
    Ok(Found { events, occurrences })
}
