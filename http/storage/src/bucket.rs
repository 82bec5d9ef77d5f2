//! Making, listing, changing and deleting buckets.

use actors::{
    resources::{ChangeResource, CreateResource},
    storage::{ChangeBucket, CreateBucket, DeleteBucket, Force},
};
use domain::{
    Error, Timestamp,
    id::ResourceId,
    problems::{Problems, all},
    resource::{Resource, ResourceType},
    storage::{BUCKETS_LISTED_MAX, BucketAddress, BucketChange, BucketDraft, BucketName, Versioning, no_bucket},
};
use http_shell::{
    answer::{Accepted, Created, Json, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    path::Path,
    permission::{ResourcesRead, ResourcesWrite},
    query::{Query, RequestQuery},
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use store::storage::{BucketUsage, StoredBucket};
use utoipa::{IntoParams, ToSchema};

/// A bucket's record.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "resourceId": "res_01jd7rt4m5e9fv2w8x3c6k0hqz", "type": "bucket",
    "name": "reports", "status": "active", "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64,
    "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "location": "main", "region": "us-east-1",
    "arn": "arn:aws:s3:::reports-3c6k0hqz", "physicalName": "reports-3c6k0hqz"
}))]
pub(crate) struct BucketBody {
    /// The organization's id.
    org_id: String,
    /// The bucket's id.
    resource_id: String,
    /// `bucket`.
    #[serde(rename = "type")]
    resource_type: &'static str,
    /// What people call it; no two buckets of an organization have one name.
    name: String,
    /// `active`, `creating`, `deleting` or `error`.
    status: &'static str,
    /// When it was made.
    created_at: i64,
    /// When its record last changed.
    updated_at: i64,
    /// The person who made it, or who made the key that did.
    created_by: String,
    /// The project that it is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<String>,
    /// Where it is kept.
    location: String,
    /// The region that it says it is in.
    region: String,
    /// The bucket's name in Amazon's form.
    arn: String,
    /// The bucket's name over S3.
    physical_name: String,
}

impl From<&Resource> for BucketBody {
    fn from(resource: &Resource) -> Self {
        Self {
            org_id: resource.org_id.to_string(),
            resource_id: resource.id.to_string(),
            resource_type: resource.resource_type.as_str(),
            name: resource.name.clone(),
            status: resource.status.as_str(),
            created_at: resource.created_at.as_millis(),
            updated_at: resource.updated_at.as_millis(),
            created_by: resource.created_by.to_string(),
            project_id: resource.project_id.map(|id| id.to_string()),
            location: resource.location.clone(),
            region: resource.region.clone(),
            arn: format!("arn:aws:s3:::{}", resource.physical_name),
            physical_name: resource.physical_name.clone(),
        }
    }
}

/// How much lies in a bucket: exact, at that moment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "sizeBytes": 52_428_800, "objects": 120, "versions": 3, "uploadBytes": 8_388_608, "at": 1_767_225_600_000_i64
}))]
pub(crate) struct UsageBody {
    /// Bytes of all that is kept, old versions among it.
    size_bytes: u64,
    /// Files.
    objects: u64,
    /// Old versions and delete markers.
    versions: u64,
    /// Bytes of the parts of uploads that are under way, which are in none of the others.
    upload_bytes: u64,
    /// When that was so.
    at: i64,
}

impl UsageBody {
    fn new(usage: BucketUsage, upload_bytes: u64, at: Timestamp) -> Self {
        let BucketUsage { objects, versions, bytes } = usage;
        Self { size_bytes: bytes, objects, versions, upload_bytes, at: at.as_millis() }
    }
}

/// A bucket in the list: its record and how much lies in it.
#[derive(Serialize, ToSchema)]
pub(crate) struct BucketEntry {
    /// The record.
    #[serde(flatten)]
    bucket: BucketBody,
    /// How much lies in it.
    usage: Option<UsageBody>,
}

/// The buckets.
#[derive(Serialize, ToSchema)]
pub(crate) struct BucketsAnswer {
    /// At most 500, by their names.
    buckets: Vec<BucketEntry>,
}

