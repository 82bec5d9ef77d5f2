//! Locks on paths, by which people keep out of each other's files.

use std::collections::{HashMap, hash_map::Entry};

use actix_web::{HttpResponse, http::StatusCode};
use actors::git::{LockPath, Locked, UnlockPath};
use domain::{
    git::{LFS_LOCKS_LISTED_MAX, LfsLock, UnlockBy, objects::RepositoryPath},
    id::{LfsLockId, UserId},
    problems::Problems,
};
use http_shell::{
    body::{Body, RequestBody},
    cursor,
    error::Result,
    path::Path,
    permission::{GitRead, GitWrite},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::git::{LfsLockList, StoredRepository};
use utoipa::{IntoParams, ToSchema};

use super::{LfsServed, answer};

/// The name of the list in its cursors.
const LIST: &str = "lfs_locks";

/// The person who has a path locked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LfsOwner {
    /// What they are called.
    name: String,
}

/// A lock.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LfsLockBody {
    /// The id.
    id: String,
    /// The path.
    path: String,
    /// Since when, as RFC 3339 writes it.
    locked_at: String,
    /// The person who has it locked.
    owner: LfsOwner,
}

/// The locks with the names of those who have them.
async fn named(state: &State, locks: Vec<LfsLock>) -> Result<Vec<(UserId, LfsLockBody)>> {
    let mut names: HashMap<UserId, String> = HashMap::new();
    for lock in &locks {
        if let Entry::Vacant(place) = names.entry(lock.owner) {
            let found = state.store.person(lock.owner).await?;
            place.insert(found.map_or_else(|| lock.owner.to_string(), |person| person.name));
        }
    }
    let body = |lock: LfsLock| {
        let name = names.get(&lock.owner).cloned().unwrap_or_default();
        let locked_at = lock.since();
        (lock.owner, LfsLockBody { id: lock.id.to_string(), path: lock.path, locked_at, owner: LfsOwner { name } })
    };
    Ok(locks.into_iter().map(body).collect())
}

async fn named_one(state: &State, lock: LfsLock) -> Result<LfsLockBody> {
    let found = named(state, vec![lock]).await?.pop();
    Ok(found.ok_or_else(|| domain::Error::internal("a lock has no name"))?.1)
}

/// A path that is to be locked.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"path": "art/logo.psd"}))]
pub(crate) struct LfsLockCreate {
    /// The path: 1 to 4,096 bytes.
    path: String,
}

impl RequestBody for LfsLockCreate {}

/// A lock that was made or ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct LfsLockAnswer {
    /// The lock.
    lock: LfsLockBody,
}

/// A lock that is in the way.
#[derive(Serialize, ToSchema)]
pub(crate) struct LfsLockInTheWay {
    /// The lock.
    lock: LfsLockBody,
    /// A sentence for people.
    message: &'static str,
}

/// Lock a file
#[utoipa::path(post, path = "/git/{owner}/{repository}/info/lfs/locks", responses(
    (status = 201, description = "The lock.", body = LfsLockAnswer, content_type = "application/vnd.git-lfs+json"),
    (status = 400, description = "A repository has at most 10000 locks."),
    (status = 409, description = "The file is locked.", body = LfsLockInTheWay,
        content_type = "application/vnd.git-lfs+json")))]
pub(crate) async fn lfs_lock_create(
    LfsServed(served): LfsServed<GitWrite>,
    body: Body<LfsLockCreate>,
    state: State,
) -> Result<HttpResponse> {
    let path = RepositoryPath::parse("path", &body.path)?.as_str().to_owned();
    let command = LockPath { org_id: served.stored.resource.org_id, path };
    match state.actors.repository.ask(&served.stored.id(), command, served.context).await? {
        Locked::Now(lock) => answer(StatusCode::CREATED, &LfsLockAnswer { lock: named_one(&state, lock).await? }),
        Locked::Before(lock) => {
            let lock = named_one(&state, lock).await?;
            answer(StatusCode::CONFLICT, &LfsLockInTheWay { lock, message: "This file is locked already." })
        }
    }
}

/// `?path=&id=&cursor=&limit=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct LfsLocksQuery {
    /// Only the lock of this path.
    path: Option<String>,
    /// Only this lock.
    id: Option<String>,
    /// Where the page starts: the `next_cursor` of the page before it.
    cursor: Option<String>,
    /// Locks of the page: at most 100, which is the default.
    #[param(minimum = 1, default = 100)]
    limit: Option<i64>,
}

impl RequestQuery for LfsLocksQuery {
    fn check(&self, problems: &mut Problems) {
        check_limit(self.limit, problems);
    }
}

/// More than a page has is a page, since clients ask for as many as they like.
fn check_limit(limit: Option<i64>, problems: &mut Problems) {
    problems.require(limit.is_none_or(|limit| limit > 0), "limit", "Must be at least 1.");
}

