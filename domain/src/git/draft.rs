//! What a repository begins with, and what may be changed of it.

use std::{ops::RangeInclusive, time::Duration};

use super::{AllowBy, BranchName, RepositoryName, Visibility};

/// Characters of a description.
pub const DESCRIPTION_LEN: RangeInclusive<usize> = 0..=500;
/// How long a deleted repository can be restored.
pub const RESTORABLE_FOR: Duration = Duration::from_hours(7 * 24);

/// What people set of a repository, beside its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositorySettings {
    /// What it is for; may be empty.
    pub description: String,
    /// The branch that a clone begins with.
    pub default_branch: BranchName,
    /// Who has a part in it.
    pub visibility: Visibility,
    /// Who may allow secrets in it.
    pub allow_secrets_by: AllowBy,
}

/// A repository that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryDraft {
    /// What it is called.
    pub name: RepositoryName,
    /// What else is set.
    pub settings: RepositorySettings,
}

/// What is to be changed of a repository; what isn't named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryPatch {
    /// Another name.
    pub name: Option<RepositoryName>,
    /// What it is for.
    pub description: Option<String>,
    /// The branch that a clone begins with.
    pub default_branch: Option<BranchName>,
    /// Who has a part in it.
    pub visibility: Option<Visibility>,
    /// Who may allow secrets in it.
    pub allow_secrets_by: Option<AllowBy>,
}

impl RepositoryPatch {
    /// The settings with what this changes.
    #[must_use]
    pub fn apply(&self, before: &RepositorySettings) -> RepositorySettings {
        RepositorySettings {
            description: self.description.clone().unwrap_or_else(|| before.description.clone()),
            default_branch: self.default_branch.clone().unwrap_or_else(|| before.default_branch.clone()),
            visibility: self.visibility.unwrap_or(before.visibility),
            allow_secrets_by: self.allow_secrets_by.unwrap_or(before.allow_secrets_by),
        }
    }
}
