//! Uploads in parts.

use actors::storage::{AbortUpload, BeginUpload, CompleteUpload, PutPart, UploadAt};
use domain::{
    id::{ContentId, UploadId},
    storage::{
        ChecksumKind, ChecksumPlan, CompletedPart, Completion, ETag, FileChecksum, KeyPrefix, PARTS_MAX, PartNumber,
        successor, upload_not_found,
    },
};
use hyper::header;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result, dto, s3_error};
use store::storage::{StoredBucket, StoredPart, StoredUpload, UploadAbout};

use crate::{
    access::Need,
    body::{Coming, Kept, sent_size},
    buckets::owner,
    checksums::{self, Announced, Fields},
    error::{invalid, refusal},
    list::{Encoding, common_prefixes, limit},
    object::{conditions, said_fields, tag, timestamp},
    service::Door,
    visit::Visit,
};

/// The upload that a request names.
pub(crate) struct Named {
    pub bucket: StoredBucket,
    pub at: UploadAt,
    pub upload: StoredUpload,
}

/// Uploads that are read at once.
const UPLOADS_READ: u64 = 1_000;

/// What is listed of uploads.
struct UploadsAsked<'a> {
    prefix: KeyPrefix,
    delimiter: Option<&'a str>,
    key: &'a str,
    id: Option<&'a str>,
    limit: usize,
}

/// A page of uploads.
#[derive(Default)]
struct UploadsPage {
    uploads: Vec<StoredUpload>,
    folders: Vec<String>,
    /// What it ends with so far.
    last: Option<(String, Option<String>)>,
    /// What it ended with, where there is more.
    next: Option<(String, Option<String>)>,
}

fn no_such_upload() -> S3Error {
    refusal(upload_not_found())
}

pub(crate) fn part_number(number: i32) -> S3Result<PartNumber> {
    let number = u64::try_from(number).unwrap_or(0);
    let message = "Part number must be an integer between 1 and 10000, inclusive";
    PartNumber::parse("partNumber", number).map_err(|_| invalid(message))
}

impl Door {
    /// The upload that a request names; its file is in reach of whoever asks.
    pub(crate) async fn upload(&self, visit: &Visit, place: (&str, &str), id: &str) -> S3Result<Named> {
        let bucket = self.bucket(visit, place.0, Need::Write).await?;
        let key = Self::file_key(visit, &bucket, place.1)?;
        let id: UploadId = id.parse().map_err(|_| no_such_upload())?;
        let found = self.store.upload(id).await.map_err(refusal)?;
        let upload = found.filter(|upload| upload.bucket == bucket.seen.no && upload.key == key);
        let upload = upload.ok_or_else(no_such_upload)?;
        let at = UploadAt { org_id: bucket.seen.org_id, bucket: bucket.id(), key };
        Ok(Named { bucket, at, upload })
    }