/// The buckets
///
/// All buckets of the organization, those that are being deleted among them.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage")]
pub(crate) async fn storage_list(org: Org<ResourcesRead>, state: State) -> Result<Json<BucketsAnswer>> {
    let (store, now) = (&state.store, state.store.now());
    // All of them, which `storage.max_buckets` bounds: the first by name are no others than those of all.
    let count = store.resources_count(org.id(), ResourceType::Bucket).await?;
    let mut buckets = store.resources(org.id(), ResourceType::Bucket, count).await?;
    let (usages, uploads) = (store.buckets_usage(org.id()).await?, store.buckets_upload_bytes(org.id()).await?);
    buckets.sort_by(|one, two| one.name.cmp(&two.name));
    buckets.truncate(BUCKETS_LISTED_MAX);
    let usage = |id: &ResourceId| {
        let upload_bytes = uploads.get(id).copied().unwrap_or_default();
        usages.get(id).map(|usage| UsageBody::new(*usage, upload_bytes, now))
    };
    let entry = |resource: &Resource| BucketEntry { bucket: resource.into(), usage: usage(&resource.id) };
    Ok(Json(BucketsAnswer { buckets: buckets.iter().map(entry).collect() }))
}

/// A bucket, how it behaves, and how much lies in it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BucketDetail {
    /// The record.
    bucket: BucketBody,
    /// `Enabled`, `Suspended` or `Disabled`; null until it is first switched.
    versioning: Option<&'static str>,
    /// Bytes that it may keep; null without a limit.
    quota_bytes: Option<u64>,
    /// Whether everybody may read its files over S3's protocol.
    public_read: bool,
    /// Whether every write of a file over S3's protocol is audited.
    audit_data: bool,
    /// How much lies in it.
    usage: Option<UsageBody>,
}

async fn detail(state: &State, bucket: &StoredBucket) -> Result<BucketDetail> {
    let (store, no) = (&state.store, bucket.seen.no);
    let (usage, upload_bytes) = (store.bucket_usage(no).await?, store.bucket_upload_bytes(no).await?);
    Ok(BucketDetail {
        bucket: (&bucket.resource).into(),
        versioning: bucket.settings.versioning.map(Versioning::as_str),
        quota_bytes: bucket.settings.quota_bytes.map(domain::storage::Quota::bytes),
        public_read: bucket.settings.public_read,
        audit_data: bucket.settings.audit_data,
        usage: Some(UsageBody::new(usage, upload_bytes, store.now())),
    })
}

/// A bucket
///
/// How it behaves, and how much lies in it: exact at every moment.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}")]
pub(crate) async fn storage_get(
    _org: Org<ResourcesRead>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Object<BucketDetail>> {
    Ok(Object(detail(&state, &bucket).await?))
}

fn versioning(asked: Option<&str>) -> domain::Result<Option<Versioning>> {
    let known = |text: &str| {
        Versioning::from_name(text)
            .ok_or_else(|| Error::invalid("versioning", "Use one of: Enabled, Suspended, Disabled."))
    };
    asked.map(known).transpose()
}

/// A new bucket.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "reports", "versioning": "Enabled"}))]
pub(crate) struct BucketCreate {
    /// 3 to 63 small letters, digits, `-` and `.`, by S3's rules.
    name: String,
    /// `Enabled`, `Suspended` or `Disabled`.
    versioning: Option<String>,
    /// Bytes that it may keep: 1 to 9007199254740992.
    quota_bytes: Option<u64>,
}

impl RequestBody for BucketCreate {
    fn check(&self, problems: &mut Problems) {
        problems.require(versioning(self.versioning.as_deref()).is_ok(), "versioning", VERSIONING);
    }
}

const VERSIONING: &str = "Use one of: Enabled, Suspended, Disabled.";

/// One bucket.
#[derive(Serialize, ToSchema)]
pub(crate) struct BucketAnswer {
    /// The bucket's record.
    bucket: BucketBody,
}

/// Make a bucket
///
/// The name is one by S3's rules; over S3 the bucket gets a name of its own, `physicalName`, which no other bucket has
/// anywhere.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage", responses((status = 409, description =
    "A bucket with this name exists.\n\nAn organization has up to 100 buckets.")))]
