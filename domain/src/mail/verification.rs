//! What follows from looks at a domain's records: its state, which keys sign, and when to look again.

use std::{collections::BTreeMap, time::Duration};

use super::{
    domains::{DkimPlace, DomainNote, DomainStatus, MailDomain},
    records::{DKIM_NEXT, REQUIRED, dkim_record_key},
};
use crate::Timestamp;

/// Looks in a row at which an active domain misses something before it is in error.
const MISSES_MAX: i64 = 3;
/// How long the first of them must be ago.
const MISSED_FOR: Duration = Duration::from_hours(24);
/// How long the record of a key that signs no more must stay: longer than mail is under way.
pub const FORMER_KEPT: Duration = Duration::from_hours(24 * 7);

/// What a look at a domain's records found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Which records say what they shall, by their keys; those about which nobody answered are absent.
    pub seen: BTreeMap<String, bool>,
    /// The zone, where that was answered.
    pub zone: Option<String>,
    /// Who serves it, where that was answered.
    pub dns_provider: Option<Option<String>>,
    /// The SPF record that is there, where that was answered.
    pub spf_before: Option<Option<String>>,
}

impl Observed {
    /// Whether nobody answered anything.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    fn says(&self, key: &str) -> Option<bool> {
        self.seen.get(key).copied()
    }
}

/// What people are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The domain became active.
    Verified,
    /// The domain isn't active any more.
    Failed,
}

/// Whether another organization has an active claim to the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// None has.
    None,
    /// One has.
    Active,
}

impl MailDomain {
    /// The claim after a look, and what people are told of it. Only what was answered counts.
    pub fn observed(&self, observed: &Observed, rival: Rival, now: Timestamp) -> (Self, Option<Happened>) {
        let mut next = self.clone();
        next.former_keys_end(now);
        if observed.is_empty() {
            if next.note == DomainNote::None {
                next.note = DomainNote::Away;
            }
            return (next, None);
        }
        next.checked_at = Some(now);
        next.zone = observed.zone.clone().or(next.zone);
        next.dns_provider = observed.dns_provider.clone().unwrap_or(next.dns_provider);
        next.spf_before = observed.spf_before.clone().unwrap_or(next.spf_before);
        next.checks.extend(observed.seen.iter().map(|(key, is_seen)| (key.clone(), *is_seen)));
        if matches!(next.note, DomainNote::Away | DomainNote::Held) {
            next.note = DomainNote::None;
        }
        let happened = next.state_follows(observed, rival, now);
        if observed.says(DKIM_NEXT) == Some(true) {
            next.keys_switch(now);
        }
        (next, happened)
    }

    fn state_follows(&mut self, observed: &Observed, rival: Rival, now: Timestamp) -> Option<Happened> {
        let has_all = REQUIRED.iter().all(|key| observed.says(key) == Some(true));
        if self.status == DomainStatus::Active {
            let misses = REQUIRED.iter().any(|key| observed.says(key) == Some(false));
            return if misses { self.miss(now) } else { self.hold(has_all) };
        }
        if has_all && rival == Rival::Active {
            self.note = if self.note == DomainNote::Taken { DomainNote::Taken } else { DomainNote::Held };
        } else if has_all {
            self.status = DomainStatus::Active;
            self.note = DomainNote::None;
            self.owned_at = self.owned_at.or(Some(now));
            self.hold(true);
            return Some(Happened::Verified);
        }
        if self.status != DomainStatus::Error {
            let has_some = REQUIRED.iter().any(|key| self.checks.get(*key) == Some(&true));
            self.status = if has_some { DomainStatus::Verifying } else { DomainStatus::Pending };
        }
        None
    }

    fn hold(&mut self, has_all: bool) -> Option<Happened> {
        if has_all {
            (self.misses, self.missed_since) = (0, None);
        }
        None
    }

    fn miss(&mut self, now: Timestamp) -> Option<Happened> {
        self.misses = self.misses.saturating_add(1);
        let since = *self.missed_since.get_or_insert(now);
        if self.misses < MISSES_MAX || now < since.after(MISSED_FOR) {
            return None;
        }
        self.status = DomainStatus::Error;
        self.looks_from = now;
        self.hold(true);
        Some(Happened::Failed)
    }

    /// The keys that were to sign next sign from now on.
    fn keys_switch(&mut self, now: Timestamp) {
        let mut checks = BTreeMap::new();
        for key in &mut self.keys {
            let seen = self.checks.remove(&dkim_record_key(key));
            let place = match key.place {
                DkimPlace::Next => DkimPlace::Current,
                DkimPlace::Current | DkimPlace::Former => DkimPlace::Former,
            };
            if place != key.place {
                (key.place, key.since) = (place, now);
            }
            checks.extend(seen.map(|seen| (dkim_record_key(key), seen)));
        }
        self.checks.extend(checks);
        self.rotated_at = Some(now);
    }

    /// Lets go of keys whose records need not stay any longer.
    fn former_keys_end(&mut self, now: Timestamp) {
        self.keys.retain(|key| key.place != DkimPlace::Former || now < key.since.after(FORMER_KEPT));
        let keys: Vec<String> = self.keys.iter().map(dkim_record_key).collect();
        self.checks.retain(|check, _| !check.starts_with("dkim-") || keys.contains(check));
    }

    /// When to look again.
    pub fn next_look(&self, now: Timestamp) -> Timestamp {
        const HOUR: Duration = Duration::from_hours(1);
        const DAY: Duration = Duration::from_hours(24);
        let waits_from = match self.keys_at(DkimPlace::Next).map(|key| key.since).max() {
            Some(since) => Some(since),
            None => (self.status != DomainStatus::Active).then_some(self.looks_from),
        };
        let pause = match waits_from {
            Some(from) if now < from.after(HOUR) => Duration::from_mins(5),
            Some(from) if now < from.after(DAY * 14) => HOUR,
            None if self.misses > 0 => DAY / 2,
            Some(_) | None => DAY,
        };
        now.after(pause)
    }

    /// The keys of the records that are required and weren't seen.
    pub fn missing(&self) -> Vec<&'static str> {
        REQUIRED.into_iter().filter(|key| self.checks.get(*key) != Some(&true)).collect()
    }

    /// What people read of its state, where there is anything to say.
    pub fn message(&self) -> Option<String> {
        match self.note {
            DomainNote::Away => {
                return Some("The servers of this domain's zone didn't answer. Nothing was changed.".to_owned());
            }
            DomainNote::Held => return Some("Another organization has proved that this domain is its own.".to_owned()),
            DomainNote::Taken => return Some("This domain has become another organization's.".to_owned()),
            DomainNote::None => {}
        }
        let missing = self.missing();
        (!missing.is_empty()).then(|| format!("These records weren't found: {}.", missing.join(", ")))
    }
}
