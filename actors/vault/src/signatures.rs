//! The signatures seen: each counts once, on every node and over every restart.

use std::{collections::BTreeSet, time::Duration};

use domain::{
    Result, Timestamp,
    id::UserId,
    vault::{SIGNATURE_WINDOW, SignedRequest, not_signed},
};
use store::{Change, Store, vault::SeenSignature};

/// How long a signature is remembered: twice as long as it could be shown again, as the clocks of two nodes differ.
const KEPT: Duration = Duration::from_secs(2 * SIGNATURE_WINDOW.as_secs());
/// How old the oldest gets before those no longer needed are forgotten, many at a time.
const FORGET_AT: Duration = Duration::from_secs(3 * SIGNATURE_WINDOW.as_secs());

/// The signatures that the store remembers of one person.
pub(super) struct Signatures(BTreeSet<SeenSignature>);

impl Signatures {
    pub async fn load(store: &Store, user_id: UserId) -> Result<Self> {
        Ok(Self(store.vault_signatures(user_id).await?.into_iter().collect()))
    }

    /// The request's signature, where it was never seen.
    pub fn fresh(&self, request: &SignedRequest) -> Result<SeenSignature> {
        let signature = SeenSignature { signed_at: request.signature.signed_at, bytes: request.signature.bytes };
        if self.0.contains(&signature) { Err(not_signed()) } else { Ok(signature) }
    }

    /// Adds to `change` that `signature` is remembered, and from time to time that old ones are forgotten.
    pub fn write(&self, change: &mut Change, user_id: UserId, signature: SeenSignature, now: Timestamp) {
        if self.is_overdue(now) {
            change.vault_signatures_forget(user_id, now.before(KEPT));
        }
        change.vault_signature_add(user_id, signature);
    }

    /// Does to memory what [`write`](Self::write) did to the store.
    pub fn remember(&mut self, signature: SeenSignature, now: Timestamp) {
        if self.is_overdue(now) {
            let oldest_kept = SeenSignature { signed_at: now.before(KEPT), bytes: [0; 64] };
            self.0 = self.0.split_off(&oldest_kept);
        }
        self.0.insert(signature);
    }

    fn is_overdue(&self, now: Timestamp) -> bool {
        self.0.first().is_some_and(|oldest| oldest.signed_at < now.before(FORGET_AT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn signature(minute: i64) -> SeenSignature {
        SeenSignature { signed_at: Timestamp(minute * MINUTE), bytes: [7; 64] }
    }

    #[test]
    fn signatures_are_forgotten_together_and_only_when_they_cannot_be_shown_again() {
        let mut signatures = Signatures([100, 106, 112].map(signature).into());
        signatures.remember(signature(115), Timestamp(115 * MINUTE));
        assert_eq!(signatures.0.len(), 4);
        signatures.remember(signature(116), Timestamp(115 * MINUTE + 1));
        assert_eq!(signatures.0, [106, 112, 115, 116].map(signature).into());
    }
}