pub(crate) async fn storage_create(
    org: Org<ResourcesWrite>,
    body: Body<BucketCreate>,
    state: State,
) -> Result<Created<BucketAnswer>> {
    let BucketCreate { name, versioning: asked, quota_bytes } = body.into_inner();
    let draft = BucketDraft { name, versioning: versioning(asked.as_deref())?, quota_bytes };
    draft.check()?;
    let command = CreateResource(CreateBucket(draft));
    let made = state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    Ok(Created(BucketAnswer { bucket: (&made).into() }))
}

/// What is to be changed of a bucket; what isn't named stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"versioning": "Suspended", "quotaBytes": null}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct BucketPatch {
    /// Another name.
    name: Option<String>,
    /// `Enabled`, `Suspended` or `Disabled`.
    versioning: Option<String>,
    /// Bytes that it may keep: 1 to 9007199254740992; null for any number.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<u64>)]
    quota_bytes: Option<Option<u64>>,
    /// Whether everybody may read its files over S3's protocol.
    public_read: Option<bool>,
    /// Whether every write of a file over S3's protocol is audited.
    audit_data: Option<bool>,
}

impl RequestBody for BucketPatch {}

/// Change a bucket
///
/// The bucket's name, whether it keeps old versions, how much it may keep, and who may read it. The name over S3 stays.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/storage/{resourceId}", responses((status = 409, description =
    "A bucket with this name exists.\n\nVersioning that was on can be suspended, but not disabled.\n\n\
     Public files need a host of their own. Set s3.domain or s3.public_url.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_patch(
    org: Org<ResourcesWrite>,
    address: Path<BucketAddress>,
    body: Body<BucketPatch>,
    state: State,
) -> Result<Json<BucketDetail>> {
    let BucketPatch { name, versioning: asked, quota_bytes, public_read, audit_data } = body.into_inner();
    let name = name.as_deref().map(|name| BucketName::parse("name", name)).transpose();
    let (name, versioning) = all((name, versioning(asked.as_deref())))?;
    let id = named(&state, &org, *address).await?;
    let change = BucketChange { versioning, quota_bytes, public_read, audit_data };
    let command = ChangeResource(ChangeBucket { id, name, change });
    state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    let bucket = state.store.bucket(org.id(), id).await?.ok_or_else(no_bucket)?;
    Ok(Json(detail(&state, &bucket).await?))
}

/// The id of the bucket that a path names.
pub(super) async fn named<P: http_shell::permission::Permission>(
    state: &State,
    org: &Org<P>,
    address: BucketAddress,
) -> Result<ResourceId> {
    match address {
        BucketAddress::Resource(id) => Ok(id),
        BucketAddress::Project(_) => {
            Ok(state.store.bucket_at(org.id(), address).await?.map(|bucket| bucket.id()).ok_or_else(no_bucket)?)
        }
    }
}

/// How a bucket is deleted.
#[derive(Deserialize, IntoParams)]
pub(crate) struct BucketDeleteQuery {
    /// `1` to delete it with all that lies in it; otherwise `0`.
    #[param(example = "0")]
    force: Option<String>,
}

impl RequestQuery for BucketDeleteQuery {
    fn check(&self, problems: &mut Problems) {
        let holds = self.force.as_deref().is_none_or(|text| matches!(text, "0" | "1"));
        problems.require(holds, "force", "Use 0 or 1.");
    }
}

/// Delete a bucket
///
/// The bucket takes nothing any more at once; what lies in it is taken away afterwards, and then its record.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/storage/{resourceId}", responses((status = 409, description =
    "The bucket isn't empty.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_delete(
    org: Org<ResourcesWrite>,
    address: Path<BucketAddress>,
    query: Query<BucketDeleteQuery>,
    state: State,
) -> Result<Accepted<BucketAnswer>> {
    let id = named(&state, &org, *address).await?;
    let force = if query.force.as_deref() == Some("1") { Force::Yes } else { Force::No };
    let command = ChangeResource(DeleteBucket { id, force });
    let deleted = state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    Ok(Accepted(BucketAnswer { bucket: (&deleted).into() }))
}
