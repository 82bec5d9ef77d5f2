//! Comments on an issue.

use actors::issues::{AddComment, DeleteComment, EditComment};
use domain::{id::IssueCommentId, issues::issue::Comment};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    paging::PageQuery,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    query::Query,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::argument::IssueOf;

/// The name of the list of comments in its cursors.
const LIST: &str = "issue comments";

/// A comment on an issue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueCommentBody {
    comment_id: String,
    /// The author.
    author_id: String,
    /// Markdown.
    body: String,
    /// Whether those who raised the request read it too.
    public: bool,
    /// Counts its changes.
    version: i64,
    created_at: i64,
    updated_at: i64,
}

impl From<Comment> for IssueCommentBody {
    fn from(comment: Comment) -> Self {
        Self {
            comment_id: comment.comment_id.to_string(),
            author_id: comment.author_id.to_string(),
            body: comment.body,
            public: comment.public,
            version: comment.version,
            created_at: comment.created_at.as_millis(),
            updated_at: comment.updated_at.as_millis(),
        }
    }
}

/// One comment.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueCommentAnswer {
    /// The comment.
    comment: IssueCommentBody,
}

/// A page of the comments.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueCommentsAnswer {
    /// The first one first.
    comments: Vec<IssueCommentBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// What a comment says.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"body": "It is out."}))]
pub(crate) struct IssueCommentWrite {
    /// Markdown, 1 to 32,000 characters.
    body: String,
}

impl RequestBody for IssueCommentWrite {}

/// A comment that is to be written.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"body": "It is out.", "public": true}))]
pub(crate) struct IssueCommentCreate {
    /// Markdown, 1 to 32,000 characters.
    body: String,
    /// Whether those who raised the request shall read it; that needs `serviceAgent`, in a space with a desk.
    #[serde(default)]
    public: bool,
}

impl RequestBody for IssueCommentCreate {}

/// The comments on an issue
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/{issueKey}/comments",
    responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn issue_comments_list(
    of: IssueOf<IssuesRead>,
    query: Query<PageQuery>,
    state: State,
) -> Result<Json<IssueCommentsAnswer>> {
    let page = query.page::<IssueCommentId>(LIST)?;
    let comments = state.store.issue_comments(of.stored.issue.issue_id, page.after, page.read_limit()).await?;
    let (comments, cursor) = page.cut(comments, |comment| comment.comment_id);
    Ok(Json(IssueCommentsAnswer { comments: comments.into_iter().map(IssueCommentBody::from).collect(), cursor }))
}

/// Comment on an issue
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/comments", responses(
    (status = 400, description = "Public comments need a space with a desk."),
    (status = 403, description = "You can't answer requests in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_comment_create(
    of: IssueOf<IssuesWrite>,
    body: Body<IssueCommentCreate>,
    state: State,
) -> Result<Created<IssueCommentAnswer>> {
    let IssueCommentCreate { body, public } = body.into_inner();
    let command = AddComment { org_id: of.org_id(), body, public };
    let comment = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Created(IssueCommentAnswer { comment: comment.into() }))
}

/// Change a comment on an issue
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/{issueKey}/comments/{issueCommentId}", responses(
    (status = 403, description = "You can't edit others' comments in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_comment_patch(
    of: IssueOf<IssuesWrite>,
    body: Body<IssueCommentWrite>,
    Path(id): Path<IssueCommentId>,
    state: State,
) -> Result<Json<IssueCommentAnswer>> {
    let command = EditComment { org_id: of.org_id(), id, body: body.into_inner().body };
    let comment = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Json(IssueCommentAnswer { comment: comment.into() }))
}

/// Delete a comment on an issue
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/{issueKey}/comments/{issueCommentId}", responses(
    (status = 403, description = "You can't delete others' comments in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_comment_delete(
    of: IssueOf<IssuesWrite>,
    Path(id): Path<IssueCommentId>,
    state: State,
) -> Result<NoContent> {
    let command = DeleteComment { org_id: of.org_id(), id };
    state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(NoContent)
}
