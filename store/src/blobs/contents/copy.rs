//! Copying a part of a content into one of its own: what becomes a part of an upload is taken over with its blobs, so that
//! nothing else can share them.

use std::ops::Range;

use domain::id::{ContentId, OrgId};

use super::{ContentError, ContentSource, NewContent};
use crate::{Store, StoreError};

impl Store {
    /// The bytes `range` of a content of the organization as a content that no commit has named yet, streamed as
    /// [`content_write`](Self::content_write) does; none where there is no such content, or it ends before.
    pub async fn content_copy(
        &self,
        org_id: OrgId,
        id: ContentId,
        range: Range<u64>,
    ) -> Result<Option<NewContent>, ContentError<StoreError>> {
        let size = range.end.saturating_sub(range.start);
        let Some(read) = self.content_read(org_id, id, Some(range.clone())).await? else { return Ok(None) };
        if read.range != range {
            return Ok(None);
        }
        let source = ContentSource { size: Some(size), limit: size };
        self.content_write(org_id, source, read.bytes).await.map(Some)
    }
}
