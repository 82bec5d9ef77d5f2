//! Lists of a bucket, a page at a time.

use domain::storage::{ListQuery, Listed, Listing, Place};

use super::{BucketNo, FileVersion, read::files_in};
use crate::{Store, StoreError};

/// Keys that are read first, and behind each common prefix; twice as many each time, while they are files of the page.
const BATCH_MIN: u64 = 16;
/// Keys that are read at once.
const BATCH_MAX: u64 = 1_024;

/// A page of a bucket's files and folders.
#[derive(Clone, Debug, Default)]
pub struct FilesPage {
    /// Folders, in the order of their paths.
    pub folders: Vec<String>,
    /// Files, in the order of their keys.
    pub files: Vec<FileVersion>,
    /// What the page ended with, where there is more.
    pub next: Option<Place>,
}

/// A page of a bucket's deleted files.
#[derive(Clone, Debug, Default)]
pub struct DeletedPage {
    /// Their delete markers, in the order of their keys.
    pub markers: Vec<FileVersion>,
    /// What the page ended with, where there is more.
    pub next: Option<Place>,
}

impl Store {
    /// Files of a bucket, and what their keys have in common where they are put together: as they are at one moment, so that
    /// a folder that moves is seen under one of its names.
    pub async fn files_page(&self, no: BucketNo, query: ListQuery) -> Result<FilesPage, StoreError> {
        let (mut listing, mut page, mut batch) = (Listing::new(query), FilesPage::default(), BATCH_MIN);
        let snapshot = self.reader().snapshot().await?;
        while let Some(range) = listing.range().cloned() {
            let files = files_in(&snapshot, no, &range, batch).await?;
            let is_last = (files.len() as u64) < batch;
            batch = (batch * 2).min(BATCH_MAX);
            for file in files {
                match listing.show(file.key.as_str()) {
                    Listed::Key => page.files.push(file),
                    Listed::CommonPrefix(prefix) => {
                        page.folders.push(prefix);
                        batch = BATCH_MIN;
                    }
                    Listed::Passed => {}
                    Listed::NextPage => break,
                }
            }
            if is_last {
                break;
            }
        }
        page.next = listing.next().cloned().map(Place::Last);
        Ok(page)
    }

    /// Deleted files of a bucket.
    pub async fn files_deleted_page(&self, no: BucketNo, query: ListQuery) -> Result<DeletedPage, StoreError> {
        let (mut listing, mut page) = (Listing::new(query), DeletedPage::default());
        while let Some(range) = listing.range().cloned() {
            let markers = self.files_gone_in(no, &range, BATCH_MAX).await?;
            let is_last = (markers.len() as u64) < BATCH_MAX;
            for marker in markers {
                if listing.show(marker.key.as_str()) == Listed::Key {
                    page.markers.push(marker);
                }
            }
            if is_last {
                break;
            }
        }
        page.next = listing.next().cloned().map(Place::Last);
        Ok(page)
    }
}
