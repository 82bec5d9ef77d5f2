//! Uploads that nobody finishes.

use super::{LifecycleRules, due_after_days};
use crate::{Timestamp, storage::FileKey};

/// Days after which an unfinished upload ends where no rule says so (decisions, "Object storage").
pub const UPLOAD_DAYS_DEFAULT: u32 = 7;

impl LifecycleRules {
    /// When an upload ends that began at `began_at`: by the rule with the fewest days, or after a week.
    pub fn upload_due(&self, key: &FileKey, began_at: Timestamp) -> Timestamp {
        let days = self.of_key(key.as_str()).filter_map(|rule| rule.abort_upload_days).min();
        due_after_days(began_at, days.unwrap_or(UPLOAD_DAYS_DEFAULT))
    }
}
