//! Pull requests of a repository.

mod body;
mod files;
mod merge;
mod places;
mod reviews;
mod threads;
mod timeline;

use actors::git::{ChangePull, CreatePull, host::History};
use domain::{
    Error,
    git::{ObjectId, Pull, PullNumber, PullState, branch_among, histories_unrelated, nothing_to_merge},
};
use http_shell::{
    answer::{Created, Json, Object},
    body::Body,
    cursor,
    error::Result,
    owned::Owned,
    paging::PageQuery,
    path::Path,
    permission::{GitRead, GitWrite},
    query::Query,
    repository::Repository,
    state::State,
};
use serde::Serialize;
use store::git::PullList;
use utoipa::ToSchema;

pub(crate) use self::{body::*, files::*, merge::*, reviews::*, threads::*, timeline::*};
use super::commits::{CommitsAnswer, ListedCommit};

/// The name of the list of pull requests in its cursors.
const LIST: &str = "pulls";
/// The same of the list of a pull request's commits.
const COMMITS: &str = "pull commits";

/// One pull request.
#[derive(Serialize, ToSchema)]
pub(crate) struct PullAnswer {
    /// The pull request as it is now.
    pull: PullBody,
}

/// A page of the pull requests.
#[derive(Serialize, ToSchema)]
pub(crate) struct PullsAnswer {
    /// The newest first.
    pulls: Vec<PullBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The pull requests of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn pulls_list(
    repository: Repository<GitRead>,
    query: Query<PullsQuery>,
    state: State,
) -> Result<Json<PullsAnswer>> {
    let page = query.page().page::<Position>(LIST)?;
    let PullsWanted { state: wanted, branches: (head, base), author, part } = query.read()?;
    let before = page.after.as_ref().map(|position| position.0);
    let list = PullList { state: wanted, head, base, author, part, before, limit: page.read_limit() };
    let found = state.store.pulls(repository.stored.no, &list).await?;
    let (found, cursor) = page.cut(found, |pull| Position(pull.number));
    Ok(Json(PullsAnswer { pulls: found.into_iter().map(PullBody::from).collect(), cursor }))
}

/// Open a pull request
///
/// Two branches have at most one that is open. Whoever deletes one of them closes it; who pushes its commits to the base merges it.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pulls", responses(
    (status = 400, description = "A repository has at most 10000 open pull requests."),
    (status = 409, description = "There is an open pull request for these branches already.\n\nThe base has all commits of the \
     head already.\n\nThe branches have no commit in common.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_create(
    repository: Repository<GitWrite>,
    body: Body<PullCreate>,
    state: State,
) -> Result<Created<PullAnswer>> {
    let (draft, reviewers) = body.read()?;
    let refs = state.git.refs(repository.stored.no).await?;
    // What isn't there is told by who opens it.
    if let (Some(head), Some(base)) = (branch_among(&refs, &draft.head), branch_among(&refs, &draft.base)) {
        let found = state.git.mergeability(&repository.stored, base.oid, head.oid).await?;
        if !found.is_ahead {
            return Err(nothing_to_merge().into());
        }
        if !found.is_related {
            return Err(histories_unrelated().into());
        }
    }
    let command = CreatePull { org_id: repository.org_id(), draft, reviewers };
    let made = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Created(PullAnswer { pull: made.into() }))
}

/// A pull request
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}")]
pub(crate) async fn pull_get(_: Repository<GitRead>, Owned(pull): Owned<Pull>) -> Result<Object<PullAnswer>> {
    Ok(Object(PullAnswer { pull: pull.into() }))
}

/// Change a pull request
///
/// Close it, or open it again once both of its branches are there. What is merged has a title and a body to change, and nothing else.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}", responses(
    (status = 400, description = "A repository has at most 10000 open pull requests."),
    (status = 409, description = "There is an open pull request for these branches already.\n\nThis pull request is merged.\n\n\
     This pull request is closed.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_patch(
    repository: Repository<GitWrite>,
    body: Body<PullPatchBody>,
    Path(number): Path<PullNumber>,
    state: State,
) -> Result<Json<PullAnswer>> {
    let command = ChangePull { org_id: repository.org_id(), number, patch: body.read()? };
    let changed = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(PullAnswer { pull: changed.into() }))
}

/// The commits of a pull request
///
/// The commits of the head that the base hasn't, or hadn't when it was merged. The pages of one list show one history.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/commits", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn pull_commits_list(
    repository: Repository<GitRead>,
    query: Query<PageQuery>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Json<CommitsAnswer>> {
    let stored = &repository.stored;
    let span = match query.after::<Span>(COMMITS)? {
        Some(span) => span,
        None => Span { from: pull.head_oid, without: base_of(&state, &repository, &pull).await?, skip: 0 },
    };
    let reading = state.git.reading(stored).await?;
    if reading.commits(&[span.from, span.without]).await?.len() < span.ends() {
        return Err(Error::bad_request("invalid_cursor", "Invalid cursor").into());
    }
    let limit = query.limit();
    let asked = History { without: Some(span.without), skip: span.skip, limit: limit + 1, ..History::default() };
    let mut commits = reading.history(span.from, &asked).await?;
    let is_more = commits.len() as u64 > limit;
    commits.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let cursor = is_more.then(|| cursor::write(COMMITS, Span { skip: span.skip + limit, ..span }));
    Ok(Json(CommitsAnswer { commits: commits.into_iter().map(ListedCommit::from).collect(), cursor }))
}

/// What the base of a pull request names; what it named then, once the pull request isn't open any more.
async fn base_of(state: &State, repository: &Repository<GitRead>, pull: &Pull) -> Result<ObjectId> {
    if pull.state != PullState::Open {
        return Ok(pull.base_oid);
    }
    // The base may name what wasn't there yet when somebody began to read.
    let refs = state.git.refs_in_view(&repository.stored).await?;
    Ok(branch_among(&refs, &pull.base).map_or(pull.base_oid, |it| it.oid))
}

/// Where a pull request stands in the list of them.
struct Position(PullNumber);

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        text.parse().map(Self)
    }
}

/// Commits between two of them, and how many were shown.
#[derive(Clone, Copy)]
struct Span {
    from: ObjectId,
    without: ObjectId,
    skip: u64,
}

impl Span {
    /// How many commits it is between.
    fn ends(self) -> usize {
        if self.from == self.without { 1 } else { 2 }
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.from, self.without, self.skip)
    }
}

impl std::str::FromStr for Span {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let mut parts = text.split(' ');
        let mut oid = || parts.next().and_then(|oid| oid.parse().ok()).ok_or(());
        let (from, without) = (oid()?, oid()?);
        let skip = parts.next().and_then(|skip| skip.parse().ok()).ok_or(())?;
        Ok(Self { from, without, skip })
    }
}
