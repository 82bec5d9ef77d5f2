//! Files of repositories: one, all of a commit as a ZIP, and folders (contract C 4.3).

use std::time::Duration;

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
};
use actors::git::host::{ENTRIES_MAX, Reading};
use bytes::Bytes;
use domain::{
    Error,
    git::{
        ObjectId, REVISION_LEN,
        objects::{Commit, EntryKind, MediaKind, RepositoryPath, TreeEntry, media_type},
        repository_not_found,
    },
    id::ResourceId,
    problems::Problems,
    storage::{RangeAnswer, range_answer},
};
use http_shell::{
    answer::Json,
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    path::Path,
    permission::GitRead,
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
    upload::refused,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use store::git::{GitFile, GitFileAddress, GitFileQuery};
use utoipa::{IntoParams, ToSchema};

use super::{
    commits::{CommitBody, check_revision},
    lfs,
    running::output,
};

/// Bytes of a file that is answered as it is (contract C 4.3).
const RAW_MAX: u64 = 4 * 1024 * 1024;
/// How long an address of a file or of an archive works (contract C 3).
const LINK_LASTS: Duration = Duration::from_mins(15);
/// What a browser may do with a stranger's file: show it, and nothing else.
const POLICY: &str = "sandbox; default-src 'none'";
/// Digits of a commit's name in the name of its archive.
const SHORT_LEN: usize = 7;

/// `?ref=&path=&download=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct RawQuery {
    /// A branch, a tag or a commit.
    #[param(min_length = 1, max_length = 256, example = "main")]
    r#ref: String,
    /// The file.
    #[param(example = "src/main.rs")]
    path: String,
    /// `1` has browsers save the file.
    #[param(pattern = "^[01]$")]
    download: Option<String>,
}

impl RequestQuery for RawQuery {
    fn check(&self, problems: &mut Problems) {
        check_revision(problems, "ref", Some(&self.r#ref));
        let is_said = self.download.as_deref().is_none_or(|it| matches!(it, "0" | "1"));
        problems.require(is_said, "download", "Use one of: 0, 1.");
    }
}

/// The part of a file that is asked for, and which one the client has.
pub(crate) struct Wanted {
    range: Option<String>,
    known: Option<String>,
}

impl Argument for Wanted {
    fn describe(facts: &mut Facts) {
        facts.header("Range", "One range of bytes, as `bytes=0-1023`.", false);
        facts.header("If-None-Match", "The `ETag` of the file that the client has.", false);
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let text = |name: header::HeaderName| call.header(name).map(str::to_owned);
        Ok(Self { range: text(header::RANGE), known: text(header::IF_NONE_MATCH) })
    }
}

/// Where a large file is.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "status": "ready", "size": 5_000_000,
    "url": "https://troupe.example.com/v1/repos/files/res_01jd7rt4m5e9fv2w8x3c6k0hqz?blob=b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"
}))]
pub(crate) struct LargeFile {
    /// `ready`.
    status: &'static str,
    /// The file's bytes.
    size: u64,
    /// Where it is downloaded from, for 15 minutes and without a credential.
    url: String,
}

