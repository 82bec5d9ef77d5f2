//! Files with events, as programs are sent them.

use serde_json::{Value as Json, json};
use troupe_domain::{
    Timestamp,
    calendar::{
        ical::{EventPlace, Writing, read_calendar, write_calendar},
        recurrence::{Series, Start, Wall},
        zone_named,
    },
    id::{CalendarId, EventId, MailboxId},
    notify::Zone,
};

use super::Case;

/// Zones with clocks of many kinds.
const ZONES: [&str; 10] = [
    "Europe/Vienna",
    "America/New_York",
    "Asia/Tokyo",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Kathmandu",
    "Europe/Dublin",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Asia/Gaza",
];
/// What texts say that is hard to write.
const SUMMARY: &str = "Grüße, \\ a; \"b\": 会議";
const DESCRIPTION: &str = "one\ntwo, three; four \\n five";
const DAY: i64 = 86_400;
/// Days between the instants that are looked at.
const APART: i64 = 11;

/// An event of a rule, in one of the zones.
pub fn file(case: &Case, at: usize) -> Json {
    let name = ZONES[at % ZONES.len()];
    let zone = zone_named(name).expect("a zone");
    let now = Timestamp(1_767_225_600_000);
    // Clocks of the years before 1970 aren't what people ask others to.
    let start = Wall(case.start.0.rem_euclid(40 * 365 * DAY) + 20 * 365 * DAY);
    let basic = start.to_string().replace(['-', ':'], "");
    let text = format!(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:{at}@example.org\nDTSTART;TZID={name}:{basic}\nDURATION:PT1H\n\
         RRULE:FREQ=WEEKLY\nORGANIZER:mailto:ada@example.org\nATTENDEE:mailto:bob@example.org\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    let mut read = read_calendar(&text, &Zone::UTC).expect("a calendar").events.remove(0);
    (read.summary, read.detail.description) = (SUMMARY.to_owned(), DESCRIPTION.to_owned());
    let place = EventPlace {
        id: EventId::new(now),
        calendar_id: CalendarId::new(now),
        mailbox_id: MailboxId::new(now),
        modseq: 1,
        now,
    };
    let event = read.into_event(place, &[]);
    let written = write_calendar(&[event], &Writing { method: None, name: None, now }).expect("a file");
    let series = Series::new(Start::zoned(start, zone), None).expect("a series");
    let shown = (0..10 * 365 / APART).filter_map(|step| {
        let wall = start.plus(step * APART * DAY);
        let is_plain = series.shown(wall) == wall && series.shown(wall.plus(-3_600)) == wall.plus(-3_600);
        let (before, after) = (series.instant(wall.plus(-7_200)), series.instant(wall.plus(7_200)));
        // What clocks show twice, or not at all, is read in more than one way.
        (is_plain && after.0 - before.0 == 14_400_000).then(|| json!([wall.to_string(), series.instant(wall).0]))
    });
    json!({
        "file": written, "zone": name, "shown": shown.collect::<Vec<_>>(),
        "says": {
            "UID": format!("{at}@example.org"), "SUMMARY": SUMMARY, "DESCRIPTION": DESCRIPTION,
            "ORGANIZER": "mailto:ada@example.org", "ATTENDEE": "mailto:bob@example.org",
        },
    })
}
