//! Versions of a file.

use actors::storage::{DeleteVersion, FileAt, LaneKey, RestoreVersion};
use domain::storage::{FileKey, ListOf, ListScope, Place, VERSIONS_LISTED_MAX, VersionId, invalid_cursor};
use http_shell::{
    answer::{Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    permission::{ResourcesRead, ResourcesWrite},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::storage::{FileVersion, StoredBucket};
use utoipa::{IntoParams, ToSchema};

use super::file::history;

/// Which file.
#[derive(Deserialize, IntoParams)]
pub(crate) struct VersionsQuery {
    /// The file's key.
    #[param(example = "reports/january.pdf", max_length = 1_024)]
    key: String,
    /// The `cursor` of the page before.
    cursor: Option<String>,
}

impl RequestQuery for VersionsQuery {}

/// A version of a file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "versionId": "01jd7rt4m5e9fv2w8x3c6k0hqz", "isLatest": true, "deleteMarker": false,
    "lastModified": 1_767_225_600_000_i64, "size": 4_096, "etag": "9e107d9d372bb6826bd81d3542a419d6"
}))]
pub(crate) struct FileVersionBody {
    /// The version's id: `null` where old versions were not kept.
    version_id: String,
    /// Whether it is what the file is now.
    is_latest: bool,
    /// Whether it is the sign that the file isn't there.
    delete_marker: bool,
    /// When it was made.
    last_modified: i64,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// The tag of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
}

impl FileVersionBody {
    fn new(version: &FileVersion, is_latest: bool) -> Self {
        let content = version.content.as_ref();
        Self {
            version_id: version.version().id().to_string(),
            is_latest,
            delete_marker: content.is_none(),
            last_modified: version.modified.as_millis(),
            size: content.map(|content| content.size),
            etag: content.map(|content| content.etag.to_string()),
        }
    }
}

/// Versions of a file.
#[derive(Serialize, ToSchema)]
pub(crate) struct FileVersionsAnswer {
    /// The file's key.
    key: String,
    /// At most 1,000, the newest first.
    versions: Vec<FileVersionBody>,
    /// Whether there are more.
    truncated: bool,
    /// Where the next page begins; none behind the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The versions of a file
///
/// Of a deleted file too.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/object/versions", responses(
    (status = 400, description = "Keys have at most 1,024 bytes.\n\nInvalid cursor."),
    (status = 404, description = "File not found."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_versions_list(
    _org: Org<ResourcesRead>,
    asked: Query<VersionsQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<FileVersionsAnswer>> {
    bucket.check_usable()?;
    let (key, keys) = (FileKey::parse(asked.key.as_str())?, state.store.list_cursor_key());
    let scope = ListScope { bucket: bucket.id(), list: ListOf::Versions { key: &key } };
    let before = match asked.cursor.as_deref().map(|cursor| keys.read(&scope, cursor)).transpose()? {
        None => None,
        Some(Place::Version { stamp, .. }) => Some(stamp),
        Some(Place::Last(_) | Place::Upload { .. }) => return Err(invalid_cursor().into()),
    };
    let (head, old) = history(&state, &bucket, &key, before).await?;
    // The newest one is older than what the page before ended with where that has been deleted since.
    let shows_head = before.is_none_or(|before| head.stamp < before);
    let found: Vec<_> = shows_head.then_some(&head).into_iter().chain(&old).collect();
    let truncated = found.len() > VERSIONS_LISTED_MAX;
    let shown = &found[..found.len().min(VERSIONS_LISTED_MAX)];
    let next = shown.last().filter(|_| truncated).map(|last| {
        let place = Place::Version { key: key.to_string(), stamp: last.stamp };
        keys.write(&scope, &place)
    });
    let versions = shown.iter().map(|version| FileVersionBody::new(version, version.stamp == head.stamp)).collect();
    Ok(Json(FileVersionsAnswer { key: key.to_string(), versions, truncated, cursor: next }))
}

/// A version of a file.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"key": "reports/january.pdf", "versionId": "01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
pub(crate) struct VersionNamed {
    /// The file's key.
    key: String,
    /// The version's id: 1 to 1,024 characters.
    version_id: String,
}

impl RequestBody for VersionNamed {}

/// What a restore did.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"restored": "copied"}))]
pub(crate) struct RestoreAnswer {
    /// `undeleted`: the delete marker went, and the file is there again; `copied`: the version came on top once more.
    restored: &'static str,
}

/// Restore a version
///
/// The delete marker on top is taken away, or an earlier version's content comes on top once more; the history stays.
/// Nothing is copied, whatever the size.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/object/restore", responses(
    (status = 400, description = "Pick a version with content to restore.\n\nKeys have at most 1,024 bytes."),
    (status = 403, description = "This bucket is full."),
    (status = 404, description = "Version not found."),
    (status = 409, description = "This is already the current version.\n\nThis file has too many delete markers. Delete some \
        of them first.\n\nThis folder is being moved.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_object_restore(
    org: Org<ResourcesWrite>,
    body: Body<VersionNamed>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<RestoreAnswer>> {
    let (at, version) = at(&org, body.into_inner())?;
    let lane = LaneKey::of(bucket.id(), &at.key);
    let restored = state.actors.bucket_lane.ask(&lane, RestoreVersion { at, version }, org.context()).await?;
    Ok(Json(RestoreAnswer { restored: restored.as_str() }))
}

/// Delete a version
///
/// For good: of the newest one the next takes its place.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/object/versions/delete", responses(
    (status = 400, description = "Keys have at most 1,024 bytes."),
    (status = 404, description = "Version not found."),
    (status = 409, description = "This folder is being moved.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_version_delete(
    org: Org<ResourcesWrite>,
    body: Body<VersionNamed>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<NoContent> {
    let (at, version) = at(&org, body.into_inner())?;
    let lane = LaneKey::of(bucket.id(), &at.key);
    state.actors.bucket_lane.ask(&lane, DeleteVersion { at, version }, org.context()).await?;
    Ok(NoContent)
}

fn at(org: &Org<ResourcesWrite>, named: VersionNamed) -> domain::Result<(FileAt, VersionId)> {
    let key = FileKey::parse(named.key)?;
    let version = VersionId::parse("versionId", &named.version_id)?;
    Ok((FileAt { org_id: org.id(), key }, version))
}
