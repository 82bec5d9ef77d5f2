//! Writing a file, in one piece or by a form.

use actors::storage::{FileAt, LaneKey, PutFile};
use domain::storage::{FileChecksum, FileHeaders};
use hyper::{
    HeaderMap,
    header::{self, HeaderValue},
};
use s3s::{
    S3Request, S3Response, S3Result,
    dto::{self, ETag},
    s3_error,
};

use super::{conditions, said_fields, tag};
use crate::{
    access::{Need, no_such_bucket},
    body::{Coming, Kept, sent_size},
    checksums::{Announced, Fields},
    error::{not_implemented, refusal},
    service::Door,
    visit::{Visit, Visitor},
};

impl Door {
    /// `PutObject`.
    pub(crate) async fn object_put(
        &self,
        request: S3Request<dto::PutObjectInput>,
    ) -> S3Result<S3Response<dto::PutObjectOutput>> {
        let visit = Visit::of(&request.extensions)?;
        if matches!(visit.visitor(), Visitor::Key(_)) && request.region.is_none() {
            // A form that was signed by the second version.
            return Err(s3_error!(
                InvalidRequest,
                "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256."
            ));
        }
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Write).await?;
        if input.write_offset_bytes.is_some() {
            return Err(not_implemented("appending"));
        }
        let key = Self::file_key(&visit, &bucket, &input.key)?;
        let expires = request.headers.get(header::EXPIRES).and_then(|it| it.to_str().ok()).map(str::to_owned);
        let said = said_fields!(input, expires)?;
        let conditions = conditions(input.if_match.as_ref(), input.if_none_match.as_ref())?;
        let announced = Announced::read(&request.headers, request.trailing_headers, None)?;
        let org_id = bucket.seen.org_id;
        let coming = Coming { body: input.body, size: sent_size(&request.headers, input.content_length), announced };
        let Kept { content, checksum } = self.keep(org_id, coming).await?;
        if let Err(refused) = self.still_writes(&visit).await {
            self.abandon(&content).await;
            return Err(refused);
        }
        let checksum = checksum.as_ref().map(FileChecksum::from);
        let fields = Fields::from(checksum.as_ref());
        let lane = LaneKey::of(bucket.id(), &key);
        let command = PutFile {
            at: FileAt { org_id, key },
            content: content.clone(),
            headers: FileHeaders { checksum, ..said.headers },
            tags: said.tags,
            class: said.class,
            conditions,
        };
        // The upload took as long as bytes kept coming; what follows has the usual time.
        let context = visit.context(self.options.request_timeout);
        let file = match self.actors.bucket_lane.ask(&lane, command, context).await {
            Ok(file) => file,
            Err(refused) => {
                self.abandon(&content).await;
                return Err(refusal(refused));
            }
        };
        let etag = file.content.as_ref().map(|content| tag(&content.etag)).ok_or_else(no_such_bucket)?;
        let version_id = bucket.names_versions().then(|| file.version().id().to_string());
        let told =
            if visit.operation() == "PostObject" { told(&etag, version_id.as_deref()) } else { HeaderMap::new() };
        let mut response = S3Response::new(dto::PutObjectOutput {
            e_tag: Some(etag),
            expiration: self.expiration(&bucket, &file).await,
            version_id,
            checksum_crc32: fields.crc32,
            checksum_crc32c: fields.crc32c,
            checksum_crc64nvme: fields.crc64nvme,
            checksum_sha1: fields.sha1,
            checksum_sha256: fields.sha256,
            checksum_type: fields.kind,
            ..Default::default()
        });
        response.headers = told;
        Ok(response)
    }
}

/// What the answer to a form tells, of which `s3s` writes nothing.
fn told(etag: &ETag, version_id: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(etag) = etag.to_http_header() {
        headers.insert(header::ETAG, etag);
    }
    if let Some(Ok(id)) = version_id.map(HeaderValue::from_str) {
        headers.insert("x-amz-version-id", id);
    }
    headers
}
