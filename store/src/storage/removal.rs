//! Emptying a bucket that is being deleted, a bounded number of rows at a time.

use domain::{
    id::{OrgId, ResourceId},
    storage::KeyPrefix,
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{BucketNo, BucketSeen, FileVersion, entity::version};
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

/// Rows that one commit takes away.
const ROWS_MAX: u64 = 1_000;
/// What is left of a bucket beside its files.
const REST: [&str; 4] = [
    "DELETE FROM bucket_rules WHERE bucket_no = $1",
    "DELETE FROM bucket_lanes WHERE bucket_no = $1",
    "DELETE FROM bucket_moves WHERE bucket_no = $1",
    "DELETE FROM buckets WHERE bucket_no = $1",
];

row! {
    struct EndedRow {
        bucket_no: i64,
        id: String,
        epoch: i64,
    }
}

/// A bucket that is being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketRest {
    /// Its id.
    pub id: ResourceId,
    /// What it was.
    pub seen: BucketSeen,
}

impl Store {
    /// The next bucket of the organization that is being deleted.
    pub async fn bucket_rest(&self, org_id: OrgId) -> Result<Option<BucketRest>, StoreError> {
        let statement = "SELECT buckets.bucket_no, buckets.id, buckets.epoch FROM buckets \
                         JOIN resources ON resources.id = buckets.id \
                         WHERE buckets.org_id = $1 AND resources.status = 'deleting' ORDER BY buckets.bucket_no LIMIT 1";
        let found: Option<EndedRow> = self.reader().row(&Sql::new(statement, [org_id.to_string().into()])).await?;
        let rest = |row: EndedRow| {
            let id = row.id.parse().map_err(|_| StoreError::corrupt("buckets.id"))?;
            Ok(BucketRest { id, seen: BucketSeen { no: BucketNo(row.bucket_no), org_id, epoch: row.epoch } })
        };
        found.map(rest).transpose()
    }

    /// What of a bucket's versions is to be taken away next; none where nothing is left.
    pub async fn bucket_versions_next(&self, no: BucketNo) -> Result<Vec<FileVersion>, StoreError> {
        let all = KeyPrefix::default().range();
        for found in [self.files_in(no, &all, ROWS_MAX).await?, self.files_gone_in(no, &all, ROWS_MAX).await?] {
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// What of a bucket's old versions is to be taken away next; none where nothing is left.
    pub async fn bucket_old_next(&self, no: BucketNo) -> Result<Vec<FileVersion>, StoreError> {
        let select = version::Entity::find()
            .filter(version::Column::BucketNo.eq(no.0))
            .order_by_asc(version::Column::Key)
            .order_by_asc(version::Column::Stamp)
            .limit(ROWS_MAX);
        select.read_list(self.reader()).await?.into_iter().map(FileVersion::try_from).collect()
    }
}

impl Change {
    /// Deletes an empty bucket with its record.
    pub fn bucket_remove(&mut self, rest: BucketRest) {
        self.bucket_is_empty(rest.seen);
        for statement in REST {
            self.run_statement(Sql::new(statement, [rest.seen.no.0.into()]), Expect::Any);
        }
        self.resource_remove(rest.id);
    }
}