/// A page of the locks.
async fn page(
    state: &State,
    repository: &StoredRepository,
    asked: LfsLockList,
    (position, limit): (Option<&str>, Option<i64>),
) -> Result<(Vec<(UserId, LfsLockBody)>, Option<String>)> {
    let after = position.filter(|it| !it.is_empty()).map(|it| cursor::read::<String>(LIST, it)).transpose()?;
    let limit =
        limit.and_then(|limit| u64::try_from(limit).ok()).unwrap_or(LFS_LOCKS_LISTED_MAX).min(LFS_LOCKS_LISTED_MAX);
    let asked = LfsLockList { after, limit: limit + 1, ..asked };
    let mut locks = state.store.lfs_locks(repository.no, &asked).await?;
    let is_more = locks.len() as u64 > limit;
    locks.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = locks.last().filter(|_| is_more).map(|last| cursor::write(LIST, &last.path));
    Ok((named(state, locks).await?, next))
}

/// Locks.
#[derive(Serialize, ToSchema)]
pub(crate) struct LfsLocks {
    /// The locks, by their paths.
    locks: Vec<LfsLockBody>,
    /// For the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The locks of a repository
#[utoipa::path(get, path = "/git/{owner}/{repository}/info/lfs/locks", responses(
    (status = 200, description = "The locks.", body = LfsLocks, content_type = "application/vnd.git-lfs+json"),
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn lfs_locks_list(
    LfsServed(served): LfsServed<GitRead>,
    query: Query<LfsLocksQuery>,
    state: State,
) -> Result<HttpResponse> {
    let LfsLocksQuery { path, id, cursor, limit } = query.0;
    let id = id.filter(|it| !it.is_empty());
    let read = id.as_deref().and_then(|it| it.parse().ok());
    if id.is_some() && read.is_none() {
        return answer(StatusCode::OK, &LfsLocks { locks: Vec::new(), next_cursor: None });
    }
    let asked = LfsLockList { path: path.filter(|it| !it.is_empty()), id: read, ..LfsLockList::default() };
    let (locks, next_cursor) = page(&state, &served.stored, asked, (cursor.as_deref(), limit)).await?;
    let locks = locks.into_iter().map(|(_, lock)| lock).collect();
    answer(StatusCode::OK, &LfsLocks { locks, next_cursor })
}

/// A page of locks that is asked for before a push.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"limit": 100}))]
pub(crate) struct LfsLocksVerify {
    /// Where the page starts.
    cursor: Option<String>,
    /// Locks of the page: at most 100, which is the default.
    #[schema(minimum = 1)]
    limit: Option<i64>,
}

impl RequestBody for LfsLocksVerify {
    fn check(&self, problems: &mut Problems) {
        check_limit(self.limit, problems);
    }
}

/// Locks, told apart.
#[derive(Serialize, ToSchema)]
pub(crate) struct LfsLocksVerified {
    /// The caller's locks.
    ours: Vec<LfsLockBody>,
    /// The locks of others.
    theirs: Vec<LfsLockBody>,
    /// For the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The locks of the caller and of others
///
/// What Git LFS asks before a push: it doesn't push changes of files that others have locked.
#[utoipa::path(post, path = "/git/{owner}/{repository}/info/lfs/locks/verify", responses(
    (status = 200, description = "The locks.", body = LfsLocksVerified, content_type = "application/vnd.git-lfs+json"),
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn lfs_locks_verify(
    LfsServed(served): LfsServed<GitWrite>,
    body: Body<LfsLocksVerify>,
    state: State,
) -> Result<HttpResponse> {
    let position = (body.cursor.as_deref(), body.limit);
    let (locks, next_cursor) = page(&state, &served.stored, LfsLockList::default(), position).await?;
    let person = state.store.authority(served.stored.resource.org_id, &served.context.caller).await?.on_behalf_of()?;
    let (ours, theirs): (Vec<_>, Vec<_>) = locks.into_iter().partition(|(owner, _)| *owner == person);
    let bodies = |locks: Vec<(UserId, LfsLockBody)>| locks.into_iter().map(|(_, lock)| lock).collect();
    answer(StatusCode::OK, &LfsLocksVerified { ours: bodies(ours), theirs: bodies(theirs), next_cursor })
}

/// A lock that is to end.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"force": false}))]
pub(crate) struct LfsUnlock {
    /// Whether it ends also where another has it, for whoever administers the repository.
    #[serde(default)]
    force: bool,
}

impl RequestBody for LfsUnlock {}

/// Unlock a file
#[utoipa::path(post, path = "/git/{owner}/{repository}/info/lfs/locks/{lockId}/unlock", responses(
    (status = 200, description = "The lock that has ended.", body = LfsLockAnswer,
        content_type = "application/vnd.git-lfs+json"),
    (status = 403, description = "Somebody else has this file locked."),
    (status = 404, description = "Lock not found")))]
pub(crate) async fn lfs_unlock(
    LfsServed(served): LfsServed<GitWrite>,
    Path(id): Path<LfsLockId>,
    body: Body<LfsUnlock>,
    state: State,
) -> Result<HttpResponse> {
    let by = if body.force { UnlockBy::Force } else { UnlockBy::Owner };
    let command = UnlockPath { org_id: served.stored.resource.org_id, id, by };
    let lock = state.actors.repository.ask(&served.stored.id(), command, served.context).await?;
    answer(StatusCode::OK, &LfsLockAnswer { lock: named_one(&state, lock).await? })
}
