//! Buckets: what there is of them, making and deleting them, whether they keep old versions, and who may read them.

use actors::{
    resources::{ChangeResource, CreateResource},
    storage::{ChangeBucket, CreateBucket, DeleteBucket, Force},
};
use domain::{
    id::OrgId,
    resource::{Resource, ResourceType},
    storage::{BucketChange, BucketDraft, BucketName, BucketStatus, Versioning},
};
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result, dto, s3_error};
use store::storage::StoredBucket;

use crate::{
    access::{Need, denied},
    error::{custom, invalid, not_implemented, refusal},
    object::timestamp,
    service::Door,
    visit::{Visit, Visitor},
};

/// Buckets of one answer (S3).
const LISTED_MAX: usize = 10_000;

/// Who a bucket belongs to: its organization.
pub(crate) fn owner(org_id: OrgId) -> dto::Owner {
    dto::Owner { display_name: Some(org_id.to_string()), id: Some(org_id.to_string()) }
}

impl Door {
    /// `ListBuckets`.
    pub(crate) async fn buckets_list(
        &self,
        request: S3Request<dto::ListBucketsInput>,
    ) -> S3Result<S3Response<dto::ListBucketsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let Visitor::Key(key) = visit.visitor() else { return Err(denied()) };
        let input = request.input;
        let limit = input.max_buckets.map_or(LISTED_MAX, |limit| usize::try_from(limit).unwrap_or(0).min(LISTED_MAX));
        if limit == 0 {
            return Err(invalid("max-buckets must be 1 to 10000."));
        }
        let count = self.store.resources_count(key.caller.org_id, ResourceType::Bucket).await.map_err(refusal)?;
        let all = self.store.resources(key.caller.org_id, ResourceType::Bucket, count).await.map_err(refusal)?;
        let (prefix, after) = (input.prefix.clone().unwrap_or_default(), input.continuation_token.unwrap_or_default());
        let is_listed = |bucket: &Resource| {
            BucketStatus::from_name(bucket.status.as_str()) == Some(BucketStatus::Active)
                && key.caller.grant.sees(bucket.id)
                && bucket.name.starts_with(&prefix)
                && bucket.name > after
        };
        let mut listed: Vec<Resource> = all.into_iter().filter(is_listed).collect();
        listed.sort_by(|one, two| one.name.cmp(&two.name));
        let next = (listed.len() > limit).then(|| listed[limit - 1].name.clone());
        listed.truncate(limit);
        let bucket = |bucket: Resource| dto::Bucket {
            bucket_region: Some(self.options.region.clone()),
            creation_date: Some(timestamp(bucket.created_at)),
            name: Some(bucket.name),
        };
        Ok(S3Response::new(dto::ListBucketsOutput {
            buckets: Some(listed.into_iter().map(bucket).collect()),
            continuation_token: next,
            owner: Some(owner(key.caller.org_id)),
            prefix: input.prefix,
        }))
    }

    /// `CreateBucket`.
    pub(crate) async fn bucket_create(
        &self,
        request: S3Request<dto::CreateBucketInput>,
    ) -> S3Result<S3Response<dto::CreateBucketOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let Visitor::Key(key) = visit.visitor() else { return Err(denied()) };
        key.check_organization().map_err(refusal)?;
        let input = request.input;
        let is_private = input.acl.as_ref().is_none_or(|acl| acl.as_str() == "private");
        let has_grants = input.grant_full_control.is_some()
            || input.grant_read.is_some()
            || input.grant_read_acp.is_some()
            || input.grant_write.is_some()
            || input.grant_write_acp.is_some();
        if !is_private || has_grants {
            let message = "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting";
            return Err(S3Error::with_message(S3ErrorCode::AccessControlListNotSupported, message));
        }
        if input.object_lock_enabled_for_bucket == Some(true) {
            return Err(not_implemented("object lock"));
        }
        let name = BucketName::parse("bucket", &input.bucket)
            .map_err(|_| s3_error!(InvalidBucketName, "The specified bucket is not valid."))?;
        let draft = BucketDraft { name: name.to_string(), versioning: None, quota_bytes: None };
        let context = visit.context(self.options.request_timeout);
        let made =
            self.actors.resource_book.ask(&key.caller.org_id, CreateResource(CreateBucket(draft)), context).await;
        made.map_err(refusal)?;
        Ok(S3Response::new(dto::CreateBucketOutput { location: Some(format!("/{name}")) }))
    }

    /// `DeleteBucket`.
    pub(crate) async fn bucket_delete(
        &self,
        request: S3Request<dto::DeleteBucketInput>,
    ) -> S3Result<S3Response<dto::DeleteBucketOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        let command = ChangeResource(DeleteBucket { id: bucket.id(), force: Force::No });
        let context = visit.context(self.options.request_timeout);
        self.actors.resource_book.ask(&bucket.seen.org_id, command, context).await.map_err(refusal)?;
        Ok(S3Response::with_status(dto::DeleteBucketOutput::default(), hyper::StatusCode::NO_CONTENT))
    }

    /// `HeadBucket`.
    pub(crate) async fn bucket_head(
        &self,
        request: S3Request<dto::HeadBucketInput>,
    ) -> S3Result<S3Response<dto::HeadBucketOutput>> {
        let visit = Visit::of(&request.extensions)?;
        self.bucket(&visit, &request.input.bucket, Need::Read).await?;
        let bucket_region = Some(self.options.region.clone());
        Ok(S3Response::new(dto::HeadBucketOutput { bucket_region, ..Default::default() }))
    }

    /// `GetBucketLocation`.
    pub(crate) async fn bucket_location(
        &self,
        request: S3Request<dto::GetBucketLocationInput>,
    ) -> S3Result<S3Response<dto::GetBucketLocationOutput>> {
        let visit = Visit::of(&request.extensions)?;
        self.bucket(&visit, &request.input.bucket, Need::Read).await?;
        // S3's first region has none.
        let region = Some(self.options.region.clone()).filter(|region| region != "us-east-1");
        let location_constraint = region.map(dto::BucketLocationConstraint::from);
        Ok(S3Response::new(dto::GetBucketLocationOutput { location_constraint }))
    }

    /// `GetBucketVersioning`.
    pub(crate) async fn bucket_versioning(
        &self,
        request: S3Request<dto::GetBucketVersioningInput>,
    ) -> S3Result<S3Response<dto::GetBucketVersioningOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Read).await?;
        let status = bucket.settings.versioning.filter(|versioning| *versioning != Versioning::Disabled);
        let status = status.map(|status| dto::BucketVersioningStatus::from_static(status.as_str()));
        Ok(S3Response::new(dto::GetBucketVersioningOutput { mfa_delete: None, status }))
    }

    /// `PutBucketVersioning`.
    pub(crate) async fn bucket_versioning_put(
        &self,
        request: S3Request<dto::PutBucketVersioningInput>,
    ) -> S3Result<S3Response<dto::PutBucketVersioningOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        let configuration = request.input.versioning_configuration;
        if configuration.mfa_delete.as_ref().is_some_and(|mfa| mfa.as_str() == "Enabled") {
            return Err(not_implemented("MFA delete"));
        }
        let versioning = match configuration.status.as_ref().map(dto::BucketVersioningStatus::as_str) {
            Some("Enabled") => Versioning::Enabled,
            Some("Suspended") => Versioning::Suspended,
            Some(_) => return Err(S3Error::new(S3ErrorCode::MalformedXML)),
            None => {
                let message = "The Versioning element must be specified";
                return Err(custom("IllegalVersioningConfigurationException", hyper::StatusCode::BAD_REQUEST, message));
            }
        };
        let change = BucketChange { versioning: Some(versioning), ..BucketChange::default() };
        self.bucket_change(&visit, &bucket, change).await?;
        Ok(S3Response::new(dto::PutBucketVersioningOutput::default()))
    }

    /// Changes how a bucket behaves.
    pub(crate) async fn bucket_change(
        &self,
        visit: &Visit,
        bucket: &StoredBucket,
        change: BucketChange,
    ) -> S3Result<()> {
        let command = ChangeResource(ChangeBucket { id: bucket.id(), name: None, change });
        let context = visit.context(self.options.request_timeout);
        self.actors.resource_book.ask(&bucket.seen.org_id, command, context).await.map_err(refusal)?;
        Ok(())
    }
}