/// The bytes of a file
///
/// As text, or as the image or PDF that it is; other bytes as such. The `ETag` is the name of the file's object. A file of more
/// than 4,194,304 bytes is answered as JSON, with the header `x-service-raw: large`, that says where it is. Where Git LFS has a file,
/// it is that file.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/contents/raw", responses(
    (status = 200, description = "The file, or where it is.", content(
        (String = "text/plain"), (String = "application/octet-stream"), (LargeFile = "application/json"))),
    (status = 206, description = "The range that was asked for.", content_type = "application/octet-stream"),
    (status = 304, description = "The file is the one that the client has."),
    (status = 400, description = "That's a folder.\n\nThat's a submodule."),
    (status = 404, description = "Branch or tag not found\n\nFile not found."),
    (status = 416, description = "The file ends before."),
))]
pub(crate) async fn contents_raw(
    repository: Repository<GitRead>,
    query: Query<RawQuery>,
    wanted: Wanted,
    state: State,
) -> Result<HttpResponse> {
    let path = RepositoryPath::parse("path", &query.path)?;
    let (reading, commit) = state.git.commit_named(&repository.stored, query.r#ref.trim()).await?;
    let (oid, size) = file_of(&reading, &commit, &path).await?;
    let stored = &repository.stored;
    let large = lfs::pointed(&state, stored, &reading, (oid, size)).await?;
    let size = large.map_or(size, |object| object.size);
    if size > RAW_MAX {
        let url = match &large {
            Some(object) => lfs::address_of(&state, stored, object, LINK_LASTS),
            None => address(&state, stored.id(), GitFile::Blob(oid), path.name()),
        };
        let body = serde_json::to_vec(&LargeFile { status: "ready", size, url }).map_err(Error::internal)?;
        let mut response = HttpResponse::Ok();
        response.insert_header((header::CONTENT_TYPE, "application/json")).insert_header(("x-service-raw", "large"));
        return Ok(response.body(body));
    }
    let tag = large.map_or_else(|| format!("\"{oid}\""), |object| format!("\"{}\"", object.oid));
    if wanted
        .known
        .as_deref()
        .is_some_and(|known| known.split(',').any(|it| matches!(it.trim(), "*") || it.trim() == tag))
    {
        return Ok(HttpResponse::NotModified().insert_header((header::ETAG, tag)).finish());
    }
    let bytes = match &large {
        Some(object) => lfs::bytes_of(&state, stored, object).await?,
        None => Bytes::from(reading.bytes(oid).await?),
    };
    let shown = media_type(&bytes);
    let (status, bytes, place) = match range_answer(wanted.range.as_deref(), size) {
        RangeAnswer::Whole => (StatusCode::OK, bytes, None),
        RangeAnswer::Part(part) => {
            let (from, to) = (*part.bytes.start(), *part.bytes.end());
            let within = usize::try_from(from).unwrap_or(0)..usize::try_from(to).map_or(bytes.len(), |to| to + 1);
            (StatusCode::PARTIAL_CONTENT, bytes.slice(within), Some(format!("bytes {from}-{to}/{size}")))
        }
        RangeAnswer::Unsatisfiable => {
            (StatusCode::RANGE_NOT_SATISFIABLE, Bytes::new(), Some(format!("bytes */{size}")))
        }
    };
    let mut response = HttpResponse::build(status);
    if let Some(place) = place {
        response.insert_header((header::CONTENT_RANGE, place));
    }
    if query.download.as_deref() == Some("1") {
        response.insert_header((header::CONTENT_DISPOSITION, saved_as(path.name())));
    }
    response.insert_header((header::ETAG, tag)).insert_header((header::ACCEPT_RANGES, "bytes"));
    Ok(as_strangers(&mut response, shown).body(bytes))
}

/// The file that a commit has at a path, and its bytes.
async fn file_of(reading: &Reading, commit: &Commit, path: &RepositoryPath) -> domain::Result<(ObjectId, u64)> {
    let TreeEntry { kind, oid, size, .. } =
        reading.entry(commit.id, path).await?.ok_or_else(|| Error::not_found("File not found"))?;
    match kind {
        EntryKind::Folder => Err(Error::bad_request("folder", "That's a folder.")),
        EntryKind::Submodule => Err(Error::bad_request("submodule", "That's a submodule.")),
        EntryKind::File | EntryKind::Executable | EntryKind::Link => Ok((oid, size.unwrap_or(0))),
    }
}

/// Says of a file what keeps it from running anything where it is shown.
fn as_strangers(response: &mut HttpResponseBuilder, kind: MediaKind) -> &mut HttpResponseBuilder {
    response
        .insert_header((header::CONTENT_TYPE, kind.content_type()))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::CACHE_CONTROL, "private, no-cache"))
}

/// Has a file saved under this name (RFC 6266).
fn saved_as(name: &str) -> String {
    format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(name, NON_ALPHANUMERIC))
}

fn address(state: &State, repository: ResourceId, what: GitFile, name: &str) -> String {
    let expires_at = state.store.now().after(LINK_LASTS);
    let address = GitFileAddress { repository, what, name: name.to_owned(), expires_at };
    format!("{}{}", state.options.public_url, state.store.git_file_address(&address))
}

