//! Access control lists: nobody but the organization stands in one, and none can be changed, as in buckets of Amazon's whose
//! owner owns all in them.

use domain::id::OrgId;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result, dto};

use crate::{access::Need, buckets::owner, service::Door, visit::Visit};

/// What may be asked for, because it is so already.
const AS_IT_IS: &[&str] = &["private", "bucket-owner-full-control"];

/// A list that is to be written, as far as it matters.
struct Asked {
    canned: Option<String>,
    has_grants: bool,
    policy: Option<dto::AccessControlPolicy>,
}

/// The fields of an input that say it.
macro_rules! asked {
    ($input:expr) => {
        Asked {
            canned: $input.acl.as_ref().map(|acl| acl.as_str().to_owned()),
            has_grants: $input.grant_full_control.is_some()
                || $input.grant_read.is_some()
                || $input.grant_read_acp.is_some()
                || $input.grant_write.is_some()
                || $input.grant_write_acp.is_some(),
            policy: $input.access_control_policy,
        }
    };
}

impl Door {
    /// `GetBucketAcl`: the organization may everything; nobody else stands there.
    pub(crate) async fn bucket_acl(
        &self,
        request: S3Request<dto::GetBucketAclInput>,
    ) -> S3Result<S3Response<dto::GetBucketAclOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Read).await?;
        let org_id = bucket.seen.org_id;
        let output = dto::GetBucketAclOutput { grants: Some(vec![full_control(org_id)]), owner: Some(owner(org_id)) };
        Ok(S3Response::new(output))
    }

    /// `GetObjectAcl`: as of the bucket.
    pub(crate) async fn object_acl(
        &self,
        request: S3Request<dto::GetObjectAclInput>,
    ) -> S3Result<S3Response<dto::GetObjectAclOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Read).await?;
        let key = Self::file_key(&visit, &bucket, &input.key)?;
        let version = input.version_id.as_deref().map(crate::object::version_of).transpose()?;
        self.file(&bucket, &key, version).await?;
        let org_id = bucket.seen.org_id;
        Ok(S3Response::new(dto::GetObjectAclOutput {
            grants: Some(vec![full_control(org_id)]),
            owner: Some(owner(org_id)),
            ..Default::default()
        }))
    }

    /// `PutBucketAcl`, which changes nothing.
    pub(crate) async fn bucket_acl_put(
        &self,
        request: S3Request<dto::PutBucketAclInput>,
    ) -> S3Result<S3Response<dto::PutBucketAclOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        asked!(request.input).check(bucket.seen.org_id)?;
        Ok(S3Response::new(dto::PutBucketAclOutput::default()))
    }

    /// `PutObjectAcl`, which changes nothing.
    pub(crate) async fn object_acl_put(
        &self,
        request: S3Request<dto::PutObjectAclInput>,
    ) -> S3Result<S3Response<dto::PutObjectAclOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Write).await?;
        let key = Self::file_key(&visit, &bucket, &input.key)?;
        let version = input.version_id.as_deref().map(crate::object::version_of).transpose()?;
        self.file(&bucket, &key, version).await?;
        asked!(input).check(bucket.seen.org_id)?;
        Ok(S3Response::new(dto::PutObjectAclOutput::default()))
    }
}

impl Asked {
    /// Passes where the list is to be what it is.
    fn check(self, org_id: OrgId) -> S3Result<()> {
        let Self { canned, has_grants, policy } = self;
        if canned.is_none() && !has_grants && policy.is_none() {
            return Err(S3Error::new(S3ErrorCode::MissingSecurityHeader));
        }
        let is_as_it_is = canned.is_none_or(|canned| AS_IT_IS.contains(&canned.as_str()));
        let gives_all_to_owner = |policy: dto::AccessControlPolicy| {
            policy.grants.is_some_and(|grants| grants.len() == 1 && gives_all_to(&grants[0], org_id))
        };
        if is_as_it_is && !has_grants && policy.is_none_or(gives_all_to_owner) {
            return Ok(());
        }
        Err(S3Error::with_message(S3ErrorCode::AccessControlListNotSupported, "The bucket does not allow ACLs"))
    }
}

/// Whether a grant lets the organization do everything.
fn gives_all_to(grant: &dto::Grant, org_id: OrgId) -> bool {
    let is_all = grant.permission.as_ref().is_some_and(|it| it.as_str() == dto::Permission::FULL_CONTROL);
    let id = grant.grantee.as_ref().and_then(|grantee| grantee.id.as_deref());
    is_all && id == Some(org_id.to_string().as_str())
}

fn full_control(org_id: OrgId) -> dto::Grant {
    let dto::Owner { display_name, id } = owner(org_id);
    let grantee = dto::Grantee {
        display_name,
        email_address: None,
        id,
        type_: dto::Type::from_static(dto::Type::CANONICAL_USER),
        uri: None,
    };
    dto::Grant { grantee: Some(grantee), permission: Some(dto::Permission::from_static(dto::Permission::FULL_CONTROL)) }
}
