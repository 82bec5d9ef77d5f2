//! Buckets: what each has beside its resource's record.

use domain::{
    error::Result as Decided,
    id::{OrgId, ResourceId},
    resource::{Resource, ResourceType},
    storage::{BucketAddress, BucketSettings, BucketStatus, Versioning},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};

use super::entity::bucket as entity;
use crate::{
    Change, Expect, Store, StoreError, json,
    reader::{Reads, row},
    resources::StateRow,
    sql::Sql,
};

row! {
    struct AttachedRow {
        id: String,
    }
}

/// The number by which rows of files name their bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BucketNo(pub(crate) i64);

/// The bucket that something was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketSeen {
    /// Its number.
    pub no: BucketNo,
    /// Whose it is.
    pub org_id: OrgId,
    /// What it was then.
    pub epoch: i64,
}

/// A bucket.
#[derive(Clone, Debug)]
pub struct StoredBucket {
    /// Its record.
    pub resource: Resource,
    /// How it behaves.
    pub settings: BucketSettings,
    /// What a change has to name.
    pub seen: BucketSeen,
}

impl StoredBucket {
    /// Its id.
    pub const fn id(&self) -> ResourceId {
        self.resource.id
    }

    /// Passes where its files can be read and written; 409 otherwise.
    pub fn check_usable(&self) -> Decided<()> {
        self.status().check_usable()
    }

    /// Whether its versions have names that answers of S3 tell: since its versioning was first on.
    pub const fn names_versions(&self) -> bool {
        matches!(self.settings.versioning, Some(Versioning::Enabled | Versioning::Suspended))
    }

    /// How far it is.
    pub fn status(&self) -> BucketStatus {
        // Both are the contract's four names.
        BucketStatus::from_name(self.resource.status.as_str()).unwrap_or(BucketStatus::Error)
    }
}

impl Store {
    /// A bucket, whosever it is. What it is like was so at its epoch or later.
    pub async fn bucket_of(&self, id: ResourceId) -> Result<Option<StoredBucket>, StoreError> {
        self.bucket_where("resources.id = $1", [id.to_string().into()]).await
    }

    /// The bucket of which this is true.
    async fn bucket_where<const N: usize>(
        &self,
        condition: &str,
        values: [sea_orm::Value; N],
    ) -> Result<Option<StoredBucket>, StoreError> {
        let statement = format!(
            "SELECT resources.id AS id, version, epoch FROM resources JOIN buckets ON buckets.id = resources.id \
             WHERE {condition}"
        );
        let Some(state) = self.reader().row::<StateRow>(&Sql::new(statement, values)).await? else { return Ok(None) };
        match (self.parts.buckets.find(&state), state.id()) {
            (Some(bucket), _) => Ok(Some(bucket)),
            (None, Some(id)) => self.bucket_read(id).await,
            (None, None) => Err(StoreError::corrupt("resources.id")),
        }
    }

    async fn bucket_read(&self, id: ResourceId) -> Result<Option<StoredBucket>, StoreError> {
        let found =
            entity::Entity::find().filter(entity::Column::Id.eq(id.to_string())).read_one(self.reader()).await?;
        let Some(found) = found else { return Ok(None) };
        let org_id = found.org_id.parse().map_err(|_| StoreError::corrupt("buckets.org_id"))?;
        let Some(resource) = self.resource(org_id, ResourceType::Bucket, id).await? else { return Ok(None) };
        let settings = json::read("buckets.settings", &found.settings)?;
        let seen = BucketSeen { no: BucketNo(found.bucket_no), org_id, epoch: found.epoch };
        let bucket = StoredBucket { resource, settings, seen };
        self.parts.buckets.keep(id, bucket.resource.version, Some(seen.epoch), &bucket);
        Ok(Some(bucket))
    }

    /// What a change of this bucket has to name.
    pub async fn bucket_seen(&self, no: BucketNo) -> Result<Option<BucketSeen>, StoreError> {
        let Some(found) = entity::Entity::find_by_id(no.0).read_one(self.reader()).await? else { return Ok(None) };
        let org_id = found.org_id.parse().map_err(|_| StoreError::corrupt("buckets.org_id"))?;
        Ok(Some(BucketSeen { no, org_id, epoch: found.epoch }))
    }

