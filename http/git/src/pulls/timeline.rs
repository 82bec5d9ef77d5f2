//! What happened to a pull request.

use domain::git::{Pull, PullEvent, TimelineEntry};
use http_shell::{
    answer::Json, error::Result, owned::Owned, paging::PageQuery, permission::GitRead, query::Query,
    repository::Repository, state::State,
};
use serde::Serialize;
use utoipa::ToSchema;

/// The name of the timeline in its cursors.
const LIST: &str = "pull timeline";

/// An event in a pull request's life. Each type has fields of its own.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "number": 2, "type": "pushed", "by": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "at": 1_767_225_600_000_i64,
    "from": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "to": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"
}))]
pub(crate) struct TimelineEntryBody {
    /// The number of the entry, from 1.
    number: i64,
    /// `opened`, `pushed`, `forced`, `renamed`, `drafted`, `readied`, `base_changed`, `branch_renamed`, `reviewers_changed`,
    /// `reviewed`, `review_dismissed`, `thread_opened`, `auto_merge_set`, `auto_merge_ended`, `closed`, `reopened` or `merged`.
    r#type: &'static str,
    /// The person who did it, or who made the key that did.
    by: String,
    /// When.
    at: i64,
    /// What was before: the base's commit of `opened`, the head's commit of `pushed` and `forced`, the title of `renamed`, the branch
    /// of `base_changed` and `branch_renamed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// What is since: the head's commit, the base's of `merged`, the title or the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// The people and teams who are asked since, of `reviewers_changed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<Vec<String>>,
    /// The people and teams who aren't any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<Vec<String>>,
    /// The review of `reviewed` and `review_dismissed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    review_id: Option<String>,
    /// What it comes to: `approve`, `changes` or `comment`.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    /// How many threads came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<i64>,
    /// The person whose review was dismissed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reviewer: Option<String>,
    /// Why it was, or why a merge isn't waited for any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The thread of `thread_opened`.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// The file that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<i64>,
    /// The side: `old` or `new`.
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'static str>,
    /// How it was merged, or is to be: `merge`, `squash`, `rebase`, or `push`.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// Why a merge isn't waited for any more: `head_moved`, `base_changed`, `conflict`, `no_right`, `closed`, `withdrawn` or `refused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<&'static str>,
}

impl TimelineEntryBody {
    fn told(self, event: PullEvent) -> Self {
        let moved =
            |r#type, from: String, to: String| Self { r#type, from: Some(from), to: Some(to), ..Self::default() };
        let plain = |r#type| Self { r#type, ..Self::default() };
        let told = match event {
            PullEvent::Opened { head, base } => moved("opened", base.to_string(), head.to_string()),
            PullEvent::Pushed { from, to } => moved("pushed", from.to_string(), to.to_string()),
            PullEvent::Forced { from, to } => moved("forced", from.to_string(), to.to_string()),
            PullEvent::Renamed { from, to } => moved("renamed", from, to),
            PullEvent::BaseChanged { from, to } => moved("base_changed", from, to),
            PullEvent::BranchRenamed { from, to } => moved("branch_renamed", from, to),
            PullEvent::AutoMergeSet { method } => {
                Self { method: Some(method.as_str().to_owned()), ..plain("auto_merge_set") }
            }
            PullEvent::AutoMergeEnded { end, reason } => {
                Self { end: Some(end.as_str()), reason: Some(reason), ..plain("auto_merge_ended") }
            }
            PullEvent::Drafted => plain("drafted"),
            PullEvent::Readied => plain("readied"),
            PullEvent::Closed => plain("closed"),
            PullEvent::Reopened => plain("reopened"),
            PullEvent::ReviewersChanged { asked, withdrawn } => {
                let named = |all: Vec<domain::git::Principal>| Some(all.iter().map(ToString::to_string).collect());
                Self { asked: named(asked), withdrawn: named(withdrawn), ..plain("reviewers_changed") }
            }
            PullEvent::Reviewed { review_id, verdict, threads } => Self {
                review_id: Some(review_id.to_string()),
                verdict: Some(verdict.as_str()),
                threads: Some(threads.into()),
                ..plain("reviewed")
            },
            PullEvent::ReviewDismissed { review_id, reviewer, reason } => Self {
                review_id: Some(review_id.to_string()),
                reviewer: Some(reviewer.to_string()),
                reason: Some(reason),
                ..plain("review_dismissed")
            },
            PullEvent::ThreadOpened { thread_id, path, line, side } => Self {
                thread_id: Some(thread_id.to_string()),
                path: Some(path),
                line: Some(line.into()),
                side: Some(side.as_str()),
                ..plain("thread_opened")
            },
            PullEvent::Merged { commit, method } => {
                Self { to: Some(commit.to_string()), method: Some(method), ..plain("merged") }
            }
        };
        Self { number: self.number, by: self.by, at: self.at, ..told }
    }
}

impl From<TimelineEntry> for TimelineEntryBody {
    fn from(entry: TimelineEntry) -> Self {
        let TimelineEntry { number, by, at, event } = entry;
        Self { number, by: by.to_string(), at: at.as_millis(), ..Self::default() }.told(event)
    }
}

/// A page of what happened to a pull request.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimelineAnswer {
    /// The oldest first.
    entries: Vec<TimelineEntryBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// What happened to a pull request
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/timeline", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn pull_timeline_list(
    repository: Repository<GitRead>,
    query: Query<PageQuery>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Json<TimelineAnswer>> {
    let page = query.page::<i64>(LIST)?;
    let after = page.after.unwrap_or(0);
    let found = state.store.pull_timeline(repository.stored.no, pull.number, after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |entry| entry.number);
    Ok(Json(TimelineAnswer { entries: found.into_iter().map(TimelineEntryBody::from).collect(), cursor }))
}
