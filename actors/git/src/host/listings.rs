//! Refs of repositories that were read lately, and what was said of them.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use dashmap::DashMap;
use domain::{
    Result,
    git::{
        RefName, repository_not_found,
        wire::{FollowsFrom, Listing, LsRefs, fetch_advertisement, push_advertisement, tags_digest},
    },
};
use parking_lot::Mutex;
use store::{Store, git::RepositoryNo};

/// Refs that are kept, of all repositories together; with more, all are forgotten.
const KEPT_MAX: usize = 400_000;
/// Bytes of answers that are kept, of all repositories together; with more, all are forgotten.
const ANSWERS_LEN_MAX: usize = 64 * 1024 * 1024;
/// What an answer takes beside its bytes, at most.
const ANSWER_LEN_MIN: usize = 16 * 1024;
/// Prefixes of a question whose answer is kept.
const PREFIXES_MAX: usize = 64;

/// What somebody wants to be told of a repository's refs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RefsAsked {
    /// What the first version of the protocol says to who fetches.
    ToFetch {
        /// The ref that `HEAD` stands for.
        head: RefName,
    },
    /// What is said to who pushes.
    ToPush,
    /// Those that are asked for in the second version of the protocol.
    Some {
        /// Which ones.
        asked: LsRefs,
        /// The ref that `HEAD` stands for.
        head: RefName,
    },
}

impl RefsAsked {
    fn answer(&self, refs: &[Listing]) -> Vec<u8> {
        match self {
            Self::ToFetch { head } => fetch_advertisement(refs, head),
            Self::ToPush => push_advertisement(refs),
            Self::Some { asked, head } => asked.answer(refs, head),
        }
    }

    const fn is_kept(&self) -> bool {
        match self {
            Self::ToFetch { .. } | Self::ToPush => true,
            Self::Some { asked, .. } => asked.prefixes() <= PREFIXES_MAX,
        }
    }
}

/// The refs of repositories, each for as long as none of them moves.
#[derive(Debug, Default)]
pub(super) struct Listings {
    kept: DashMap<RepositoryNo, Arc<Kept>>,
    count: AtomicUsize,
    answers_len: AtomicUsize,
}

/// Refs in a version, and what was said of them.
#[derive(Debug)]
struct Kept {
    version: i64,
    refs: Arc<Vec<Listing>>,
    tags: OnceLock<[u8; 32]>,
    answers: Mutex<HashMap<RefsAsked, Bytes>>,
}

impl Listings {
    /// The refs as they are now: which version they are in is always asked for.
    pub async fn refs(&self, store: &Store, no: RepositoryNo) -> Result<Arc<Vec<Listing>>> {
        Ok(Arc::clone(&self.current(store, no).await?.refs))
    }

    /// What is said of the refs as they are now.
    pub async fn answer(&self, store: &Store, no: RepositoryNo, asked: RefsAsked) -> Result<Bytes> {
        let kept = self.current(store, no).await?;
        if let Some(answer) = kept.answers.lock().get(&asked) {
            return Ok(answer.clone());
        }
        let answer = Bytes::from(asked.answer(&kept.refs));
        if asked.is_kept() {
            let len = answer.len() + ANSWER_LEN_MIN;
            if self.answers_len.fetch_add(len, Ordering::Relaxed) + len > ANSWERS_LEN_MAX {
                self.kept.clear();
                self.count.store(0, Ordering::Relaxed);
                self.answers_len.store(0, Ordering::Relaxed);
            } else {
                kept.answers.lock().insert(asked, answer.clone());
            }
        }
        Ok(answer)
    }

    /// What tells the refs from what they were, as far as an answer follows from them.
    pub async fn told_apart(&self, store: &Store, no: RepositoryNo, what: FollowsFrom) -> Result<Vec<u8>> {
        match what {
            FollowsFrom::Objects => Ok(Vec::new()),
            FollowsFrom::Tags => {
                let kept = self.current(store, no).await?;
                Ok(kept.tags.get_or_init(|| tags_digest(&kept.refs)).to_vec())
            }
            FollowsFrom::Refs => Ok(self.current(store, no).await?.version.to_be_bytes().to_vec()),
        }
    }

    async fn current(&self, store: &Store, no: RepositoryNo) -> Result<Arc<Kept>> {
        let (version, _) = store.repository_versions(no).await?.ok_or_else(repository_not_found)?;
        if let Some(kept) = self.kept.get(&no)
            && kept.version == version
        {
            return Ok(Arc::clone(&kept));
        }
        // They may be newer than the version, and are read again then.
        let refs = Arc::new(store.repository_refs(no).await?);
        let kept = Kept { version, refs, tags: OnceLock::new(), answers: Mutex::default() };
        Ok(self.keep(no, Arc::new(kept)))
    }

    fn keep(&self, no: RepositoryNo, kept: Arc<Kept>) -> Arc<Kept> {
        let len = kept.refs.len();
        if self.count.fetch_add(len, Ordering::Relaxed) + len > KEPT_MAX {
            self.kept.clear();
            self.count.store(len, Ordering::Relaxed);
            self.answers_len.store(0, Ordering::Relaxed);
        }
        self.kept.insert(no, Arc::clone(&kept));
        kept
    }
}
