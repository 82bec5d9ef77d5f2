//! Threads on lines of pull requests.

use std::collections::HashMap;

use actors::git::{DeleteComment, EditComment, OpenThread, ReplyToThread, SettleThread, ThreadAt, ThreadWithComments};
use domain::{
    Error, Timestamp,
    git::{
        LineComment, Pull, PullComment, PullNumber, PullThread, ThreadState, comment_check, objects::RepositoryPath,
    },
    id::{PullCommentId, PullThreadId},
    problems::all,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    cursor,
    error::Result,
    owned::Owned,
    paging::PageQuery,
    path::Path,
    permission::GitRead,
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::git::ThreadList;
use utoipa::{IntoParams, ToSchema};

use super::places::{Sides, seen_head};

/// The name of the list of threads in its cursors.
const LIST: &str = "pull threads";
/// Characters of the comments of one page; a thread that has more is alone on its page.
const PAGE_LEN_MAX: u64 = 1_000_000;

/// What somebody says in a thread.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "commentId": "pcm_01jd7rt4m5e9fv2w8x3c6k0hqz", "author": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "body": "Why?",
    "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct PullCommentBody {
    /// The comment's id.
    comment_id: String,
    /// The person who wrote it, or who made the key that did.
    author: String,
    /// What it says.
    body: String,
    /// When it was written.
    created_at: i64,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_at: Option<i64>,
}

impl From<PullComment> for PullCommentBody {
    fn from(it: PullComment) -> Self {
        Self {
            comment_id: it.id.to_string(),
            author: it.author.to_string(),
            body: it.body,
            created_at: it.created_at.as_millis(),
            edited_at: it.edited_at.map(Timestamp::as_millis),
        }
    }
}

/// A thread on a line of a pull request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "threadId": "pth_01jd7rt4m5e9fv2w8x3c6k0hqz", "path": "src/main.rs", "line": 3, "side": "new",
    "commitId": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "outdated": false, "currentLine": 5, "resolved": false,
    "author": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "createdAt": 1_767_225_600_000_i64, "comments": []
}))]
pub(crate) struct ThreadBody {
    /// The thread's id.
    thread_id: String,
    /// The file.
    path: String,
    /// The line, as it was when the thread began.
    line: i64,
    /// `new` or `old`.
    side: &'static str,
    /// The commit whose file has that line: of `new`, what the head was; of `old`, where the branches parted.
    commit_id: String,
    /// Whether the line was changed since, or the file renamed or taken away.
    outdated: bool,
    /// Where the line is now; null where it is outdated.
    current_line: Option<i64>,
    /// Whether somebody said that it is done.
    resolved: bool,
    /// The person who said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_at: Option<i64>,
    /// The review that it came with.
    #[serde(skip_serializing_if = "Option::is_none")]
    review_id: Option<String>,
    /// The person who began it.
    author: String,
    /// When.
    created_at: i64,
    /// The oldest first; at most 100.
    comments: Vec<PullCommentBody>,
}

impl ThreadBody {
    fn new((thread, comments): ThreadWithComments, line: Option<u32>) -> Self {
        Self {
            thread_id: thread.id.to_string(),
            path: thread.place.path.as_str().to_owned(),
            line: thread.place.line.into(),
            side: thread.place.side.as_str(),
            commit_id: thread.commit.to_string(),
            outdated: line.is_none(),
            current_line: line.map(i64::from),
            resolved: thread.resolved.is_some(),
            resolved_by: thread.resolved.map(|(by, _)| by.to_string()),
            resolved_at: thread.resolved.map(|(_, at)| at.as_millis()),
            review_id: thread.review.map(|id| id.to_string()),
            author: thread.author.to_string(),
            created_at: thread.created_at.as_millis(),
            comments: comments.into_iter().map(PullCommentBody::from).collect(),
        }
    }
}

/// One thread.
#[derive(Serialize, ToSchema)]
pub(crate) struct ThreadAnswer {
    /// The thread.
    thread: ThreadBody,
}

/// One comment.
#[derive(Serialize, ToSchema)]
pub(crate) struct PullCommentAnswer {
    /// The comment.
    comment: PullCommentBody,
}

