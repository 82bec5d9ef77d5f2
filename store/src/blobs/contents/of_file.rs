//! A file of this machine's as a content.

use std::{fs::File, io, path::Path};

use domain::id::OrgId;

use super::{ContentError, ContentSource, NewContent};
use crate::{Store, StoreError, blobs::file::pieces};

impl Store {
    /// The bytes of a file as a content of the organization that no commit has named yet.
    pub async fn content_of_file(&self, org_id: OrgId, place: &Path) -> Result<NewContent, StoreError> {
        let failed = |error: io::Error| StoreError::Failed(format!("{} can't be read: {error}", place.display()));
        let file = File::open(place).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let source = ContentSource { size: Some(size), limit: size };
        self.content_write(org_id, source, pieces(file, 0..size)).await.map_err(|error| match error {
            ContentError::Store(error) | ContentError::Source(error) => error,
            other => StoreError::Failed(format!("{} was not kept: {other:?}", place.display())),
        })
    }
}
