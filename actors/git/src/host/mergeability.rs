//! Whether branches can be merged, which is looked at when somebody asks, and remembered for as long as they name the same commits.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dashmap::DashMap;
use domain::{Result, git::ObjectId};
use store::git::StoredRepository;

use super::{GitHost, merging::Merger};

/// What is remembered of all repositories together: pairs of commits, and files that can't be merged. With more, all is forgotten.
const KEPT_MAX: usize = 20_000;

/// How two branches stand to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mergeability {
    /// Whether the head has commits that the base hasn't.
    pub is_ahead: bool,
    /// Whether the base has commits that the head hasn't.
    pub is_behind: bool,
    /// Whether they have anything in common.
    pub is_related: bool,
    /// The files that somebody has to decide on: the first 100.
    pub conflicts: Vec<String>,
}

/// What was looked at lately, by the commits of base and head.
#[derive(Debug, Default)]
pub(super) struct Looked {
    kept: DashMap<(ObjectId, ObjectId), Arc<Mergeability>>,
    count: AtomicUsize,
}

impl Looked {
    fn keep(&self, at: (ObjectId, ObjectId), found: &Arc<Mergeability>) {
        let weight = 1 + found.conflicts.len();
        if self.count.fetch_add(weight, Ordering::Relaxed) + weight > KEPT_MAX {
            self.kept.clear();
            self.count.store(weight, Ordering::Relaxed);
        }
        self.kept.insert(at, Arc::clone(found));
    }
}

impl GitHost {
    /// How a head stands to a base, both of which are commits of the repository.
    pub async fn mergeability(
        &self,
        repository: &StoredRepository,
        base: ObjectId,
        head: ObjectId,
    ) -> Result<Arc<Mergeability>> {
        let looked = &self.parts.looked;
        if let Some(kept) = looked.kept.get(&(base, head)) {
            return Ok(Arc::clone(&kept));
        }
        // Trees are written when commits are merged.
        let quarantine = self.quarantine(repository).await?;
        let merger = Merger { git: &self.parts.reader, quarantine: &quarantine };
        let is_ahead = !merger.has(base, head).await?;
        let is_behind = !merger.has(head, base).await?;
        let is_related = merger.are_related(base, head).await?;
        let outcome = if is_ahead && is_behind && is_related { merger.try_trees(base, head).await? } else { Ok(head) };
        let found = Mergeability { is_ahead, is_behind, is_related, conflicts: outcome.err().unwrap_or_default() };
        let found = Arc::new(found);
        looked.keep((base, head), &found);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_much_is_remembered() {
        let looked = Looked::default();
        let at = |byte| (ObjectId::of_bytes([byte; 20]), ObjectId::of_bytes([byte; 20]));
        let found = Arc::new(Mergeability { conflicts: vec![String::new(); KEPT_MAX / 2], ..Mergeability::default() });
        looked.keep(at(1), &found);
        assert_eq!(looked.kept.len(), 1);
        looked.keep(at(2), &found);
        assert!(looked.kept.len() == 1 && looked.kept.contains_key(&at(2)));
    }
}
