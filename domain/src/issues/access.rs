//! Who may do what in a space: a function of the caller's authority in the organization, and of the space's own list.

use serde_json::Value;

use super::space::{MemberKind, Space, SpaceRole, Visibility};
use crate::{Authority, Error, Result, Scope, id::TeamId};

/// What somebody may do in a space (contract B 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Permission {
    Browse,
    Create,
    Edit,
    EditOwn,
    Assign,
    Assignable,
    Transition,
    Move,
    Comment,
    EditComments,
    DeleteComments,
    Link,
    Delete,
    DeleteOwn,
    ManageSprints,
    Administer,
    ServiceAgent,
}

impl Permission {
    /// All that are decided on here.
    pub const ALL: [Self; 17] = [
        Self::Browse,
        Self::Create,
        Self::Edit,
        Self::EditOwn,
        Self::Assign,
        Self::Assignable,
        Self::Transition,
        Self::Move,
        Self::Comment,
        Self::EditComments,
        Self::DeleteComments,
        Self::Link,
        Self::Delete,
        Self::DeleteOwn,
        Self::ManageSprints,
        Self::Administer,
        Self::ServiceAgent,
    ];

    /// The contract's name for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Browse => "browse",
            Self::Create => "create",
            Self::Edit => "edit",
            Self::EditOwn => "editOwn",
            Self::Assign => "assign",
            Self::Assignable => "assignable",
            Self::Transition => "transition",
            Self::Move => "move",
            Self::Comment => "comment",
            Self::EditComments => "editComments",
            Self::DeleteComments => "deleteComments",
            Self::Link => "link",
            Self::Delete => "delete",
            Self::DeleteOwn => "deleteOwn",
            Self::ManageSprints => "manageSprints",
            Self::Administer => "administer",
            Self::ServiceAgent => "serviceAgent",
        }
    }

    /// What the refusal says that the caller can't do.
    const fn act(self) -> &'static str {
        match self {
            Self::Browse => "see issues",
            Self::Create => "create issues",
            Self::Edit | Self::EditOwn => "edit issues",
            Self::Assign => "assign issues",
            Self::Assignable => "be assigned issues",
            Self::Transition => "change the status of issues",
            Self::Move => "move issues",
            Self::Comment => "comment on issues",
            Self::EditComments => "edit others' comments",
            Self::DeleteComments => "delete others' comments",
            Self::Link => "link issues",
            Self::Delete | Self::DeleteOwn => "delete issues",
            Self::ManageSprints => "plan sprints",
            Self::Administer => "change settings",
            Self::ServiceAgent => "answer requests",
        }
    }

    /// The lowest role that has it, by the default scheme.
    const fn lowest(self) -> SpaceRole {
        match self {
            Self::Browse | Self::Comment => SpaceRole::Viewer,
            Self::Create
            | Self::Edit
            | Self::EditOwn
            | Self::Assign
            | Self::Assignable
            | Self::Transition
            | Self::Move
            | Self::Link
            | Self::DeleteOwn => SpaceRole::Member,
            Self::EditComments
            | Self::DeleteComments
            | Self::Delete
            | Self::ManageSprints
            | Self::Administer
            | Self::ServiceAgent => SpaceRole::Admin,
        }
    }

    /// The permission of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.as_str() == name)
    }
}

/// The highest role that the caller has in a space; none for whom it isn't there. `teams` are those of the person whom the
/// caller is, or whose key asks.
pub fn role_of(authority: &Authority, teams: &[TeamId], space: &Space) -> Option<SpaceRole> {
    if authority.has(Scope::IssuesAdmin) {
        return Some(SpaceRole::Admin);
    }
    if !authority.has(Scope::IssuesRead) {
        return None;
    }
    let by_organization = match space.config.access.visibility {
        Visibility::Org if authority.has(Scope::IssuesWrite) => Some(SpaceRole::Member),
        Visibility::Org => Some(SpaceRole::Viewer),
        Visibility::Private => None,
    };
    let person = authority.on_behalf_of().ok().map(|id| id.to_string());
    let is_meant = |kind: MemberKind, id: &str| match kind {
        MemberKind::User => person.as_deref() == Some(id),
        MemberKind::Team => teams.iter().any(|team| team.to_string() == id),
    };
    let members = space.config.access.members.iter();
    let listed = members.filter(|it| is_meant(it.kind, &it.id)).map(|it| it.role).max();
    by_organization.max(listed)
}

/// The role of a person who isn't asking: whoever is to be assigned, by their scopes in the organization.
pub fn may(role: Option<SpaceRole>, permission: Permission) -> bool {
    role.is_some_and(|role| role >= permission.lowest())
}

/// 404 with `not_found` without any part in the space, 403 `space_permission` without the permission.
pub fn require(role: Option<SpaceRole>, permission: Permission, not_found: &'static str) -> Result<()> {
    if !may(role, Permission::Browse) {
        return Err(Error::not_found(not_found));
    }
    if may(role, permission) {
        return Ok(());
    }
    if permission == Permission::Administer {
        return Err(Error::forbidden("space_admin", "Only admins of the space can do this."));
    }
    let message = format!("You can't {} in this space.", permission.act());
    Err(Error::forbidden("space_permission", message).adding("permission", Value::from(permission.as_str())))
}

/// The names of all that a role may do.
pub fn permissions_of(role: Option<SpaceRole>) -> Vec<&'static str> {
    Permission::ALL.into_iter().filter(|permission| may(role, *permission)).map(Permission::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_seen_is_not_there() {
        let refusal =
            |role, permission| require(role, permission, "Issue not found.").err().map(|error| error.status());
        assert_eq!(refusal(None, Permission::Browse), Some(404));
        assert_eq!(refusal(None, Permission::Administer), Some(404));
        assert_eq!(refusal(Some(SpaceRole::Viewer), Permission::Comment), None);
        assert_eq!(refusal(Some(SpaceRole::Viewer), Permission::Create), Some(403));
        assert_eq!(refusal(Some(SpaceRole::Member), Permission::Create), None);
        assert_eq!(refusal(Some(SpaceRole::Member), Permission::Administer), Some(403));
        assert_eq!(permissions_of(Some(SpaceRole::Admin)).len(), Permission::ALL.len());
        assert_eq!(permissions_of(None), [""; 0]);
    }

    #[test]
    fn names_are_the_contracts() {
        for permission in Permission::ALL {
            assert_eq!(Permission::from_name(permission.as_str()), Some(permission));
        }
    }
}
