//! Who writes.

use crate::{authority::Authority, error::Result, id::UserId, scope::Scope};

/// The person in whose name pages are written: who asks, or who made the key that asks, as long as they may write the
/// organization's pages.
///
/// # Errors
/// 403 for who may not; 401 where Troupe itself asks, which writes nothing.
pub fn author(authority: &Authority) -> Result<UserId> {
    authority.require(Scope::KnowledgeWrite)?;
    authority.on_behalf_of()
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
    fn who_may_write_pages_is_named_with_what_they_write() {
        let user_id = UserId::new(Timestamp(0));
        assert_eq!(author(&member(user_id, Role::Developer)).unwrap(), user_id);
        assert_eq!(author(&member(user_id, Role::Viewer)).unwrap_err().status(), 403);
        assert_eq!(author(&key_of(user_id, Role::Developer, &[Scope::KnowledgeWrite])).unwrap(), user_id);
        assert_eq!(author(&key_of(user_id, Role::Viewer, &[Scope::KnowledgeWrite])).unwrap_err().status(), 403);
        assert_eq!(author(&key_of(user_id, Role::Owner, &[Scope::KnowledgeRead])).unwrap_err().status(), 403);
    }
}