    /// `CreateMultipartUpload`.
    pub(crate) async fn upload_create(
        &self,
        request: S3Request<dto::CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<dto::CreateMultipartUploadOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Write).await?;
        let key = Self::file_key(&visit, &bucket, &input.key)?;
        let expires = request.headers.get(header::EXPIRES).and_then(|it| it.to_str().ok()).map(str::to_owned);
        let said = said_fields!(input, expires)?;
        let checksum = plan(input.checksum_algorithm.as_ref(), input.checksum_type.as_ref())?;
        let about = UploadAbout { headers: said.headers, tags: said.tags, class: said.class, checksum };
        let id = UploadId::new(self.store.now());
        let at = UploadAt { org_id: bucket.seen.org_id, bucket: bucket.id(), key };
        let command = BeginUpload { at, content_type: about.headers.content_type.clone(), size: 0, about: Some(about) };
        let context = visit.context(self.options.request_timeout);
        self.actors.bucket_upload.ask(&id, command, context).await.map_err(refusal)?;
        Ok(S3Response::new(dto::CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(id.to_string()),
            checksum_algorithm: checksum.map(|plan| dto::ChecksumAlgorithm::from_static(plan.algorithm.as_str())),
            checksum_type: checksum.map(|plan| dto::ChecksumType::from_static(plan.kind.as_str())),
            ..Default::default()
        }))
    }

    /// `UploadPart`.
    pub(crate) async fn upload_part(
        &self,
        request: S3Request<dto::UploadPartInput>,
    ) -> S3Result<S3Response<dto::UploadPartOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        if input.sse_customer_algorithm.is_some() {
            return Err(crate::error::not_implemented("server-side encryption"));
        }
        let number = part_number(input.part_number)?;
        let named = self.upload(&visit, (&input.bucket, &input.key), &input.upload_id).await?;
        let planned = named.planned().map(|plan| plan.algorithm);
        let announced = Announced::read(&request.headers, request.trailing_headers, planned)?;
        announced.check_planned(planned)?;
        let coming = Coming { body: input.body, size: sent_size(&request.headers, input.content_length), announced };
        let kept = self.keep(named.at.org_id, coming).await?;
        let checksum = kept.checksum.as_ref().map(FileChecksum::from);
        let fields = Fields::from(checksum.as_ref());
        let etag = self.part_put(&visit, &named, number, kept).await?;
        Ok(S3Response::new(dto::UploadPartOutput {
            e_tag: Some(tag(&etag)),
            checksum_crc32: fields.crc32,
            checksum_crc32c: fields.crc32c,
            checksum_crc64nvme: fields.crc64nvme,
            checksum_sha1: fields.sha1,
            checksum_sha256: fields.sha256,
            ..Default::default()
        }))
    }

    /// Has an upload take a part whose bytes are kept.
    pub(crate) async fn part_put(
        &self,
        visit: &Visit,
        named: &Named,
        number: PartNumber,
        kept: Kept,
    ) -> S3Result<ETag> {
        if let Err(refused) = self.still_writes(visit).await {
            self.abandon(&kept.content).await;
            return Err(refused);
        }
        let checksum = kept.checksum.as_ref().filter(|_| named.planned().is_some()).map(ToString::to_string);
        let command = PutPart {
            bucket: named.bucket.id(),
            number,
            content: kept.content.clone(),
            checksum,
            caller_names: Some(named.at.clone()),
        };
        let context = visit.context(self.options.request_timeout);
        match self.actors.bucket_upload.ask(&named.upload.id, command, context).await {
            Ok(etag) => Ok(etag),
            Err(refused) => {
                self.abandon(&kept.content).await;
                Err(refusal(refused))
            }
        }
    }

    /// `CompleteMultipartUpload`.
    pub(crate) async fn upload_complete(
        &self,
        request: S3Request<dto::CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<dto::CompleteMultipartUploadOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let named = self.upload(&visit, (&input.bucket, &input.key), &input.upload_id).await?;
        let asked = input.multipart_upload.and_then(|upload| upload.parts).unwrap_or_default();
        let parts = completion(&asked)?;
        self.part_checksums_check(&named, &asked).await?;
        let size = input.mpu_object_size.map(|size| u64::try_from(size).map_err(|_| invalid("x-amz-mp-object-size")));
        let sent = [
            input.checksum_crc32,
            input.checksum_crc32c,
            input.checksum_crc64nvme,
            input.checksum_sha1,
            input.checksum_sha256,
        ];
        let kind = input.checksum_type.as_ref().map(dto::ChecksumType::as_str);
        if let (Some(kind), Some(plan)) = (kind, named.planned())
            && kind != plan.kind.as_str()
        {
            return Err(s3_error!(InvalidRequest, "The upload was created using the {} checksum mode.", plan.kind));
        }
        let is_planned = named.planned().is_some();
        let command = CompleteUpload {
            at: named.at.clone(),
            parts,
            conditions: conditions(input.if_match.as_ref(), input.if_none_match.as_ref())?,
            // Without a plan there is nothing to compare with (S3 passes it over).
            checksum: sent.into_iter().flatten().next().filter(|_| is_planned),
            size: size.transpose()?,
        };
        let context = visit.context(self.options.request_timeout);
        let file = self.actors.bucket_upload.ask(&named.upload.id, command, context).await.map_err(refusal)?;
        let kept = file.content.as_ref().ok_or_else(no_such_upload)?;
        let fields = Fields::from(kept.headers.checksum.as_ref());
        Ok(S3Response::new(dto::CompleteMultipartUploadOutput {
            location: Some(format!("/{}/{}", input.bucket, input.key)),
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(tag(&kept.etag)),
            expiration: self.expiration(&named.bucket, &file).await,
            version_id: named.bucket.names_versions().then(|| file.version().id().to_string()),
            checksum_crc32: fields.crc32,
            checksum_crc32c: fields.crc32c,
            checksum_crc64nvme: fields.crc64nvme,
            checksum_sha1: fields.sha1,
            checksum_sha256: fields.sha256,
            checksum_type: fields.kind,
            ..Default::default()
        }))
    }

    /// Passes where the checksums that a client lists are those of the parts.
    async fn part_checksums_check(&self, named: &Named, asked: &[dto::CompletedPart]) -> S3Result<()> {
        let Some(plan) = named.planned().filter(|_| named.upload.completed.is_none()) else { return Ok(()) };
        let listed = |part: &dto::CompletedPart| match plan.algorithm.as_str() {
            "CRC32" => part.checksum_crc32.clone(),
            "CRC32C" => part.checksum_crc32c.clone(),
            "CRC64NVME" => part.checksum_crc64nvme.clone(),
            "SHA1" => part.checksum_sha1.clone(),
            _ => part.checksum_sha256.clone(),
        };
        if asked.iter().all(|part| listed(part).is_none()) {
            return Ok(());
        }
        let sent = self.store.upload_parts(named.upload.id).await.map_err(refusal)?;
        for part in asked {
            let number = part.part_number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
            let known = sent.binary_search_by_key(&number, |known| known.number.get()).ok().map(|at| &sent[at]);
            let is_equal = |known: &StoredPart| listed(part).is_none_or(|text| known.checksum.as_ref() == Some(&text));
            if !known.is_none_or(is_equal) {
                return Err(s3_error!(
                    InvalidPart,
                    "One or more of the specified parts could not be found. The part may not have been uploaded, or \
                     the specified checksum may not match the part's."
                ));
            }
        }
        Ok(())
    }

    /// `AbortMultipartUpload`.
    pub(crate) async fn upload_abort(
        &self,
        request: S3Request<dto::AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<dto::AbortMultipartUploadOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let named = self.upload(&visit, (&input.bucket, &input.key), &input.upload_id).await?;
        let context = visit.context(self.options.request_timeout);
        let aborted = self.actors.bucket_upload.ask(&named.upload.id, AbortUpload(named.at), context).await;
        aborted.map_err(refusal)?;
        let output = dto::AbortMultipartUploadOutput::default();
        Ok(S3Response::with_status(output, hyper::StatusCode::NO_CONTENT))
    }

    /// `ListMultipartUploads`.
    pub(crate) async fn uploads_list(
        &self,
        request: S3Request<dto::ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<dto::ListMultipartUploadsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let encoding = Encoding::parse(input.encoding_type.as_ref())?;
        let (limit, max_uploads) = limit(input.max_uploads, "max-uploads")?;
        let prefix = KeyPrefix::parse(input.prefix.as_deref().unwrap_or_default()).map_err(refusal)?;
        let bucket = self.bucket(&visit, &input.bucket, Need::Read).await?;
        Self::check_list(&visit, &bucket, &prefix)?;
        let (key, id) = (input.key_marker.as_deref().unwrap_or_default(), input.upload_id_marker.as_deref());
        let asked = UploadsAsked { prefix, delimiter: input.delimiter.as_deref(), key, id, limit };
        let UploadsPage { uploads, folders, next, .. } = self.uploads_page(&bucket, &asked).await?;
        let org = owner(bucket.seen.org_id);
        let entry = |upload: StoredUpload| dto::MultipartUpload {
            initiated: Some(timestamp(upload.created_at)),
            initiator: Some(dto::Initiator { display_name: org.display_name.clone(), id: org.id.clone() }),
            key: Some(encoding.write(upload.key.as_str())),
            owner: Some(org.clone()),
            storage_class: Some(dto::StorageClass::from_static("STANDARD")),
            upload_id: Some(upload.id.to_string()),
            ..Default::default()
        };
        Ok(S3Response::new(dto::ListMultipartUploadsOutput {
            bucket: Some(input.bucket),
            common_prefixes: Some(common_prefixes(&folders, encoding)),
            is_truncated: Some(next.is_some()),
            next_key_marker: next.as_ref().map(|(key, _)| encoding.write(key)),
            next_upload_id_marker: next.and_then(|(_, id)| id),
            uploads: Some(uploads.into_iter().map(entry).collect()),
            delimiter: input.delimiter.map(|text| encoding.write(&text)),
            encoding_type: encoding.name(),
            key_marker: Some(encoding.write(&input.key_marker.unwrap_or_default())),
            max_uploads: Some(max_uploads),
            prefix: Some(encoding.write(&input.prefix.unwrap_or_default())),
            upload_id_marker: Some(input.upload_id_marker.unwrap_or_default()),
            ..Default::default()
        }))
    }

    async fn uploads_page(&self, bucket: &StoredBucket, asked: &UploadsAsked<'_>) -> S3Result<UploadsPage> {
        let UploadsAsked { prefix, delimiter, key, id, limit } = asked;
        let mut page = UploadsPage::default();
        let mut range = prefix.range();
        let delimiter = delimiter.filter(|text| !text.is_empty());
        let common = |key: &str| {
            let (start, delimiter) = (prefix.as_str().len(), delimiter?);
            let at = key.get(start..)?.find(delimiter)?;
            Some(key[..start + at + delimiter.len()].to_owned())
        };
        let id = id
            .filter(|id| !id.is_empty())
            .map(|id| id.parse::<UploadId>().map_err(|_| no_such_upload()))
            .transpose()?;
        if !key.is_empty() && id.is_none() {
            let behind = if common(key).as_deref() == Some(*key) { successor(key.as_bytes()) } else { None };
            let behind = behind.unwrap_or_else(|| [key.as_bytes(), &[0]].concat());
            range.start = range.start.max(behind);
        }
        let mut after = id.map(|id| ((*key).to_owned(), id));
        if *limit == 0 {
            return Ok(page);
        }
        loop {
            let place = after.as_ref().map(|(key, id)| (key.as_str(), *id));
            let rows = self.store.uploads_in(bucket.seen.no, &range, place, UPLOADS_READ).await.map_err(refusal)?;
            let is_last = (rows.len() as u64) < UPLOADS_READ;
            for upload in rows {
                let folder = common(upload.key.as_str());
                if folder.is_some() && folder.as_ref() == page.folders.last() {
                    continue;
                }
                if page.uploads.len() + page.folders.len() == *limit {
                    page.next = page.last.take();
                    return Ok(page);
                }
                after = Some((upload.key.to_string(), upload.id));
                if let Some(folder) = folder {
                    page.last = Some((folder.clone(), None));
                    range.start = successor(folder.as_bytes()).unwrap_or_default();
                    page.folders.push(folder);
                } else {
                    page.last = Some((upload.key.to_string(), Some(upload.id.to_string())));
                    page.uploads.push(upload);
                }
            }
            if is_last {
                return Ok(page);
            }
        }
    }

    /// `ListParts`.
    pub(crate) async fn parts_list(
        &self,
        request: S3Request<dto::ListPartsInput>,
    ) -> S3Result<S3Response<dto::ListPartsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let named = self.upload(&visit, (&input.bucket, &input.key), &input.upload_id).await?;
        if named.upload.completed.is_some() {
            return Err(no_such_upload());
        }
        let (limit, max_parts) = limit(input.max_parts, "max-parts")?;
        let after = input.part_number_marker.unwrap_or(0);
        let all = self.store.upload_parts(named.upload.id).await.map_err(refusal)?;
        let rest: Vec<_> = all.into_iter().filter(|part| i64::from(part.number.get()) > i64::from(after)).collect();
        let is_truncated = rest.len() > limit;
        let plan = named.planned();
        let page: Vec<_> = rest.into_iter().take(limit).map(|part| shown(part, plan)).collect();
        let next = page.last().and_then(|part| part.part_number).filter(|_| is_truncated);
        let about = named.upload.about.as_ref();
        let org = owner(named.bucket.seen.org_id);
        Ok(S3Response::new(dto::ListPartsOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(input.upload_id),
            part_number_marker: Some(after),
            next_part_number_marker: next,
            max_parts: Some(max_parts),
            is_truncated: Some(is_truncated),
            parts: Some(page),
            initiator: Some(dto::Initiator { display_name: org.display_name.clone(), id: org.id.clone() }),
            owner: Some(org),
            storage_class: Some(dto::StorageClass::from_static(about.map_or("STANDARD", |about| about.class.as_str()))),
            checksum_algorithm: plan.map(|plan| dto::ChecksumAlgorithm::from_static(plan.algorithm.as_str())),
            checksum_type: plan.map(|plan| dto::ChecksumType::from_static(plan.kind.as_str())),
            ..Default::default()
        }))
    }
}

