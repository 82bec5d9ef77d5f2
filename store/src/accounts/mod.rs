//! People, sign-ins, organizations, members, invitations, teams, keys.
//!
//! Who may do what is decided in `domain` and by the owning actors; here, every read of something in an organization
//! takes the organization first, so that nothing of another's can be met by its id alone.

mod access_keys;
mod app_passwords;
mod attempts;
mod confirmed_emails;
mod credentials;
mod invites;
mod keys;
mod members;
mod organizations;
mod owned_tokens;
mod people;
mod places;
mod sign_ins;
mod teams;

use std::str::FromStr;

pub use self::{
    access_keys::{AccessKey, AccessKeyCredential},
    app_passwords::AppPassword,
    attempts::StoredAttempts,
    confirmed_emails::EmailConfirmation,
    credentials::{Credential, KeyCredential, SignInCredential},
    invites::Invite,
    keys::Key,
    members::Member,
    organizations::Organization,
    owned_tokens::{OwnedCredential, OwnedToken},
    people::Person,
    sign_ins::SignIn,
    teams::{Team, TeamMember},
};
use crate::{Change, OutboxEntry, RevocationKind, StoreError};

/// Reads a column's text as what it should be; `column` names it for the log.
fn parsed<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(column))
}

/// Reads a column's name as one of a fixed set.
fn named<T>(column: &'static str, found: Option<T>) -> Result<T, StoreError> {
    found.ok_or_else(|| StoreError::corrupt(column))
}

impl Change {
    /// Has every node forget `target_id` once this change is committed, within a second.
    pub fn revoke(&mut self, now: domain::Timestamp, kind: RevocationKind, target_id: &impl ToString) {
        let target_id = target_id.to_string();
        self.revocation_add(now, kind, &target_id);
        self.outbox_add(now, &OutboxEntry::Revoked { kind, target_id });
    }
}
