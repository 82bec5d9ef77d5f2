//! What of pull requests comes in, and what is answered.

use domain::{
    Error,
    git::{
        AutoMerge, BRANCH_NAME_LEN, BranchName, MERGE_MESSAGE_LEN, MergeAsked, MergeMethod, ObjectId, PULL_TITLE_LEN,
        Pull, PullDraft, PullPatch, PullState, ReviewersDraft, lines_check,
    },
    id::UserId,
    problems::{Problems, all},
};
use http_shell::{body::RequestBody, paging::PageQuery, query::RequestQuery};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ReviewersPut;

/// A pull request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "number": 7, "title": "Say hello", "body": "To all.", "state": "open", "draft": false, "head": "feature", "base": "main",
    "headCommitId": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "baseCommitId": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "author": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct PullBody {
    /// The number, from 1, which no other pull request of the repository gets.
    number: u32,
    /// What it is called.
    title: String,
    /// What it says; may be empty.
    body: String,
    /// `open`, `merged` or `closed`.
    state: &'static str,
    /// Whether it isn't to be merged yet.
    draft: bool,
    /// The branch that is to be merged.
    head: String,
    /// The branch that it is to be merged into.
    base: String,
    /// The commit that the head names, or named last. It is fetched as `refs/pull/<number>/head`, too.
    head_commit_id: String,
    /// The commit that the base named when the pull request was opened, or before it was merged.
    base_commit_id: String,
    /// The person who opened it, or who made the key that did.
    author: String,
    /// When it was opened.
    created_at: i64,
    /// When it, or what its head names, last changed.
    updated_at: i64,
    /// When it was merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    merged_at: Option<i64>,
    /// The person who merged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    merged_by: Option<String>,
    /// The commit that the base named then.
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_commit_id: Option<String>,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at: Option<i64>,
    /// The person who closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_by: Option<String>,
    /// The merge that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_merge: Option<PullAutoMerge>,
}

/// A merge that is made as soon as nothing stands against it.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"method": "squash", "by": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "since": 1_767_225_600_000_i64}))]
pub(crate) struct PullAutoMerge {
    /// How: `merge`, `squash` or `rebase`.
    method: &'static str,
    /// The person who asked for it, or who made the key that did.
    by: String,
    /// When it was asked for.
    since: i64,
}

impl From<AutoMerge> for PullAutoMerge {
    fn from(wish: AutoMerge) -> Self {
        Self { method: wish.asked.method.as_str(), by: wish.by.to_string(), since: wish.since.as_millis() }
    }
}

impl From<Pull> for PullBody {
    fn from(pull: Pull) -> Self {
        let ended = |state| pull.ended.filter(|_| pull.state == state);
        let (merged, closed) = (ended(PullState::Merged), ended(PullState::Closed));
        Self {
            number: pull.number.get(),
            title: pull.title,
            body: pull.body,
            state: pull.state.as_str(),
            draft: pull.is_draft,
            head: pull.head.as_str().to_owned(),
            base: pull.base.as_str().to_owned(),
            head_commit_id: pull.head_oid.to_string(),
            base_commit_id: pull.base_oid.to_string(),
            author: pull.author.to_string(),
            created_at: pull.created_at.as_millis(),
            updated_at: pull.updated_at.as_millis(),
            merged_at: merged.map(|(_, at)| at.as_millis()),
            merged_by: merged.map(|(by, _)| by.to_string()),
            merge_commit_id: pull.merge_commit.map(|oid| oid.to_string()),
            closed_at: closed.map(|(_, at)| at.as_millis()),
            closed_by: closed.map(|(by, _)| by.to_string()),
            auto_merge: pull.auto_merge.map(PullAutoMerge::from),
        }
    }
}

/// `?state=&head=&base=&author=&q=&cursor=&limit=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct PullsQuery {
    /// Only those in this state: `open`, `merged` or `closed`.
    state: Option<String>,
    /// Only those of this branch.
    #[param(min_length = 1, max_length = 256)]
    head: Option<String>,
    /// Only those into this branch.
    #[param(min_length = 1, max_length = 256)]
    base: Option<String>,
    /// Only those that this person opened.
    author: Option<String>,
    /// Only those whose titles have this part, regardless of case: 1 to 256 characters.
    #[param(min_length = 1, max_length = 256)]
    q: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl RequestQuery for PullsQuery {
    fn check(&self, problems: &mut Problems) {
        let named = [
            ("head", &self.head, BRANCH_NAME_LEN),
            ("base", &self.base, BRANCH_NAME_LEN),
            ("q", &self.q, PULL_TITLE_LEN),
        ];
        for (field, text, length) in named {
            let fits = text.as_ref().is_none_or(|text| length.contains(&text.chars().count()));
            problems.require(fits, field, "Use 1 to 256 characters.");
        }
        PageQuery { cursor: None, limit: self.limit }.check(problems);
    }
}

/// Which pull requests are wanted, apart from the page.
pub(super) struct PullsWanted {
    pub state: Option<PullState>,
    pub branches: (Option<BranchName>, Option<BranchName>),
    pub author: Option<UserId>,
    pub part: Option<String>,
}

impl PullsQuery {
    pub(super) fn page(&self) -> PageQuery {
        PageQuery { cursor: self.cursor.clone(), limit: self.limit }
    }

