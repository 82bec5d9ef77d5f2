//! Who has a part in a repository.
//!
//! Everybody whose role or key has the scope has one in a repository of the organization; in a restricted one, whoever was
//! granted it, themselves or through a team, and whoever runs the organization, lest a repository is left without anybody.
//! A grant never gives more than the caller's scopes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    Authority, Error, Result, Scope,
    app::names,
    id::{NotAnId, TeamId, UserId},
};

/// Grants of one repository.
pub const GRANTS_MAX: u64 = 100;

names! {
    /// Who has a part in a repository.
    Visibility { Organization = "organization", Restricted = "restricted", }
}

names! {
    /// What somebody may do in a repository; each level has all that the one before it has.
    AccessLevel { Read = "read", Write = "write", Admin = "admin", }
}

impl AccessLevel {
    /// The scope without which nobody has this level.
    pub const fn scope(self) -> Scope {
        match self {
            Self::Read => Scope::GitRead,
            Self::Write => Scope::GitWrite,
            Self::Admin => Scope::GitAdmin,
        }
    }

    /// 403 where `wanted` is more than this.
    pub fn require(self, wanted: Self) -> Result<()> {
        if self >= wanted {
            return Ok(());
        }
        Err(Error::forbidden("repository_access", format!("This needs {wanted} access to the repository.")))
    }
}

/// What the caller may do in a repository that is so visible, where `granted` is the most that they were granted there:
/// nothing for who has no part in it.
pub fn level_of(authority: &Authority, visibility: Visibility, granted: Option<AccessLevel>) -> Option<AccessLevel> {
    let by_scope = AccessLevel::ALL.iter().copied().rev().find(|level| authority.has(level.scope()))?;
    match visibility {
        Visibility::Organization => Some(by_scope),
        Visibility::Restricted if authority.runs_organization() => Some(by_scope),
        Visibility::Restricted => granted.map(|granted| granted.min(by_scope)),
    }
}

/// Whom a grant is for, or who is asked for a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Principal {
    /// A person.
    Person(UserId),
    /// A team.
    Team(TeamId),
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(id) => id.fmt(f),
            Self::Team(id) => id.fmt(f),
        }
    }
}

impl FromStr for Principal {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        text.parse().map(Self::Person).or_else(|_| text.parse().map(Self::Team))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Role, Timestamp,
        authority::tests::{key_of, member},
    };

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn of(role: Role, visibility: Visibility, granted: Option<AccessLevel>) -> Option<AccessLevel> {
        level_of(&member(UserId::new(NOW), role), visibility, granted)
    }

    #[test]
    #[rustfmt::skip]
    fn a_grant_opens_a_restricted_repository_as_far_as_the_role_goes() {
        use AccessLevel::{Admin as A, Read as R, Write as W};
        use Role::{Admin, Developer, Owner, Viewer};
        use Visibility::{Organization, Restricted};
        for (role, visibility, granted, level) in [
            (Viewer, Organization, None, Some(R)), (Developer, Organization, None, Some(W)),
            (Admin, Organization, None, Some(A)), (Developer, Organization, Some(R), Some(W)),
            (Viewer, Restricted, None, None), (Developer, Restricted, None, None),
            (Viewer, Restricted, Some(A), Some(R)), (Developer, Restricted, Some(R), Some(R)),
            (Developer, Restricted, Some(A), Some(W)), (Admin, Restricted, None, Some(A)),
            (Owner, Restricted, Some(R), Some(A)),
        ] {
            assert_eq!(of(role, visibility, granted), level, "{role} {visibility} {granted:?}");
        }
    }

    #[test]
    fn a_key_has_what_it_was_given_of_that() {
        let maker = UserId::new(NOW);
        let reads = key_of(maker, Role::Owner, &[Scope::GitRead]);
        assert_eq!(level_of(&reads, Visibility::Restricted, None), Some(AccessLevel::Read));
        let other = key_of(maker, Role::Owner, &[Scope::OrgRead]);
        assert_eq!(level_of(&other, Visibility::Organization, Some(AccessLevel::Admin)), None);
    }

    #[test]
    fn a_principal_is_a_person_or_a_team() {
        for principal in [Principal::Person(UserId::new(NOW)), Principal::Team(TeamId::new(NOW))] {
            assert_eq!(principal.to_string().parse(), Ok(principal));
        }
        assert!("key_01jd7rt4m5e9fv2w8x3c6k0hqz".parse::<Principal>().is_err());
    }
}
