//! Lists of files and of their versions.

use domain::storage::{
    After, Delimiter, FileKey, ItsOwnFolder, KeyPrefix, LIST_MAX, ListEntries, ListOf, ListQuery, ListScope, Place,
    StorageClass, VersionId,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use s3s::{S3Request, S3Response, S3Result, dto};
use store::storage::{FileVersion, FilesPage, StoredBucket, VersionsAfter};

use crate::{
    access::Need,
    buckets::owner,
    error::{invalid, refusal},
    object::{tag, timestamp, version_of},
    service::Door,
    visit::Visit,
};

/// What stays as it is under `encoding-type=url`.
const URL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'*').remove(b'/');

/// How keys are written in an answer.
#[derive(Clone, Copy)]
pub(crate) struct Encoding {
    is_url: bool,
}

impl Encoding {
    /// The encoding that is asked for.
    pub fn parse(asked: Option<&dto::EncodingType>) -> S3Result<Self> {
        match asked.map(dto::EncodingType::as_str) {
            None => Ok(Self { is_url: false }),
            Some("url") => Ok(Self { is_url: true }),
            Some(_) => Err(invalid("Invalid Encoding Method specified in Request")),
        }
    }

    /// A key, or what it begins with.
    pub fn write(self, text: &str) -> String {
        if self.is_url { utf8_percent_encode(text, URL).to_string() } else { text.to_owned() }
    }

    /// What the answer says of it.
    pub fn name(self) -> Option<dto::EncodingType> {
        self.is_url.then(|| dto::EncodingType::from_static(dto::EncodingType::URL))
    }
}

/// How many entries a page has; what the answer says of that.
pub(crate) fn limit(asked: Option<i32>, name: &str) -> S3Result<(usize, i32)> {
    let asked = asked.unwrap_or(1_000);
    let limit = usize::try_from(asked)
        .map_err(|_| invalid(format!("Argument {name} must be an integer between 0 and 2147483647")))?;
    let limit = limit.min(LIST_MAX);
    Ok((limit, i32::try_from(limit).unwrap_or(1_000)))
}

/// What is listed, as both forms of the list of files have it.
struct Asked {
    prefix: KeyPrefix,
    delimiter: Option<Delimiter>,
    limit: usize,
    after: After,
}

impl Asked {
    fn query(&self, entries: ListEntries) -> ListQuery {
        ListQuery {
            prefix: self.prefix.clone(),
            delimiter: self.delimiter.clone(),
            after: self.after.clone(),
            entries,
            limit: self.limit,
            its_own_folder: ItsOwnFolder::Shown,
        }
    }
}

fn prefix(text: Option<&String>) -> S3Result<KeyPrefix> {
    KeyPrefix::parse(text.map(String::as_str).unwrap_or_default()).map_err(refusal)
}

fn delimiter(text: Option<&String>) -> S3Result<Option<Delimiter>> {
    Delimiter::parse(text.map(String::as_str).unwrap_or_default()).map_err(refusal)
}

fn marker(text: Option<&String>) -> After {
    text.filter(|text| !text.is_empty()).map_or(After::Nothing, |text| After::Marker(text.clone()))
}

impl Door {
    /// The bucket, where all that begins so may be listed.
    async fn listed_bucket(&self, visit: &Visit, name: &str, prefix: &KeyPrefix) -> S3Result<StoredBucket> {
        let bucket = self.bucket(visit, name, Need::Read).await?;
        Self::check_list(visit, &bucket, prefix)?;
        Ok(bucket)
    }

