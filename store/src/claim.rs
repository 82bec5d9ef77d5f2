//! Taking rows that are due for a lease: whoever takes them works on them, and nobody else finds them due meanwhile.

use std::time::Duration;

use domain::time::Timestamp;

use crate::{Change, Expect, Store, StoreError, sql::Sql};

/// The hold of this node on the rows that it took together.
#[derive(Debug)]
pub(crate) struct Claim {
    /// Its name, which stands in the rows.
    pub id: String,
    /// When the lease ends, which is when they are due again.
    pub until: Timestamp,
}

impl Store {
    /// Takes rows by the statement that is made of the moment and the claim; none while `next`, when the next row is due, is
    /// still to come, and none on a node whose clock is off.
    pub(crate) async fn claim(
        &self,
        next: Option<Timestamp>,
        lease: Duration,
        taking: impl FnOnce(Timestamp, &Claim) -> Sql,
    ) -> Result<Option<Claim>, StoreError> {
        let now = self.now();
        if self.clock_is_off() || next.is_none_or(|next| next > now) {
            return Ok(None);
        }
        let claim = Claim { id: domain::id::new_uuid(now).to_string(), until: now.after(lease) };
        let mut change = Change::new();
        change.run_statement(taking(now, &claim), Expect::Any);
        self.commit(change).await?;
        Ok(Some(claim))
    }
}
