//! Lifecycle rules of buckets, as far as answers tell of them, remembered by the epoch in which they are so.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use domain::storage::{AgedVersion, LifecycleRules};
use store::storage::{BucketNo, FileVersion, StoredBucket};

use crate::service::Door;

/// Buckets whose rules are remembered.
const REMEMBERED_MAX: usize = 1_024;

/// The rules that were read last. Every change of them ends the bucket's epoch, which each request reads.
#[derive(Default)]
pub(crate) struct RulesMemory(Mutex<HashMap<BucketNo, (i64, Arc<LifecycleRules>)>>);

impl RulesMemory {
    fn recall(&self, no: BucketNo, epoch: i64) -> Option<Arc<LifecycleRules>> {
        let known = self.0.lock().ok()?;
        known.get(&no).filter(|(at, _)| *at == epoch).map(|(_, rules)| Arc::clone(rules))
    }

    fn remember(&self, no: BucketNo, epoch: i64, rules: &Arc<LifecycleRules>) {
        let Ok(mut known) = self.0.lock() else { return };
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(no, (epoch, Arc::clone(rules)));
    }
}

impl Door {
    /// What `x-amz-expiration` says of a file's newest version; none where no rule is for it, or none can be read: it is only
    /// told.
    pub(crate) async fn expiration(&self, bucket: &StoredBucket, file: &FileVersion) -> Option<String> {
        let content = file.content.as_ref()?;
        let rules = self.lifecycle(bucket).await?;
        let (version, tags) = (file.version(), &content.tags);
        let aged = AgedVersion { version, made_at: file.modified, ended_at: None, size: content.size, tags };
        rules.expiry(&file.key, &aged).map(|expiry| expiry.header())
    }

    async fn lifecycle(&self, bucket: &StoredBucket) -> Option<Arc<LifecycleRules>> {
        let (no, epoch) = (bucket.seen.no, bucket.seen.epoch);
        if let Some(rules) = self.rules.recall(no, epoch) {
            return Some(rules);
        }
        let rules = Arc::new(self.store.bucket_lifecycle(no).await.ok()?);
        self.rules.remember(no, epoch, &rules);
        Some(rules)
    }
}