    /// `ListObjects`.
    pub(crate) async fn objects_list(
        &self,
        request: S3Request<dto::ListObjectsInput>,
    ) -> S3Result<S3Response<dto::ListObjectsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let encoding = Encoding::parse(input.encoding_type.as_ref())?;
        let (limit, max_keys) = limit(input.max_keys, "max-keys")?;
        let asked = Asked {
            prefix: prefix(input.prefix.as_ref())?,
            delimiter: delimiter(input.delimiter.as_ref())?,
            limit,
            after: marker(input.marker.as_ref()),
        };
        let bucket = self.listed_bucket(&visit, &input.bucket, &asked.prefix).await?;
        let query = asked.query(ListEntries::Keys);
        let page = self.store.files_page(bucket.seen.no, query).await.map_err(refusal)?;
        // Without a delimiter clients go on behind the last key.
        let next_marker = page.next.as_ref().filter(|_| asked.delimiter.is_some()).and_then(last_text);
        Ok(S3Response::new(dto::ListObjectsOutput {
            name: Some(input.bucket),
            prefix: Some(encoding.write(asked.prefix.as_str())),
            marker: Some(encoding.write(input.marker.as_deref().unwrap_or_default())),
            max_keys: Some(max_keys),
            is_truncated: Some(page.next.is_some()),
            common_prefixes: Some(common_prefixes(&page.folders, encoding)),
            delimiter: asked.delimiter.as_ref().map(|delimiter| encoding.write(delimiter.as_str())),
            next_marker: next_marker.map(|text| encoding.write(text)),
            encoding_type: encoding.name(),
            contents: Some(contents(&bucket, &page, encoding, true)),
            ..Default::default()
        }))
    }

    /// `ListObjectsV2`.
    pub(crate) async fn objects_list_v2(
        &self,
        request: S3Request<dto::ListObjectsV2Input>,
    ) -> S3Result<S3Response<dto::ListObjectsV2Output>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let encoding = Encoding::parse(input.encoding_type.as_ref())?;
        let (limit, max_keys) = limit(input.max_keys, "max-keys")?;
        let (prefix, delimiter) = (prefix(input.prefix.as_ref())?, delimiter(input.delimiter.as_ref())?);
        let bucket = self.listed_bucket(&visit, &input.bucket, &prefix).await?;
        let cursors = self.store.list_cursor_key();
        let list = ListOf::Files { prefix: &prefix, delimiter: delimiter.as_ref() };
        let scope = ListScope { bucket: bucket.id(), list };
        let after = match &input.continuation_token {
            None => marker(input.start_after.as_ref()),
            Some(token) => match cursors.read(&scope, token) {
                Ok(Place::Last(place)) => After::Page(place),
                _ => return Err(invalid("The continuation token provided is incorrect")),
            },
        };
        let asked = Asked { prefix: prefix.clone(), delimiter: delimiter.clone(), limit, after };
        let page = self.store.files_page(bucket.seen.no, asked.query(ListEntries::Keys)).await.map_err(refusal)?;
        let count = page.files.len() + page.folders.len();
        let with_owner = input.fetch_owner == Some(true);
        Ok(S3Response::new(dto::ListObjectsV2Output {
            name: Some(input.bucket),
            prefix: Some(encoding.write(prefix.as_str())),
            max_keys: Some(max_keys),
            key_count: i32::try_from(count).ok(),
            continuation_token: input.continuation_token,
            is_truncated: Some(page.next.is_some()),
            next_continuation_token: page.next.as_ref().map(|place| cursors.write(&scope, place)),
            common_prefixes: Some(common_prefixes(&page.folders, encoding)),
            delimiter: delimiter.as_ref().map(|delimiter| encoding.write(delimiter.as_str())),
            encoding_type: encoding.name(),
            start_after: input.start_after.map(|text| encoding.write(&text)),
            contents: Some(contents(&bucket, &page, encoding, with_owner)),
            ..Default::default()
        }))
    }

    /// `ListObjectVersions`.
    pub(crate) async fn versions_list(
        &self,
        request: S3Request<dto::ListObjectVersionsInput>,
    ) -> S3Result<S3Response<dto::ListObjectVersionsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let encoding = Encoding::parse(input.encoding_type.as_ref())?;
        let (limit, max_keys) = limit(input.max_keys, "max-keys")?;
        let (prefix, delimiter) = (prefix(input.prefix.as_ref())?, delimiter(input.delimiter.as_ref())?);
        let bucket = self.listed_bucket(&visit, &input.bucket, &prefix).await?;
        let after = versions_after(input.key_marker.as_deref(), input.version_id_marker.as_deref())?;
        let asked = Asked { prefix: prefix.clone(), delimiter: delimiter.clone(), limit, after: After::Nothing };
        let query = asked.query(ListEntries::Versions);
        let page = self.store.versions_page(bucket.seen.no, query, after).await.map_err(refusal)?;
        let (mut versions, mut markers) = (Vec::new(), Vec::new());
        for (version, is_latest) in &page.versions {
            match &version.content {
                Some(_) => versions.push(object_version(&bucket, version, *is_latest, encoding)),
                None => markers.push(marker_entry(&bucket, version, *is_latest, encoding)),
            }
        }
        Ok(S3Response::new(dto::ListObjectVersionsOutput {
            name: Some(input.bucket),
            prefix: Some(encoding.write(prefix.as_str())),
            key_marker: Some(encoding.write(input.key_marker.as_deref().unwrap_or_default())),
            version_id_marker: Some(input.version_id_marker.unwrap_or_default()),
            max_keys: Some(max_keys),
            is_truncated: Some(page.next.is_some()),
            next_key_marker: page.next.as_ref().map(|(key, _)| encoding.write(key)),
            next_version_id_marker: page.next.as_ref().and_then(|(_, id)| id.map(|id| id.to_string())),
            common_prefixes: Some(common_prefixes(&page.folders, encoding)),
            delimiter: delimiter.as_ref().map(|delimiter| encoding.write(delimiter.as_str())),
            encoding_type: encoding.name(),
            versions: Some(versions),
            delete_markers: Some(markers),
            ..Default::default()
        }))
    }
}

