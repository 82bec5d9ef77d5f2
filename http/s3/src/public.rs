//! Whether everybody may read a bucket's files, in Amazon's words: a policy says so, and a block of public access keeps it away.
//! Both are views of one setting, which REST calls `publicRead`.

use domain::storage::{BucketChange, policy_check, policy_of_public};
use hyper::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderValue},
};
use s3s::{S3Request, S3Response, S3Result, dto, s3_error};
use store::storage::StoredBucket;

use crate::{
    access::Need,
    error::{custom, not_implemented, refusal},
    service::Door,
    visit::Visit,
};

/// Everybody may read.
const PUBLIC: BucketChange =
    BucketChange { versioning: None, quota_bytes: None, public_read: Some(true), audit_data: None };
/// Nobody else may.
const PRIVATE: BucketChange =
    BucketChange { versioning: None, quota_bytes: None, public_read: Some(false), audit_data: None };

impl Door {
    async fn read_by_all(&self, visit: &Visit, bucket: &StoredBucket, change: BucketChange) -> S3Result<()> {
        if Some(bucket.settings.public_read) == change.public_read {
            return Ok(());
        }
        self.bucket_change(visit, bucket, change).await
    }

    /// `GetBucketPolicy`.
    pub(crate) async fn bucket_policy(
        &self,
        request: S3Request<dto::GetBucketPolicyInput>,
    ) -> S3Result<S3Response<dto::GetBucketPolicyOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let name = request.input.bucket;
        let bucket = self.bucket(&visit, &name, Need::Settings).await?;
        if !bucket.settings.public_read {
            return Err(s3_error!(NoSuchBucketPolicy, "The bucket policy does not exist"));
        }
        let mut response = S3Response::new(dto::GetBucketPolicyOutput { policy: Some(policy_of_public(&name)) });
        response.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(response)
    }

    /// `PutBucketPolicy`.
    pub(crate) async fn bucket_policy_put(
        &self,
        request: S3Request<dto::PutBucketPolicyInput>,
    ) -> S3Result<S3Response<dto::PutBucketPolicyOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Change).await?;
        let names = [bucket.resource.name.as_str(), bucket.resource.physical_name.as_str()];
        policy_check(&input.policy, &names).map_err(refusal)?;
        self.read_by_all(&visit, &bucket, PUBLIC).await?;
        Ok(S3Response::with_status(dto::PutBucketPolicyOutput::default(), StatusCode::NO_CONTENT))
    }

    /// `DeleteBucketPolicy`.
    pub(crate) async fn bucket_policy_delete(
        &self,
        request: S3Request<dto::DeleteBucketPolicyInput>,
    ) -> S3Result<S3Response<dto::DeleteBucketPolicyOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        self.read_by_all(&visit, &bucket, PRIVATE).await?;
        Ok(S3Response::with_status(dto::DeleteBucketPolicyOutput::default(), StatusCode::NO_CONTENT))
    }

    /// `GetBucketPolicyStatus`.
    pub(crate) async fn bucket_policy_status(
        &self,
        request: S3Request<dto::GetBucketPolicyStatusInput>,
    ) -> S3Result<S3Response<dto::GetBucketPolicyStatusOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Settings).await?;
        let status = dto::PolicyStatus { is_public: Some(bucket.settings.public_read) };
        Ok(S3Response::new(dto::GetBucketPolicyStatusOutput { policy_status: Some(status) }))
    }

    /// `GetPublicAccessBlock`: there is one unless everybody may read.
    pub(crate) async fn public_access_block(
        &self,
        request: S3Request<dto::GetPublicAccessBlockInput>,
    ) -> S3Result<S3Response<dto::GetPublicAccessBlockOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Settings).await?;
        if bucket.settings.public_read {
            let message = "The public access block configuration was not found";
            return Err(custom("NoSuchPublicAccessBlockConfiguration", StatusCode::NOT_FOUND, message));
        }
        let all = dto::PublicAccessBlockConfiguration {
            block_public_acls: Some(true),
            block_public_policy: Some(true),
            ignore_public_acls: Some(true),
            restrict_public_buckets: Some(true),
        };
        Ok(S3Response::new(dto::GetPublicAccessBlockOutput { public_access_block_configuration: Some(all) }))
    }

    /// `PutPublicAccessBlock`: one that keeps public policies away ends public reading. Public lists of access there are none
    /// of, whatever it says of them.
    pub(crate) async fn public_access_block_put(
        &self,
        request: S3Request<dto::PutPublicAccessBlockInput>,
    ) -> S3Result<S3Response<dto::PutPublicAccessBlockOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Change).await?;
        let asked = input.public_access_block_configuration;
        match (asked.block_public_policy.unwrap_or(false), asked.restrict_public_buckets.unwrap_or(false)) {
            (true, true) => self.read_by_all(&visit, &bucket, PRIVATE).await?,
            (false, false) => {}
            _ => {
                return Err(not_implemented("BlockPublicPolicy without RestrictPublicBuckets, or the other way round"));
            }
        }
        Ok(S3Response::new(dto::PutPublicAccessBlockOutput::default()))
    }

    /// `DeletePublicAccessBlock`, which lets a policy say that everybody may read, and lets nobody read by itself.
    pub(crate) async fn public_access_block_delete(
        &self,
        request: S3Request<dto::DeletePublicAccessBlockInput>,
    ) -> S3Result<S3Response<dto::DeletePublicAccessBlockOutput>> {
        let visit = Visit::of(&request.extensions)?;
        self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        Ok(S3Response::with_status(dto::DeletePublicAccessBlockOutput::default(), StatusCode::NO_CONTENT))
    }
}