impl Named {
    /// How the checksum of the file is made, where it is to have one.
    pub fn planned(&self) -> Option<ChecksumPlan> {
        self.upload.about.as_ref().and_then(|about| about.checksum)
    }
}

impl Announced {
    /// Passes where a part has a checksum of the algorithm that its upload is for, or none.
    fn check_planned(&self, planned: Option<domain::storage::ChecksumAlgorithm>) -> S3Result<()> {
        match (planned, self.algorithm()) {
            (Some(planned), Some(sent)) if planned != sent => Err(s3_error!(
                InvalidRequest,
                "Checksum Type mismatch occurred, expected checksum Type: {planned}, actual checksum Type: {sent}"
            )),
            _ => Ok(()),
        }
    }
}

fn plan(
    algorithm: Option<&dto::ChecksumAlgorithm>,
    kind: Option<&dto::ChecksumType>,
) -> S3Result<Option<ChecksumPlan>> {
    let Some(algorithm) = algorithm.map(checksums::algorithm).transpose()? else {
        return match kind {
            Some(_) => Err(s3_error!(InvalidRequest, "x-amz-checksum-type needs x-amz-checksum-algorithm.")),
            None => Ok(None),
        };
    };
    let named = |kind: &dto::ChecksumType| {
        ChecksumKind::from_name(kind.as_str())
            .ok_or_else(|| s3_error!(InvalidRequest, "Value for x-amz-checksum-type header is invalid."))
    };
    let kind = kind.map(named).transpose()?;
    let plan = ChecksumPlan::check(algorithm, kind).map_err(|error| s3_error!(InvalidRequest, "{error}"))?;
    Ok(Some(plan))
}

