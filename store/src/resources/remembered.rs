//! Resources that were read lately, for as long as they are what they were.
//!
//! Almost every request names a resource, whose record and settings hardly ever change. So they are kept in memory, and a request
//! only asks which version of the record there is now, and which epoch of what the resource has beside it: the two together
//! never come again. What has other ones is read anew.

use std::sync::Arc;

use dashmap::DashMap;
use domain::id::ResourceId;

use crate::reader::row;

/// Resources that are kept; one more, and all are forgotten.
const KEPT_MAX: usize = 4_096;

row! {
    /// What a resource is in now.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct StateRow {
        id: String,
        version: i64,
        epoch: Option<i64>,
    }
}

impl StateRow {
    /// The state with this version of the record, and this epoch of what the resource has beside it.
    pub fn new(id: ResourceId, version: i64, epoch: Option<i64>) -> Self {
        Self { id: id.to_string(), version, epoch }
    }

    /// The resource.
    pub fn id(&self) -> Option<ResourceId> {
        self.id.parse().ok()
    }
}

/// Resources of one type.
#[derive(Debug)]
pub(crate) struct Remembered<T>(DashMap<ResourceId, Arc<(StateRow, T)>>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(DashMap::new())
    }
}

impl<T: Clone> Remembered<T> {
    /// The resource that is in this state; none where it has been read in another one, or not at all.
    pub fn find(&self, state: &StateRow) -> Option<T> {
        let kept = Arc::clone(self.0.get(&state.id()?)?.value());
        (kept.0 == *state).then(|| kept.1.clone())
    }

    /// Keeps a resource as it was read.
    pub fn keep(&self, id: ResourceId, version: i64, epoch: Option<i64>, resource: &T) {
        if self.0.len() >= KEPT_MAX && !self.0.contains_key(&id) {
            self.0.clear();
        }
        self.0.insert(id, Arc::new((StateRow::new(id, version, epoch), resource.clone())));
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    #[test]
    fn what_has_changed_is_not_found() {
        let (remembered, id) = (Remembered::default(), ResourceId::new(Timestamp(0)));
        remembered.keep(id, 1, Some(1), &"first");
        assert_eq!(remembered.find(&StateRow::new(id, 1, Some(1))), Some("first"));
        for (version, epoch) in [(2, Some(1)), (1, Some(2)), (1, None)] {
            assert_eq!(remembered.find(&StateRow::new(id, version, epoch)), None);
        }
        remembered.keep(id, 2, None, &"second");
        assert_eq!(remembered.find(&StateRow::new(id, 2, None)), Some("second"));
        assert_eq!(remembered.find(&StateRow::new(ResourceId::new(Timestamp(0)), 2, None)), None);
    }

    #[test]
    fn so_many_are_kept_and_no_more() {
        let remembered = Remembered::default();
        let ids: Vec<_> = (0..=KEPT_MAX).map(|_| ResourceId::new(Timestamp(0))).collect();
        for id in &ids {
            remembered.keep(*id, 1, None, &());
        }
        assert_eq!(remembered.0.len(), 1);
        assert!(remembered.find(&StateRow::new(ids[KEPT_MAX], 1, None)).is_some());
    }
}
