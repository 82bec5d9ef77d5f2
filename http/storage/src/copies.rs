//! Copying files.

use actors::storage::{CopyFile, CopyFiles, CopySource, FileAt, LaneKey};
use domain::{
    Context,
    id::{OrgId, ResourceId},
    storage::{
        BucketAddress, CopyPair, CopyPlace, CopyReplaces, FileCopy, Overwrite, ReadConditions, WriteConditions,
        copies_check, no_bucket,
    },
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    permission::ResourcesWrite,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::storage::StoredBucket;
use utoipa::ToSchema;

/// A file and the name of its copy.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"from": "templates/invoice.html", "to": "invoices/january.html"}))]
pub(crate) struct CopyPairBody {
    /// The file's key: up to 1,024 bytes.
    from: String,
    /// The copy's key: up to 1,024 bytes.
    to: String,
    /// The version that is copied; the newest one where none is named.
    #[schema(min_length = 1, max_length = 1_024)]
    version_id: Option<String>,
}

impl From<CopyPairBody> for CopyPair {
    fn from(CopyPairBody { from, to, version_id }: CopyPairBody) -> Self {
        Self { from, to, version_id }
    }
}

/// Another bucket of the organization.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"resourceId": "res_01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
pub(crate) struct OtherBucket {
    /// The bucket's id, or that of the project that has it.
    resource_id: String,
}

/// Files that are to be copied.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"files": [{"from": "templates/invoice.html", "to": "invoices/january.html"}]}))]
pub(crate) struct CopiesBody {
    /// Files: up to 1,000.
    files: Vec<CopyPairBody>,
    /// The bucket that the copies lie in; that of the files where none is named.
    to: Option<OtherBucket>,
    /// Whether copies may take the place of files that are there.
    #[serde(default)]
    overwrite: bool,
}

impl RequestBody for CopiesBody {
    /// A thousand files of the longest names.
    const LIMIT: usize = 4 * 1024 * 1024;
}

/// What became of copies.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"copied": 1}))]
pub(crate) struct CopiedAnswer {
    /// Files that were copied.
    copied: u64,
}

/// Copy files
///
/// All of them or none, within the bucket or into another one of the organization. A copy has its file's headers, metadata
/// and tags, and shares its content: no byte is copied, whatever the size. Each file is copied as it was before the others
/// were.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/objects/copy", responses(
    (status = 400, description = "File names can't end with /.\n\nThe file is already there.\n\nTwo of the copies have the \
        same place.\n\nKeys have at most 1,024 bytes."),
    (status = 403, description = "This bucket is full."),
    (status = 404, description = "File not found.\n\nVersion not found."),
    (status = 409, description = "A file with this name already exists.\n\nThis folder is being moved.\n\nThis bucket is \
        being deleted.")))]
pub(crate) async fn storage_objects_copy(
    org: Org<ResourcesWrite>,
    body: Body<CopiesBody>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<CopiedAnswer>> {
    let CopiesBody { files, to, overwrite } = body.into_inner();
    let to = target(&state, org.id(), to).await?.unwrap_or(bucket.id());
    let place = if to == bucket.id() { CopyPlace::SameBucket } else { CopyPlace::OtherBucket };
    let copies = copies_check(files.into_iter().map(CopyPair::from).collect(), place)?;
    let overwrite = if overwrite { Overwrite::Allowed } else { Overwrite::Refused };
    let buckets = Buckets { org_id: org.id(), from: bucket.id(), to };
    let count = match <[FileCopy; 1]>::try_from(copies) {
        Ok([copy]) => copy_one(&state, buckets, copy, overwrite, org.context()).await?,
        Err(copies) => {
            let command = CopyFiles { org_id: org.id(), source: bucket.id(), copies, overwrite };
            state.actors.bucket.ask(&to, command, org.context()).await?
        }
    };
    Ok(Json(CopiedAnswer { copied: count }))
}

/// From where to where files are copied.
#[derive(Clone, Copy)]
struct Buckets {
    org_id: OrgId,
    from: ResourceId,
    to: ResourceId,
}

/// A single file is copied in the lane of its copy, beside what the bucket does.
async fn copy_one(
    state: &State,
    Buckets { org_id, from, to }: Buckets,
    FileCopy { from: key, to: copy, version }: FileCopy,
    overwrite: Overwrite,
    context: Context,
) -> Result<u64> {
    let lane = LaneKey::of(to, &copy);
    let source = CopySource { bucket: from, key, version, conditions: ReadConditions::default() };
    let conditions = WriteConditions::default().with_overwrite(overwrite);
    let at = FileAt { org_id, key: copy };
    let command = CopyFile { at, source, conditions, replaces: CopyReplaces::default(), class: None, checksum: None };
    state.actors.bucket_lane.ask(&lane, command, context).await?;
    Ok(1)
}

/// The bucket that copies are to lie in, where another one is named.
async fn target(state: &State, org_id: OrgId, to: Option<OtherBucket>) -> Result<Option<ResourceId>> {
    let Some(OtherBucket { resource_id }) = to else { return Ok(None) };
    let found = state.store.bucket_at(org_id, BucketAddress::parse(&resource_id)?).await?;
    Ok(Some(found.ok_or_else(no_bucket)?.id()))
}