fn completion(asked: &[dto::CompletedPart]) -> S3Result<Completion> {
    if asked.is_empty() || asked.len() > PARTS_MAX as usize {
        return Err(S3Error::new(S3ErrorCode::MalformedXML));
    }
    let mut parts = Vec::with_capacity(asked.len());
    for part in asked {
        let (Some(number), Some(etag)) = (part.part_number, &part.e_tag) else {
            return Err(S3Error::new(S3ErrorCode::MalformedXML));
        };
        parts.push(CompletedPart { part_number: part_number(number)?, etag: etag.value().to_owned() });
    }
    if !parts.is_sorted_by(|one, two| one.part_number < two.part_number) {
        return Err(s3_error!(
            InvalidPartOrder,
            "The list of parts was not in ascending order. The parts list must be specified in order by part number."
        ));
    }
    Completion::check(&parts).map_err(refusal)
}

fn shown(part: StoredPart, plan: Option<ChecksumPlan>) -> dto::Part {
    let fields = plan.zip(part.checksum).map(|(plan, value)| Fields::of(plan.algorithm, value)).unwrap_or_default();
    dto::Part {
        e_tag: Some(tag(&part.sent.etag)),
        last_modified: Some(timestamp(created(part.content_id))),
        part_number: i32::try_from(part.number.get()).ok(),
        size: i64::try_from(part.sent.size).ok(),
        checksum_crc32: fields.crc32,
        checksum_crc32c: fields.crc32c,
        checksum_crc64nvme: fields.crc64nvme,
        checksum_sha1: fields.sha1,
        checksum_sha256: fields.sha256,
    }
}

/// When a content was made, which its id says.
fn created(id: ContentId) -> domain::Timestamp {
    id.made_at()
}
