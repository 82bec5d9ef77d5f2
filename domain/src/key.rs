//! API keys of an organization (contract A 5.1).

use crate::{
    authority::Authority,
    context::KeyKind,
    error::{Error, Result},
    scope::{Scope, ScopeSet},
};

/// Keys of one organization.
pub const KEYS_MAX: u64 = 200;

impl KeyKind {
    /// Every one, in the contract's order.
    pub const ALL: [Self; 3] = [Self::Api, Self::Mcp, Self::Agent];

    /// The contract's name for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Mcp => "mcp",
            Self::Agent => "agent",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The scopes as one text, as the store keeps them: names in the contract's order, a space between two.
pub fn scopes_to_text(scopes: ScopeSet) -> String {
    scopes.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ")
}

/// The scopes of a text that [`scopes_to_text`] made. A name that is no scope any more gives nothing.
pub fn scopes_from_text(text: &str) -> ScopeSet {
    text.split_ascii_whitespace().filter_map(Scope::from_name).collect()
}

/// Reads the scopes that a new key asks for, and refuses any that its maker lacks: 400 for a name that is no scope, 403
/// for one that is not the maker's to give.
pub fn scopes_for_key<'a>(names: impl IntoIterator<Item = &'a str>, maker: &Authority) -> Result<ScopeSet> {
    let mut scopes = ScopeSet::EMPTY;
    for (place, name) in names.into_iter().enumerate() {
        let scope = Scope::from_name(name)
            .ok_or_else(|| Error::invalid(format!("scopes[{place}]"), "There is no permission of this name."))?;
        scopes = scopes.with(scope);
    }
    if scopes == ScopeSet::EMPTY {
        return Err(Error::invalid("scopes", "Name at least one permission."));
    }
    maker.require_all(scopes.iter()).map(|()| scopes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OrgKind, Role, Timestamp, authority::tests::member, id::UserId};

    fn maker(role: Role) -> Authority {
        member(UserId::new(Timestamp(0)), role)
    }

    #[test]
    fn the_text_of_scopes_reads_back() {
        for role in Role::ALL {
            let scopes = role.scopes(OrgKind::Platform);
            assert_eq!(scopes_from_text(&scopes_to_text(scopes)), scopes);
        }
        assert_eq!(scopes_from_text(""), ScopeSet::EMPTY);
    }

    #[test]
    fn a_key_is_given_what_its_maker_has() {
        let maker = maker(Role::Developer);
        let scopes = scopes_for_key(["issues:read", "issues:write", "issues:read"], &maker).unwrap();
        assert_eq!(scopes, [Scope::IssuesRead, Scope::IssuesWrite].into_iter().collect());
    }

    #[test]
    fn a_key_is_not_given_what_its_maker_lacks() {
        let maker = maker(Role::Developer);
        assert!(matches!(
            scopes_for_key(["issues:read", "issues:admin"], &maker),
            Err(Error::MissingScope(Scope::IssuesAdmin))
        ));
    }

    #[test]
    fn an_unknown_permission_and_none_at_all_are_refused() {
        let maker = maker(Role::Owner);
        assert!(matches!(scopes_for_key(["issues:fly"], &maker), Err(Error::Invalid { .. })));
        assert!(matches!(scopes_for_key([], &maker), Err(Error::Invalid { .. })));
    }
}
