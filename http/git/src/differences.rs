//! How commits differ.

use actix_web::{HttpResponse, http::header};
use actors::git::host::History;
use bytes::Bytes;
use domain::{
    Error,
    git::{
        ObjectId,
        objects::{EntryKind, FileChange, Hunk, LineCounts, Patch, RepositoryPath},
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    argument::Argument,
    call::Call,
    cursor,
    error::Result,
    facts::Facts,
    permission::GitRead,
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    commits::{ListedCommit, check_revision},
    running::output,
};

/// The name of the pages of differences in their cursors.
const LIST: &str = "diff";
/// Commits of a comparison.
const COMPARED_COMMITS_MAX: u64 = 250;
/// Files of a comparison.
const COMPARED_FILES_MAX: usize = 3_000;
/// Files of one page of differences.
const PAGE_FILES_MAX: usize = 100;
/// The type of a patch.
const PATCH_TYPE: &str = "text/x-diff";

/// `?base=&head=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct CompareQuery {
    /// What is compared with: a branch, a tag or a commit; the default branch where it isn't said.
    #[param(min_length = 1, max_length = 256)]
    base: Option<String>,
    /// What is compared: a branch, a tag or a commit.
    #[param(min_length = 1, max_length = 256, example = "feature")]
    head: String,
}

impl RequestQuery for CompareQuery {
    fn check(&self, problems: &mut Problems) {
        check_revision(problems, "base", self.base.as_deref());
        check_revision(problems, "head", Some(&self.head));
    }
}

/// A file that two commits have differently.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"path": "src/main.rs", "status": "modified", "binary": false, "additions": 3, "deletions": 1}))]
pub(crate) struct ChangedFile {
    /// The path; what isn't UTF-8 in it is shown as `�`.
    path: String,
    /// The path that it had, where it is renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_path: Option<String>,
    /// `added`, `deleted`, `modified`, `renamed` or `retyped`, as where a link stands now where a file was.
    status: &'static str,
    /// What it was: `file`, `executable`, `link` or `submodule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_type: Option<&'static str>,
    /// What it is.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The object that it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_oid: Option<String>,
    /// The object that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    oid: Option<String>,
}

impl From<FileChange> for ChangedFile {
    fn from(it: FileChange) -> Self {
        let shown = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
        let kind = |side: Option<(EntryKind, ObjectId)>| side.map(|(kind, _)| kind.as_str());
        let oid = |side: Option<(EntryKind, ObjectId)>| side.map(|(_, oid)| oid.to_string());
        Self {
            path: shown(&it.path),
            old_path: it.old_path.as_ref().map(shown),
            status: it.kind.as_str(),
            old_type: kind(it.before),
            kind: kind(it.after),
            old_oid: oid(it.before),
            oid: oid(it.after),
        }
    }
}

/// A file that two commits have differently, and how many lines it gained and lost.
#[derive(Serialize, ToSchema)]
pub(crate) struct CountedFile {
    #[serde(flatten)]
    file: ChangedFile,
    /// Lines that weren't there; null for what has no lines, and for all where more than 3,000 files differ.
    additions: Option<u64>,
    /// Lines that are gone.
    deletions: Option<u64>,
}

impl CountedFile {
    pub(super) fn new(file: FileChange, counts: Option<&LineCounts>) -> Self {
        let (additions, deletions) = match counts {
            Some(LineCounts::Text { added, deleted }) => (Some(*added), Some(*deleted)),
            Some(LineCounts::Binary) | None => (None, None),
        };
        Self { file: file.into(), additions, deletions }
    }
}

/// How two commits differ.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompareAnswer {
    /// The commit that is compared with.
    base: String,
    /// The commit that is compared.
    head: String,
    /// The commit in which their histories part; null where they never met.
    merge_base: Option<String>,
    /// Commits that only the head has.
    ahead: u64,
    /// Commits that only the base has.
    behind: u64,
    /// Whether there are no more of them: counting ends after 50,000 commits.
    exact: bool,
    /// The commits that only the head has, the newest first; at most 250.
    commits: Vec<ListedCommit>,
    /// What the head changed since their histories part; at most 3,000 files.
    files: Vec<CountedFile>,
    /// Whether there are no more commits and files.
    complete: bool,
}

/// Compare two commits
///
/// What a pull request from `head` into `base` would bring.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/compare", responses(
    (status = 404, description = "Branch or tag not found")))]
