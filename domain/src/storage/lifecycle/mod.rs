//! Lifecycle rules of a bucket: what becomes of files, old versions, delete markers and unfinished uploads in time.
//!
//! Rules are looked at once a day and bucket. A [`KeyRun`] is shown the versions of one key, the newest first, and says of
//! each what becomes of it; nothing of a key has to be in memory but the version that is shown.

mod check;
mod due;
mod filter;
mod rule;
mod run;
mod schedule;
mod upload;

pub use self::{
    due::{due_after_days, next_midnight},
    filter::RuleFilter,
    rule::{LIFECYCLE_RULES_MAX, LifecycleRule, OLD_VERSIONS_KEPT_MAX, RULE_DAYS_MAX, RULE_ID_LEN_MAX},
    run::{AgedVersion, Expiry, Fate, KeyRun},
    schedule::next_lifecycle_run,
    upload::UPLOAD_DAYS_DEFAULT,
};

use serde::{Deserialize, Serialize};

/// The rules of a bucket, which were checked. Of several that fit, the earliest one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LifecycleRules(Vec<LifecycleRule>);

impl LifecycleRules {
    /// All of them.
    pub fn as_slice(&self) -> &[LifecycleRule] {
        &self.0
    }

    /// Those that are switched on and may be for a key.
    fn of_key<'r>(&'r self, key: &str) -> impl Iterator<Item = &'r LifecycleRule> {
        self.0.iter().filter(move |rule| rule.enabled && rule.filter.fits_key(key))
    }
}

#[cfg(test)]
mod tests;
