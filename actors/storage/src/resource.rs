//! Making, changing and deleting buckets, in the turn of the organization's book of resources.

use actors_base::{
    Services,
    resources::{NewResource, ResourceChange, ResourceCreate, ResourceKind},
};
use domain::{
    Result,
    id::ResourceId,
    resource::{Resource, ResourceStatus, ResourceType},
    storage::{BucketChange, BucketDraft, BucketName, bucket_exists, bucket_not_empty, no_bucket, too_many_buckets},
};
use store::{
    Change,
    storage::{BucketRules, StoredBucket},
};

use crate::{lifecycle, removal};

/// Buckets, as resources.
const BUCKET: ResourceKind = ResourceKind {
    resource_type: ResourceType::Bucket,
    audited_as: "bucket",
    count_max: |settings| settings.buckets_max,
    exists: bucket_exists,
    too_many: too_many_buckets,
    not_found: no_bucket,
};

/// Makes a bucket.
#[derive(Clone, Debug)]
pub struct CreateBucket(pub BucketDraft);

impl ResourceCreate for CreateBucket {
    const COMMAND: &'static str = "create_bucket";
    const KIND: ResourceKind = BUCKET;

    fn draft(&self) -> NewResource {
        NewResource::named(self.0.name.clone())
    }

    async fn rows(&self, _: &Services, resource: &Resource) -> Result<Change> {
        let (_, settings) = self.0.check()?;
        let mut change = Change::new();
        change.bucket_add(resource, &settings);
        Ok(change)
    }
}

/// Changes a bucket's name, or how it behaves.
#[derive(Clone, Debug)]
pub struct ChangeBucket {
    /// Which one.
    pub id: ResourceId,
    /// Another name.
    pub name: Option<BucketName>,
    /// What else is to be changed.
    pub change: BucketChange,
}

impl ResourceChange for ChangeBucket {
    const COMMAND: &'static str = "change_bucket";
    const KIND: ResourceKind = BUCKET;
    const ACT: &'static str = "changed";

    fn id(&self) -> ResourceId {
        self.id
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        let bucket = bucket(services, self.id).await?;
        bucket.check_usable()?;
        let settings = self.change.apply(&bucket.settings, services.settings.public_files)?;
        let mut change = Change::new();
        // Another name ends the epoch too, since the lanes tell the audit trail of it.
        change.bucket_settings_put(bucket.seen, &settings);
        if let Some(name) = &self.name {
            name.as_str().clone_into(&mut resource.name);
            name.as_str().clone_into(&mut resource.name_key);
        }
        Ok(change)
    }
}

/// Replaces the lifecycle rules, the CORS rules or the tags of a bucket.
#[derive(Clone, Debug)]
pub struct PutBucketRules {
    /// Which one.
    pub id: ResourceId,
    /// What it has from now on.
    pub rules: BucketRules,
}

impl ResourceChange for PutBucketRules {
    const COMMAND: &'static str = "put_bucket_rules";
    const KIND: ResourceKind = BUCKET;
    const ACT: &'static str = "changed";

    fn id(&self) -> ResourceId {
        self.id
    }

    async fn decide(&self, services: &Services, _: &mut Resource) -> Result<Change> {
        let bucket = bucket(services, self.id).await?;
        bucket.check_usable()?;
        let mut change = Change::new();
        change.bucket_rules_put(bucket.seen, &self.rules);
        if let BucketRules::Lifecycle(rules) = &self.rules {
            lifecycle::arm(&mut change, &bucket, rules, services.store.now());
        }
        Ok(change)
    }
}

/// Whether a bucket is deleted with all that lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// Only an empty one is.
    No,
    /// It is.
    Yes,
}

/// Deletes a bucket: it is emptied afterwards.
#[derive(Clone, Debug)]
pub struct DeleteBucket {
    /// Which one.
    pub id: ResourceId,
    /// Whether with all that lies in it.
    pub force: Force,
}

impl ResourceChange for DeleteBucket {
    const COMMAND: &'static str = "delete_bucket";
    const KIND: ResourceKind = BUCKET;
    const ACT: &'static str = "deleted";

    fn id(&self) -> ResourceId {
        self.id
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        let bucket = bucket(services, self.id).await?;
        bucket.status().check_deletable()?;
        let mut change = Change::new();
        change.bucket_epoch_end(bucket.seen);
        if self.force == Force::No {
            if !services.store.bucket_usage(bucket.seen.no).await?.is_empty() {
                return Err(bucket_not_empty());
            }
            change.bucket_is_empty(bucket.seen);
        }
        removal::delete_after(&mut change, resource.org_id, services.store.now());
        resource.status = ResourceStatus::Deleting;
        Ok(change)
    }
}

async fn bucket(services: &Services, id: ResourceId) -> Result<StoredBucket> {
    services.store.bucket_of(id).await?.ok_or_else(no_bucket)
}
