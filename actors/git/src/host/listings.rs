//! Refs of repositories that were read lately.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dashmap::DashMap;
use domain::{
    Result,
    git::{repository_not_found, wire::Listing},
};
use store::{Store, git::RepositoryNo};

/// Refs that are kept, of all repositories together; with more, all are forgotten.
const KEPT_MAX: usize = 400_000;

/// The refs of repositories, each for as long as none of them moves.
#[derive(Debug, Default)]
pub(super) struct Listings {
    kept: DashMap<RepositoryNo, (i64, Arc<Vec<Listing>>)>,
    count: AtomicUsize,
}

impl Listings {
    /// The refs as they are now: which version they are in is always asked for.
    pub async fn refs(&self, store: &Store, no: RepositoryNo) -> Result<Arc<Vec<Listing>>> {
        let (version, _) = store.repository_versions(no).await?.ok_or_else(repository_not_found)?;
        if let Some(kept) = self.kept.get(&no)
            && kept.0 == version
        {
            return Ok(Arc::clone(&kept.1));
        }
        // They may be newer than the version, and are read again then.
        let refs = Arc::new(store.repository_refs(no).await?);
        self.keep(no, version, &refs);
        Ok(refs)
    }

    fn keep(&self, no: RepositoryNo, version: i64, refs: &Arc<Vec<Listing>>) {
        if self.count.fetch_add(refs.len(), Ordering::Relaxed) + refs.len() > KEPT_MAX {
            self.kept.clear();
            self.count.store(refs.len(), Ordering::Relaxed);
        }
        self.kept.insert(no, (version, Arc::clone(refs)));
    }
}
