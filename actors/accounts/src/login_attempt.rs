//! One attempt at an account's password or second factor, counted against its address.

use domain::{Email, Error, Result, Timestamp, attempts::forgotten_before};
use kernel::{Resource, Turn};
use store::{
    Change, PURGE_ROWS_MAX, Purge, Store,
    accounts::{Person, StoredAttempts},
    audit::{AuditEntry, AuditTarget},
};

/// An attempt under way. The count is kept per address, whether there is such an account or not, and in the store, so
/// that neither a restart nor a second node forgets it.
pub(crate) struct LoginAttempt {
    subject: String,
    stored: StoredAttempts,
}

impl LoginAttempt {
    /// Begins an attempt; 429 while the address is locked.
    pub async fn begin(store: &Store, email: &Email, now: Timestamp) -> Result<Self> {
        Self::at(store, email.to_string(), now).await
    }

    /// Begins an attempt at the mailbox with this address, which is counted apart from the account with it: a mail client whose
    /// password was revoked locks nobody out of their account, and one that has a password clears no guesses at the account's.
    pub async fn begin_at_mailbox(store: &Store, address: &Email, now: Timestamp) -> Result<Self> {
        Self::at(store, format!("mailbox {address}"), now).await
    }

    async fn at(store: &Store, subject: String, now: Timestamp) -> Result<Self> {
        let stored = store.attempts(&subject).await?;
        stored.attempts.check(now)?;
        Ok(Self { subject, stored })
    }

    /// It was wrong: counts it, durably, and answers with `error`.
    pub async fn fail<R: Resource, T>(
        mut self,
        turn: &mut Turn<'_, R>,
        person: Option<&Person>,
        error: Error,
    ) -> Result<T> {
        let now = turn.now();
        let mut change = Change::new();
        self.stored.attempts.note_failure(now);
        change.attempts_set(now, &self.subject, &self.stored);
        change.purge(&Purge::attempts(forgotten_before(now)), PURGE_ROWS_MAX);
        if let Some(person) = person
            && self.stored.attempts.check(now).is_err()
        {
            let target = AuditTarget::new("person", person.id);
            change.audit_add(now, AuditEntry::new(turn.context(), "person.locked", target));
        }
        turn.commit(change).await?;
        Err(error)
    }

    /// Whether attempts before it failed.
    pub fn has_failures(&self) -> bool {
        !self.stored.attempts.is_clear()
    }

    /// All that signing in asks for was right: forgets the failures before it.
    ///
    /// For a whole sign-in only. Whoever holds one factor and a stolen sign-in could otherwise show the one again and
    /// again, to have guesses at the other forgotten.
    pub fn succeed(&self, change: &mut Change) {
        if self.has_failures() {
            change.attempts_clear(&self.subject);
        }
    }
}
