//! Caches of a repository.

use domain::{
    Result, Timestamp,
    id::{CacheId, OrgId},
    pipelines::{
        artifacts::file_missing,
        caches::{CACHE_LINK_LASTS, CACHE_UPLOAD_YOUNG, CACHE_USE_NOTED, CacheKey, CacheVersion},
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change,
    pipelines::{CacheList, StoredCache, StoredJob},
};

use super::JobFiles;

/// Caches that one commit lets go of.
const LET_GO_MAX: u64 = 200;

/// Which cache a job means: of its own ref, always.
#[derive(Clone, Debug)]
pub struct JobCache {
    /// The job.
    pub job: StoredJob,
    /// The job's ref, whole.
    pub full_ref: String,
    /// The key.
    pub key: CacheKey,
    /// The version.
    pub version: CacheVersion,
}

/// Has a job send a cache. None where it is there, or another job sends it just now.
#[derive(Clone, Debug)]
pub struct BeginCache {
    /// Which one.
    pub cache: JobCache,
    /// The bytes.
    pub size: u64,
}

impl Command for BeginCache {
    type Reply = Option<CacheId>;

    const NAME: &'static str = "begin_cache";
}

impl Handle<BeginCache> for JobFiles {
    async fn handle(&mut self, command: &BeginCache, turn: &mut Turn<'_, Self>) -> Result<Option<CacheId>> {
        let BeginCache { cache: JobCache { job, full_ref, key, version }, size } = command;
        turn.services().settings.job_limits.cache_check(*size)?;
        Self::goes_on(turn, job).await?;
        let (store, quota, now) = (&turn.services().store, turn.services().settings.cache_quota, turn.now());
        let mut change = Change::new();
        match store.cache_with(job.no, full_ref, (key.as_str(), version)).await? {
            Some(before) if is_taken(&before, job, now) => return Ok(None),
            Some(before) => {
                quota.uploads_check(Self::cache_uploads(turn, job, Some(before.id)).await?, *size)?;
                change.cache_remove(now, &before);
            }
            None => quota.uploads_check(Self::cache_uploads(turn, job, None).await?, *size)?,
        }
        let cache = StoredCache {
            id: CacheId::new(now),
            org_id: job.org_id,
            no: job.no,
            full_ref: full_ref.clone(),
            key: key.as_str().to_owned(),
            version: version.as_str().to_owned(),
            job_id: job.id,
            size: *size,
            content: None,
            made_at: now,
            committed_at: None,
            used_at: now,
        };
        change.cache_add(&cache);
        Self::sweep_tomorrow(&mut change, turn, job.org_id);
        turn.commit(change).await?;
        Ok(Some(cache.id))
    }
}

impl JobFiles {
    /// The uploads beside one that aren't committed: how many of them are the job's, and the bytes of all. Those go first whose
    /// address doesn't work any more.
    async fn cache_uploads(turn: &mut Turn<'_, Self>, job: &StoredJob, but: Option<CacheId>) -> Result<(u64, u64)> {
        let (store, now) = (turn.services().store.clone(), turn.now());
        loop {
            let over = store.cache_uploads_before(job.no, now.before(2 * CACHE_LINK_LASTS), LET_GO_MAX).await?;
            let over: Vec<_> = over.into_iter().filter(|it| Some(it.id) != but).collect();
            if over.is_empty() {
                return Ok(store.cache_uploads(job.no, job.id, but).await?);
            }
            let mut change = Change::new();
            for it in &over {
                change.cache_remove(now, it);
            }
            turn.commit(change).await?;
        }
    }
}

/// Whether there is no need to send it: it is kept, or another job began to send it a moment ago.
fn is_taken(cache: &StoredCache, job: &StoredJob, now: Timestamp) -> bool {
    cache.is_kept(now)
        || (cache.committed_at.is_none() && cache.job_id != job.id && now < cache.made_at.after(CACHE_UPLOAD_YOUNG))
}

/// Has a cache be found whose bytes a job has sent, and makes room for it. Done again, it changes nothing.
#[derive(Clone, Debug)]
pub struct CommitCache {
    /// Which one.
    pub cache: JobCache,
    /// The bytes that the job sent, where it says so.
    pub size: Option<i64>,
}

impl Command for CommitCache {
    type Reply = ();

    const NAME: &'static str = "commit_cache";
}

impl Handle<CommitCache> for JobFiles {
    async fn handle(&mut self, command: &CommitCache, turn: &mut Turn<'_, Self>) -> Result<()> {
        let CommitCache { cache: JobCache { job, full_ref, key, version }, size } = command;
        Self::goes_on(turn, job).await?;
        let (store, now) = (&turn.services().store, turn.now());
        let is_sent =
            |it: &StoredCache| it.content.is_some() && size.is_none_or(|size| u64::try_from(size) == Ok(it.size));
        let found = store.cache_with(job.no, full_ref, (key.as_str(), version)).await?;
        let cache = found.filter(|it| it.job_id == job.id && is_sent(it)).ok_or_else(file_missing)?;
        if cache.committed_at.is_some() {
            return Ok(());
        }
        let mut change = Change::new();
        change.cache_commit(now, &cache);
        let (all, quota) = (store.cache_usage(job.no).await?.size + cache.size, turn.services().settings.cache_quota);
        if all > quota.0 {
            let oldest = store.caches_by_use(job.no, LET_GO_MAX).await?;
            let count = quota.evictions(oldest.iter().map(|it| it.size), all);
            oldest[..count].iter().for_each(|it| change.cache_remove(now, it));
        }
        turn.commit(change).await
    }
}

/// Notes that a job uses a cache.
#[derive(Clone, Debug)]
pub struct UseCache(pub CacheId);

impl UseCache {
    /// Whether it is worth noting that this cache is used at `now`.
    pub fn is_worth(cache: &StoredCache, now: Timestamp) -> bool {
        cache.used_at.after(CACHE_USE_NOTED) <= now
    }
}

impl Command for UseCache {
    type Reply = ();

    const NAME: &'static str = "use_cache";
}

impl Handle<UseCache> for JobFiles {
    async fn handle(&mut self, command: &UseCache, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        change.cache_used(turn.now(), command.0);
        turn.commit(change).await
    }
}

/// Deletes the caches with this key, of one ref or of all. Answers how many.
#[derive(Clone, Debug)]
pub struct DeleteCaches {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The key.
    pub key: CacheKey,
    /// The ref, whole.
    pub full_ref: Option<String>,
}

impl Command for DeleteCaches {
    type Reply = u64;

    const NAME: &'static str = "delete_caches";
}

impl Handle<DeleteCaches> for JobFiles {
    async fn handle(&mut self, command: &DeleteCaches, turn: &mut Turn<'_, Self>) -> Result<u64> {
        let DeleteCaches { org_id, key, full_ref } = command;
        let repository = Self::written(turn, *org_id).await?;
        let asked = CacheList { full_ref: full_ref.clone(), limit: LET_GO_MAX, ..CacheList::default() };
        let found = turn.services().store.caches_with_key(repository.no, key, &asked).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let about = json!({ "key": key.as_str(), "ref": full_ref, "count": found.len() });
        let mut change = Self::change(turn, "caches.deleted", &repository, about);
        for cache in &found {
            change.cache_remove(turn.now(), cache);
        }
        turn.commit(change).await?;
        Ok(found.len() as u64)
    }
}
