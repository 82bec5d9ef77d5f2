//! No faults: for programs that are built for use.

use super::{FaultsError, Place};
use crate::{Clock, CommitError, StoreError};

/// No faults.
#[derive(Clone, Debug, Default)]
pub struct Faults(());

/// There is none.
#[derive(Clone, Copy, Debug)]
pub enum Fault {}

impl Faults {
    /// Refuses: this program has none to offer.
    pub fn from_environment(_: &str) -> Result<Self, FaultsError> {
        Err(FaultsError("this program was built without faults; they are for tests".to_owned()))
    }

    /// Nothing happens anywhere.
    #[inline]
    pub const fn meet(&self, _: Place<'_>) -> Option<Fault> {
        None
    }

    /// The system's clock.
    pub const fn clock(&self) -> Clock {
        Clock::system()
    }

    #[inline]
    #[expect(clippy::unused_self, reason = "where there are faults, they say so")]
    pub(crate) const fn disk_is_full(&self) -> bool {
        false
    }

    #[inline]
    #[expect(clippy::unused_self, reason = "where there are faults, they say so")]
    pub(crate) const fn drift_ms(&self) -> i64 {
        0
    }
}

impl Fault {
    /// Never happens.
    #[expect(clippy::unused_async, reason = "where there are faults, some take their time")]
    pub async fn happen(self) -> Result<(), StoreError> {
        match self {}
    }

    #[expect(clippy::unused_async, reason = "where there are faults, some take their time")]
    pub(crate) async fn before_commit(&self) -> Result<(), CommitError> {
        match *self {}
    }

    pub(crate) const fn after_commit(self) -> Result<(), CommitError> {
        match self {}
    }
}
