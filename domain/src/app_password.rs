//! App passwords: what the mail client of a person signs in with where it can't ask for a second factor.

use crate::{
    app::names,
    error::{Error, Result},
    id::{AppPasswordId, OrgId, UserId},
    scope::{Scope, ScopeSet},
};

/// App passwords of one person.
pub const APP_PASSWORDS_MAX: usize = 20;
/// The message of the 404.
pub const APP_PASSWORD_NOT_FOUND: &str = "App password not found.";

names! {
    /// What an app password opens of the mailboxes that its person is a member of.
    AppPasswordUse { Imap = "imap", Smtp = "smtp", Dav = "dav", }
}

impl AppPasswordUse {
    /// What is done with it, of what its person may do in the organization.
    pub const fn scopes(self) -> ScopeSet {
        match self {
            Self::Smtp => ScopeSet::EMPTY.with(Scope::MailSend),
            Self::Imap | Self::Dav => ScopeSet::EMPTY,
        }
    }
}

/// A person's mail client, which showed an app password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppPasswordCaller {
    /// The app password.
    pub id: AppPasswordId,
    /// Whose it is.
    pub user_id: UserId,
    /// The organization whose mailboxes it opens.
    pub org_id: OrgId,
    /// What the client uses it for.
    pub opens: AppPasswordUse,
}

/// What a new app password is for, each named once and in the contract's order; 400 for nothing.
pub fn app_password_uses(named: &[AppPasswordUse]) -> Result<Vec<AppPasswordUse>> {
    let uses: Vec<_> = AppPasswordUse::ALL.iter().copied().filter(|it| named.contains(it)).collect();
    if uses.is_empty() { Err(Error::invalid("uses", "Name at least one use.")) } else { Ok(uses) }
}

/// 404: the person has no app password with this id.
pub fn app_password_not_found() -> Error {
    Error::not_found(APP_PASSWORD_NOT_FOUND)
}

/// 400: the person has as many app passwords as there may be.
pub fn too_many_app_passwords() -> Error {
    Error::bad_request("limit_reached", format!("A person has at most {APP_PASSWORDS_MAX} app passwords."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_kept_once_each_and_there_is_one_at_least() {
        let (imap, dav) = (AppPasswordUse::Imap, AppPasswordUse::Dav);
        assert_eq!(app_password_uses(&[dav, imap, dav]).unwrap(), [imap, dav]);
        assert_eq!(app_password_uses(AppPasswordUse::ALL).unwrap(), AppPasswordUse::ALL);
        assert!(app_password_uses(&[]).is_err());
    }
}
