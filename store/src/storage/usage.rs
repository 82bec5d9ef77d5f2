//! How much lies in buckets: exact, since every write counts in its own commit.

use std::collections::HashMap;

use domain::id::{OrgId, ResourceId};

use super::BucketNo;
use crate::{Store, StoreError, reader::row, sql::Sql};

/// How much lies in a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketUsage {
    /// Files.
    pub objects: u64,
    /// Versions that no file shows: old ones, and delete markers.
    pub versions: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl BucketUsage {
    /// Whether nothing lies in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

row! {
    struct UsageRow {
        id: String,
        objects: i64,
        versions: i64,
        bytes: i64,
    }
}

row! {
    struct UploadsRow {
        id: String,
        bytes: i64,
    }
}

impl From<UsageRow> for BucketUsage {
    fn from(row: UsageRow) -> Self {
        let count = |sum: i64| u64::try_from(sum).unwrap_or_default();
        Self { objects: count(row.objects), versions: count(row.versions), bytes: count(row.bytes) }
    }
}

/// The sums over the lanes of the buckets that this holds for.
macro_rules! sums {
    ($which:literal) => {
        concat!(
            "SELECT buckets.id AS id, CAST(COALESCE(SUM(bucket_lanes.objects), 0) AS BIGINT) AS objects, \
             CAST(COALESCE(SUM(bucket_lanes.versions), 0) AS BIGINT) AS versions, \
             CAST(COALESCE(SUM(bucket_lanes.bytes), 0) AS BIGINT) AS bytes \
             FROM buckets LEFT JOIN bucket_lanes ON bucket_lanes.bucket_no = buckets.bucket_no WHERE ",
            $which,
            " GROUP BY buckets.id"
        )
    };
}

/// The bytes of the parts that wait for their uploads' end, of the buckets that this holds for.
macro_rules! uploads {
    ($which:literal) => {
        concat!(
            "SELECT buckets.id AS id, CAST(SUM(object_parts.size) AS BIGINT) AS bytes FROM buckets \
             JOIN object_uploads ON object_uploads.bucket_no = buckets.bucket_no AND object_uploads.completed_at IS NULL \
             JOIN object_parts ON object_parts.upload_id = object_uploads.id WHERE ",
            $which,
            " GROUP BY buckets.id"
        )
    };
}

impl Store {
    /// How much lies in a bucket.
    pub async fn bucket_usage(&self, no: BucketNo) -> Result<BucketUsage, StoreError> {
        let sums = Sql::new(sums!("buckets.bucket_no = $1"), [no.0.into()]);
        Ok(self.reader().row::<UsageRow>(&sums).await?.map(BucketUsage::from).unwrap_or_default())
    }

    /// How much lies in each bucket of an organization.
    pub async fn buckets_usage(&self, org_id: OrgId) -> Result<HashMap<ResourceId, BucketUsage>, StoreError> {
        let sums = Sql::new(sums!("buckets.org_id = $1"), [org_id.to_string().into()]);
        let rows: Vec<UsageRow> = self.reader().rows(&sums).await?;
        let usage = |row: UsageRow| {
            let id = row.id.parse().map_err(|_| StoreError::corrupt("buckets.id"))?;
            Ok((id, row.into()))
        };
        rows.into_iter().map(usage).collect()
    }

    /// Bytes of the parts that wait in a bucket for their uploads' end.
    pub async fn bucket_upload_bytes(&self, no: BucketNo) -> Result<u64, StoreError> {
        let sums = Sql::new(uploads!("buckets.bucket_no = $1"), [no.0.into()]);
        let found: Option<UploadsRow> = self.reader().row(&sums).await?;
        u64::try_from(found.map_or(0, |found| found.bytes)).map_err(StoreError::corrupt)
    }

    /// The same for each bucket of an organization in which any wait.
    pub async fn buckets_upload_bytes(&self, org_id: OrgId) -> Result<HashMap<ResourceId, u64>, StoreError> {
        let sums = Sql::new(uploads!("buckets.org_id = $1"), [org_id.to_string().into()]);
        let rows: Vec<UploadsRow> = self.reader().rows(&sums).await?;
        let bytes = |row: UploadsRow| {
            let id = row.id.parse().map_err(|_| StoreError::corrupt("buckets.id"))?;
            Ok((id, u64::try_from(row.bytes).map_err(StoreError::corrupt)?))
        };
        rows.into_iter().map(bytes).collect()
    }
}
