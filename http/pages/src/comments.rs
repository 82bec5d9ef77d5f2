//! Comments on a page.

use actors::pages::comments::{AddComment, ChangeComment, DeleteComment};
use domain::{
    id::{PageCommentId, PageId},
    pages::{
        Page,
        comment::{Comment, CommentText, block_check, body_check, mentions_check},
    },
    problems::{Problems, all},
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    paging::PageQuery,
    path::Path,
    permission::{KnowledgeRead, KnowledgeWrite},
    query::{Query, RequestQuery},
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::pages::CommentFilter;
use utoipa::{IntoParams, ToSchema};

/// The name of the list in its cursors.
const LIST: &str = "page-comments";

/// A comment on a page.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "commentId": "pgc_01jd7rt4m5e9fv2w8x3c6k0hqz", "pageId": "doc_01jd7rt4m5e9fv2w8x3c6k0hqz", "body": "Is this so?",
    "mentions": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqy"], "deleted": false, "resolved": false,
    "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct CommentBody {
    /// The comment's id.
    comment_id: String,
    /// The page that it is on.
    page_id: String,
    /// The block that it is about; absent for the whole page.
    #[serde(skip_serializing_if = "Option::is_none")]
    block_id: Option<String>,
    /// The comment that it answers; absent for one that begins a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// What it says; empty for one that was deleted.
    body: String,
    /// The people whom it mentions.
    mentions: Vec<String>,
    /// Whether it was deleted. One that begins a thread stays as an empty place as long as there are answers.
    deleted: bool,
    /// Whether its thread is resolved.
    resolved: bool,
    /// When its thread was resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_at: Option<i64>,
    /// The person who resolved the comment's thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<String>,
    /// The person who wrote the comment.
    created_by: String,
    /// When.
    created_at: i64,
    /// When what it says was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_at: Option<i64>,
}

impl From<Comment> for CommentBody {
    fn from(comment: Comment) -> Self {
        Self {
            comment_id: comment.id.to_string(),
            page_id: comment.page_id.to_string(),
            block_id: comment.block_id,
            thread_id: comment.thread_id.map(|id| id.to_string()),
            deleted: comment.body.is_none(),
            body: comment.body.unwrap_or_default(),
            mentions: comment.mentions.iter().map(ToString::to_string).collect(),
            resolved: comment.resolved.is_some(),
            resolved_at: comment.resolved.map(|(at, _)| at.as_millis()),
            resolved_by: comment.resolved.map(|(_, by)| by.to_string()),
            created_by: comment.created_by.to_string(),
            created_at: comment.created_at.as_millis(),
            edited_at: comment.edited_at.map(domain::Timestamp::as_millis),
        }
    }
}

/// One comment.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommentAnswer {
    /// The comment.
    comment: CommentBody,
}

impl From<Comment> for CommentAnswer {
    fn from(comment: Comment) -> Self {
        Self { comment: comment.into() }
    }
}

/// Comments.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommentsAnswer {
    /// The oldest first, answers among them.
    comments: Vec<CommentBody>,
    /// Where the next page starts; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// Which comments.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct CommentsQuery {
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Comments of the page: 1 to 100, by default 50.
    limit: Option<u64>,
    /// Only the thread that this comment begins.
    thread_id: Option<String>,
    /// Only those on this block.
    block_id: Option<String>,
    /// `1` for resolved threads only, `0` for open ones only.
    #[param(example = "0")]
    resolved: Option<String>,
}

impl RequestQuery for CommentsQuery {
    fn check(&self, problems: &mut Problems) {
        self.paging().check(problems);
        let resolved = self.resolved.as_deref().is_none_or(|text| matches!(text, "0" | "1"));
        problems.require(resolved, "resolved", "Use 0 or 1.");
        let block = self.block_id.as_deref().is_none_or(|block_id| block_check(block_id).is_ok());
        problems.require(block, "blockId", "Is no block's id.");
        let thread = self.thread_id.as_deref().is_none_or(|id| id.parse::<PageCommentId>().is_ok());
        problems.require(thread, "threadId", "Is no comment's id.");
    }
}

impl CommentsQuery {
    fn paging(&self) -> PageQuery {
        PageQuery { cursor: self.cursor.clone(), limit: self.limit }
    }

    fn filter(&self) -> CommentFilter {
        CommentFilter {
            thread: self.thread_id.as_deref().and_then(|id| id.parse().ok()),
            block_id: self.block_id.clone(),
            resolved: self.resolved.as_deref().map(|text| text == "1"),
        }
    }
}

