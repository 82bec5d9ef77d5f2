//! Packs whose blobs are gone, or changed: what is left to be looked at.

use domain::{
    Timestamp,
    id::{OrgId, ResourceId},
};

use crate::{Change, NewWork, Store, StoreError, reader::row, sql::Sql};

/// The topic of repositories of which it is looked whether all packs are there.
pub const PACKS_LOST: &str = "git.lost";

row! {
    struct OwnerRow {
        id: String,
        org_id: String,
    }
}

impl Store {
    /// Whose pack, or index of one, a content is.
    pub(crate) async fn repository_of_pack(&self, content: &str) -> Result<Option<(OrgId, ResourceId)>, StoreError> {
        let sql = Sql::new(
            "SELECT r.id, r.org_id FROM git_packs p JOIN repositories r ON r.repo_no = p.repo_no \
             WHERE p.pack = $1 OR p.pack_index = $1 LIMIT 1",
            [content.into()],
        );
        let Some(row) = self.reader().row::<OwnerRow>(&sql).await? else { return Ok(None) };
        let org_id: OrgId = row.org_id.parse().map_err(|_| StoreError::corrupt("repositories.org_id"))?;
        let id: ResourceId = row.id.parse().map_err(|_| StoreError::corrupt("repositories.id"))?;
        Ok(Some((org_id, id)))
    }
}

impl Change {
    /// Has it be looked whether all packs of a repository are there, at `due`: once, however often that is asked for.
    pub fn packs_look(&mut self, now: Timestamp, (org_id, id): (OrgId, ResourceId), due: Timestamp) {
        let work = NewWork::new(PACKS_LOST, org_id, &id);
        self.work_add(now, work.with_key(format!("{id}/{due}")).not_before(due));
    }
}
