//! Commits, as they are answered.

use actors::git::host::History;
use domain::{
    Timestamp,
    git::{
        REVISION_LEN, Revision,
        objects::{Commit, RepositoryPath, Signature},
    },
    problems::Problems,
};
use http_shell::{
    answer::{Json, Object},
    cursor,
    error::Result,
    paging::PageQuery,
    path::{Path, PathParameter},
    permission::GitRead,
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The name of the list in its cursors.
const LIST: &str = "commits";
/// Characters of a message where a list shows it.
const MESSAGE_SHOWN: usize = 1_000;
/// Characters of what is looked for.
const WORD_MAX: usize = 256;

/// A person of a commit, as git was told.
#[derive(Serialize, ToSchema)]
pub(crate) struct SignatureBody {
    /// The person's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The person's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// When, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<i64>,
}

impl From<Signature> for SignatureBody {
    fn from(it: Signature) -> Self {
        Self { name: it.name, email: it.email, date: it.at.map(Timestamp::as_millis) }
    }
}

/// A commit.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "message": "Say hello",
    "author": {"name": "Ada", "email": "ada@example.com", "date": 1_767_225_600_000_i64},
    "committedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct CommitBody {
    /// The commit's name.
    id: String,
    /// What it says: its first 1,000 characters.
    message: String,
    /// The person who wrote it.
    author: SignatureBody,
    /// When it was put where it is; null where it doesn't say.
    committed_at: Option<i64>,
}

impl From<Commit> for CommitBody {
    fn from(it: Commit) -> Self {
        Self {
            id: it.id.to_string(),
            message: it.message.trim_end().chars().take(MESSAGE_SHOWN).collect(),
            author: it.author.into(),
            committed_at: it.committer.at.map(Timestamp::as_millis),
        }
    }
}

/// A commit, with what comes before it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ListedCommit {
    #[serde(flatten)]
    commit: CommitBody,
    /// The commits that it follows; a merge has several.
    parents: Vec<String>,
}

impl From<Commit> for ListedCommit {
    fn from(it: Commit) -> Self {
        Self { parents: it.parents.iter().map(ToString::to_string).collect(), commit: it.into() }
    }
}

/// `?ref=&path=&author=&q=&since=&until=&cursor=&limit=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct CommitsQuery {
    /// A branch, a tag or a commit; the default branch where it isn't said.
    #[param(min_length = 1, max_length = 256)]
    r#ref: Option<String>,
    /// Only commits that change this file, or something in this folder.
    path: Option<String>,
    /// Only commits whose author's name or address has this part, regardless of case.
    #[param(min_length = 1, max_length = 256)]
    author: Option<String>,
    /// Only commits whose message has this part, regardless of case.
    #[param(min_length = 1, max_length = 256)]
    q: Option<String>,
    /// Only commits that are not older, in milliseconds since the Unix epoch.
    #[param(minimum = 0)]
    since: Option<i64>,
    /// Only commits that are not younger, in milliseconds since the Unix epoch.
    #[param(minimum = 0)]
    until: Option<i64>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

/// Requires that what names a commit has a length that it can have.
pub(super) fn check_revision(problems: &mut Problems, field: &'static str, text: Option<&str>) {
    let fits = text.is_none_or(|text| REVISION_LEN.contains(&text.trim().chars().count()));
    problems.require(fits, field, "Use 1 to 256 characters.");
}

impl RequestQuery for CommitsQuery {
    fn check(&self, problems: &mut Problems) {
        check_revision(problems, "ref", self.r#ref.as_deref());
        for (field, word) in [("author", &self.author), ("q", &self.q)] {
            let fits =
                |word: &String| (1..=WORD_MAX).contains(&word.chars().count()) && !word.contains(char::is_control);
            problems.require(word.as_ref().is_none_or(fits), field, "Use 1 to 256 characters.");
        }
        for (field, moment) in [("since", self.since), ("until", self.until)] {
            problems.require(moment.is_none_or(|moment| moment >= 0), field, "Must not be negative.");
        }
        PageQuery { cursor: None, limit: self.limit }.check(problems);
    }
}

/// A page of commits.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommitsAnswer {
    /// The newest first.
    pub(super) commits: Vec<ListedCommit>,
    /// For the next page; null on the last one.
    pub(super) cursor: Option<String>,
}

