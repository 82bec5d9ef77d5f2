//! Lists of a bucket's files.

use domain::storage::{
    After, Delimiter, ItsOwnFolder, KeyPrefix, LIST_DEFAULT, LIST_MAX, ListEntries, ListOf, ListQuery, ListScope,
    Place, invalid_cursor, list_limit,
};
use http_shell::{
    answer::Json,
    error::Result,
    org::Org,
    owned::Owned,
    permission::ResourcesRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::storage::StoredBucket;
use utoipa::{IntoParams, ToSchema};

use super::file::FileBody;

/// Which page of which folder.
#[derive(Deserialize, IntoParams)]
pub(crate) struct FilesQuery {
    /// The folder's path, which ends with `/`; nothing for the whole bucket.
    #[param(example = "reports/", max_length = 1_024)]
    prefix: Option<String>,
    /// The `cursor` of the page before.
    cursor: Option<String>,
    /// Files and folders of a page. More than 1,000 count as 1,000.
    #[param(minimum = 1, example = 100)]
    limit: Option<i64>,
}

impl RequestQuery for FilesQuery {}

/// Files and folders.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "prefix": "reports/", "folders": ["reports/2026/"],
    "files": [{
        "key": "reports/index.html", "size": 512, "lastModified": 1_767_225_600_000_i64,
        "etag": "9e107d9d372bb6826bd81d3542a419d6", "storageClass": "STANDARD"
    }]
}))]
pub(crate) struct FilesAnswer {
    /// The folder.
    prefix: String,
    /// The paths of the folders in it.
    folders: Vec<String>,
    /// The files in it.
    files: Vec<FileBody>,
    /// Where the next page begins; none behind the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// What is asked of a list, where `place` is what its cursor holds.
fn query(prefix: &KeyPrefix, delimiter: Option<&Delimiter>, place: Option<Place>, limit: usize) -> Result<ListQuery> {
    let after = match place {
        None => After::Nothing,
        Some(Place::Last(last)) => After::Page(last),
        Some(Place::Version { .. } | Place::Upload { .. }) => return Err(invalid_cursor().into()),
    };
    Ok(ListQuery {
        prefix: prefix.clone(),
        delimiter: delimiter.cloned(),
        after,
        entries: ListEntries::Keys,
        limit,
        its_own_folder: ItsOwnFolder::Hidden,
    })
}

/// The files and folders of a folder
///
/// In the order of their keys' bytes. A folder is there while the key of any file begins with its path.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/objects", responses(
    (status = 400, description = "Folder paths end with /.\n\nKeys have at most 1,024 bytes.\n\nInvalid cursor."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_objects_list(
    _org: Org<ResourcesRead>,
    asked: Query<FilesQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<FilesAnswer>> {
    bucket.check_usable()?;
    let prefix = KeyPrefix::parse_folder(asked.prefix.as_deref().unwrap_or_default())?;
    let (slash, keys) = (Delimiter::slash(), state.store.list_cursor_key());
    let list = ListOf::Files { prefix: &prefix, delimiter: Some(&slash) };
    let scope = ListScope { bucket: bucket.id(), list };
    let place = asked.cursor.as_deref().map(|cursor| keys.read(&scope, cursor)).transpose()?;
    let asked = query(&prefix, Some(&slash), place, list_limit(asked.limit, LIST_DEFAULT)?)?;
    let page = state.store.files_page(bucket.seen.no, asked).await?;
    Ok(Json(FilesAnswer {
        prefix: prefix.as_str().to_owned(),
        folders: page.folders,
        files: page.files.iter().filter_map(FileBody::of).collect(),
        cursor: page.next.map(|place| keys.write(&scope, &place)),
    }))
}

/// A deleted file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "key": "reports/old.pdf", "deletedAt": 1_767_225_600_000_i64, "versionId": "01jd7rt4m5e9fv2w8x3c6k0hqz"
}))]
pub(crate) struct DeletedFile {
    /// The file's key.
    key: String,
    /// When it was deleted.
    deleted_at: i64,
    /// The id of the delete marker; restoring that brings the file back.
    version_id: String,
}

/// Deleted files.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeletedAnswer {
    /// What their keys begin with.
    prefix: String,
    /// The deleted files.
    files: Vec<DeletedFile>,
    /// Where the next page begins; none behind the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The deleted files of a folder
///
/// Files of a versioned bucket whose newest version is a delete marker, those of folders in the folder among them.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/deleted", responses(
    (status = 400, description = "Folder paths end with /.\n\nKeys have at most 1,024 bytes.\n\nInvalid cursor."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_deleted_list(
    _org: Org<ResourcesRead>,
    asked: Query<FilesQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<DeletedAnswer>> {
    bucket.check_usable()?;
    let prefix = KeyPrefix::parse_folder(asked.prefix.as_deref().unwrap_or_default())?;
    let keys = state.store.list_cursor_key();
    let scope = ListScope { bucket: bucket.id(), list: ListOf::Deleted { prefix: &prefix } };
    let place = asked.cursor.as_deref().map(|cursor| keys.read(&scope, cursor)).transpose()?;
    let asked = query(&prefix, None, place, list_limit(asked.limit, LIST_MAX)?)?;
    let page = state.store.files_deleted_page(bucket.seen.no, asked).await?;
    let file = |marker: &store::storage::FileVersion| DeletedFile {
        key: marker.key.to_string(),
        deleted_at: marker.modified.as_millis(),
        version_id: marker.version().id().to_string(),
    };
    Ok(Json(DeletedAnswer {
        prefix: prefix.as_str().to_owned(),
        files: page.markers.iter().map(file).collect(),
        cursor: page.next.map(|place| keys.write(&scope, &place)),
    }))
}