/// Which commit is wanted.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"ref": "main"}))]
pub(crate) struct ArchiveCreate {
    /// A branch, a tag or a commit: 1 to 256 characters.
    r#ref: String,
}

impl RequestBody for ArchiveCreate {}

/// Where the archive is.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArchiveAnswer {
    /// `ready`: an archive is made while it is downloaded.
    status: &'static str,
    /// Where it is downloaded from, for 15 minutes and without a credential.
    url: String,
}

/// Download the files of a commit
///
/// As a ZIP with one folder in it, without the files that `.gitattributes` keeps out of archives (`export-ignore`).
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/contents/archive", responses(
    (status = 404, description = "Branch or tag not found")))]
pub(crate) async fn contents_archive(
    repository: Repository<GitRead>,
    body: Body<ArchiveCreate>,
    state: State,
) -> Result<Json<ArchiveAnswer>> {
    let text = body.into_inner().r#ref;
    let text = text.trim();
    if !REVISION_LEN.contains(&text.chars().count()) {
        return Err(Error::invalid("ref", "Use 1 to 256 characters.").into());
    }
    let (_, commit) = state.git.commit_named(&repository.stored, text).await?;
    let short: String = commit.id.to_string().chars().take(SHORT_LEN).collect();
    let name = format!("{}-{short}", repository.stored.resource.name);
    let url = address(&state, repository.stored.id(), GitFile::Archive(commit.id), &name);
    Ok(Json(ArchiveAnswer { status: "ready", url }))
}

/// What the server wrote into the address: `blob` of a file, `archive` of a commit.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedGitFile {
    /// The file's object.
    #[param(example = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0")]
    blob: Option<String>,
    /// The commit.
    archive: Option<String>,
    /// As what it is saved.
    #[serde(default)]
    #[param(example = "main.rs")]
    name: String,
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedGitFile {}

/// What a signed address names.
pub(crate) struct Addressed {
    /// What was signed.
    address: GitFileAddress,
    /// The repository that has it.
    reading: Reading,
    /// Bytes of a file.
    size: Option<u64>,
}

impl Argument for Addressed {
    fn describe(facts: &mut Facts) {
        Path::<ResourceId>::describe(facts);
        Query::<SignedGitFile>::describe(facts);
        facts.error(403, "This address was not signed here.");
        facts.error(403, "This address has expired.");
        facts.error(404, "File not found");
        facts.open();
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Path(repository) = Path::<ResourceId>::take(call).await?;
        let Query(signed) = Query::<SignedGitFile>::take(call).await?;
        let SignedGitFile { blob, archive, name, expires, signature } = signed;
        let query = GitFileQuery { blob, archive, name, expires, signature };
        let store = &call.state.store;
        let address = store.git_file_address_verify(repository, query).map_err(refused)?;
        let org_id = store.repository_org(repository).await?.ok_or_else(repository_not_found)?;
        let stored = store.repository(org_id, repository).await?.filter(|stored| stored.purge_at.is_none());
        let reading = call.state.git.reading(&stored.ok_or_else(repository_not_found)?).await?;
        let size = match address.what {
            GitFile::Blob(oid) => Some(reading.size(oid).await?.ok_or_else(|| Error::not_found("File not found"))?),
            GitFile::Archive(_) => None,
        };
        Ok(Self { address, reading, size })
    }
}

/// Download a file or an archive
///
/// The address comes from `contents/raw` or `contents/archive` and needs no credential. What it names is always saved and never
/// shown.
#[utoipa::path(get, path = "/v1/repos/files/{resourceId}", responses(
    (status = 200, description = "The file or the archive.", content(
        (String = "application/octet-stream"), (String = "application/zip")))))]
pub(crate) async fn repository_file_get(found: Addressed, _: State) -> Result<HttpResponse> {
    let Addressed { address, reading, size } = found;
    let mut response = HttpResponse::Ok();
    match address.what {
        GitFile::Blob(oid) => {
            response.insert_header((header::CONTENT_DISPOSITION, saved_as(&address.name)));
            response.no_chunking(size.unwrap_or_default());
            let run = reading.file(oid).await?;
            Ok(as_strangers(&mut response, MediaKind::Other).streaming(output(run, Bytes::new())))
        }
        GitFile::Archive(commit) => {
            let run = reading.archive(commit, &address.name).await?;
            let name = format!("{}.zip", address.name);
            response.insert_header((header::CONTENT_DISPOSITION, saved_as(&name)));
            let response = as_strangers(&mut response, MediaKind::Other);
            response.insert_header((header::CONTENT_TYPE, "application/zip"));
            Ok(response.streaming(output(run, Bytes::new())))
        }
    }
}

