//! What rules have to be.

use std::collections::BTreeSet;

use super::{
    LIFECYCLE_RULES_MAX, LifecycleRule, LifecycleRules, OLD_VERSIONS_KEPT_MAX, RULE_DAYS_MAX, RULE_ID_LEN_MAX,
    RuleFilter, due::is_midnight,
};
use crate::{
    error::Result,
    problems::Problems,
    storage::{FILE_BYTES_MAX, FILE_TAGS, KeyPrefix, Tag, Tags},
};

impl LifecycleRules {
    /// Checks rules; 400 naming every field at fault. One without an id gets one that no other has.
    pub fn check(mut rules: Vec<LifecycleRule>) -> Result<Self> {
        let mut problems = Problems::new();
        problems.require(rules.len() <= LIFECYCLE_RULES_MAX, "rules", "Send up to 1,000 rules.");
        rules.truncate(LIFECYCLE_RULES_MAX);
        let mut ids = BTreeSet::new();
        for (place, rule) in rules.iter().enumerate() {
            let path = format!("rules[{place}]");
            rule.check(&path, &mut problems);
            let is_own = rule.id.is_empty() || ids.insert(rule.id.clone());
            problems.require(is_own, format!("{path}.id"), "Another rule has this id.");
        }
        problems.into_result()?;
        let mut free = (1_usize..).map(|number| format!("rule-{number}")).filter(|id| !ids.contains(id));
        for rule in rules.iter_mut().filter(|rule| rule.id.is_empty()) {
            rule.id = free.next().unwrap_or_default();
        }
        Ok(Self(rules))
    }
}

impl LifecycleRule {
    fn check(&self, path: &str, problems: &mut Problems) {
        let is_id = self.id.chars().count() <= RULE_ID_LEN_MAX && !self.id.chars().any(char::is_control);
        problems.require(is_id, format!("{path}.id"), "Must have up to 255 characters, none of control.");
        problems.require(self.acts(), path, "A rule says what expires, and when.");
        self.days_check(path, problems);
        self.pairs_check(path, problems);
        self.filter.check(&format!("{path}.filter"), problems);
    }

    /// Whether anything follows from it.
    fn acts(&self) -> bool {
        self.expires() || self.expire_markers || self.old_version_days.is_some() || self.abort_upload_days.is_some()
    }

    fn expires(&self) -> bool {
        self.expire_days.is_some() || self.expire_at.is_some()
    }

    fn days_check(&self, path: &str, problems: &mut Problems) {
        let days = [
            ("expireDays", self.expire_days),
            ("oldVersionDays", self.old_version_days),
            ("abortUploadDays", self.abort_upload_days),
        ];
        for (name, days) in days {
            let is_known = days.is_none_or(|days| (1..=RULE_DAYS_MAX).contains(&days));
            problems.require(is_known, format!("{path}.{name}"), "Must be 1 to 2,147,483,647.");
        }
        let is_known = self.old_versions_kept.is_none_or(|kept| (1..=OLD_VERSIONS_KEPT_MAX).contains(&kept));
        problems.require(is_known, format!("{path}.oldVersionsKept"), "Must be 1 to 100.");
        let is_date = self.expire_at.is_none_or(is_midnight);
        problems.require(is_date, format!("{path}.expireAt"), "Must be a midnight of UTC.");
    }

    /// What doesn't go together (S3).
    fn pairs_check(&self, path: &str, problems: &mut Problems) {
        let both = self.expire_days.is_some() && self.expire_at.is_some();
        problems.require(!both, format!("{path}.expireAt"), "A file expires by days or at a date.");
        let markers_only = !self.expire_markers || !self.expires() && !self.filter.asks_for_content();
        let message = "Delete markers have neither tags nor a size, and go when nothing else is left.";
        problems.require(markers_only, format!("{path}.expireMarkers"), message);
        let has_days = self.old_versions_kept.is_none() || self.old_version_days.is_some();
        problems.require(has_days, format!("{path}.oldVersionsKept"), "Say oldVersionDays too.");
        let uploads_only = self.abort_upload_days.is_none() || !self.filter.asks_for_content();
        problems.require(uploads_only, format!("{path}.abortUploadDays"), "Uploads have neither tags nor a size.");
    }
}

impl RuleFilter {
    fn check(&self, path: &str, problems: &mut Problems) {
        let is_prefix = KeyPrefix::parse(self.prefix.as_str()).is_ok();
        problems.require(is_prefix, format!("{path}.prefix"), "Must have up to 1,024 bytes, none of them 0.");
        let tags = self.tags.iter().map(|(key, value)| Tag { key: key.to_owned(), value: value.to_owned() });
        let tags = Tags::check("tags", tags.collect(), FILE_TAGS);
        problems.require(tags.is_ok(), format!("{path}.tags"), "No file can have these tags.");
        let sizes = [("sizeOver", self.size_over), ("sizeUnder", self.size_under)];
        for (name, size) in sizes {
            let is_size = size.is_none_or(|size| size <= FILE_BYTES_MAX);
            problems.require(is_size, format!("{path}.{name}"), "Files can have up to 5 TB.");
        }
        let fits_some = self.size_over.zip(self.size_under).is_none_or(|(over, under)| under > over);
        problems.require(fits_some, format!("{path}.sizeUnder"), "Must be more than sizeOver.");
    }
}
