//! Whether the blobs are there that contents are in.

use domain::id::{ContentId, OrgId};

use super::{scrub::Scrubbed, unsigned};
use crate::{Store, StoreError, blobs::BlobKey, reader::row, sql::Sql};

row! {
    struct KeptRow {
        blob: Option<String>,
        size: i64,
        fault: Option<String>,
    }
}

impl Store {
    /// The first blob of a content of the organization that is gone, or isn't what was written; the content's id where the content
    /// itself is gone, and nothing where all is there. Only names and sizes are asked for, and what a scrub found.
    pub async fn content_lost(&self, org_id: OrgId, id: ContentId) -> Result<Option<String>, StoreError> {
        let Some(content) = self.content(org_id, id).await? else { return Ok(Some(id.to_string())) };
        let sql = Sql::new(
            "SELECT blob, size, fault FROM content_segments WHERE content_id = $1 AND blob IS NOT NULL ORDER BY start",
            [content.id.to_string().into()],
        );
        let rows: Vec<KeptRow> = self.reader().rows(&sql).await?;
        for KeptRow { blob, size, fault } in rows {
            let Some(blob) = blob else { continue };
            let key: BlobKey = blob.parse().map_err(StoreError::corrupt)?;
            let found = self.blobs().size(&key).await?;
            let is_changed = fault.as_deref() == Some(Scrubbed::Changed.as_str());
            if is_changed || found != Some(unsigned(size)?) {
                return Ok(Some(blob));
            }
        }
        Ok(None)
    }
}
