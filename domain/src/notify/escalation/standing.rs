//! Who may answer an escalation.

use crate::{authority::Authority, error::Result, id::UserId, scope::Scope};

/// What gives somebody the right to answer an escalation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// They were told of it, or Troupe acts for somebody who was.
    Told,
    /// They run the organization.
    Operator,
}

impl Standing {
    /// How the caller stands to an escalation of which these people were told. A key, which is told nothing, acts as an
    /// operator in the name of its maker.
    ///
    /// # Errors
    /// 403 for who was not told and doesn't run the organization.
    pub fn of(authority: &Authority, told: impl IntoIterator<Item = UserId>) -> Result<Self> {
        if authority.is_troupe() || told.into_iter().any(|user_id| authority.is(user_id)) {
            return Ok(Self::Told);
        }
        authority.require(Scope::OrgWrite).map(|()| Self::Operator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        authority::tests::{key_of, member},
        role::Role,
        time::Timestamp,
    };

    #[test]
    fn who_was_told_may_answer_and_who_runs_the_organization() {
        let (ada, bob) = (UserId::new(Timestamp(0)), UserId::new(Timestamp(0)));
        for (role, told, standing) in [
            (Role::Viewer, ada, Some(Standing::Told)),
            (Role::Admin, ada, Some(Standing::Told)),
            (Role::Admin, bob, Some(Standing::Operator)),
            (Role::Developer, bob, None),
        ] {
            assert_eq!(Standing::of(&member(ada, role), [told]).ok(), standing, "{role}");
        }
    }

    #[test]
    fn a_key_is_told_nothing() {
        let ada = UserId::new(Timestamp(0));
        let may_write = key_of(ada, Role::Admin, &[Scope::OrgWrite]);
        assert_eq!(Standing::of(&may_write, [ada]).unwrap(), Standing::Operator);
        let demoted = key_of(ada, Role::Developer, &[Scope::OrgWrite]);
        assert_eq!(Standing::of(&demoted, [ada]).unwrap_err().status(), 403);
        assert_eq!(Standing::of(&key_of(ada, Role::Owner, &[]), [ada]).unwrap_err().status(), 403);
    }
}
