//! The actions of an update as a tree of the places in an item that they are at: so each list is changed once, by positions
//! as they were before, and two actions that are in each other's way meet.

use std::{collections::BTreeMap, mem::discriminant};

use crate::databases::expression::{DocumentPath, PathStep};

/// What is done at a place, or further in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Edits {
    /// The number of the action that is done here; then nothing is done further in.
    pub action: Option<usize>,
    /// What is done further in, all of it in a map or all in a list.
    pub inner: BTreeMap<PathStep, Self>,
}

/// That two actions are in each other's way, with the number of the one that was first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::databases::expression) enum Clash {
    /// One is at the other's place, or further in.
    Overlap(usize),
    /// They take the same place for a map and for a list.
    Conflict(usize),
}

impl Edits {
    /// Adds the action of this number at a place.
    pub fn add(&mut self, path: &DocumentPath, number: usize) -> Result<(), Clash> {
        let mut edits = self;
        for step in path.steps() {
            if let Some(first) = edits.action {
                return Err(Clash::Overlap(first));
            }
            if let Some((known, inner)) = edits.inner.first_key_value()
                && discriminant(known) != discriminant(step)
            {
                return Err(Clash::Conflict(inner.first()));
            }
            edits = edits.inner.entry(step.clone()).or_default();
        }
        if edits.action.is_some() || !edits.inner.is_empty() {
            return Err(Clash::Overlap(edits.first()));
        }
        edits.action = Some(number);
        Ok(())
    }

    /// The number of an action here or further in.
    pub fn first(&self) -> usize {
        self.action.or_else(|| self.inner.values().map(Self::first).min()).unwrap_or_default()
    }
}
