//! A content as a file of this machine's.

use std::{io, path::Path};

use domain::id::{ContentId, OrgId};
use futures::TryStreamExt;
use tokio::{fs, io::AsyncWriteExt};

use crate::{Store, StoreError, reader::row, sql::Sql};

row! {
    struct WholeRow {
        blob: String,
    }
}

impl Store {
    /// Makes the file `place` of a content of the organization, unless it is there: whole and on the disk, or not at all. Takes no
    /// room of its own where blobs are in a folder of the same disk. `false` where there is no such content.
    pub async fn content_to_file(&self, org_id: OrgId, id: ContentId, place: &Path) -> Result<bool, StoreError> {
        let failed = |error: io::Error| StoreError::Failed(format!("{} can't be written: {error}", place.display()));
        if fs::try_exists(place).await.map_err(failed)? || self.content_link(org_id, id, place).await? {
            return Ok(true);
        }
        let Some(mut content) = self.content_read(org_id, id, None).await? else { return Ok(false) };
        let unfinished = place.with_added_extension(format!("{}.tmp", domain::id::new_uuid(self.now())));
        let writing = async {
            let mut file = fs::File::create(&unfinished).await.map_err(failed)?;
            while let Some(bytes) = content.bytes.try_next().await? {
                file.write_all(&bytes).await.map_err(failed)?;
            }
            file.sync_all().await.map_err(failed)?;
            fs::rename(&unfinished, place).await.map_err(failed)
        };
        let written = writing.await;
        if written.is_err()
            && let Err(error) = fs::remove_file(&unfinished).await
        {
            tracing::debug!(%error, "what was begun of a file could not be deleted");
        }
        written.map(|()| true)
    }

    /// Links the one blob that a content is in; `false` where it can't be.
    async fn content_link(&self, org_id: OrgId, id: ContentId, place: &Path) -> Result<bool, StoreError> {
        let Some(folder) = self.blobs().folder() else { return Ok(false) };
        let statement = "SELECT s.blob FROM contents c JOIN content_segments s ON s.content_id = c.id \
                         WHERE c.id = $1 AND c.org_id = $2 AND c.refs > 0 AND s.start = 0 AND s.size = c.size \
                         AND s.blob IS NOT NULL";
        let sql = Sql::new(statement, [id.to_string().into(), org_id.to_string().into()]);
        let Some(WholeRow { blob }) = self.reader().row(&sql).await? else { return Ok(false) };
        match fs::hard_link(folder.join(blob), place).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(true),
            Err(error) => {
                tracing::debug!(%error, content = %id, "a content is copied, since it can't be linked");
                Ok(false)
            }
        }
    }
}
