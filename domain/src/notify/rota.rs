//! On-call rotas: people who take turns, and who is on call at a given moment.
//!
//! A rota hands over at times of its own time zone, so that a day's turn is 23 or 25 hours long when clocks change. At
//! each instant exactly one of its people is on call: whoever an override names, or else whoever's turn it is. Whoever has
//! left the organization is passed over.

mod handover;

use std::{collections::BTreeSet, ops::RangeInclusive, time::Duration};

use serde::{Deserialize, Serialize};

use self::handover::Beat;
pub use self::handover::{Handover, HandoverMoment};
use super::zone::Zone;
use crate::{
    Error, Result, Timestamp,
    account::name_check,
    id::{OrgId, RotaId, RotaOverrideId, UserId},
    problems::{Problems, all},
};

/// Rotas of one organization.
pub const ROTAS_MAX: usize = 50;
/// People of one rota.
pub const ROTA_PEOPLE: RangeInclusive<usize> = 1..=50;
/// Overrides of one rota.
pub const OVERRIDES_MAX: usize = 100;
/// How long one override may last.
pub const OVERRIDE_LASTS_MAX: Duration = Duration::from_hours(366 * 24);
/// How long an override is kept once it is over.
pub const OVERRIDE_KEPT: Duration = Duration::from_hours(90 * 24);
/// The moments that can be asked about: from 1970 to the year 9000, where every zone has days before and after.
pub const ASKABLE: RangeInclusive<Timestamp> = Timestamp(0)..=Timestamp(221_845_392_000_000);

/// A rota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rota {
    /// Its id.
    pub id: RotaId,
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// What it says.
    pub draft: RotaDraft,
    /// Whose turn it was at one moment; all other turns follow from that.
    pub start: TurnStart,
    /// Windows in which somebody else is on call; where two overlap, the one that was made later counts.
    pub overrides: Vec<RotaOverride>,
    /// Who made it.
    pub created_by: UserId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it or its overrides last changed.
    pub updated_at: Timestamp,
}

/// What a rota says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotaDraft {
    /// What it is called.
    pub name: String,
    /// Who takes turns, in their order.
    pub people: Vec<UserId>,
    /// When one hands over to the next.
    pub handover: Handover,
    /// Where the clock hangs that says so.
    pub zone: Zone,
}

/// What changes of a rota; nothing of what is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RotaChange {
    /// What it is called.
    pub name: Option<String>,
    /// Who takes turns.
    pub people: Option<Vec<UserId>>,
    /// When one hands over to the next.
    pub handover: Option<Handover>,
    /// Where the clock hangs that says so.
    pub zone: Option<Zone>,
}

/// Whose turn it was at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnStart {
    /// The moment.
    pub at: Timestamp,
    /// Their place among the people.
    pub place: usize,
}

/// A window in which somebody is on call whose turn it isn't.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RotaOverride {
    /// Its id.
    #[serde(rename = "overrideId")]
    pub id: RotaOverrideId,
    /// Who is on call.
    pub user_id: UserId,
    /// From when.
    pub from: Timestamp,
    /// Until when; not then any more.
    pub until: Timestamp,
}

/// Who is on call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnCall {
    /// They.
    pub user_id: UserId,
    /// Since when.
    pub since: Timestamp,
    /// Until when; not then any more.
    pub until: Timestamp,
    /// The override that says so, when it isn't their turn.
    pub by_override: Option<RotaOverride>,
}

/// Why somebody is on call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source<'r> {
    Override(&'r RotaOverride),
    Turn(i64),
}

impl Rota {
    /// Who is on call at `at`, of those who still belong to the organization; nobody when all have left.
    pub fn on_call(&self, at: Timestamp, is_member: impl Fn(UserId) -> bool) -> Option<OnCall> {
        let at = at.clamp(*ASKABLE.start(), *ASKABLE.end());
        let beat = self.beat();
        let first = beat.turn_at(self.start.at);
        let counting: Vec<_> = self.overrides.iter().filter(|one| is_member(one.user_id)).collect();
        let source = |at: Timestamp| match counting.iter().rev().find(|one| one.from <= at && at < one.until) {
            Some(one) => Source::Override(one),
            None => Source::Turn(beat.turn_at(at)),
        };
        let found = source(at);
        let user_id = match found {
            Source::Override(one) => one.user_id,
            Source::Turn(turn) => self.person(turn - first, &is_member)?,
        };
        let turn = beat.turn_at(at);
        let mut edges: Vec<_> = counting.iter().flat_map(|one| [one.from, one.until]).collect();
        edges.extend([beat.handover(turn), beat.handover(turn + 1)]);
        if let Source::Override(one) = found {
            edges.extend([one.from, one.until]);
        }
        edges.sort_unstable();
        let (past, coming): (Vec<_>, Vec<_>) = edges.into_iter().partition(|edge| *edge <= at);
        let since = past.into_iter().rev().take_while(|edge| source(*edge) == found).last().unwrap_or(at);
        let until = coming.into_iter().find(|edge| source(*edge) != found).unwrap_or(*ASKABLE.end());
        let by_override = if let Source::Override(one) = found { Some(*one) } else { None };
        Some(OnCall { user_id, since, until, by_override })
    }