    pub(super) fn read(&self) -> domain::Result<PullsWanted> {
        let state = |name: &String| {
            PullState::from_name(name).ok_or_else(|| Error::invalid("state", "Use one of: open, merged, closed."))
        };
        let branch = |field: &'static str, name: &Option<String>| {
            name.as_ref().map(|name| BranchName::parse(field, name)).transpose()
        };
        let author =
            |id: &String| id.parse::<UserId>().map_err(|_| Error::invalid("author", "This isn't the id of a person."));
        let (state, head, base, author) = all((
            self.state.as_ref().map(state).transpose(),
            branch("head", &self.head),
            branch("base", &self.base),
            self.author.as_ref().map(author).transpose(),
        ))?;
        Ok(PullsWanted { state, branches: (head, base), author, part: self.q.clone() })
    }
}

/// A new pull request.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"title": "Say hello", "head": "feature", "base": "main", "body": "To all."}))]
pub(crate) struct PullCreate {
    /// What it is called: 1 to 256 characters.
    title: String,
    /// The branch that is to be merged.
    head: String,
    /// The branch that it is to be merged into.
    base: String,
    /// What it says: up to 65,536 characters.
    body: Option<String>,
    /// Whether it isn't to be merged yet; false where it isn't said.
    draft: Option<bool>,
    /// The people and teams who are asked for a review at once.
    reviewers: Option<ReviewersPut>,
}

impl RequestBody for PullCreate {}

impl PullCreate {
    pub(super) fn read(&self) -> domain::Result<(PullDraft, ReviewersDraft)> {
        let text = (self.title.as_str(), self.body.as_deref().unwrap_or_default());
        let reviewers =
            self.reviewers.as_ref().map_or_else(|| Ok(ReviewersDraft::default()), |it| it.read("reviewers."));
        let (draft, reviewers) = all((PullDraft::read(text, (&self.head, &self.base)), reviewers))?;
        Ok((PullDraft { is_draft: self.draft.unwrap_or(false), ..draft }, reviewers))
    }
}

/// What is to be changed of a pull request; what isn't named stays.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"title": "Say hello to all", "state": "closed"}))]
pub(crate) struct PullPatchBody {
    /// What it is called: 1 to 256 characters.
    title: Option<String>,
    /// What it says: up to 65,536 characters.
    body: Option<String>,
    /// The branch that it is to be merged into.
    base: Option<String>,
    /// Whether it isn't to be merged yet.
    draft: Option<bool>,
    /// `closed`, or `open` to open it again.
    state: Option<String>,
}

impl RequestBody for PullPatchBody {}

impl PullPatchBody {
    pub(super) fn read(&self) -> domain::Result<PullPatch> {
        let text = (self.title.as_deref(), self.body.as_deref());
        let patch = PullPatch::read(text, (self.base.as_deref(), self.state.as_deref()))?;
        Ok(PullPatch { is_draft: self.draft, ..patch })
    }
}

fn head_of(text: &str) -> domain::Result<ObjectId> {
    text.parse().map_err(|_| Error::invalid("head", "Use 40 hexadecimal digits."))
}

/// How a pull request is to be merged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"method": "squash", "head": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"}))]
pub(crate) struct PullMerge {
    /// `merge`, for a commit that follows base and head; `squash`, for a single commit; or `rebase`, for each commit anew.
    method: String,
    /// The commit that the head names, as you saw it: 40 hexadecimal digits.
    head: String,
    /// What the commit says: 1 to 65,536 characters. A rebase takes none.
    message: Option<String>,
    /// Whether the head's branch is deleted with it; false where it isn't said.
    delete_branch: Option<bool>,
    /// `ready`, to have it merged as soon as nothing stands against it; at once where it isn't said.
    when: Option<String>,
}

impl RequestBody for PullMerge {}

impl PullMerge {
    /// How it is to be merged, and whether that may wait.
    pub(super) fn read(&self) -> domain::Result<(MergeAsked, bool)> {
        let known = || Error::invalid("method", "Use one of: merge, squash, rebase.");
        let method = MergeMethod::from_name(&self.method).ok_or_else(known);
        let message = |text: &String| lines_check("message", text, &MERGE_MESSAGE_LEN);
        let may_wait = match self.when.as_deref() {
            None => Ok(false),
            Some("ready") => Ok(true),
            Some(_) => Err(Error::invalid("when", "Use ready, or leave it away.")),
        };
        let message = self.message.as_ref().map(message).transpose();
        let (method, head, message, may_wait) = all((method, head_of(&self.head), message, may_wait))?;
        if method == MergeMethod::Rebase && message.is_some() {
            return Err(Error::invalid("message", "A rebase keeps what the commits say."));
        }
        let deletes_branch = self.delete_branch.unwrap_or(false);
        Ok((MergeAsked { method, head, message, deletes_branch }, may_wait))
    }
}

/// Which head is to have the base.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"head": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"}))]
pub(crate) struct PullUpdate {
    /// The commit that the head names, as you saw it: 40 hexadecimal digits.
    head: String,
}

impl RequestBody for PullUpdate {}

impl PullUpdate {
    pub(super) fn read(&self) -> domain::Result<ObjectId> {
        head_of(&self.head)
    }
}
