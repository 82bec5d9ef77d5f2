//! Times of a file, and the zones that they are in.

use std::collections::BTreeMap;

use calcard::{
    common::PartialDateTime,
    icalendar::{
        ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarEntry, ICalendarParameterName, ICalendarPeriod,
        ICalendarProperty, ICalendarValue,
    },
};

use super::super::{
    recurrence::{DAY_SECONDS, Day, Form, Moment, Series, Start, Wall},
    windows_zones::WINDOWS_ZONES,
    zone_named,
};
use crate::{Timestamp, notify::Zone};

/// A time as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    /// The time on its wall; midnight of a day.
    pub wall: Wall,
    /// Where that wall is.
    pub place: Place,
}

/// Where a time's wall is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A whole day.
    Day,
    /// Wherever somebody looks at it.
    Floating,
    /// In a zone.
    Zone(Zone),
}

/// The zones that a file names.
#[derive(Debug)]
pub(super) struct Zones {
    here: Zone,
    named: BTreeMap<String, Zone>,
}

impl Zones {
    /// The zones of the calendar; `here` stands for those that nobody knows.
    pub fn of(calendar: &ICalendar, here: &Zone) -> Self {
        let mut named = BTreeMap::new();
        for component in calendar.components.iter().filter(|it| it.component_type == ICalendarComponentType::VTimezone)
        {
            let Some(id) = text(component, &ICalendarProperty::Tzid) else { continue };
            if zone_of_id(id).is_none()
                && let Some(zone) = told(calendar, component)
            {
                named.insert(id.to_owned(), zone);
            }
        }
        Self { here: here.clone(), named }
    }

    fn find(&self, id: &str) -> Zone {
        zone_of_id(id).or_else(|| self.named.get(id).cloned()).unwrap_or_else(|| self.here.clone())
    }

    /// The times of a property; none of what is no time.
    pub fn times(&self, entry: &ICalendarEntry) -> Vec<Option<Time>> {
        let zone = entry.parameter(&ICalendarParameterName::Tzid).and_then(|it| it.as_text()).map(|id| self.find(id));
        let read = |value: &ICalendarValue| match value {
            ICalendarValue::PartialDateTime(at) => time(at, zone.as_ref()),
            ICalendarValue::Period(ICalendarPeriod::Range { start, .. } | ICalendarPeriod::Duration { start, .. }) => {
                time(start, zone.as_ref())
            }
            _ => None,
        };
        entry.values.iter().map(read).collect()
    }
}

/// The first value of a property as a text.
pub(super) fn text<'c>(component: &'c ICalendarComponent, property: &ICalendarProperty) -> Option<&'c str> {
    component.property(property)?.values.first()?.as_text()
}

/// The zone of this name, also where a program put its own in front of it.
fn zone_of_id(id: &str) -> Option<Zone> {
    let parts: Vec<&str> = id.split('/').collect();
    let tail = |count: usize| parts.len().checked_sub(count).map(|from| parts[from..].join("/"));
    zone_named(id).or_else(|| [3, 2].into_iter().filter_map(tail).find_map(|name| zone_named(&name)))
}

/// The zone whose clocks are told of: by its own name, or the first that has the same winters and summers.
fn told(calendar: &ICalendar, component: &ICalendarComponent) -> Option<Zone> {
    let location = ICalendarProperty::Other("X-LIC-LOCATION".to_owned());
    if let Some(zone) = text(component, &location).and_then(zone_named) {
        return Some(zone);
    }
    let children = || component.component_ids.iter().filter_map(|id| calendar.component_by_id(*id));
    let latest = |kind: ICalendarComponentType| {
        let of_kind = children().filter(|it| it.component_type == kind);
        of_kind.max_by_key(|it| begins(it).map_or(i64::MIN, |wall| wall.0))
    };
    let standard = offset(latest(ICalendarComponentType::Standard)?)?;
    let Some(daylight) = latest(ICalendarComponentType::Daylight) else { return fixed(standard) };
    let summer = offset(daylight)?;
    let month = begins(daylight).map_or(3, |wall| wall.day().civil().month);
    let is_south = !(2..=6).contains(&month);
    let (january, july) = if is_south { (summer, standard) } else { (standard, summer) };
    let clocks = |zone: &Zone| {
        let at = |month| Timestamp(Day::of(2026, month, 15).midnight().0 * 1000);
        zone.offset(at(1)).0 == january * 1000 && zone.offset(at(7)).0 == july * 1000
    };
    WINDOWS_ZONES.iter().filter_map(|(_, name)| Zone::find(name)).find(clocks).or_else(|| fixed(standard))
}

