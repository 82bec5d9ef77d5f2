//! Files with their text, and who wrote which line.

use actors::git::host::{History, Reading};
use domain::{
    Error,
    git::{
        ObjectId,
        objects::{BlamedLines, Commit, EntryKind, RepositoryPath, TreeEntry},
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    permission::GitRead,
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::commits::{CommitBody, check_revision};

/// Bytes of a file that is shown, or whose lines are traced back.
const TEXT_MAX: u64 = 1024 * 1024;

/// `?ref=&path=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct FileQuery {
    /// A branch, a tag or a commit; the default branch where it isn't said.
    #[param(min_length = 1, max_length = 256)]
    r#ref: Option<String>,
    /// The file.
    #[param(example = "src/main.rs")]
    path: String,
}

impl RequestQuery for FileQuery {
    fn check(&self, problems: &mut Problems) {
        check_revision(problems, "ref", self.r#ref.as_deref());
    }
}

/// A file of a commit.
struct Found {
    reading: Reading,
    commit: Commit,
    path: RepositoryPath,
    entry: TreeEntry,
}

impl Found {
    async fn find(state: &State, repository: &Repository<GitRead>, query: &FileQuery) -> domain::Result<Self> {
        let path = RepositoryPath::parse("path", &query.path)?;
        let default = repository.stored.settings.default_branch.as_str();
        let text = query.r#ref.as_deref().map_or(default, str::trim);
        let (reading, commit) = state.git.commit_named(&repository.stored, text).await?;
        let entry = reading.entry(commit.id, &path).await?.ok_or_else(|| Error::not_found("File not found"))?;
        match entry.kind {
            EntryKind::Folder => Err(Error::bad_request("folder", "That's a folder.")),
            EntryKind::Submodule => Err(Error::bad_request("submodule", "That's a submodule.")),
            EntryKind::File | EntryKind::Executable | EntryKind::Link => Ok(Self { reading, commit, path, entry }),
        }
    }
}

/// A file, and its text.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileAnswer {
    /// The commit whose file it is.
    commit: String,
    /// The path.
    path: String,
    /// `file`, `executable` or `link`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Bytes.
    size: u64,
    /// The object that it is.
    oid: String,
    /// The text; null where it isn't UTF-8, or has more than 1 MB.
    text: Option<String>,
    /// The last commit that changed it.
    last_commit: Option<CommitBody>,
}

/// A file with its text
///
/// Of a link the text is where it leads. The bytes of any file come from `contents/raw`.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/file", responses(
    (status = 400, description = "That's a folder.\n\nThat's a submodule."),
    (status = 404, description = "Branch or tag not found\n\nFile not found"),
))]
pub(crate) async fn file_get(
    repository: Repository<GitRead>,
    query: Query<FileQuery>,
    state: State,
) -> Result<Json<FileAnswer>> {
    let Found { reading, commit, path, entry } = Found::find(&state, &repository, &query).await?;
    let size = entry.size.unwrap_or_default();
    let bytes = if size <= TEXT_MAX { Some(reading.bytes(entry.oid).await?) } else { None };
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|text| !text.contains('\0'));
    let asked = History { limit: 1, path: Some(path.clone()), ..History::default() };
    let last = reading.history(commit.id, &asked).await?.into_iter().next();
    Ok(Json(FileAnswer {
        commit: commit.id.to_string(),
        path: path.as_str().to_owned(),
        kind: entry.kind.as_str(),
        size,
        oid: entry.oid.to_string(),
        text,
        last_commit: last.map(CommitBody::from),
    }))
}

/// Lines of a file that came with one commit.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "from": 3, "lines": 2, "commit": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "originalFrom": 1,
    "originalPath": "src/main.rs"
}))]
pub(crate) struct BlameRange {
    /// The first of them, from 1.
    from: u64,
    /// How many they are.
    lines: u64,
    /// The commit that they came with.
    commit: String,
    /// Which line the first of them was in that commit.
    original_from: u64,
    /// What the file was called there.
    original_path: String,
}

impl From<BlamedLines> for BlameRange {
    fn from(it: BlamedLines) -> Self {
        Self {
            from: it.from,
            lines: it.count,
            commit: it.commit.to_string(),
            original_from: it.was_from,
            original_path: it.was_in,
        }
    }
}

/// The commits that the lines of a file came with.
#[derive(Serialize, ToSchema)]
pub(crate) struct BlameAnswer {
    /// The commit whose file it is.
    commit: String,
    /// The lines, in their order.
    ranges: Vec<BlameRange>,
    /// The commits that they came with, the newest first.
    commits: Vec<CommitBody>,
}

/// Trace back the lines of a file
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/blame", responses(
    (status = 400, description = "That's a folder.\n\nThat's a submodule."),
    (status = 404, description = "Branch or tag not found\n\nFile not found"),
    (status = 413, description = "Lines are traced back in files of up to 1 MB."),
))]
pub(crate) async fn blame_get(
    repository: Repository<GitRead>,
    query: Query<FileQuery>,
    state: State,
) -> Result<Json<BlameAnswer>> {
    let Found { reading, commit, path, entry } = Found::find(&state, &repository, &query).await?;
    if entry.size.unwrap_or_default() > TEXT_MAX {
        return Err(Error::too_large("Lines are traced back in files of up to 1 MB.").into());
    }
    let lines = reading.blame(commit.id, &path).await?;
    let mut oids: Vec<ObjectId> = lines.iter().map(|it| it.commit).collect();
    oids.sort_unstable();
    oids.dedup();
    let mut commits: Vec<Commit> = reading.commits(&oids).await?.into_values().collect();
    commits.sort_by_key(|it| (std::cmp::Reverse(it.committer.at), it.id));
    Ok(Json(BlameAnswer {
        commit: commit.id.to_string(),
        ranges: lines.into_iter().map(BlameRange::from).collect(),
        commits: commits.into_iter().map(CommitBody::from).collect(),
    }))
}