    /// The bucket of the organization that a path names: by its own id, or by that of the project that has it.
    pub async fn bucket_at(&self, org_id: OrgId, address: BucketAddress) -> Result<Option<StoredBucket>, StoreError> {
        let project_id = match address {
            BucketAddress::Resource(id) => return self.bucket(org_id, id).await,
            BucketAddress::Project(project_id) => project_id,
        };
        let statement = "SELECT id FROM resources WHERE org_id = $1 AND type = 'bucket' AND project_id = $2 LIMIT 1";
        let sql = Sql::new(statement, [org_id.to_string().into(), project_id.to_string().into()]);
        let Some(found) = self.reader().row::<AttachedRow>(&sql).await? else { return Ok(None) };
        let id = found.id.parse().map_err(|_| StoreError::corrupt("resources.id"))?;
        self.bucket(org_id, id).await
    }

    /// The bucket that a request over S3 names: by its own name where it is the organization's `own`, or by the one that no
    /// other bucket has.
    pub async fn bucket_called(&self, own: Option<OrgId>, name: &str) -> Result<Option<StoredBucket>, StoreError> {
        let named = "resources.type = 'bucket' AND resources.org_id = $1 AND name_key = $2";
        if let Some(org_id) = own
            && let Some(bucket) = self.bucket_where(named, [org_id.to_string().into(), name.into()]).await?
        {
            return Ok(Some(bucket));
        }
        self.bucket_where("resources.type = 'bucket' AND physical_name = $1", [name.into()]).await
    }

    /// A bucket of the organization.
    pub async fn bucket(&self, org_id: OrgId, id: ResourceId) -> Result<Option<StoredBucket>, StoreError> {
        Ok(self.bucket_of(id).await?.filter(|bucket| bucket.seen.org_id == org_id))
    }
}

impl Change {
    /// Adds what a new bucket has beside its record.
    pub fn bucket_add(&mut self, resource: &Resource, settings: &BucketSettings) {
        self.insert(entity::ActiveModel {
            id: Set(resource.id.to_string()),
            org_id: Set(resource.org_id.to_string()),
            settings: Set(json::text(settings)),
            epoch: Set(1),
            ..Default::default()
        });
    }

    /// Writes how a bucket behaves, and ends its epoch; stale where that is another one.
    pub fn bucket_settings_put(&mut self, seen: BucketSeen, settings: &BucketSettings) {
        let statement = "UPDATE buckets SET settings = $3, epoch = epoch + 1 WHERE bucket_no = $1 AND epoch = $2";
        let values = [seen.no.0.into(), seen.epoch.into(), json::text(settings).into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Ends a bucket's epoch: whatever was decided on it and isn't committed is stale from now on.
    pub fn bucket_epoch_end(&mut self, seen: BucketSeen) {
        let statement = "UPDATE buckets SET epoch = epoch + 1 WHERE bucket_no = $1 AND epoch = $2";
        self.run_statement(Sql::new(statement, [seen.no.0.into(), seen.epoch.into()]), Expect::Rows(1));
    }

    /// Stale where anything lies in a bucket whose epoch the same change has ended.
    pub fn bucket_is_empty(&mut self, seen: BucketSeen) {
        // In a statement of its own, which begins when no write to the bucket is under way any more.
        let statement = "UPDATE buckets SET epoch = epoch WHERE bucket_no = $1 \
                         AND NOT EXISTS (SELECT 1 FROM objects_live WHERE bucket_no = $1) \
                         AND NOT EXISTS (SELECT 1 FROM objects_gone WHERE bucket_no = $1) \
                         AND NOT EXISTS (SELECT 1 FROM object_versions WHERE bucket_no = $1)";
        self.run_statement(Sql::new(statement, [seen.no.0.into()]), Expect::Rows(1));
    }

    /// Ends the epochs of all buckets of an organization that is gone, and has them count as being deleted.
    pub fn buckets_end(&mut self, org_id: OrgId) {
        for statement in [
            "UPDATE buckets SET epoch = epoch + 1 WHERE org_id = $1",
            "UPDATE resources SET status = 'deleting', version = version + 1 WHERE org_id = $1 AND type = 'bucket'",
        ] {
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
        }
    }
}