/// A page of the threads.
#[derive(Serialize, ToSchema)]
pub(crate) struct ThreadsAnswer {
    /// The oldest first.
    threads: Vec<ThreadBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// `?state=&path=&cursor=&limit=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct ThreadsQuery {
    /// Only those that are `open`, or `resolved`.
    state: Option<String>,
    /// Only those of this file.
    path: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default. A page ends earlier after a million characters.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl RequestQuery for ThreadsQuery {
    fn check(&self, problems: &mut domain::problems::Problems) {
        PageQuery { cursor: None, limit: self.limit }.check(problems);
    }
}

impl ThreadsQuery {
    fn wanted(&self) -> domain::Result<(Option<ThreadState>, Option<RepositoryPath>)> {
        let state = |name: &String| {
            ThreadState::from_name(name).ok_or_else(|| Error::invalid("state", "Use one of: open, resolved."))
        };
        let path = |path: &String| RepositoryPath::parse("path", path);
        all((self.state.as_ref().map(state).transpose(), self.path.as_ref().map(path).transpose()))
    }
}

/// The threads of a pull request
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn pull_threads_list(
    repository: Repository<GitRead>,
    query: Query<ThreadsQuery>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Json<ThreadsAnswer>> {
    let page = PageQuery { cursor: query.cursor.clone(), limit: query.limit }.page::<PullThreadId>(LIST)?;
    let ((wanted, path), no) = (query.wanted()?, repository.stored.no);
    let list = ThreadList { state: wanted, path, after: page.after, limit: page.read_limit() };
    let found = state.store.pull_threads(no, pull.number, &list).await?;
    let (mut found, mut cursor) = page.cut(found, |thread| thread.id);
    let fitting = fitting(&found, &state.store.pull_thread_sizes(no, &found).await?);
    if fitting < found.len() {
        found.truncate(fitting);
        cursor = found.last().map(|thread| cursor::write(LIST, thread.id));
    }
    let ids: Vec<PullThreadId> = found.iter().map(|thread| thread.id).collect();
    let mut comments: HashMap<PullThreadId, Vec<PullComment>> = HashMap::new();
    for comment in state.store.pull_comments(no, &ids).await? {
        comments.entry(comment.thread).or_default().push(comment);
    }
    let with_comments = |thread: PullThread| {
        let said = comments.remove(&thread.id).unwrap_or_default();
        (thread, said)
    };
    let threads = found.into_iter().map(with_comments).collect();
    Ok(Json(ThreadsAnswer { threads: shown(&state, &repository, &pull, threads).await?, cursor }))
}

/// How many of the threads a page has, at least one.
fn fitting(threads: &[PullThread], sizes: &[(PullThreadId, u64)]) -> usize {
    let sizes: HashMap<PullThreadId, u64> = sizes.iter().copied().collect();
    let mut left = PAGE_LEN_MAX;
    let mut fits = |thread: &&PullThread| match left.checked_sub(sizes.get(&thread.id).copied().unwrap_or(0)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    threads.iter().take_while(|thread| fits(thread)).count().max(1)
}

/// The threads, with where their lines are now.
async fn shown(
    state: &State,
    repository: &Repository<GitRead>,
    pull: &Pull,
    threads: Vec<ThreadWithComments>,
) -> Result<Vec<ThreadBody>> {
    if threads.is_empty() {
        return Ok(Vec::new());
    }
    let sides = Sides::of(state, repository, pull).await?;
    let places: Vec<PullThread> = threads.iter().map(|(thread, _)| thread.clone()).collect();
    let lines = sides.lines_now(&places).await?;
    let body = |it: ThreadWithComments| {
        let line = lines.get(&it.0.id).copied();
        ThreadBody::new(it, line)
    };
    Ok(threads.into_iter().map(body).collect())
}

/// A thread that is to begin.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"path": "src/main.rs", "line": 3, "side": "new", "body": "Why?"}))]
pub(crate) struct ThreadCreate {
    /// The file.
    path: String,
    /// The line, from 1.
    line: i64,
    /// `new`, a line of the head; or `old`, a line of the commit in which the branches part.
    side: String,
    /// What is said: 1 to 16,384 characters.
    body: String,
    /// The commit that the head named as you saw it: 40 hexadecimal digits; what it names now where it isn't said.
    head: Option<String>,
}

impl RequestBody for ThreadCreate {}

/// Begin a thread
///
/// On a line of the head, or of the commit in which the branches part; whether or not it was changed. Everybody who reads the repository may begin one.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads", responses(
    (status = 400, description = "A pull request has at most 1000 threads."),
    (status = 409, description = "The pull request changed since you opened it.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_thread_create(
    repository: Repository<GitRead>,
    body: Body<ThreadCreate>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Created<ThreadAnswer>> {
    let comment = LineComment::read("", (&body.path, body.line, &body.side), &body.body)?;
    seen_head(body.head.as_deref(), &pull)?;
    let sides = Sides::of(&state, &repository, &pull).await?;
    let placed = sides.place(vec![comment], |_| String::new()).await?.into_iter().next();
    let comment = placed.ok_or_else(|| Error::internal("a comment has no place"))?;
    let line = comment.place.line;
    let command = OpenThread { org_id: repository.org_id(), number: pull.number, comment };
    let opened = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Created(ThreadAnswer { thread: ThreadBody::new(opened, Some(line)) }))
}

/// What somebody says.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"body": "Because."}))]
pub(crate) struct ReplyCreate {
    /// 1 to 16,384 characters.
    body: String,
}

impl RequestBody for ReplyCreate {}

/// Reply in a thread
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/replies", responses(
    (status = 400, description = "A thread has at most 100 comments."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_thread_reply(
    repository: Repository<GitRead>,
    body: Body<ReplyCreate>,
    Path(number): Path<PullNumber>,
    Path(id): Path<PullThreadId>,
    state: State,
) -> Result<Created<PullCommentAnswer>> {
    let at = ThreadAt { org_id: repository.org_id(), number, id };
    let command = ReplyToThread { at, body: comment_check("body", &body.body)? };
    let said = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Created(PullCommentAnswer { comment: said.into() }))
}

/// Resolve a thread
///
/// The person who began the thread may, whoever opened the pull request, and whoever writes to the repository.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/resolve", responses(
    (status = 403, description = "Threads are resolved by who began them, who opened the pull request, and who has write access."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_thread_resolve(
    repository: Repository<GitRead>,
    Owned(pull): Owned<Pull>,
    Path(id): Path<PullThreadId>,
    state: State,
) -> Result<Json<ThreadAnswer>> {
    settle(&state, &repository, &pull, (id, ThreadState::Resolved)).await
}

/// Open a resolved thread again
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/resolve", responses(
    (status = 403, description = "Threads are resolved by who began them, who opened the pull request, and who has write access."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_thread_unresolve(
    repository: Repository<GitRead>,
    Owned(pull): Owned<Pull>,
    Path(id): Path<PullThreadId>,
    state: State,
) -> Result<Json<ThreadAnswer>> {
    settle(&state, &repository, &pull, (id, ThreadState::Open)).await
}

async fn settle(
    state: &State,
    repository: &Repository<GitRead>,
    pull: &Pull,
    (id, wanted): (PullThreadId, ThreadState),
) -> Result<Json<ThreadAnswer>> {
    let at = ThreadAt { org_id: repository.org_id(), number: pull.number, id };
    let command = SettleThread { at, state: wanted };
    let settled = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    let shown = shown(state, repository, pull, vec![settled]).await?.into_iter().next();
    Ok(Json(ThreadAnswer { thread: shown.ok_or_else(|| Error::internal("a thread is not shown"))? }))
}

/// Change what you said
#[utoipa::path(
    patch,
    path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/comments/{pullCommentId}",
    responses(
        (status = 403, description = "Somebody else wrote this comment."),
        (status = 409, description = "This repository is deleted. Restore it first."),
    )
)]
pub(crate) async fn pull_comment_patch(
    repository: Repository<GitRead>,
    body: Body<ReplyCreate>,
    Path(number): Path<PullNumber>,
    Path(thread): Path<PullThreadId>,
    Path(id): Path<PullCommentId>,
    state: State,
) -> Result<Json<PullCommentAnswer>> {
    let at = ThreadAt { org_id: repository.org_id(), number, id: thread };
    let command = EditComment { at, id, body: comment_check("body", &body.body)? };
    let edited = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(PullCommentAnswer { comment: edited.into() }))
}

/// Delete what you said
///
/// The last comment of a thread takes the thread with it. Whoever administers the repository deletes anybody's.
#[utoipa::path(
    delete,
    path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/comments/{pullCommentId}",
    responses(
        (status = 403, description = "Somebody else wrote this comment."),
        (status = 409, description = "This repository is deleted. Restore it first."),
    )
)]
pub(crate) async fn pull_comment_delete(
    repository: Repository<GitRead>,
    Path(number): Path<PullNumber>,
    Path(thread): Path<PullThreadId>,
    Path(id): Path<PullCommentId>,
    state: State,
) -> Result<NoContent> {
    let at = ThreadAt { org_id: repository.org_id(), number, id: thread };
    let command = DeleteComment { at, id };
    state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(NoContent)
}
