//! Lifecycle rules, CORS rules and tags of buckets: what is put replaces all that was there, as over S3.

use actors::{resources::ChangeResource, storage::PutBucketRules};
use domain::{
    Error, Timestamp,
    problems::Problems,
    storage::{
        BucketAddress, CorsMethod, CorsRule, CorsRules, FILE_TAGS, LifecycleRule, LifecycleRules, RESOURCE_TAGS,
        RuleFilter, Tag, TagLimits, Tags,
    },
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    path::Path,
    permission::{ResourcesRead, ResourcesWrite},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::storage::{BucketRules, StoredBucket};
use utoipa::ToSchema;

use super::bucket::named;

/// A tag.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct BucketTagBody {
    /// The name of a tag.
    key: String,
    /// What it says.
    #[serde(default)]
    value: String,
}

fn tags_read(path: &str, tags: Vec<BucketTagBody>, limits: TagLimits) -> domain::Result<Tags> {
    Tags::check(path, tags.into_iter().map(|BucketTagBody { key, value }| Tag { key, value }).collect(), limits)
}

fn tags_written(tags: &Tags) -> Vec<BucketTagBody> {
    tags.iter().map(|(key, value)| BucketTagBody { key: key.to_owned(), value: value.to_owned() }).collect()
}

/// For which files a lifecycle rule is: all that is named must fit.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleFilterBody {
    /// What keys begin with: up to 1,024 bytes.
    #[serde(default)]
    prefix: String,
    /// Tags that a file has, among others: up to 10.
    #[serde(default)]
    tags: Vec<BucketTagBody>,
    /// Bytes that a file has more of.
    size_over: Option<u64>,
    /// Bytes that a file has less of.
    size_under: Option<u64>,
}

/// What becomes in time of the files that a filter names.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"id": "logs", "enabled": true, "filter": {"prefix": "logs/"}, "expireDays": 30}))]
pub(crate) struct LifecycleRuleBody {
    /// What it is called: up to 255 characters, one of its own; one is given to a rule that has none.
    #[serde(default)]
    id: String,
    /// Whether it counts.
    enabled: bool,
    /// For which files; for all, when it is absent.
    filter: Option<RuleFilterBody>,
    /// Days after which a file expires; 1 or more.
    expire_days: Option<u32>,
    /// The moment at which files expire, a midnight of UTC.
    expire_at: Option<i64>,
    /// Whether a delete marker goes that is all that is left of a file.
    #[serde(default)]
    expire_markers: bool,
    /// Days after which a version goes, from when it became an old one; 1 or more.
    old_version_days: Option<u32>,
    /// The newest old versions of a file, which stay however old they are; 1 to 100.
    old_versions_kept: Option<u32>,
    /// Days after which an unfinished upload ends; 1 or more.
    abort_upload_days: Option<u32>,
}

impl LifecycleRuleBody {
    fn read(self, place: usize) -> domain::Result<LifecycleRule> {
        let filter = match self.filter {
            None => RuleFilter::default(),
            Some(RuleFilterBody { prefix, tags, size_over, size_under }) => {
                let tags = tags_read(&format!("rules[{place}].filter.tags"), tags, FILE_TAGS)?;
                RuleFilter { prefix, tags, size_over, size_under }
            }
        };
        Ok(LifecycleRule {
            id: self.id,
            enabled: self.enabled,
            filter,
            expire_days: self.expire_days,
            expire_at: self.expire_at.map(Timestamp),
            expire_markers: self.expire_markers,
            old_version_days: self.old_version_days,
            old_versions_kept: self.old_versions_kept,
            abort_upload_days: self.abort_upload_days,
        })
    }
}

impl From<&LifecycleRule> for LifecycleRuleBody {
    fn from(rule: &LifecycleRule) -> Self {
        let RuleFilter { prefix, tags, size_over, size_under } = &rule.filter;
        Self {
            id: rule.id.clone(),
            enabled: rule.enabled,
            filter: Some(RuleFilterBody {
                prefix: prefix.clone(),
                tags: tags_written(tags),
                size_over: *size_over,
                size_under: *size_under,
            }),
            expire_days: rule.expire_days,
            expire_at: rule.expire_at.map(Timestamp::as_millis),
            expire_markers: rule.expire_markers,
            old_version_days: rule.old_version_days,
            old_versions_kept: rule.old_versions_kept,
            abort_upload_days: rule.abort_upload_days,
        }
    }
}

/// The lifecycle rules of a bucket.
#[derive(Serialize, Deserialize, ToSchema)]
pub(crate) struct LifecycleBody {
    /// Up to 1,000; of several that fit, the earliest one counts.
    rules: Vec<LifecycleRuleBody>,
}

impl RequestBody for LifecycleBody {
    const LIMIT: usize = RULES_BYTES_MAX;
}

/// Bytes of the rules of a bucket, as they are sent.
const RULES_BYTES_MAX: usize = 4 * 1024 * 1024;

impl From<&LifecycleRules> for LifecycleBody {
    fn from(rules: &LifecycleRules) -> Self {
        Self { rules: rules.as_slice().iter().map(LifecycleRuleBody::from).collect() }
    }
}

/// Reads each of a list; 400 naming every field at fault.
fn each<B, T>(bodies: Vec<B>, read: impl Fn(B, usize) -> domain::Result<T>) -> domain::Result<Vec<T>> {
    let (mut problems, mut found) = (Problems::new(), Vec::with_capacity(bodies.len()));
    for (place, body) in bodies.into_iter().enumerate() {
        found.extend(problems.keep(read(body, place))?);
    }
    problems.into_result().map(|()| found)
}