    /// Whoever's turn it is so many turns after the start, or the next after them who belongs to the organization.
    fn person(&self, turns: i64, is_member: impl Fn(UserId) -> bool) -> Option<UserId> {
        let people = &self.draft.people;
        let count = i64::try_from(people.len()).ok().filter(|count| *count > 0)?;
        let start = i64::try_from(self.start.place).ok()?;
        let place = usize::try_from((turns.rem_euclid(count) + start).rem_euclid(count)).ok()?;
        people.iter().cycle().skip(place).take(people.len()).copied().find(|user_id| is_member(*user_id))
    }

    fn beat(&self) -> Beat {
        self.draft.handover.beat(&self.draft.zone, self.start.at)
    }

    /// The rota after `change` at `now`. Whoever's turn it is keeps it until the next handover; when they are no longer
    /// among the people, the next after them who is takes over.
    pub fn changed(&self, change: RotaChange, now: Timestamp) -> Result<Self> {
        let before = &self.draft;
        let draft = RotaDraft {
            name: change.name.unwrap_or_else(|| before.name.clone()),
            people: change.people.unwrap_or_else(|| before.people.clone()),
            handover: change.handover.unwrap_or_else(|| before.handover.clone()),
            zone: change.zone.unwrap_or_else(|| before.zone.clone()),
        };
        let draft = draft.check()?;
        let is_same = RotaDraft { name: draft.name.clone(), ..before.clone() } == draft;
        let start =
            if is_same { self.start } else { TurnStart { at: now, place: self.kept_place(&draft.people, now) } };
        Ok(Self { draft, start, ..self.clone() })
    }

    /// Where among `people` whoever's turn it is at `now` stands, or else the next after them who is there.
    fn kept_place(&self, people: &[UserId], now: Timestamp) -> usize {
        let beat = self.beat();
        let turns = beat.turn_at(now) - beat.turn_at(self.start.at);
        let stays = |user_id: UserId| people.contains(&user_id);
        let current = self.person(turns, stays);
        people.iter().position(|user_id| Some(*user_id) == current).unwrap_or(0)
    }

    /// Adds an override, and forgets those that are long over.
    pub fn override_add(&mut self, one: RotaOverride, now: Timestamp) -> Result<()> {
        one.check(now)?;
        self.overrides.retain(|known| known.until > now.before(OVERRIDE_KEPT));
        if self.overrides.len() >= OVERRIDES_MAX {
            return Err(Error::bad_request("limit_reached", "A rota has at most 100 overrides."));
        }
        self.overrides.push(one);
        Ok(())
    }

    /// Everybody whom it may name.
    pub fn everybody(&self) -> BTreeSet<UserId> {
        self.draft.people.iter().copied().chain(self.overrides.iter().map(|one| one.user_id)).collect()
    }
}

impl RotaDraft {
    /// Checks what somebody wrote.
    pub fn check(self) -> Result<Self> {
        let mut problems = Problems::new();
        let different = self.people.iter().collect::<BTreeSet<_>>().len() == self.people.len();
        let fits = ROTA_PEOPLE.contains(&self.people.len()) && different;
        problems.require(fits, "people", "Name 1 to 50 people, each once.");
        let checks = (name_check("name", &self.name), problems.into_result(), self.handover.check("handover"));
        let (name, (), handover) = all(checks)?;
        Ok(Self { name, handover, ..self })
    }
}

impl RotaOverride {
    fn check(&self, now: Timestamp) -> Result<()> {
        let mut problems = Problems::new();
        let lasts = self.until > self.from && self.until.since(self.from) <= OVERRIDE_LASTS_MAX;
        problems.require(lasts, "until", "An override ends after it begins, and lasts at most 366 days.");
        problems.require(self.until > now, "until", "An override ends in the future.");
        problems.require(ASKABLE.contains(&self.from), "from", "Use a moment after 1970.");
        problems.into_result()
    }
}

#[cfg(test)]
mod tests;
