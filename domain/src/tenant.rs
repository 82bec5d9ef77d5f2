//! Whose work something is.
//!
//! Whatever many share (queues, pools, timers) is taken in turns by tenant, so that nobody waits behind somebody else's
//! thousands. A tenant is a unit of fairness, not of rights: what may be done is decided elsewhere.

use std::{convert::Infallible, fmt, str::FromStr};

use crate::id::{OrgId, UserId};

/// The organization or the person on whose behalf work is done, or Troupe itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tenant {
    /// The work of Troupe itself, such as housekeeping.
    #[default]
    System,
    /// An organization's work.
    Org(OrgId),
    /// A person's own work, which belongs to no organization.
    Person(UserId),
}

impl From<OrgId> for Tenant {
    fn from(org_id: OrgId) -> Self {
        Self::Org(org_id)
    }
}

impl From<UserId> for Tenant {
    fn from(user_id: UserId) -> Self {
        Self::Person(user_id)
    }
}

/// The id of the organization or the person; the empty text for Troupe itself, which so comes first.
impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => Ok(()),
            Self::Org(org_id) => org_id.fmt(f),
            Self::Person(user_id) => user_id.fmt(f),
        }
    }
}

/// Any text names a tenant: one that is nobody's id is Troupe's own.
impl FromStr for Tenant {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let org = text.parse().map(Self::Org);
        Ok(org.or_else(|_| text.parse().map(Self::Person)).unwrap_or_default())
    }
}

impl Tenant {
    /// The tenant of a resource with the key `key`: the organization or the person whose id it is or begins with, before a
    /// `/`, else Troupe itself.
    pub fn of_key(key: &str) -> Self {
        key.split('/').next().unwrap_or_default().parse().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn a_tenant_reads_as_it_is_written() {
        let now = Timestamp(0);
        for tenant in [Tenant::System, OrgId::new(now).into(), UserId::new(now).into()] {
            assert_eq!(Tenant::of_key(&tenant.to_string()), tenant);
            assert_eq!(Tenant::of_key(&format!("{tenant}/rest/1")), tenant);
        }
    }

    #[test]
    fn whatever_is_no_tenants_id_belongs_to_the_system() {
        for text in ["", "housekeeping", "org_1", "key_00000000000000000000000000"] {
            assert_eq!(Tenant::of_key(text), Tenant::System, "{text}");
        }
    }
}