/// The comments on a page
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/{pageId}/comments")]
pub(crate) async fn page_comments_list(
    _: Org<KnowledgeRead>,
    query: Query<CommentsQuery>,
    on: Owned<Page>,
    state: State,
) -> Result<Json<CommentsAnswer>> {
    let page = query.paging().page::<PageCommentId>(LIST)?;
    let found = state.store.page_comments(on.id, &query.filter(), page.after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |comment| comment.id);
    Ok(Json(CommentsAnswer { comments: found.into_iter().map(CommentBody::from).collect(), cursor }))
}

/// A new comment.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"body": "Is this so?", "mentions": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqy"]}))]
pub(crate) struct CommentCreate {
    /// What it says: 1 to 4,000 characters.
    body: String,
    /// The people whom it mentions: up to 50 members of the organization, who are told.
    mentions: Option<Vec<String>>,
    /// The block that it is about: 1 to 64 characters. An answer is about its thread's.
    block_id: Option<String>,
    /// The comment that begins the thread that it belongs to.
    thread_id: Option<String>,
}

impl RequestBody for CommentCreate {
    fn check(&self, problems: &mut Problems) {
        let alone = self.thread_id.is_none() || self.block_id.is_none();
        problems.require(alone, "blockId", "An answer is about the block of its thread; leave this out.");
    }
}

impl CommentCreate {
    pub(crate) fn command(self, org_id: domain::id::OrgId) -> domain::Result<AddComment> {
        let thread = self
            .thread_id
            .as_deref()
            .map(|id| id.parse().map_err(|_| domain::Error::invalid("threadId", "The page has no such thread.")));
        let (text, (), thread_id) = all((
            CommentText::check(&self.body, &self.mentions.unwrap_or_default()),
            self.block_id.as_deref().map_or(Ok(()), block_check),
            thread.transpose(),
        ))?;
        Ok(AddComment { org_id, text, block_id: self.block_id, thread_id })
    }
}

/// Comment on a page
///
/// On the whole page, on one of its blocks, or in answer to another comment. Who is mentioned hears of it
/// (`page.mentioned`).
#[utoipa::path(post, path = "/v1/orgs/{orgId}/pages/{pageId}/comments", responses(
    (status = 400, description = "A page has at most 5000 comments."),
    (status = 409, description = "This page is in the trash. Restore it to edit.")))]
pub(crate) async fn page_comment_create(
    org: Org<KnowledgeWrite>,
    id: Path<PageId>,
    body: Body<CommentCreate>,
    state: State,
) -> Result<Created<CommentAnswer>> {
    let command = body.into_inner().command(org.id())?;
    let made = state.actors.page_comments.ask(&id, command, org.context()).await?;
    Ok(Created(made.into()))
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"resolved": true}))]
pub(crate) struct CommentPatch {
    /// What it says: 1 to 4,000 characters. For its author.
    body: Option<String>,
    /// The people whom it mentions: up to 50 members of the organization. For its author.
    mentions: Option<Vec<String>>,
    /// Whether the thread that it begins is resolved.
    resolved: Option<bool>,
}

impl RequestBody for CommentPatch {}

impl CommentPatch {
    pub(crate) fn command(self, org_id: domain::id::OrgId, id: PageCommentId) -> domain::Result<ChangeComment> {
        let (body, mentions) = all((
            self.body.as_deref().map(body_check).transpose(),
            self.mentions.as_deref().map(mentions_check).transpose(),
        ))?;
        Ok(ChangeComment { org_id, id, body, mentions, resolved: self.resolved })
    }
}

/// Change a comment, or resolve its thread
///
/// A comment's author changes what it says; those who are newly mentioned hear of it. Whoever may write pages resolves a
/// thread or opens it again.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}", responses(
    (status = 400, description = "Only a whole thread can be resolved."),
    (status = 403, description = "Only its author can change a comment."),
    (status = 409, description = "This page is in the trash. Restore it to edit.")))]
pub(crate) async fn page_comment_patch(
    org: Org<KnowledgeWrite>,
    id: Path<PageId>,
    comment: Path<PageCommentId>,
    body: Body<CommentPatch>,
    state: State,
) -> Result<Json<CommentAnswer>> {
    let command = body.into_inner().command(org.id(), *comment)?;
    let changed = state.actors.page_comments.ask(&id, command, org.context()).await?;
    Ok(Json(changed.into()))
}

/// Delete a comment
///
/// A comment that begins a thread stays as an empty place until its last answer goes.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}", responses(
    (status = 403, description = "Only its author, an admin or an owner can delete a comment."),
    (status = 409, description = "This page is in the trash. Restore it to edit.")))]
pub(crate) async fn page_comment_delete(
    org: Org<KnowledgeWrite>,
    id: Path<PageId>,
    comment: Path<PageCommentId>,
    state: State,
) -> Result<Json<Done>> {
    let command = DeleteComment { org_id: org.id(), id: *comment };
    state.actors.page_comments.ask(&id, command, org.context()).await?;
    Ok(Json(Done::new()))
}