fn begins(component: &ICalendarComponent) -> Option<Wall> {
    let at = component.property(&ICalendarProperty::Dtstart)?.values.first()?.as_partial_date_time()?;
    time(at, None).map(|it| it.wall)
}

/// Seconds ahead of universal time.
fn offset(component: &ICalendarComponent) -> Option<i64> {
    let at = component.property(&ICalendarProperty::Tzoffsetto)?.values.first()?.as_partial_date_time()?;
    ahead(at)
}

fn ahead(at: &PartialDateTime) -> Option<i64> {
    let seconds = i64::from(at.tz_hour?) * 3600 + i64::from(at.tz_minute.unwrap_or(0)) * 60;
    Some(if at.tz_minus { -seconds } else { seconds })
}

/// A zone that is always so far ahead: whole hours have a name.
fn fixed(seconds: i64) -> Option<Zone> {
    match (seconds / 3600, seconds % 3600) {
        (0, 0) => Some(Zone::UTC),
        // The names count the other way.
        (hours, 0) if hours > 0 => Zone::find(&format!("Etc/GMT-{hours}")),
        (hours, 0) => Zone::find(&format!("Etc/GMT+{}", -hours)),
        _ => None,
    }
}

fn time(at: &PartialDateTime, zone: Option<&Zone>) -> Option<Time> {
    let day = Day::checked(i32::from(at.year?), u32::from(at.month?), u32::from(at.day?))?;
    let Some(hour) = at.hour else { return Some(Time { wall: day.midnight(), place: Place::Day }) };
    let (minute, second) = (at.minute.unwrap_or(0), at.second.unwrap_or(0));
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second.min(59));
    let wall = day.midnight().plus(seconds);
    Some(match (ahead(at), zone) {
        (Some(ahead), _) => Time { wall: wall.plus(-ahead), place: Place::Zone(Zone::UTC) },
        (None, Some(zone)) => Time { wall, place: Place::Zone(zone.clone()) },
        (None, None) => Time { wall, place: Place::Floating },
    })
}

impl Time {
    /// The time as the beginning of an event; `here` is where floating ones are looked at.
    pub(in crate::calendar) fn start(&self, here: &Zone) -> Start {
        match &self.place {
            Place::Day => Start { at: self.wall, form: Form::Days, zone: here.clone() },
            Place::Floating => Start { at: self.wall, form: Form::Floating, zone: here.clone() },
            Place::Zone(zone) => Start::zoned(self.wall, zone.clone()),
        }
    }

    /// The time as one of a series.
    pub fn moment(&self) -> Moment {
        match &self.place {
            Place::Day => Moment::Day(self.wall.day()),
            Place::Floating => Moment::Wall(self.wall),
            Place::Zone(zone) => {
                let start = Start::zoned(self.wall, zone.clone());
                Moment::Instant(Series::stored(start, None, Some(self.wall)).instant(self.wall))
            }
        }
    }

    /// The time on the wall of a series. Unlike a time that names an occurrence, a day begins at its midnight.
    pub(in crate::calendar) fn on(&self, series: &Series) -> Wall {
        match &self.place {
            Place::Day => self.wall,
            // The series' own wall needs no way over an instant, on which a doubled time would be another.
            Place::Zone(zone) if series.start().form == Form::Zoned && *zone == series.start().zone => self.wall,
            _ => series.wall_of(self.moment()),
        }
    }
}

/// How long something lasts: days on the wall, and seconds.
pub(super) fn lasting(start: Wall, series: &Series, days: i64, seconds: i64) -> Wall {
    let wall = start.plus(days.saturating_mul(DAY_SECONDS));
    if seconds == 0 || series.start().form == Form::Days {
        return wall.plus(seconds);
    }
    series.wall_of(Moment::Instant(Timestamp(series.instant(wall).0.saturating_add(seconds.saturating_mul(1000)))))
}