/// The lifecycle rules of a bucket
///
/// What becomes of files, old versions, delete markers and unfinished uploads in time.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle")]
pub(crate) async fn storage_lifecycle_get(
    _org: Org<ResourcesRead>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<LifecycleBody>> {
    let rules = state.store.bucket_lifecycle(bucket.seen.no).await?;
    Ok(Json((&rules).into()))
}

/// Replace the lifecycle rules of a bucket
///
/// An empty list clears them. They are looked at once a day, within the hour after the midnight of UTC.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle",
    responses((status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_lifecycle_put(
    org: Org<ResourcesWrite>,
    address: Path<BucketAddress>,
    body: Body<LifecycleBody>,
    state: State,
) -> Result<Json<LifecycleBody>> {
    let rules = LifecycleRules::check(each(body.into_inner().rules, LifecycleRuleBody::read)?)?;
    put(&org, *address, &state, BucketRules::Lifecycle(rules.clone())).await?;
    Ok(Json((&rules).into()))
}

/// Which pages may ask for files from a browser.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"origins": ["https://app.example.com"], "methods": ["GET", "PUT"], "headers": ["*"],
    "expose": ["ETag"], "maxAge": 3_600}))]
pub(crate) struct CorsRuleBody {
    /// Up to 100 origins, each with at most one `*`.
    origins: Vec<String>,
    /// `GET`, `PUT`, `HEAD`, `POST`, `DELETE`.
    methods: Vec<String>,
    /// Headers that the request may carry, each with at most one `*`: up to 100.
    #[serde(default)]
    headers: Vec<String>,
    /// Headers of the answer that the page may read: up to 100.
    #[serde(default)]
    expose: Vec<String>,
    /// Seconds for which a browser remembers the answer: 0 to 31536000.
    max_age: Option<u32>,
}

impl CorsRuleBody {
    fn read(self, place: usize) -> domain::Result<CorsRule> {
        let Self { origins, methods, headers, expose, max_age } = self;
        let method = |name: String, at: usize| {
            let message = "Use one of: GET, PUT, HEAD, POST, DELETE.";
            CorsMethod::from_name(&name).ok_or_else(|| Error::invalid(format!("rules[{place}].methods[{at}]"), message))
        };
        Ok(CorsRule { origins, methods: each(methods, method)?, headers, expose, max_age })
    }
}

impl From<&CorsRule> for CorsRuleBody {
    fn from(rule: &CorsRule) -> Self {
        Self {
            origins: rule.origins.clone(),
            methods: rule.methods.iter().map(|method| method.as_str().to_owned()).collect(),
            headers: rule.headers.clone(),
            expose: rule.expose.clone(),
            max_age: rule.max_age,
        }
    }
}

/// The CORS rules of a bucket.
#[derive(Serialize, Deserialize, ToSchema)]
pub(crate) struct CorsBody {
    /// Up to 100; the first one that fits counts.
    rules: Vec<CorsRuleBody>,
}

impl RequestBody for CorsBody {
    const LIMIT: usize = RULES_BYTES_MAX;
}

impl From<&CorsRules> for CorsBody {
    fn from(rules: &CorsRules) -> Self {
        Self { rules: rules.as_slice().iter().map(CorsRuleBody::from).collect() }
    }
}

/// The CORS rules of a bucket
///
/// Which pages may ask for its files from a browser: over S3, and at the signed addresses of downloads and of parts.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/cors")]
pub(crate) async fn storage_cors_get(
    _org: Org<ResourcesRead>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<CorsBody>> {
    let rules = state.store.bucket_cors(bucket.seen.no).await?;
    Ok(Json((&rules).into()))
}

/// Replace the CORS rules of a bucket
///
/// An empty list clears them.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/storage/{resourceId}/cors",
    responses((status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_cors_put(
    org: Org<ResourcesWrite>,
    address: Path<BucketAddress>,
    body: Body<CorsBody>,
    state: State,
) -> Result<Json<CorsBody>> {
    let rules = CorsRules::check(each(body.into_inner().rules, CorsRuleBody::read)?)?;
    put(&org, *address, &state, BucketRules::Cors(rules.clone())).await?;
    Ok(Json((&rules).into()))
}

/// The tags of a bucket.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"tags": [{"key": "team", "value": "finance"}]}))]
pub(crate) struct TagsBody {
    /// Up to 20, with keys of 1 to 64 characters and values of up to 256.
    tags: Vec<BucketTagBody>,
}

impl RequestBody for TagsBody {}

/// The tags of a bucket
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/tags")]
pub(crate) async fn storage_tags_get(
    _org: Org<ResourcesRead>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<TagsBody>> {
    let tags = state.store.bucket_tags(bucket.seen.no).await?;
    Ok(Json(TagsBody { tags: tags_written(&tags) }))
}

/// Replace the tags of a bucket
///
/// An empty list clears them.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/storage/{resourceId}/tags",
    responses((status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_tags_put(
    org: Org<ResourcesWrite>,
    address: Path<BucketAddress>,
    body: Body<TagsBody>,
    state: State,
) -> Result<Json<TagsBody>> {
    let tags = tags_read("tags", body.into_inner().tags, RESOURCE_TAGS)?;
    put(&org, *address, &state, BucketRules::Tags(tags.clone())).await?;
    Ok(Json(TagsBody { tags: tags_written(&tags) }))
}

async fn put(org: &Org<ResourcesWrite>, address: BucketAddress, state: &State, rules: BucketRules) -> Result<()> {
    let command = ChangeResource(PutBucketRules { id: named(state, org, address).await?, rules });
    state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    Ok(())
}
