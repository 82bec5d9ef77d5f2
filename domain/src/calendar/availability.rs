//! When people are busy (contract B 4.9, availability): times and kinds, and nothing of what is in them.

use std::collections::BTreeSet;

use super::event::{AttendeeStatus, BusyStatus, EventStatus};
use crate::{Error, Result, Timestamp};

/// Addresses that are asked for at a time (contract B 4.9).
pub const AVAILABILITY_ADDRESSES_MAX: usize = 20;
/// Characters of `emails` (contract B 4.9).
pub const AVAILABILITY_EMAILS_LEN_MAX: usize = 4_000;
/// Contract B 4.9.
pub const TOO_MANY_ADDRESSES: &str = "Ask for at most 20 addresses at a time.";
/// Contract B 4.9.
pub const NO_ADDRESS: &str = "Ask for at least one address.";

/// How busy somebody is; what counts more comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Busy {
    /// `oof`
    OutOfOffice,
    /// `busy`
    Busy,
    /// `tentative`
    Tentative,
    /// `workingElsewhere`
    WorkingElsewhere,
}

impl Busy {
    /// As the contract writes it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::OutOfOffice => "oof",
            Self::Busy => "busy",
            Self::Tentative => "tentative",
            Self::WorkingElsewhere => "workingElsewhere",
        }
    }

    /// What an occurrence makes of somebody who may have been invited to it; none when it leaves them free.
    ///
    /// What was cancelled, declined or is shown as free doesn't count, and what wasn't answered is tentative, as is
    /// what is tentative itself.
    pub fn of(status: EventStatus, answer: Option<AttendeeStatus>, shown_as: BusyStatus) -> Option<Self> {
        if status == EventStatus::Cancelled {
            return None;
        }
        let shown = match shown_as {
            BusyStatus::Free => return None,
            BusyStatus::Busy => Self::Busy,
            BusyStatus::Tentative => Self::Tentative,
            BusyStatus::OutOfOffice => Self::OutOfOffice,
            BusyStatus::WorkingElsewhere => Self::WorkingElsewhere,
        };
        match answer {
            // Who sent somebody else has the time.
            Some(AttendeeStatus::Declined | AttendeeStatus::Delegated) => None,
            Some(AttendeeStatus::NeedsAction | AttendeeStatus::Tentative) => Some(Self::Tentative),
            None | Some(AttendeeStatus::Accepted) if status == EventStatus::Tentative => {
                Some(shown.max(Self::Tentative))
            }
            None | Some(AttendeeStatus::Accepted) => Some(shown),
        }
    }
}

/// A time at which somebody is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BusyTime {
    /// Its beginning.
    pub start: Timestamp,
    /// Its end, which doesn't belong to it.
    pub end: Timestamp,
    /// How busy.
    pub status: Busy,
}

/// The same times without overlaps, in order, within `from` and `to`: at each moment what counts most, and times of one
/// kind that touch are one. Times that end before they begin are nothing.
pub fn merged(times: &[BusyTime], from: Timestamp, to: Timestamp) -> Vec<BusyTime> {
    let within = times
        .iter()
        .map(|time| BusyTime { start: time.start.max(from), end: time.end.min(to), ..*time })
        .filter(|time| time.start < time.end);
    // At each edge what begins or ends there; the number tells apart what is alike.
    let mut edges: Vec<(Timestamp, bool, Busy, usize)> = within
        .enumerate()
        .flat_map(|(at, time)| [(time.start, true, time.status, at), (time.end, false, time.status, at)])
        .collect();
    edges.sort_unstable();
    let mut open = BTreeSet::new();
    let mut merged: Vec<BusyTime> = Vec::new();
    let mut since = from;
    for (at, begins, status, number) in edges {
        if let Some(&(status, _)) = open.first()
            && since < at
        {
            append(&mut merged, BusyTime { start: since, end: at, status });
        }
        since = at;
        if begins {
            open.insert((status, number));
        } else {
            open.remove(&(status, number));
        }
    }
    merged
}

fn append(merged: &mut Vec<BusyTime>, time: BusyTime) {
    match merged.last_mut() {
        Some(last) if last.end == time.start && last.status == time.status => last.end = time.end,
        _ => merged.push(time),
    }
}