pub(crate) async fn compare_get(
    repository: Repository<GitRead>,
    query: Query<CompareQuery>,
    state: State,
) -> Result<Json<CompareAnswer>> {
    let stored = &repository.stored;
    let base = query.base.as_deref().unwrap_or(stored.settings.default_branch.as_str()).trim();
    let (_, base) = state.git.commit_named(stored, base).await?;
    let (reading, head) = state.git.commit_named(stored, query.head.trim()).await?;
    let merge_base = reading.merge_base(base.id, head.id).await?;
    let divergence = reading.divergences(base.id, &[head.id]).await?.into_iter().next();
    let divergence = divergence.ok_or_else(|| Error::internal("git counted nothing"))?;
    let asked = History { limit: COMPARED_COMMITS_MAX + 1, without: Some(base.id), ..History::default() };
    let mut commits = reading.history(head.id, &asked).await?;
    let changes = reading.changes(merge_base, head.id).await?;
    let has_all_commits = commits.len() as u64 <= COMPARED_COMMITS_MAX;
    let complete = has_all_commits && !changes.is_cut && changes.files.len() <= COMPARED_FILES_MAX;
    commits.truncate(usize::try_from(COMPARED_COMMITS_MAX).unwrap_or(usize::MAX));
    let files = changes.files.into_iter().take(COMPARED_FILES_MAX).enumerate();
    let files = files.map(|(at, file)| CountedFile::new(file, changes.counts.get(at)));
    Ok(Json(CompareAnswer {
        base: base.id.to_string(),
        head: head.id.to_string(),
        merge_base: merge_base.map(|oid| oid.to_string()),
        ahead: divergence.ahead,
        behind: divergence.behind,
        exact: divergence.is_exact,
        commits: commits.into_iter().map(ListedCommit::from).collect(),
        files: files.collect(),
        complete,
    }))
}

/// `?base=&head=&path=&cursor=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct DiffQuery {
    /// What is compared with: a branch, a tag or a commit; the first commit that the head follows where it isn't said.
    #[param(min_length = 1, max_length = 256)]
    base: Option<String>,
    /// What is compared: a branch, a tag or a commit.
    #[param(min_length = 1, max_length = 256, example = "feature")]
    head: String,
    /// Only this file, or what is in this folder.
    path: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
}

impl RequestQuery for DiffQuery {
    fn check(&self, problems: &mut Problems) {
        check_revision(problems, "base", self.base.as_deref());
        check_revision(problems, "head", Some(&self.head));
    }
}

/// Whether the client takes a patch rather than JSON.
pub(crate) struct AsPatch(bool);

impl Argument for AsPatch {
    fn describe(facts: &mut Facts) {
        facts.header("Accept", "`text/x-diff` for the whole difference as a patch that `git apply` takes.", false);
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let types = call.header(header::ACCEPT).unwrap_or_default().split(',');
        let is_asked = types.filter_map(|it| it.split(';').next()).any(|it| it.trim().eq_ignore_ascii_case(PATCH_TYPE));
        Ok(Self(is_asked))
    }
}

/// Lines that two files have differently, with three lines around them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "heading": "fn main() {",
    "lines": [" one", "-two", "+2", "+three"]
}))]
pub(crate) struct HunkBody {
    /// The line of the old file that it begins with, from 1; 0 in a file that is empty.
    old_start: u64,
    /// Lines of the old file.
    old_lines: u64,
    /// The line of the new file that it begins with.
    new_start: u64,
    /// Lines of the new file.
    new_lines: u64,
    /// A line before it that says where it is, as the head of a function; it may be empty.
    heading: String,
    /// The lines. Each begins with a blank, `+` or `-`; one that begins with `\` says that the line before it has no end.
    lines: Vec<String>,
}

impl From<Hunk> for HunkBody {
    fn from(it: Hunk) -> Self {
        let Hunk { old_start, old_lines, new_start, new_lines, heading, lines } = it;
        Self { old_start, old_lines, new_start, new_lines, heading, lines }
    }
}

/// A file, and the lines that two commits have differently.
#[derive(Serialize, ToSchema)]
pub(crate) struct DiffedFile {
    #[serde(flatten)]
    file: ChangedFile,
    /// Whether it has no lines that could be compared.
    binary: bool,
    /// Whether all its lines are here: differences of more than 1 MB are cut.
    complete: bool,
    /// The lines.
    hunks: Vec<HunkBody>,
}

