//! Reviews of pull requests, and who is asked for them.

use actors::git::{AskReviewers, DismissReview, GiveReview};
use domain::{
    git::{
        AskedReviewer, DISMISSAL_REASON_LEN, LineComment, Principal, Pull, PullNumber, PullReview, ReviewDraft,
        ReviewersDraft, lines_check,
    },
    id::PullReviewId,
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    owned::Owned,
    paging::PageQuery,
    path::Path,
    permission::{GitRead, GitWrite},
    query::Query,
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::places::{Sides, seen_head};

/// The name of the list of reviews in its cursors.
const LIST: &str = "pull reviews";

/// A review of a pull request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "reviewId": "prv_01jd7rt4m5e9fv2w8x3c6k0hqz", "author": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "verdict": "approve",
    "body": "Fine.", "commitId": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "state": "current",
    "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct ReviewBody {
    /// The review's id.
    review_id: String,
    /// The person who gave it, or who made the key that did.
    author: String,
    /// `approve`, `changes` or `comment`.
    verdict: &'static str,
    /// What it says; may be empty.
    body: String,
    /// What the head was.
    commit_id: String,
    /// `current`; `replaced`, by a later verdict of the same person; or `dismissed`.
    state: &'static str,
    /// When it was given.
    created_at: i64,
    /// The person who dismissed it, or made the push for which it was dismissed.
    #[serde(skip_serializing_if = "Option::is_none")]
    dismissed_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    dismissed_at: Option<i64>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    dismissal_reason: Option<String>,
}

impl From<PullReview> for ReviewBody {
    fn from(review: PullReview) -> Self {
        let dismissed = review.dismissed.as_ref();
        Self {
            review_id: review.id.to_string(),
            author: review.author.to_string(),
            verdict: review.verdict.as_str(),
            commit_id: review.commit.to_string(),
            state: review.state.as_str(),
            created_at: review.created_at.as_millis(),
            dismissed_by: dismissed.map(|it| it.by.to_string()),
            dismissed_at: dismissed.map(|it| it.at.as_millis()),
            dismissal_reason: dismissed.map(|it| it.reason.clone()),
            body: review.body,
        }
    }
}

/// One review.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewAnswer {
    /// The review.
    review: ReviewBody,
}

/// A page of the reviews.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewsAnswer {
    /// The oldest first.
    reviews: Vec<ReviewBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// What is said of a line.
#[derive(Clone, Deserialize, ToSchema)]
#[schema(example = json!({"path": "src/main.rs", "line": 3, "side": "new", "body": "Why?"}))]
pub(crate) struct LineCommentBody {
    /// The file.
    path: String,
    /// The line, from 1.
    line: i64,
    /// `new`, a line of the head; or `old`, a line of the commit in which the branches part.
    side: String,
    /// What is said: 1 to 16,384 characters.
    body: String,
}

impl LineCommentBody {
    fn read(&self, at: &str) -> domain::Result<LineComment> {
        LineComment::read(at, (&self.path, self.line, &self.side), &self.body)
    }
}

/// A review that is to be given.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({
    "verdict": "changes", "body": "Nearly.",
    "comments": [{"path": "src/main.rs", "line": 3, "side": "new", "body": "Why?"}]
}))]
pub(crate) struct ReviewCreate {
    /// `approve`, `changes` for asking for some, or `comment`.
    verdict: String,
    /// What it says: up to 65,536 characters. What doesn't approve needs it, or a comment.
    body: Option<String>,
    /// What it says of lines: up to 100 comments, each of which begins a thread.
    comments: Option<Vec<LineCommentBody>>,
    /// The commit that the head named as you saw it: 40 hexadecimal digits; what it names now where it isn't said.
    head: Option<String>,
}

impl RequestBody for ReviewCreate {}

impl ReviewCreate {
    fn draft(&self) -> domain::Result<ReviewDraft> {
        let comments = self.comments.iter().flatten().enumerate();
        let comments = comments.map(|(place, comment)| comment.read(&format!("comments[{place}]"))).collect();
        ReviewDraft::read(&self.verdict, self.body.as_deref().unwrap_or_default(), comments)
    }
}