/// The addresses that `emails` lists between commas, each once, in small letters and in the order in which they came;
/// `self_too` is whoever asks, and counts.
pub fn addresses(emails: &str, self_too: Option<&str>) -> Result<Vec<String>> {
    if emails.chars().count() > AVAILABILITY_EMAILS_LEN_MAX {
        return Err(Error::invalid("emails", "Use at most 4,000 characters."));
    }
    let mut addresses: Vec<String> = Vec::new();
    for email in self_too.into_iter().chain(emails.split(',')) {
        let email = email.trim().to_lowercase();
        if !email.is_empty() && !addresses.contains(&email) {
            addresses.push(email);
        }
    }
    match addresses.len() {
        0 => Err(Error::bad_request("no_address", NO_ADDRESS)),
        1..=AVAILABILITY_ADDRESSES_MAX => Ok(addresses),
        _ => Err(Error::bad_request("too_many_addresses", TOO_MANY_ADDRESSES)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: [Busy; 4] = [Busy::OutOfOffice, Busy::Busy, Busy::Tentative, Busy::WorkingElsewhere];

    fn time(start: i64, end: i64, status: Busy) -> BusyTime {
        BusyTime { start: Timestamp(start), end: Timestamp(end), status }
    }

    #[test]
    fn what_counts_more_hides_what_counts_less() {
        let times = [time(0, 10, Busy::Tentative), time(4, 6, Busy::Busy), time(5, 7, Busy::OutOfOffice)];
        let expected = [
            time(1, 4, Busy::Tentative),
            time(4, 5, Busy::Busy),
            time(5, 7, Busy::OutOfOffice),
            time(7, 9, Busy::Tentative),
        ];
        assert_eq!(merged(&times, Timestamp(1), Timestamp(9)), expected);
    }

    #[test]
    fn an_occurrence_counts_by_its_state_and_the_answer() {
        use AttendeeStatus::{Accepted, Declined, Delegated, NeedsAction};
        let of = |status, answer| Busy::of(status, answer, BusyStatus::OutOfOffice);
        assert_eq!(of(EventStatus::Confirmed, None), Some(Busy::OutOfOffice));
        assert_eq!(of(EventStatus::Confirmed, Some(Accepted)), Some(Busy::OutOfOffice));
        assert_eq!(of(EventStatus::Tentative, Some(Accepted)), Some(Busy::Tentative));
        assert_eq!(of(EventStatus::Confirmed, Some(NeedsAction)), Some(Busy::Tentative));
        assert_eq!(of(EventStatus::Confirmed, Some(Declined)), None);
        assert_eq!(of(EventStatus::Confirmed, Some(Delegated)), None);
        assert_eq!(of(EventStatus::Cancelled, None), None);
        assert_eq!(Busy::of(EventStatus::Confirmed, None, BusyStatus::Free), None);
    }

    #[test]
    fn twenty_addresses_are_asked_for_and_no_more() {
        let list = |count: usize| (0..count).map(|at| format!("p{at}@x.example")).collect::<Vec<_>>().join(",");
        assert_eq!(addresses(&list(20), None).unwrap().len(), 20);
        assert_eq!(addresses(&list(19), Some("me@x.example")).unwrap().len(), 20);
        assert_eq!(addresses(&list(21), None).unwrap_err().to_string(), TOO_MANY_ADDRESSES);
        assert_eq!(addresses(" , ", None).unwrap_err().to_string(), NO_ADDRESS);
        assert_eq!(addresses("A@x.example, a@X.example", None).unwrap(), ["a@x.example"]);
        assert_eq!(addresses(&" ".repeat(4_001), None).unwrap_err().code(), "invalid");
    }

    proptest! {
        #[test]
        fn each_moment_is_as_busy_as_what_counts_most_there(
            times in prop::collection::vec((0..40_i64, 0..15_i64, 0..4_usize), 0..12), from in 0..20_i64, len in 1..30_i64,
        ) {
            let times: Vec<_> = times.iter().map(|&(at, len, kind)| time(at, at + len, KINDS[kind])).collect();
            let merged = merged(&times, Timestamp(from), Timestamp(from + len));
            for at in from..from + len {
                let covers = |time: &&BusyTime| time.start.0 <= at && at < time.end.0;
                let most = times.iter().filter(covers).map(|time| time.status).min();
                prop_assert_eq!(merged.iter().find(covers).map(|time| time.status), most);
            }
            for pair in merged.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
                prop_assert!(pair[0].end < pair[1].start || pair[0].status != pair[1].status);
            }
        }
    }
}