impl DiffedFile {
    fn new((file, parts): (FileChange, Vec<Patch>)) -> Self {
        Self {
            file: file.into(),
            binary: parts.iter().any(|part| part.is_binary),
            complete: !parts.iter().any(|part| part.is_cut),
            hunks: parts.into_iter().flat_map(|part| part.hunks).map(HunkBody::from).collect(),
        }
    }
}

/// A page of what two commits have differently.
#[derive(Serialize, ToSchema)]
pub(crate) struct DiffAnswer {
    /// The commit that is compared with; null where the head is compared with nothing.
    base: Option<String>,
    /// The commit that is compared.
    head: String,
    /// The files, in git's order.
    files: Vec<DiffedFile>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The commits of a difference, and how many of its files were shown.
struct DiffPage {
    base: Option<ObjectId>,
    head: ObjectId,
    shown: usize,
}

impl DiffPage {
    fn read(position: &str) -> domain::Result<Self> {
        let mut parts = position.split(' ');
        let mut oid = || parts.next()?.parse::<ObjectId>().ok();
        let read = oid().zip(oid());
        let read = read.zip(parts.next().and_then(|shown| shown.parse().ok()));
        let ((base, head), shown) = read.ok_or_else(|| Error::bad_request("invalid_cursor", "Invalid cursor"))?;
        Ok(Self { base: base.given(), head, shown })
    }

    fn cursor(&self) -> String {
        cursor::write(LIST, format_args!("{} {} {}", self.base.unwrap_or(ObjectId::ZERO), self.head, self.shown))
    }

    async fn first(state: &State, repository: &Repository<GitRead>, query: &DiffQuery) -> domain::Result<Self> {
        let stored = &repository.stored;
        let (_, head) = state.git.commit_named(stored, query.head.trim()).await?;
        let base = match &query.base {
            Some(base) => Some(state.git.commit_named(stored, base.trim()).await?.1.id),
            None => head.parents.first().copied(),
        };
        Ok(Self { base, head: head.id, shown: 0 })
    }
}

/// What two commits have differently
///
/// Line by line, as `git diff base head` shows it; for what a pull request brings, say the `mergeBase` of the comparison as `base`.
/// A page has up to 100 files and 1 MB of lines. With `Accept: text/x-diff` all of it comes as one patch.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/diff", responses(
    (status = 200, description = "The files and their lines.", content(
        (DiffAnswer = "application/json"), (String = "text/x-diff"))),
    (status = 400, description = "Invalid cursor"),
    (status = 404, description = "Branch or tag not found"),
))]
pub(crate) async fn diff_get(
    repository: Repository<GitRead>,
    query: Query<DiffQuery>,
    AsPatch(is_patch): AsPatch,
    state: State,
) -> Result<HttpResponse> {
    let path = RepositoryPath::parse_folder("path", query.path.as_deref())?;
    let position = query.cursor.as_deref().map(|text| cursor::read::<String>(LIST, text)).transpose()?;
    let mut page = match position {
        Some(position) => DiffPage::read(&position)?,
        None => DiffPage::first(&state, &repository, &query).await?,
    };
    let reading = state.git.reading(&repository.stored).await?;
    let asked: Vec<ObjectId> = page.base.into_iter().chain([page.head]).collect();
    reading.require_commits(&asked).await?;
    if is_patch {
        let run = reading.whole_patch(page.base, page.head, path.as_ref()).await?;
        let mut response = HttpResponse::Ok();
        response.insert_header((header::CONTENT_TYPE, "text/x-diff; charset=utf-8"));
        response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
        return Ok(response.streaming(output(run, Bytes::new())));
    }
    let (files, _) = reading.changed_files(page.base, page.head, path.as_ref()).await?;
    let left = files.get(page.shown..).unwrap_or_default();
    let shown = &left[..left.len().min(PAGE_FILES_MAX)];
    let patches = if shown.is_empty() { Vec::new() } else { reading.patches(page.base, page.head, shown).await? };
    let (base, head) = (page.base.map(|oid| oid.to_string()), page.head.to_string());
    page.shown += patches.len();
    let cursor = (!patches.is_empty() && page.shown < files.len()).then(|| page.cursor());
    let files = patches.into_iter().map(DiffedFile::new).collect();
    Ok(HttpResponse::Ok().json(DiffAnswer { base, head, files, cursor }))
}