/// The reviews of a pull request
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn pull_reviews_list(
    repository: Repository<GitRead>,
    query: Query<PageQuery>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Json<ReviewsAnswer>> {
    let page = query.page::<PullReviewId>(LIST)?;
    let found = state.store.pull_reviews(repository.stored.no, pull.number, page.after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |review| review.id);
    Ok(Json(ReviewsAnswer { reviews: found.into_iter().map(ReviewBody::from).collect(), cursor }))
}

/// Review a pull request
///
/// Everybody who reads the repository may give one. An approval counts for rules while its author may write to the repository. A verdict replaces the
/// one that the same person gave before.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews", responses(
    (status = 400, description = "A pull request has at most 1000 reviews.\n\nA pull request has at most 1000 threads."),
    (status = 403, description = "You opened this pull request. Others approve it, or ask for changes."),
    (status = 409, description = "The pull request changed since you opened it.\n\nThis pull request is merged.\n\n\
     This pull request is closed.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_review_create(
    repository: Repository<GitRead>,
    body: Body<ReviewCreate>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Created<ReviewAnswer>> {
    let mut draft = body.draft()?;
    let head = seen_head(body.head.as_deref(), &pull)?;
    let comments = std::mem::take(&mut draft.comments);
    let threads = if comments.is_empty() {
        Vec::new()
    } else {
        let sides = Sides::of(&state, &repository, &pull).await?;
        sides.place(comments, |place| format!("comments[{place}].")).await?
    };
    let command = GiveReview { org_id: repository.org_id(), number: pull.number, head, draft, threads };
    let given = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Created(ReviewAnswer { review: given.into() }))
}

/// Why a review is dismissed.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"reason": "This was about another branch."}))]
pub(crate) struct DismissalPut {
    /// 1 to 1,000 characters.
    reason: String,
}

impl RequestBody for DismissalPut {}

/// Dismiss a review
///
/// The review stays in the list, and rules ask for it no longer.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews/{reviewId}/dismissal", responses(
    (status = 404, description = "Pull request not found"),
    (status = 409, description = "Only the latest review of somebody who approves, or asks for changes, can be dismissed.\n\n\
     This pull request is merged.\n\nThis pull request is closed.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_review_dismiss(
    repository: Repository<GitWrite>,
    body: Body<DismissalPut>,
    Path(number): Path<PullNumber>,
    Path(id): Path<PullReviewId>,
    state: State,
) -> Result<Json<ReviewAnswer>> {
    let reason = lines_check("reason", &body.reason, &DISMISSAL_REASON_LEN)?;
    let command = DismissReview { org_id: repository.org_id(), number, id, reason };
    let dismissed = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(ReviewAnswer { review: dismissed.into() }))
}

/// A person or a team whose review is asked for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "principal": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "kind": "person", "askedBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "askedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct ReviewerBody {
    /// The id of the person or of the team.
    principal: String,
    /// `person` or `team`.
    kind: &'static str,
    /// The person who asked.
    asked_by: String,
    /// When.
    asked_at: i64,
}

impl From<AskedReviewer> for ReviewerBody {
    fn from(it: AskedReviewer) -> Self {
        Self {
            principal: it.principal.to_string(),
            kind: match it.principal {
                Principal::Person(_) => "person",
                Principal::Team(_) => "team",
            },
            asked_by: it.asked_by.to_string(),
            asked_at: it.asked_at.as_millis(),
        }
    }
}

/// People and teams who are asked for a review and haven't given one.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReviewersAnswer {
    /// At most 20 people and teams, by their ids.
    reviewers: Vec<ReviewerBody>,
}

/// The reviewers who are asked
///
/// A person who gives one isn't asked any more, nor are the teams that they are in.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviewers")]
pub(crate) async fn pull_reviewers_list(
    repository: Repository<GitRead>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Json<ReviewersAnswer>> {
    let found = state.store.pull_reviewers(repository.stored.no, pull.number).await?;
    Ok(Json(ReviewersAnswer { reviewers: found.into_iter().map(ReviewerBody::from).collect() }))
}

/// Reviewers who are to be asked: up to 20 people and teams in all.
#[derive(Clone, Deserialize, ToSchema)]
#[schema(example = json!({"people": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"], "teams": []}))]
pub(crate) struct ReviewersPut {
    /// The ids of people.
    #[serde(default)]
    people: Vec<String>,
    /// The ids of teams.
    #[serde(default)]
    teams: Vec<String>,
}

impl RequestBody for ReviewersPut {}

impl ReviewersPut {
    pub(super) fn read(&self, at: &str) -> domain::Result<ReviewersDraft> {
        ReviewersDraft::read(at, &self.people, &self.teams)
    }
}

/// Ask for reviews
///
/// Of these people and teams, who have to be able to read the repository, and of nobody else any more.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviewers", responses(
    (status = 409, description = "This pull request is merged.\n\nThis pull request is closed.\n\n\
     This repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_reviewers_put(
    repository: Repository<GitWrite>,
    body: Body<ReviewersPut>,
    Path(number): Path<PullNumber>,
    state: State,
) -> Result<Json<ReviewersAnswer>> {
    let command = AskReviewers { org_id: repository.org_id(), number, reviewers: body.read("")? };
    let asked = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(ReviewersAnswer { reviewers: asked.into_iter().map(ReviewerBody::from).collect() }))
}
