//! Caches: as jobs save and restore them (contract C 4.1), and as people see and delete them.

use actors::pipelines::files::{BeginCache, CommitCache, DeleteCaches, JobCache, UseCache};
use domain::{
    git::{PullNumber, RefName},
    id::CacheId,
    pipelines::{
        caches::{CACHE_LINK_LASTS, CacheHit, CacheKey, CacheVersion, RESTORE_KEYS_MAX, cache_scopes, cache_searches},
        run_not_found,
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    paging::{LIMIT_MAX, PageQuery},
    permission::{GitRead, GitWrite},
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::pipelines::{CacheList, JobFile, JobFileAct, StoredCache, StoredJob, StoredRun};
use utoipa::{IntoParams, ToSchema};

use super::{
    argument::OfJob,
    files::{BaseUrl, count_check, text_problems},
};

/// The name of the list in its cursors.
const LIST: &str = "caches";

/// A cache that a job looks for.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "key": "npm-4f1c", "restoreKeys": ["npm-"],
    "version": "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
}))]
pub(crate) struct CacheRestore {
    /// 1 to 512 characters.
    key: String,
    /// Up to 10 beginnings of keys; of each, the newest is taken.
    #[serde(default)]
    restore_keys: Vec<String>,
    /// 64 hexadecimal digits: how it was packed, of which paths.
    version: String,
}

impl RequestBody for CacheRestore {
    fn check(&self, problems: &mut Problems) {
        text_problems(CacheKey::parse("key", &self.key), problems);
        text_problems(CacheVersion::parse("version", &self.version), problems);
        let fits = self.restore_keys.len() <= RESTORE_KEYS_MAX;
        problems.require(fits, "restoreKeys", format!("Use at most {RESTORE_KEYS_MAX} keys."));
        for (at, key) in self.restore_keys.iter().take(RESTORE_KEYS_MAX).enumerate() {
            text_problems(CacheKey::parse(&format!("restoreKeys[{at}]"), key), problems);
        }
    }
}

/// What was found.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "hit": "partial", "key": "npm-77aa", "size": 1_048_576,
    "url": "https://troupe.example.com/v1/runner/files/cch_01jd7rt4m5e9fv2w8x3c6k0hqz?expires=1767229200000&signature=Zm9v"
}))]
pub(crate) struct CacheFound {
    /// `exact`, `partial` or `none`.
    hit: &'static str,
    /// The key of what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Where they are downloaded, for an hour and without a credential.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// The run of a job.
async fn run_of(state: &State, job: &StoredJob) -> Result<StoredRun> {
    Ok(state.store.run(job.no, job.run_id).await?.ok_or_else(run_not_found)?)
}

/// The refs in whose caches a job looks.
async fn scopes_of(state: &State, job: &StoredJob) -> Result<Vec<String>> {
    let run = run_of(state, job).await?;
    let number = run.pull_number.and_then(|number| PullNumber::new(u32::try_from(number).ok()?));
    let pull = match number {
        Some(number) => state.store.pull(job.no, number).await?,
        None => None,
    };
    let target = pull.map(|pull| RefName::of_branch(&pull.base).to_string());
    let repository = state.store.repository(job.org_id, job.repository_id).await?;
    let default = repository.map(|it| RefName::of_branch(&it.settings.default_branch).to_string());
    Ok(cache_scopes(&run.full_ref, target.as_deref(), default.as_deref().unwrap_or(&run.full_ref)))
}

/// Look for a cache
///
/// In the job's own ref, then in a pull request's target, then in the default branch: in each the key itself, then what begins
/// as one of the others, the newest first. Only what has the same version.
#[utoipa::path(post, path = "/v1/runner/cache/restore", responses((status = 404, description = "Run not found")))]
pub(crate) async fn runner_cache_restore(
    of: OfJob,
    base: BaseUrl,
    body: Body<CacheRestore>,
    state: State,
) -> Result<Json<CacheFound>> {
    let (job, store) = (&of.job, &state.store);
    let key = CacheKey::parse("key", &body.key)?;
    let version = CacheVersion::parse("version", &body.version)?;
    let others = body.restore_keys.iter().map(|key| CacheKey::parse("restoreKeys", key));
    let others: Vec<CacheKey> = others.collect::<domain::Result<_>>()?;
    let scopes = scopes_of(&state, job).await?;
    for (scope, wanted) in cache_searches(&scopes, &key, &others) {
        let Some(found) = store.cache_found(job.no, (scope, &version), wanted).await? else { continue };
        if UseCache::is_worth(&found, store.now()) {
            state.actors.job_files.ask(&job.repository_id, UseCache(found.id), of.context()).await?;
        }
        let url = base.address(&state, JobFile::Cache(found.id), JobFileAct::Download(Some(job.id)), CACHE_LINK_LASTS);
        let hit = CacheHit::of(&key, &found.key).as_str();
        return Ok(Json(CacheFound { hit, key: Some(found.key), size: Some(found.size), url: Some(url) }));
    }
    Ok(Json(CacheFound { hit: "none", key: None, size: None, url: None }))
}

/// A cache that a job will send.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({
    "key": "npm-4f1c", "size": 1_048_576,
    "version": "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
}))]
pub(crate) struct CacheSave {
    /// 1 to 512 characters.
    key: String,
    /// 64 hexadecimal digits.
    version: String,
    /// The bytes.
    #[schema(minimum = 1)]
    size: i64,
}

