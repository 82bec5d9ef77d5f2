//! How much an evaluation may make.

use super::fault::FaultKind;

/// Bytes of values that one evaluation makes, at most.
pub const VALUES_MAX: usize = 10 * 1024 * 1024;
/// Bytes that a value counts beside its text.
const VALUE_SIZE: usize = 24;

/// What an evaluation may still make.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// What one evaluation begins with.
    pub fn new() -> Self {
        Self { left: VALUES_MAX }
    }

    /// Takes what one value with `len` bytes of text needs.
    pub fn take(&mut self, len: usize) -> Result<(), FaultKind> {
        self.take_bytes(len.saturating_add(VALUE_SIZE))
    }

    /// Takes that many bytes.
    pub fn take_bytes(&mut self, bytes: usize) -> Result<(), FaultKind> {
        self.left = self.left.checked_sub(bytes).ok_or(FaultKind::TooMuch)?;
        Ok(())
    }
}
