//! Hashing what comes, away from the threads that serve requests.

use std::{sync::Arc, thread};

use bytes::Bytes;
use md5::{Digest as _, Md5};
use sha2::Sha256;
use tokio::sync::Semaphore;

use crate::StoreError;

/// Is shown the bytes in their order, on the thread that hashes them.
pub type Seen = Box<dyn FnMut(&[u8]) + Send>;

/// What is known of the bytes so far.
pub(super) struct Digests {
    md5: Md5,
    sha256: Sha256,
    seen: Option<Seen>,
}

/// What is known of all of them.
pub(super) struct Digested {
    pub md5: [u8; 16],
    pub sha256: [u8; 32],
}

impl Digests {
    pub fn new(seen: Option<Seen>) -> Self {
        Self { md5: Md5::new(), sha256: Sha256::new(), seen }
    }

    pub fn update(&mut self, bytes: &[u8]) {
        self.md5.update(bytes);
        self.sha256.update(bytes);
        if let Some(seen) = &mut self.seen {
            seen(bytes);
        }
    }

    pub fn finish(self) -> Digested {
        Digested { md5: self.md5.finalize().into(), sha256: self.sha256.finalize().into() }
    }
}

/// Threads that hash: no more than there are processors, however many uploads there are.
#[derive(Clone)]
pub(super) struct HashingThreads(Arc<Semaphore>);

impl Default for HashingThreads {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(thread::available_parallelism().map_or(1, usize::from))))
    }
}

impl HashingThreads {
    /// Shows `bytes` to `hash`.
    pub async fn update(&self, mut digests: Digests, bytes: Bytes) -> Result<Digests, StoreError> {
        self.run(move || {
            digests.update(&bytes);
            digests
        })
        .await
    }

    /// Shows `bytes` to a SHA-256 alone.
    pub async fn update_sha256(&self, mut sha256: Sha256, bytes: Bytes) -> Result<Sha256, StoreError> {
        self.run(move || {
            sha256.update(&bytes);
            sha256
        })
        .await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
        let failed = |error: &dyn std::fmt::Display| StoreError::Failed(format!("a content was not hashed: {error}"));
        let permit = Arc::clone(&self.0).acquire_owned().await.map_err(|error| failed(&error))?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        done.await.map_err(|error| failed(&error))
    }
}