impl RequestBody for CacheSave {
    fn check(&self, problems: &mut Problems) {
        text_problems(CacheKey::parse("key", &self.key), problems);
        text_problems(CacheVersion::parse("version", &self.version), problems);
        problems.require(self.size >= 1, "size", "Must be at least 1.");
    }
}

/// Where a cache is sent.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"exists": true}))]
pub(crate) struct CacheSaveAnswer {
    /// True where there is nothing to send: it is there, or another job sends it just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
    /// The address to PUT exactly so many bytes to, for an hour and without a credential.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

async fn cache_of(state: &State, of: &OfJob, key: &str, version: &str) -> Result<JobCache> {
    Ok(JobCache {
        job: of.job.clone(),
        full_ref: run_of(state, &of.job).await?.full_ref,
        key: CacheKey::parse("key", key)?,
        version: CacheVersion::parse("version", version)?,
    })
}

/// Ask where to send a cache
///
/// For the job's own ref only. PUT the bytes to the address, then commit. What is there is never changed.
#[utoipa::path(post, path = "/v1/runner/cache/save", responses(
    (status = 400, description = "A job sends at most 50 caches before it commits them.\n\nThe caches that jobs of this \
        repository send and haven't committed have at most 10 GiB, unless the server is configured otherwise."),
    (status = 404, description = "Run not found"),
    (status = 413, description = "A cache has at most 5 GiB, unless the server is configured otherwise.")))]
pub(crate) async fn runner_cache_save(
    of: OfJob,
    base: BaseUrl,
    body: Body<CacheSave>,
    state: State,
) -> Result<Json<CacheSaveAnswer>> {
    let size = u64::try_from(body.size).unwrap_or_default();
    let command = BeginCache { cache: cache_of(&state, &of, &body.key, &body.version).await?, size };
    let begun = state.actors.job_files.ask(&of.job.repository_id, command, of.context()).await?;
    let address = |id| base.address(&state, JobFile::Cache(id), JobFileAct::Upload(size), CACHE_LINK_LASTS);
    Ok(Json(CacheSaveAnswer { exists: begun.is_none().then_some(true), url: begun.map(address) }))
}

/// A cache that a job has sent.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({
    "key": "npm-4f1c", "size": 1_048_576,
    "version": "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
}))]
pub(crate) struct CacheCommit {
    /// 1 to 512 characters.
    key: String,
    /// 64 hexadecimal digits.
    version: String,
    /// The bytes that were sent.
    #[schema(minimum = 0)]
    size: Option<i64>,
}

impl RequestBody for CacheCommit {
    fn check(&self, problems: &mut Problems) {
        text_problems(CacheKey::parse("key", &self.key), problems);
        text_problems(CacheVersion::parse("version", &self.version), problems);
        count_check(self.size, "size", problems);
    }
}

/// Save a cache that was sent
///
/// What nobody used for longest goes where all caches of the repository have more than they may: 10 GiB, unless the server is
/// configured otherwise.
#[utoipa::path(post, path = "/v1/runner/cache/commit", responses(
    (status = 404, description = "Run not found"),
    (status = 409, description = "Upload the file first.")))]
pub(crate) async fn runner_cache_commit(of: OfJob, body: Body<CacheCommit>, state: State) -> Result<Json<Done>> {
    let command = CommitCache { cache: cache_of(&state, &of, &body.key, &body.version).await?, size: body.size };
    state.actors.job_files.ask(&of.job.repository_id, command, of.context()).await?;
    Ok(Json(Done::new()))
}