/// The commits of a branch
///
/// And all that lead to them. The pages of one list show one history, also where the branch moves meanwhile.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/commits", responses(
    (status = 400, description = "Invalid cursor"),
    (status = 404, description = "Branch or tag not found"),
))]
pub(crate) async fn commits_list(
    repository: Repository<GitRead>,
    query: Query<CommitsQuery>,
    state: State,
) -> Result<Json<CommitsAnswer>> {
    let page = PageQuery { cursor: query.cursor.clone(), limit: query.limit };
    let stored = &repository.stored;
    let (named, skip) = match page.after::<String>(LIST)? {
        Some(position) => read_position(&position)?,
        None => (query.r#ref.as_deref().unwrap_or(stored.settings.default_branch.as_str()).trim().to_owned(), 0),
    };
    let path = RepositoryPath::parse_folder("path", query.path.as_deref())?;
    let limit = page.limit();
    let asked = History {
        skip,
        limit: limit + 1,
        without: None,
        path,
        author: query.author.clone(),
        message: query.q.clone(),
        since: query.since.map(|at| at.div_euclid(1_000)),
        until: query.until.map(|at| at.div_euclid(1_000)),
    };
    if state.git.refs(stored.no).await?.is_empty() && query.r#ref.is_none() {
        return Ok(Json(CommitsAnswer { commits: Vec::new(), cursor: None }));
    }
    let (reading, from) = state.git.commit_named(stored, &named).await?;
    let mut found = reading.history(from.id, &asked).await?;
    let is_more = found.len() as u64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let cursor = is_more.then(|| cursor::write(LIST, format_args!("{} {}", from.id, skip + limit)));
    Ok(Json(CommitsAnswer { commits: found.into_iter().map(ListedCommit::from).collect(), cursor }))
}

/// The commit that a list began at, and how many of it were shown.
fn read_position(position: &str) -> domain::Result<(String, u64)> {
    let read = position.split_once(' ').and_then(|(from, skip)| Some((from.to_owned(), skip.parse().ok()?)));
    read.ok_or_else(|| domain::Error::bad_request("invalid_cursor", "Invalid cursor"))
}

/// What names a commit in a path: all 40 digits, or as many as no other one begins with.
pub(crate) struct CommitSha(String);

impl PathParameter for CommitSha {
    const NAME: &'static str = "sha";
    const DESCRIPTION: &'static str = "A commit: its name, or the first 7 or more digits of it.";
    const EXAMPLE: &'static str = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0";
    const NOT_FOUND: &'static str = "Commit not found";

    fn read(text: &str) -> Option<Self> {
        let is_one = !matches!(Revision::find(&[], text), Revision::Unknown);
        is_one.then(|| Self(text.to_owned()))
    }
}

/// A commit, whole.
#[derive(Serialize, ToSchema)]
pub(crate) struct WholeCommit {
    #[serde(flatten)]
    listed: ListedCommit,
    /// All that it says.
    text: String,
    /// The person who put it where it is.
    committer: SignatureBody,
    /// The object of its files.
    tree: String,
}

/// One commit.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommitAnswer {
    /// The commit.
    commit: WholeCommit,
}

/// A commit
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/commits/{sha}")]
pub(crate) async fn commit_get(
    repository: Repository<GitRead>,
    Path(CommitSha(sha)): Path<CommitSha>,
    state: State,
) -> Result<Object<CommitAnswer>> {
    let commit = state.git.commit_of(&repository.stored, &sha).await?;
    Ok(Object(CommitAnswer {
        commit: WholeCommit {
            text: commit.message.clone(),
            committer: commit.committer.clone().into(),
            tree: commit.tree.to_string(),
            listed: commit.into(),
        },
    }))
}
