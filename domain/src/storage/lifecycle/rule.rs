//! One lifecycle rule, as it is kept, asked for over REST, and made of S3's XML.

use serde::{Deserialize, Serialize};

use super::RuleFilter;
use crate::Timestamp;

/// Rules of a bucket (S3).
pub const LIFECYCLE_RULES_MAX: usize = 1_000;
/// Characters of a rule's id (S3).
pub const RULE_ID_LEN_MAX: usize = 255;
/// The most days that a rule waits (S3).
pub const RULE_DAYS_MAX: u32 = 2_147_483_647;
/// Old versions of a file that a rule keeps, at most (S3).
pub const OLD_VERSIONS_KEPT_MAX: u32 = 100;

/// What becomes in time of the files that a filter names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleRule {
    /// What people call it; one of its own in the bucket.
    #[serde(default)]
    pub id: String,
    /// Whether it counts.
    pub enabled: bool,
    /// For which files.
    #[serde(default)]
    pub filter: RuleFilter,
    /// Days after which a file expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire_days: Option<u32>,
    /// The moment at which files expire, a midnight of UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire_at: Option<Timestamp>,
    /// Whether a delete marker goes that is all that is left of a file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expire_markers: bool,
    /// Days after which a version goes, from when it became an old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_version_days: Option<u32>,
    /// The newest old versions of a file, which stay however old they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_versions_kept: Option<u32>,
    /// Days after which an unfinished upload ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_upload_days: Option<u32>,
}
