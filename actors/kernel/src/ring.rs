//! The last few of something that keeps happening.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// Keeps at most `LEN_MAX`; a further one takes the place of the oldest.
#[derive(Debug)]
pub(super) struct Ring<T, const LEN_MAX: usize> {
    last: Mutex<VecDeque<T>>,
}

impl<T, const LEN_MAX: usize> Default for Ring<T, LEN_MAX> {
    fn default() -> Self {
        Self { last: Mutex::default() }
    }
}

impl<T: Clone, const LEN_MAX: usize> Ring<T, LEN_MAX> {
    pub(super) fn add(&self, one: T) {
        let mut last = self.last.lock();
        if last.len() == LEN_MAX {
            last.pop_front();
        }
        last.push_back(one);
    }

    /// What is kept, oldest first.
    pub(super) fn all(&self) -> Vec<T> {
        self.last.lock().iter().cloned().collect()
    }
}