/// `?ref=&path=&lastCommit=`.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeQuery {
    /// A branch, a tag or a commit; the default branch where it isn't said.
    #[param(min_length = 1, max_length = 256)]
    r#ref: Option<String>,
    /// A folder; all files where it isn't said.
    path: Option<String>,
    /// `true` has each entry say which commit it is from.
    #[param(default = false)]
    last_commit: Option<bool>,
}

impl RequestQuery for TreeQuery {
    fn check(&self, problems: &mut Problems) {
        check_revision(problems, "ref", self.r#ref.as_deref());
    }
}

/// What is in a folder.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::option_option, reason = "absent, null and a commit are three things")]
#[schema(example = json!({
    "name": "README.md", "type": "file", "size": 812, "oid": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"
}))]
pub(crate) struct EntryBody {
    /// The name; what isn't UTF-8 in it is shown as `�`.
    name: String,
    /// `file`, `executable`, `link`, `folder` or `submodule`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Bytes of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// The object that it is; of a submodule the commit.
    oid: String,
    /// The newest commit that made it what it is, where that is asked for; null where it wasn't found soon enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_commit: Option<Option<CommitBody>>,
}

impl From<TreeEntry> for EntryBody {
    fn from(it: TreeEntry) -> Self {
        Self { name: it.path, kind: it.kind.as_str(), size: it.size, oid: it.oid.to_string(), last_commit: None }
    }
}

/// A folder.
#[derive(Serialize, ToSchema)]
pub(crate) struct TreeAnswer {
    /// The commit whose folder it is.
    commit: String,
    /// What is in it, in git's order; at most 10,000.
    entries: Vec<EntryBody>,
    /// Whether there is no more.
    complete: bool,
}

/// The files of a folder
///
/// `lastCommit=true` looks for the commit of each entry among the folder's last 20,000 commits, for up to five seconds; entries that
/// are older have null.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/tree", responses(
    (status = 400, description = "That's a file.\n\nThat's a submodule."),
    (status = 404, description = "Branch or tag not found\n\nFile not found."),
))]
pub(crate) async fn tree_get(
    repository: Repository<GitRead>,
    query: Query<TreeQuery>,
    state: State,
) -> Result<Json<TreeAnswer>> {
    let path = RepositoryPath::parse_folder("path", query.path.as_deref())?;
    let default = repository.stored.settings.default_branch.as_str();
    let text = query.r#ref.as_deref().map_or(default, str::trim);
    let (reading, commit) = state.git.commit_named(&repository.stored, text).await?;
    let folder = match &path {
        None => commit.tree,
        Some(path) => folder_of(&reading, &commit, path).await?,
    };
    let mut found = reading.entries(folder).await?;
    let complete = found.len() <= ENTRIES_MAX;
    found.truncate(ENTRIES_MAX);
    let latest = match query.last_commit {
        Some(true) => reading.latest(commit.id, path.as_ref(), &found).await?,
        _ => Vec::new(),
    };
    let mut entries: Vec<_> = found.into_iter().map(EntryBody::from).collect();
    for (entry, commit) in entries.iter_mut().zip(latest) {
        entry.last_commit = Some(commit.map(CommitBody::from));
    }
    Ok(Json(TreeAnswer { commit: commit.id.to_string(), entries, complete }))
}

/// The folder that a commit has at a path.
async fn folder_of(reading: &Reading, commit: &Commit, path: &RepositoryPath) -> domain::Result<ObjectId> {
    let entry = reading.entry(commit.id, path).await?.ok_or_else(|| Error::not_found("File not found"))?;
    match entry.kind {
        EntryKind::Folder => Ok(entry.oid),
        EntryKind::Submodule => Err(Error::bad_request("submodule", "That's a submodule.")),
        _ => Err(Error::bad_request("file", "That's a file.")),
    }
}
