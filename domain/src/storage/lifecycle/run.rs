//! What becomes of one key at one moment.

use super::{LifecycleRule, LifecycleRules, due::due_after_days};
use crate::{
    Timestamp,
    storage::{FileKey, Tags, Version, VersionStamp},
};

/// A version, as rules see it.
#[derive(Clone, Copy, Debug)]
pub struct AgedVersion<'v> {
    /// The version.
    pub version: Version,
    /// When it was made.
    pub made_at: Timestamp,
    /// When it became an old one; nothing for the newest.
    pub ended_at: Option<Timestamp>,
    /// Its bytes.
    pub size: u64,
    /// Its tags.
    pub tags: &'v Tags,
}

/// What becomes of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    Stays,
    /// The file is deleted, as somebody would delete it: it is the newest version, and has content.
    FileExpires,
    /// This version is deleted for good.
    VersionExpires,
}

/// When a file expires, and by which rule (`x-amz-expiration`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry<'r> {
    /// The moment.
    pub at: Timestamp,
    /// The rule.
    pub rule: &'r LifecycleRule,
}

impl Expiry<'_> {
    /// The value of `x-amz-expiration`.
    pub fn header(&self) -> String {
        let at = jiff::Timestamp::from_millisecond(self.at.0).unwrap_or(jiff::Timestamp::MAX);
        let date = at.to_zoned(jiff::tz::TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let rule: String = self.rule.id.bytes().map(encoded).collect();
        format!("expiry-date=\"{date}\", rule-id=\"{rule}\"")
    }
}

/// A byte of a rule's id as it stands in a header.
fn encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// The versions of one key, as they are shown.
#[derive(Debug)]
pub struct KeyRun<'r> {
    rules: Vec<&'r LifecycleRule>,
    now: Timestamp,
    old_seen: u32,
    lone_marker: Option<(Version, Timestamp)>,
}

impl LifecycleRules {
    /// Begins with the versions of a key.
    pub fn run(&self, key: &FileKey, now: Timestamp) -> KeyRun<'_> {
        KeyRun { rules: self.of_key(key.as_str()).collect(), now, old_seen: 0, lone_marker: None }
    }

    /// When a file expires, as it is now.
    pub fn expiry(&self, key: &FileKey, file: &AgedVersion<'_>) -> Option<Expiry<'_>> {
        let fitting = self.of_key(key.as_str()).filter(|rule| rule.filter.fits_content(file.tags, file.size));
        let dues = fitting.filter_map(|rule| rule.due(file.made_at).map(|at| Expiry { at, rule }));
        dues.min_by_key(|expiry| expiry.at)
    }
}

impl LifecycleRule {
    /// When a file expires that was made at `made_at`.
    fn due(&self, made_at: Timestamp) -> Option<Timestamp> {
        self.expire_days.map(|days| due_after_days(made_at, days)).or(self.expire_at)
    }

    /// When a version goes that became an old one at `ended_at`, where `newer` old ones are newer.
    fn old_due(&self, ended_at: Timestamp, newer: u32) -> Option<Timestamp> {
        let is_kept = self.old_versions_kept.is_some_and(|kept| newer < kept);
        self.old_version_days.filter(|_| !is_kept).map(|days| due_after_days(ended_at, days))
    }
}

impl KeyRun<'_> {
    /// Whether no rule is for this key, so that its versions needn't be shown.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// Says what becomes of a version; they come in their order, the newest first.
    pub fn show(&mut self, shown: &AgedVersion<'_>) -> Fate {
        match shown.ended_at {
            None if shown.version.is_marker() => {
                self.lone_marker = Some((shown.version, shown.made_at));
                Fate::Stays
            }
            None => self.newest(shown),
            Some(ended_at) => self.old(shown, ended_at),
        }
    }

    fn newest(&self, shown: &AgedVersion<'_>) -> Fate {
        let is_due = |rule: &LifecycleRule| rule.due(shown.made_at).is_some_and(|due| due <= self.now);
        let fits = |rule: &LifecycleRule| rule.filter.fits_content(shown.tags, shown.size);
        if self.rules.iter().any(|rule| fits(rule) && is_due(rule)) { Fate::FileExpires } else { Fate::Stays }
    }

    fn old(&mut self, shown: &AgedVersion<'_>, ended_at: Timestamp) -> Fate {
        let newer = self.old_seen;
        self.old_seen = self.old_seen.saturating_add(1);
        let is_due = |rule: &LifecycleRule| rule.old_due(ended_at, newer).is_some_and(|due| due <= self.now);
        let fits = |rule: &LifecycleRule| {
            let is_marker = shown.version.is_marker();
            if is_marker { !rule.filter.asks_for_content() } else { rule.filter.fits_content(shown.tags, shown.size) }
        };
        let goes = self.rules.iter().any(|rule| fits(rule) && is_due(rule));
        if goes && shown.version.check_unlocked(self.now).is_ok() {
            return Fate::VersionExpires;
        }
        // Something is left below the newest version.
        self.lone_marker = None;
        Fate::Stays
    }

    /// After all versions: the delete marker that goes too, because nothing else is left of the file.
    pub fn finish(self) -> Option<VersionStamp> {
        let (marker, made_at) = self.lone_marker?;
        let is_due = |rule: &LifecycleRule| {
            let by_age = || rule.due(made_at).is_some_and(|due| due <= self.now);
            !rule.filter.asks_for_content() && (rule.expire_markers || by_age())
        };
        let goes = self.rules.iter().any(|rule| is_due(rule)) && marker.check_unlocked(self.now).is_ok();
        goes.then_some(marker.stamp)
    }
}
