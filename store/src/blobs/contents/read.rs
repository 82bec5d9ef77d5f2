//! Contents on their way out.

use std::{collections::VecDeque, ops::Range};

use bytes::Bytes;
use domain::id::{ContentId, OrgId};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

use super::{readers::Reading, signed, unsigned};
use crate::{Store, StoreError, reader::row, sql::Sql};

/// Segments that are looked up at once.
const SEGMENTS_MAX: i64 = 64;

/// A content, or a range of it, as it is read.
pub struct ContentRead {
    /// The whole content's size in bytes.
    pub size: u64,
    /// Which bytes of it follow.
    pub range: Range<u64>,
    /// The bytes: all of the range, or an error behind those that were there.
    pub bytes: BoxStream<'static, Result<Bytes, StoreError>>,
}

row! {
    struct ContentRow {
        size: i64,
        bytes: Option<Vec<u8>>,
    }
}

row! {
    struct SegmentRow {
        start: i64,
        size: i64,
        blob: Option<String>,
        bytes: Option<Vec<u8>>,
    }
}

row! {
    struct PartRow {
        start: i64,
        size: i64,
    }
}

/// The segments of a content that are still to be read.
struct Segments {
    store: Store,
    id: ContentId,
    /// What is still to be answered.
    range: Range<u64>,
    waiting: VecDeque<SegmentRow>,
    /// The segment that is being read, and where what it yields must end.
    reading: Option<(BoxStream<'static, Result<Bytes, StoreError>>, u64)>,
    /// Keeps all of it from being swept.
    _under_way: Reading,
}

impl Store {
    /// The bytes `range` of a content of the organization, or as many of them as it has, in pieces of up to 256 KiB where blobs
    /// are in a folder; none where there is no such content. The first blob is open when this returns: one that is missing is an
    /// error here. What is being read is not swept meanwhile.
    pub async fn content_read(
        &self,
        org_id: OrgId,
        id: ContentId,
        range: Option<Range<u64>>,
    ) -> Result<Option<ContentRead>, StoreError> {
        let sql = Sql::new(
            "SELECT size, bytes FROM contents WHERE id = $1 AND org_id = $2 AND refs > 0",
            [id.to_string().into(), org_id.to_string().into()],
        );
        let Some(row) = self.reader().row::<ContentRow>(&sql).await? else { return Ok(None) };
        let size = unsigned(row.size)?;
        let range = range.map_or(0..size, |range| range.start.min(size)..range.end.clamp(range.start.min(size), size));
        let bytes = match row.bytes {
            Some(bytes) => {
                let bytes = part(&bytes.into(), range.clone())?;
                stream::iter((!bytes.is_empty()).then_some(Ok(bytes))).boxed()
            }
            None => self.segments(id, range.clone()).await?,
        };
        Ok(Some(ContentRead { size, range, bytes }))
    }

    /// Where each part begins of which a content was joined, and how many bytes it has; those without bytes are left out.
    pub async fn content_parts(&self, id: ContentId) -> Result<Vec<(u64, u64)>, StoreError> {
        let sql = Sql::new(
            "SELECT start, size FROM content_segments WHERE content_id = $1 ORDER BY start",
            [id.to_string().into()],
        );
        let rows: Vec<PartRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(|row| Ok((unsigned(row.start)?, unsigned(row.size)?))).collect()
    }

    async fn segments(
        &self,
        id: ContentId,
        range: Range<u64>,
    ) -> Result<BoxStream<'static, Result<Bytes, StoreError>>, StoreError> {
        let mut segments = Segments {
            store: self.clone(),
            id,
            range,
            waiting: VecDeque::new(),
            reading: None,
            _under_way: self.readers().begin(id, self.now()),
        };
        if !segments.range.is_empty() {
            segments.open_next().await?;
        }
        Ok(stream::try_unfold(segments, |mut segments| async move {
            let piece = segments.next().await?;
            Ok(piece.map(|piece| (piece, segments)))
        })
        .boxed())
    }

    /// The segments of a content from the one on that has the byte `at`.
    async fn segments_from(&self, id: ContentId, at: u64) -> Result<VecDeque<SegmentRow>, StoreError> {
        let sql = Sql::new(
            "SELECT start, size, blob, bytes FROM content_segments WHERE content_id = $1 AND start >= \
             (SELECT MAX(start) FROM content_segments WHERE content_id = $1 AND start <= $2) ORDER BY start LIMIT $3",
            [id.to_string().into(), signed(at).into(), SEGMENTS_MAX.into()],
        );
        Ok(self.reader().rows(&sql).await?.into())
    }
}

impl Segments {
    /// The next piece; none behind the last one.
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        loop {
            if self.range.is_empty() {
                return Ok(None);
            }
            let Some((pieces, end)) = &mut self.reading else {
                self.open_next().await?;
                continue;
            };
            match pieces.next().await.transpose()? {
                Some(piece) => {
                    self.range.start += piece.len() as u64;
                    if self.range.start > *end {
                        return Err(self.broken("has more bytes than its segment"));
                    }
                    return Ok(Some(piece));
                }
                None if self.range.start == *end => self.reading = None,
                None => return Err(self.broken("ends too early")),
            }
        }
    }

    /// Begins with the segment in which the range begins.
    async fn open_next(&mut self) -> Result<(), StoreError> {
        let at = self.range.start;
        if self.waiting.is_empty() {
            self.waiting = self.store.segments_from(self.id, at).await?;
        }
        let segment = self.waiting.pop_front().ok_or_else(|| self.broken("has no bytes"))?;
        let (start, size) = (unsigned(segment.start)?, unsigned(segment.size)?);
        if !(start..start + size).contains(&at) {
            return Err(self.broken("has a gap"));
        }
        let within = at - start..self.range.end.min(start + size) - start;
        let pieces = match (segment.blob, segment.bytes) {
            (Some(blob), _) => self.open_blob(&blob, size, within.clone()).await?,
            (None, Some(bytes)) => stream::once(std::future::ready(part(&bytes.into(), within.clone()))).boxed(),
            (None, None) => return Err(self.broken("has a segment without bytes")),
        };
        self.reading = Some((pieces, start + within.end));
        Ok(())
    }

    async fn open_blob(
        &mut self,
        blob: &str,
        size: u64,
        within: Range<u64>,
    ) -> Result<BoxStream<'static, Result<Bytes, StoreError>>, StoreError> {
        let key = blob.parse().map_err(StoreError::corrupt)?;
        let found = self.store.blobs().get_stream(&key, Some(within)).await?;
        match found {
            Some(found) if found.size == size => Ok(found.bytes),
            Some(_) => Err(self.broken("has a blob of another size")),
            None => Err(self.broken("has lost a blob")),
        }
    }

    fn broken(&self, how: &str) -> StoreError {
        let (id, at) = (self.id, self.range.start);
        tracing::error!(content = %id, at, how, "a content can't be read");
        StoreError::Failed(format!("the content {id} {how} at {at}"))
    }
}

fn part(bytes: &Bytes, range: Range<u64>) -> Result<Bytes, StoreError> {
    let place = |at: u64| usize::try_from(at).map_err(StoreError::corrupt);
    let (start, end) = (place(range.start)?, place(range.end)?);
    if start <= end && end <= bytes.len() {
        Ok(bytes.slice(start..end))
    } else {
        Err(StoreError::corrupt("a content that is shorter than its row says"))
    }
}