fn versions_after(key: Option<&str>, version: Option<&str>) -> S3Result<VersionsAfter> {
    let (key, version) = (key.filter(|key| !key.is_empty()), version.filter(|version| !version.is_empty()));
    match (key, version) {
        (None, None) => Ok(VersionsAfter::Nothing),
        (None, Some(_)) => Err(invalid("A version-id marker cannot be specified without a key marker.")),
        (Some(key), None) => Ok(VersionsAfter::Key(key.to_owned())),
        (Some(key), Some(version)) => {
            let key = FileKey::parse(key).map_err(refusal)?;
            let version: VersionId = version_of(version)?;
            Ok(VersionsAfter::Version(key, version))
        }
    }
}

fn last_text(place: &Place) -> Option<&str> {
    match place {
        Place::Last(domain::storage::Last::Key(text) | domain::storage::Last::CommonPrefix(text)) => Some(text),
        _ => None,
    }
}

pub(crate) fn common_prefixes(folders: &[String], encoding: Encoding) -> Vec<dto::CommonPrefix> {
    let entry = |prefix: &String| dto::CommonPrefix { prefix: Some(encoding.write(prefix)) };
    folders.iter().map(entry).collect()
}

fn contents(bucket: &StoredBucket, page: &FilesPage, encoding: Encoding, with_owner: bool) -> Vec<dto::Object> {
    let entry = |file: &FileVersion| {
        let content = file.content.as_ref()?;
        let checksum = content.headers.checksum.as_ref();
        Some(dto::Object {
            checksum_algorithm: checksum.map(|it| vec![dto::ChecksumAlgorithm::from_static(it.algorithm.as_str())]),
            checksum_type: checksum.map(|it| dto::ChecksumType::from_static(it.kind.as_str())),
            e_tag: Some(tag(&content.etag)),
            key: Some(encoding.write(file.key.as_str())),
            last_modified: Some(timestamp(file.modified)),
            owner: with_owner.then(|| owner(bucket.seen.org_id)),
            size: i64::try_from(content.size).ok(),
            storage_class: Some(dto::ObjectStorageClass::from_static(content.class.as_str())),
            ..Default::default()
        })
    };
    page.files.iter().filter_map(entry).collect()
}

fn object_version(
    bucket: &StoredBucket,
    version: &FileVersion,
    is_latest: bool,
    encoding: Encoding,
) -> dto::ObjectVersion {
    let content = version.content.as_ref();
    let checksum = content.and_then(|content| content.headers.checksum.as_ref());
    dto::ObjectVersion {
        checksum_algorithm: checksum.map(|it| vec![dto::ChecksumAlgorithm::from_static(it.algorithm.as_str())]),
        checksum_type: checksum.map(|it| dto::ChecksumType::from_static(it.kind.as_str())),
        e_tag: content.map(|content| tag(&content.etag)),
        is_latest: Some(is_latest),
        key: Some(encoding.write(version.key.as_str())),
        last_modified: Some(timestamp(version.modified)),
        owner: Some(owner(bucket.seen.org_id)),
        size: i64::try_from(version.bytes()).ok(),
        storage_class: content.map(|content| class(content.class)),
        version_id: Some(version.version().id().to_string()),
        ..Default::default()
    }
}

fn class(class: StorageClass) -> dto::ObjectVersionStorageClass {
    dto::ObjectVersionStorageClass::from_static(class.as_str())
}

fn marker_entry(
    bucket: &StoredBucket,
    version: &FileVersion,
    is_latest: bool,
    encoding: Encoding,
) -> dto::DeleteMarkerEntry {
    dto::DeleteMarkerEntry {
        is_latest: Some(is_latest),
        key: Some(encoding.write(version.key.as_str())),
        last_modified: Some(timestamp(version.modified)),
        owner: Some(owner(bucket.seen.org_id)),
        version_id: Some(version.version().id().to_string()),
    }
}
