//! What a fold writes, and reading a history back.

use domain::{
    Error, Result,
    id::{OrgId, PageId},
    pages::Page,
};
use kernel::{CpuKind, Kernel, Turn};
use store::{
    Store,
    pages::{PageDocument, PageUpdate, PageUpdateId},
};
use yrs::{Update, updates::decoder::Decode};

use super::{
    PageSession,
    document::{LARGE, SharedDocument},
    prescan::prescan_update,
    update_writer::{read_row, row_millis},
};

/// The first byte of a snapshot: how the rest is to be read.
const VERSION: u8 = 1;
/// Bytes before the update: the version, the hash of the text, the newest row.
const HEAD_LEN: usize = 1 + 8 + 8;

/// What was folded of a document.
pub(super) struct Snapshot {
    /// Of the shared text as it was when the page's content was last made from it, or it from the content. The text has
    /// been edited since when its own is another; clients that work with other shared types never change it.
    pub(super) text_hash: u64,
    /// The newest row in it.
    pub(super) newest: PageUpdateId,
    /// The document, as one update.
    pub(super) update: Vec<u8>,
}

impl Snapshot {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_LEN + self.update.len());
        bytes.push(VERSION);
        bytes.extend(self.text_hash.to_be_bytes());
        bytes.extend(self.newest.0.to_be_bytes());
        bytes.extend(&self.update);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = || {
            let (version, rest) = bytes.split_first()?;
            let (text_hash, rest) = rest.split_first_chunk()?;
            let (newest, update) = rest.split_first_chunk()?;
            (*version == VERSION).then(|| Self {
                text_hash: u64::from_be_bytes(*text_hash),
                newest: PageUpdateId(i64::from_be_bytes(*newest)),
                update: update.to_vec(),
            })
        };
        read().ok_or_else(|| Error::internal("a co-edited page's snapshot doesn't read"))
    }
}

/// A history as the store has it.
pub(super) struct Loaded {
    pub(super) epoch: String,
    pub(super) folds: i64,
    pub(super) text_hash: u64,
    pub(super) newest: PageUpdateId,
    pub(super) rows: Vec<PageUpdateId>,
    pub(super) document: SharedDocument,
}

/// Reads a page's history; `None` when it has none.
pub(super) async fn load(turn: &Turn<'_, PageSession>, org_id: OrgId) -> Result<Option<Loaded>> {
    let page_id = *turn.key();
    let store = &turn.services().services.store;
    let Some(Stored { document: stored, updates }) = read(store, page_id).await? else { return Ok(None) };
    let snapshot = Snapshot::from_bytes(&stored.snapshot)?;
    let rows: Vec<_> = updates.iter().map(|row| row.id).collect();
    let newest = rows.iter().copied().fold(snapshot.newest, Ord::max);
    let (epoch, folds, text_hash) = (stored.epoch, stored.folds, snapshot.text_hash);
    let document = if is_large(&snapshot, &updates) {
        let restoring = move || restored(&snapshot, &updates);
        turn.processor().run(org_id.into(), CpuKind::Document, restoring).await??
    } else {
        restored(&snapshot, &updates)?
    };
    Ok(Some(Loaded { epoch, folds, text_hash, newest, rows, document }))
}

/// Whether a history is to be put together where that holds up nobody.
fn is_large(snapshot: &Snapshot, updates: &[PageUpdate]) -> bool {
    snapshot.update.len() + updates.iter().map(|row| row.payload.len()).sum::<usize>() >= LARGE
}

/// A history's snapshot and rows, of one moment.
struct Stored {
    document: PageDocument,
    updates: Vec<PageUpdate>,
}

async fn read(store: &Store, page_id: PageId) -> Result<Option<Stored>> {
    // Rows that a fold takes away between the reads are in the snapshot that came with it: read that again.
    loop {
        let Some(document) = store.page_document(page_id).await? else { return Ok(None) };
        let updates = store.page_updates(page_id, &document.epoch).await?;
        let now = store.page_document(page_id).await?;
        if now.is_some_and(|now| (now.folds, &now.epoch) == (document.folds, &document.epoch)) {
            return Ok(Some(Stored { document, updates }));
        }
    }
}

fn restored(snapshot: &Snapshot, updates: &[PageUpdate]) -> Result<SharedDocument> {
    let mut document = SharedDocument::new();
    document.restore(&snapshot.update)?;
    for row in updates {
        restore_row(&mut document, &row.payload)?;
    }
    Ok(document)
}

/// Takes the updates of a row in.
pub(super) fn restore_row(document: &mut SharedDocument, payload: &[u8]) -> Result<()> {
    for update in read_row(payload) {
        document.restore(update.map_err(Error::internal)?)?;
    }
    Ok(())
}

/// The updates of a row, decoded.
pub(super) fn decode_row(payload: &[u8]) -> Result<Vec<Update>> {
    read_row(payload).map(|update| decode(update.map_err(Error::internal)?)).collect()
}

/// A stored update, decoded.
pub(super) fn decode(update: &[u8]) -> Result<Update> {
    prescan_update(update).map_err(Error::internal)?;
    Update::decode_v1(update).map_err(Error::internal)
}

/// A page's shared history, for who looks at it without joining.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredHistory {
    /// Names it.
    pub epoch: String,
    /// Rises with everything that is written: the millisecond of the newest.
    pub seq: i64,
    /// The document, as one Yjs update.
    pub state: Vec<u8>,
}

/// A page's shared history as it is written down; `None` before anyone opened the page so, and after a write from outside.
pub async fn stored_history(kernel: &Kernel, store: &Store, page: &Page) -> Result<Option<StoredHistory>> {
    let Some(Stored { document: stored, updates }) = read(store, page.id).await? else { return Ok(None) };
    let snapshot = Snapshot::from_bytes(&stored.snapshot)?;
    let newest = updates.iter().map(|row| row.id).fold(snapshot.newest, Ord::max);
    let state = if updates.is_empty() {
        snapshot.update
    } else if is_large(&snapshot, &updates) {
        let restoring = move || restored(&snapshot, &updates).map(|document| document.state());
        kernel.cpu().run(page.org_id.into(), CpuKind::Document, restoring).await??
    } else {
        restored(&snapshot, &updates)?.state()
    };
    Ok(Some(StoredHistory { epoch: stored.epoch, seq: row_millis(newest), state }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_reads_as_it_was_written() {
        let written = Snapshot { text_hash: u64::MAX - 1, newest: PageUpdateId(1 << 60), update: vec![0, 0] };
        let read = Snapshot::from_bytes(&written.to_bytes()).unwrap();
        assert_eq!((read.text_hash, read.newest, read.update), (written.text_hash, written.newest, written.update));
    }

    #[test]
    fn a_damaged_snapshot_is_an_error_and_never_an_empty_document() {
        assert!(Snapshot::from_bytes(&[]).is_err());
        assert!(Snapshot::from_bytes(&[VERSION; HEAD_LEN - 1]).is_err());
        assert!(Snapshot::from_bytes(&[VERSION + 1; HEAD_LEN + 2]).is_err());
    }
}
