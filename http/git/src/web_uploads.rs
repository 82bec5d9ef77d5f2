//! Files that are sent before the commit that takes them (contract C 4.3).

use std::time::Instant;

use actors::git::{BeginWebUpload, PutUploadedFile};
use domain::{
    Context,
    git::{
        repository_not_found,
        web::{WEB_UPLOAD_LINKS_LAST, WebUploadId, web_upload_not_found, web_upload_sizes},
    },
    id::{OrgId, ResourceId},
};
use http_shell::{
    answer::{Created, NoContent},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    path::Path,
    permission::GitWrite,
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
    upload::{AddressUpload, abandon, refused},
};
use serde::{Deserialize, Serialize};
use store::git::{GitUploadAddress, GitUploadQuery};
use utoipa::{IntoParams, ToSchema};

/// A file that is to be sent.
#[derive(Deserialize, ToSchema)]
pub(crate) struct FileToUpload {
    /// The file's bytes: 0 to 52,428,800.
    size: u64,
}

/// Files that are to be sent.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"files": [{"size": 2_048}]}))]
pub(crate) struct WebUploadCreate {
    /// 1 to 1,000 files.
    files: Vec<FileToUpload>,
}

impl RequestBody for WebUploadCreate {}

/// Where a file is sent.
#[derive(Serialize, ToSchema)]
pub(crate) struct FileUploadUrl {
    /// The file's number, by which a change names it.
    index: u64,
    /// The address to PUT it to, for an hour and without a credential; takes exactly its size.
    url: String,
}

/// Where files are sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "uploadId": "5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e",
    "uploads": [{
        "index": 0,
        "url": "https://troupe.example.com/v1/repos/files/res_01jd7rt4m5e9fv2w8x3c6k0hqz\
                ?upload=5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e&index=0&size=2048&expires=1767229200000&signature=Zm9v"
    }]
}))]
pub(crate) struct WebUploadAnswer {
    /// The id that the commit names.
    upload_id: String,
    /// An address for each file, in their order.
    uploads: Vec<FileUploadUrl>,
}

/// Upload files for a commit
///
/// PUT each file to its address within an hour, then commit them with `contents`. What isn't committed is removed after a day.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/contents/uploads", responses(
    (status = 400, description = "You have at most 100 uploads that aren't committed in a repository."),
    (status = 409, description = "This repository is deleted. Restore it first."),
    (status = 413, description = "Web commits are limited to 50 MB. Push larger changes with git."),
))]
pub(crate) async fn contents_upload_create(
    repository: Repository<GitWrite>,
    body: Body<WebUploadCreate>,
    state: State,
) -> Result<Created<WebUploadAnswer>> {
    let sizes: Vec<u64> = body.into_inner().files.into_iter().map(|file| file.size).collect();
    web_upload_sizes(&sizes)?;
    let (upload, stored) = (WebUploadId::new()?, &repository.stored);
    let command = BeginWebUpload { org_id: repository.org_id(), id: upload, sizes: sizes.clone() };
    state.actors.repository.ask(&stored.id(), command, repository.context()).await?;
    let expires_at = state.store.now().after(WEB_UPLOAD_LINKS_LAST);
    let url = |(index, size): (u64, u64)| {
        let address = GitUploadAddress { repository: stored.id(), upload, index, size, expires_at };
        let url = format!("{}{}", state.options.public_url, state.store.git_upload_address(&address));
        FileUploadUrl { index, url }
    };
    let uploads = (0..).zip(sizes).map(url).collect();
    Ok(Created(WebUploadAnswer { upload_id: upload.to_string(), uploads }))
}

/// What the server wrote into the address.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedGitUpload {
    /// The upload.
    #[serde(default)]
    #[param(example = "5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e")]
    upload: String,
    /// The file's number in it.
    #[serde(default)]
    index: u64,
    /// The file's bytes.
    size: u64,
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedGitUpload {}

/// A file of an upload, and its bytes.
pub(crate) struct SentFile {
    org_id: OrgId,
    repository: ResourceId,
    address: GitUploadAddress,
    body: AddressUpload,
}

impl Argument for SentFile {
    fn describe(facts: &mut Facts) {
        Path::<ResourceId>::describe(facts);
        Query::<SignedGitUpload>::describe(facts);
        AddressUpload::describe(facts);
        facts.error(404, "Upload not found.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Path(repository) = Path::<ResourceId>::take(call).await?;
        let SignedGitUpload { upload, index, size, expires, signature } = Query::take(call).await?.0;
        let query = GitUploadQuery { upload, index, size, expires, signature };
        let store = &call.state.store;
        let address = store.git_upload_address_verify(repository, &query).map_err(refused)?;
        let org_id = store.repository_org(repository).await?.ok_or_else(repository_not_found)?;
        let stored = store.repository(org_id, repository).await?.ok_or_else(repository_not_found)?;
        let file = store.web_upload_file(stored.no, address.upload, address.index).await?;
        file.ok_or_else(web_upload_not_found)?;
        Ok(Self { org_id, repository, address, body: AddressUpload::take(call).await? })
    }
}

/// Send a file for a commit
///
/// The address comes from `contents/uploads` and needs no credential. It takes exactly as many bytes as it says; sent again, a file
/// is in the place of what was sent before.
#[utoipa::path(put, path = "/v1/repos/files/{resourceId}", responses(
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn repository_file_put(sent: SentFile, state: State) -> Result<NoContent> {
    let SentFile { org_id, repository, address, body } = sent;
    let context = body.context();
    let kept = body.keep(&state, org_id, address.size).await?;
    let command = PutUploadedFile { upload: address.upload, index: address.index, content: kept.clone() };
    // The bytes took as long as they kept coming; what follows has the usual time.
    let context = Context { deadline: Instant::now() + state.options.request_timeout, ..context };
    let put = state.actors.repository.ask(&repository, command, context).await;
    if let Err(refusal) = put {
        abandon(&state, &kept).await;
        return Err(refusal.into());
    }
    Ok(NoContent)
}