/// Which caches are listed.
#[derive(Deserialize, IntoParams)]
pub(crate) struct CachesQuery {
    /// Caches whose key begins so.
    key: Option<String>,
    /// Caches of this ref, whole: `refs/heads/main`.
    r#ref: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl RequestQuery for CachesQuery {
    fn check(&self, problems: &mut Problems) {
        let key = self.key.as_deref().filter(|key| !key.is_empty());
        if let Some(key) = key {
            text_problems(CacheKey::parse("key", key), problems);
        }
        let fits = self.limit.is_none_or(|limit| (1..=LIMIT_MAX).contains(&limit));
        problems.require(fits, "limit", "Must be from 1 to 100.");
    }
}

/// A cache of a repository.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CacheBody {
    /// The cache's id.
    cache_id: String,
    /// The key.
    key: String,
    /// The ref whose jobs made it.
    r#ref: String,
    /// How it was packed, of which paths.
    version: String,
    /// The bytes.
    size: u64,
    /// When it was saved.
    created_at: i64,
    /// When it was last used, give or take ten minutes.
    used_at: i64,
}

impl From<StoredCache> for CacheBody {
    fn from(it: StoredCache) -> Self {
        Self {
            cache_id: it.id.to_string(),
            key: it.key,
            r#ref: it.full_ref,
            version: it.version,
            size: it.size,
            created_at: it.committed_at.unwrap_or(it.made_at).as_millis(),
            used_at: it.used_at.as_millis(),
        }
    }
}

/// How much a repository keeps in caches.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CacheUsageBody {
    /// How many there are.
    count: u64,
    /// Bytes of all.
    size_bytes: u64,
    /// Bytes that all may have.
    quota_bytes: u64,
}

/// The caches of a repository.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "caches": [{
        "cacheId": "cch_01jd7rt4m5e9fv2w8x3c6k0hqz", "key": "npm-4f1c", "ref": "refs/heads/main",
        "version": "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393", "size": 1_048_576,
        "createdAt": 1_767_225_600_000_i64, "usedAt": 1_767_225_600_000_i64
    }],
    "usage": {"count": 1, "sizeBytes": 1_048_576, "quotaBytes": 10_737_418_240_i64}
}))]
pub(crate) struct CachesAnswer {
    /// The newest first.
    caches: Vec<CacheBody>,
    /// How much all of the repository's are.
    usage: CacheUsageBody,
    /// For the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The caches of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/caches", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn caches_list(
    repository: Repository<GitRead>,
    query: Query<CachesQuery>,
    state: State,
) -> Result<Json<CachesAnswer>> {
    let CachesQuery { key, r#ref, cursor, limit } = query.0;
    let page = PageQuery { cursor, limit }.page::<CacheId>(LIST)?;
    let asked =
        CacheList { key, full_ref: r#ref.filter(|it| !it.is_empty()), after: page.after, limit: page.read_limit() };
    let no = repository.stored.no;
    let (caches, cursor) = page.cut(state.store.caches(no, &asked).await?, |it| it.id);
    let usage = state.store.cache_usage(no).await?;
    Ok(Json(CachesAnswer {
        caches: caches.into_iter().map(CacheBody::from).collect(),
        usage: CacheUsageBody { count: usage.count, size_bytes: usage.size, quota_bytes: state.settings.cache_quota.0 },
        cursor,
    }))
}

/// Which caches are deleted.
#[derive(Deserialize, IntoParams)]
pub(crate) struct CachesDeleteQuery {
    /// The key, whole.
    key: String,
    /// Caches of this ref, whole; without it, those of all refs.
    r#ref: Option<String>,
}

impl RequestQuery for CachesDeleteQuery {
    fn check(&self, problems: &mut Problems) {
        text_problems(CacheKey::parse("key", &self.key), problems);
    }
}

/// Caches that are gone.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"deleted": 1}))]
pub(crate) struct CachesDeleted {
    /// How many; at most 200 go at once.
    deleted: u64,
}

/// Delete caches
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/caches", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn caches_delete(
    repository: Repository<GitWrite>,
    query: Query<CachesDeleteQuery>,
    state: State,
) -> Result<Json<CachesDeleted>> {
    let CachesDeleteQuery { key, r#ref } = query.0;
    let key = CacheKey::parse("key", &key)?;
    let command = DeleteCaches { org_id: repository.org_id(), key, full_ref: r#ref.filter(|it| !it.is_empty()) };
    let deleted = state.actors.job_files.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(CachesDeleted { deleted }))
}
