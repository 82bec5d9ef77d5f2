//! What is left to be asked of who owns what pull requests change.

use domain::{
    Timestamp,
    id::{OrgId, ResourceId, UserId},
};
use serde::{Deserialize, Serialize};

use crate::{Change, NewWork};

/// The topic of pull requests whose owners are to be asked.
pub const PULL_OWNERS: &str = "git.owners";

/// A pull request whose owners are to be asked for a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnersWanted {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The repository.
    pub repository_id: ResourceId,
    /// The number of the pull request.
    pub number: u32,
    /// What its head names, as 40 hexadecimal digits; with another one, there is another entry.
    pub head: String,
    /// What the head named before, where its owners were asked.
    pub since: Option<String>,
    /// Whoever opened it, or moved its head.
    pub by: UserId,
}

impl Change {
    /// Has the owners be asked.
    pub fn pull_owners_want(&mut self, now: Timestamp, wanted: &OwnersWanted) {
        self.work_add(now, NewWork::new(PULL_OWNERS, wanted.org_id, wanted));
    }
}
