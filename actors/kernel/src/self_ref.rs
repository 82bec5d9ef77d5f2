//! A resource's way to ask something of itself later.

use std::{sync::Weak, time::Duration};

use domain::{Context, Error, Result};

use super::{
    registry::{Registry, Slots},
    resource::{Command, Handle, Resource},
};
/// What `Retry-After` says when the kernel is gone.
const GONE_RETRY: Duration = Duration::from_secs(1);

/// The key whose turn it was, for tasks that a turn leaves behind. It keeps neither the actor nor the kernel alive.
pub struct SelfRef<R: Resource> {
    pub(super) slots: Weak<Slots<R>>,
    pub(super) key: R::Key,
}

impl<R: Resource> SelfRef<R> {
    /// Has the key's resource do `command`, behind all that waits there now; see [`Registry::tell`]. `busy` when the kernel
    /// is gone.
    pub fn tell<C: Command>(&self, command: C, context: Context) -> Result<()>
    where
        R: Handle<C>,
    {
        let slots = self.slots.upgrade().ok_or(Error::busy(GONE_RETRY))?;
        Registry { slots }.tell(&self.key, command, context)
    }

    /// The key.
    pub const fn key(&self) -> &R::Key {
        &self.key
    }
}

impl<R: Resource> Clone for SelfRef<R> {
    fn clone(&self) -> Self {
        Self { slots: Weak::clone(&self.slots), key: self.key.clone() }
    }
}

impl<R: Resource> std::fmt::Debug for SelfRef<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SelfRef({} {})", R::KIND, self.key)
    }
}
