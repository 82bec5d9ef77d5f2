//! Which keys have an actor: what an operator looks for, and what is found.

use std::{cmp::Ordering, str::FromStr};

use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// One key that has an actor, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resident {
    /// The kind of resource.
    pub kind: &'static str,
    /// The key.
    pub key: String,
    /// Whether the resource is in memory.
    pub loaded: bool,
    /// Commands that wait, the running one included.
    pub waiting: u32,
    /// The command that runs.
    pub command: Option<&'static str>,
    /// Since when it runs, in milliseconds before now.
    pub running_ms: Option<u64>,
    /// How often it crashed since it has its actor.
    pub crashes: u64,
    /// What it crashed of the last time.
    pub last_error: Option<String>,
    /// How long its quarantine still lasts, in milliseconds.
    pub quarantine_ms: Option<u64>,
    /// Whether it stays in memory although nobody asks anything of it.
    pub in_use: bool,
    /// When its queue last became empty.
    pub active_at: Timestamp,
}

/// Which keys of a kind an operator looks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResidentsQuery {
    /// Only those with this in their key, their command or their last error, in whatever case.
    pub text: Option<String>,
    /// Only those in this state.
    pub state: Option<ResidentState>,
    /// By what they stand in their order.
    pub sort: ResidentsSort,
    /// Whether the largest stands first.
    pub order: SortOrder,
    /// Only those that stand behind this place, where a page before ended.
    pub after: Option<ResidentPlace>,
    /// At most so many.
    pub limit: usize,
}

/// A state that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResidentState {
    /// Something waits, or runs.
    Busy,
    /// It crashed.
    Crashed,
    /// It is in quarantine.
    Quarantined,
}

/// What keys are sorted by; those alike stand in the order of their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResidentsSort {
    /// The key.
    Key,
    /// Commands that wait.
    Waiting,
    /// How long the command at the front runs.
    Running,
    /// Crashes.
    Crashes,
    /// When the queue last became empty.
    Active,
}

/// Which end of a sorted list stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SortOrder {
    /// The smallest.
    Asc,
    /// The largest.
    Desc,
}

/// Where a key stands in a sorted list: what it is sorted by, and the key. Written `<value> <key>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResidentPlace {
    /// What it is sorted by, 0 when that is the key.
    pub value: u64,
    /// The key.
    pub key: String,
}

/// Keys that were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Residents {
    /// They, sorted.
    pub actors: Vec<Resident>,
    /// How many fit the query, those of other pages included.
    pub total: u64,
    /// Where the next page starts, when there is one.
    pub next: Option<ResidentPlace>,
}

impl std::fmt::Display for ResidentPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.value, self.key)
    }
}

/// The text is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no place in a list of actors")]
pub struct NoPlace;

impl FromStr for ResidentPlace {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let (value, key) = text.split_once(' ').ok_or(NoPlace)?;
        Ok(Self { value: value.parse().map_err(|_| NoPlace)?, key: key.to_owned() })
    }
}

impl ResidentsQuery {
    fn admits(&self, resident: &Resident) -> bool {
        let in_state = match self.state {
            None => true,
            Some(ResidentState::Busy) => resident.waiting > 0,
            Some(ResidentState::Crashed) => resident.crashes > 0,
            Some(ResidentState::Quarantined) => resident.quarantine_ms.is_some(),
        };
        in_state && self.text.as_deref().is_none_or(|text| resident.says(&text.to_lowercase()))
    }

    /// What a key is sorted by.
    fn value(&self, resident: &Resident) -> u64 {
        match self.sort {
            ResidentsSort::Key => 0,
            ResidentsSort::Waiting => u64::from(resident.waiting),
            // Whoever does nothing stands below whoever has just begun.
            ResidentsSort::Running => resident.running_ms.map_or(0, |running| running.saturating_add(1)),
            ResidentsSort::Crashes => resident.crashes,
            ResidentsSort::Active => u64::try_from(resident.active_at.as_millis()).unwrap_or_default(),
        }
    }

    fn compare(&self, (value, key): (u64, &str), (other_value, other_key): (u64, &str)) -> Ordering {
        let (by_value, by_key) = (value.cmp(&other_value), key.cmp(other_key));
        match (self.order, self.sort) {
            (SortOrder::Desc, ResidentsSort::Key) => by_key.reverse(),
            (SortOrder::Desc, _) => by_value.reverse().then(by_key),
            (SortOrder::Asc, _) => by_value.then(by_key),
        }
    }

    fn sort(&self, actors: &mut Vec<Resident>) {
        actors.sort_by(|one, other| self.compare((self.value(one), &one.key), (self.value(other), &other.key)));
        actors.truncate(self.limit);
    }

    /// Whether a key stands on a page before.
    fn was_seen(&self, resident: &Resident) -> bool {
        let place = (self.value(resident), resident.key.as_str());
        self.after.as_ref().is_some_and(|after| self.compare(place, (after.value, &after.key)) != Ordering::Greater)
    }
}

impl Resident {
    /// Whether this stands in what it says, in lower case.
    fn says(&self, text: &str) -> bool {
        let has = |of: &str| of.to_lowercase().contains(text);
        has(&self.key) || self.command.is_some_and(has) || self.last_error.as_deref().is_some_and(has)
    }
}

impl Residents {
    /// Sorts out what `query` asks for, with room for twice its limit at most.
    pub(super) fn of(all: impl Iterator<Item = Resident>, query: &ResidentsQuery) -> Self {
        let (mut actors, mut total, mut ahead) = (Vec::new(), 0_u64, 0_u64);
        for resident in all.filter(|resident| query.admits(resident)) {
            total += 1;
            if query.was_seen(&resident) {
                continue;
            }
            ahead += 1;
            actors.push(resident);
            if actors.len() > query.limit.saturating_mul(2) {
                query.sort(&mut actors);
            }
        }
        query.sort(&mut actors);
        let last = actors.last().filter(|_| ahead > actors.len() as u64);
        let next = last.map(|last| ResidentPlace { value: query.value(last), key: last.key.clone() });
        Self { actors, total, next }
    }
}
