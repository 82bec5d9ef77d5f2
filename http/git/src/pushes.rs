//! What was pushed to a repository, and what became of it.

use domain::{
    Error,
    git::{RefName, RefVerdict},
    id::PushId,
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    paging::PageQuery,
    permission::GitRead,
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::git::{PushList, PushedRef, StoredPush};
use utoipa::{IntoParams, ToSchema};

/// The name of the list in its cursors.
const LIST: &str = "pushes";

/// What a push asked for a ref.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "ref": "refs/heads/main", "old": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "new": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "verdict": "updated"
}))]
pub(crate) struct PushedRefBody {
    /// The whole name of the ref.
    r#ref: String,
    /// The object that it was to name before; missing for a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<String>,
    /// The object that it was to name then; missing where it was to be deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<String>,
    /// `created`, `updated`, `forced` (commits are left behind), `deleted` or `refused`.
    verdict: &'static str,
    /// Why it was refused, as git showed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<PushedRef> for PushedRefBody {
    fn from(it: PushedRef) -> Self {
        Self {
            r#ref: it.name.to_string(),
            old: it.old.map(|oid| oid.to_string()),
            new: it.new.map(|oid| oid.to_string()),
            verdict: it.verdict.as_str(),
            reason: it.reason,
        }
    }
}

/// A push.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushBody {
    /// The push's id.
    push_id: String,
    /// The person who pushed, or who made the key that did.
    pushed_by: String,
    /// The key that pushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    /// The address that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    ip: Option<String>,
    /// When.
    pushed_at: i64,
    /// Whether all of it was to be done, or nothing.
    atomic: bool,
    /// The refs, by their names.
    refs: Vec<PushedRefBody>,
}

impl From<(StoredPush, Vec<PushedRef>)> for PushBody {
    fn from((push, refs): (StoredPush, Vec<PushedRef>)) -> Self {
        Self {
            push_id: push.id.to_string(),
            pushed_by: push.pushed_by.to_string(),
            key_id: push.key_id.map(|id| id.to_string()),
            ip: push.ip,
            pushed_at: push.pushed_at.as_millis(),
            atomic: push.is_atomic,
            refs: refs.into_iter().map(PushedRefBody::from).collect(),
        }
    }
}

/// `?ref=&verdict=&cursor=&limit=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct PushesQuery {
    /// The whole name of a ref that was to be moved, as `refs/heads/main`.
    r#ref: Option<String>,
    /// What became of one of the refs: `created`, `updated`, `forced`, `deleted` or `refused`.
    verdict: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl RequestQuery for PushesQuery {
    fn check(&self, problems: &mut Problems) {
        PageQuery { cursor: None, limit: self.limit }.check(problems);
    }
}

impl PushesQuery {
    fn ref_name(&self) -> domain::Result<Option<RefName>> {
        let named = |name: &String| {
            RefName::parse(name.as_bytes()).ok_or_else(|| Error::invalid("ref", "This isn't the name of a ref."))
        };
        self.r#ref.as_ref().map(named).transpose()
    }

    fn verdict(&self) -> domain::Result<Option<RefVerdict>> {
        let named = |name: &String| {
            let known = "Use one of: created, updated, forced, deleted, refused.";
            RefVerdict::from_name(name).ok_or_else(|| Error::invalid("verdict", known))
        };
        self.verdict.as_ref().map(named).transpose()
    }
}

/// A page of the pushes.
#[derive(Serialize, ToSchema)]
pub(crate) struct PushesAnswer {
    /// The newest first.
    pushes: Vec<PushBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// What was pushed to a repository
///
/// Each push with what became of its refs, also those that were refused.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pushes", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn pushes_list(
    repository: Repository<GitRead>,
    query: Query<PushesQuery>,
    state: State,
) -> Result<Json<PushesAnswer>> {
    let page = PageQuery { cursor: query.cursor.clone(), limit: query.limit }.page::<PushId>(LIST)?;
    let (name, verdict) = (query.ref_name()?, query.verdict()?);
    let list = PushList { name, verdict, before: page.after, limit: page.read_limit(), ..PushList::default() };
    let found = state.store.pushes(repository.stored.no, &list).await?;
    let (found, cursor) = page.cut(found, |(push, _)| push.id);
    Ok(Json(PushesAnswer { pushes: found.into_iter().map(PushBody::from).collect(), cursor }))
}
