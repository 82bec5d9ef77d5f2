//! Lists of all versions of a bucket's files: those of a key stand together, the newest first.

use std::cmp::Reverse;

use domain::storage::{After, FileKey, KeyRange, Last, ListQuery, Listed, Listing, VersionId, VersionStamp};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{BucketNo, FileVersion, entity::version};
use crate::{Store, StoreError, reader::Reads};

/// Rows that are read of each table at once.
const BATCH: u64 = 256;

/// Where a page of versions begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionsAfter {
    /// With the first key.
    Nothing,
    /// Behind all versions of a key, or behind a common prefix.
    Key(String),
    /// Behind this version of a key; behind all of them where there is no such version any more.
    Version(FileKey, VersionId),
}

/// A page of versions.
#[derive(Clone, Debug, Default)]
pub struct VersionsPage {
    /// Common prefixes, in their order.
    pub folders: Vec<String>,
    /// Versions in their order, each with whether it is its key's newest one.
    pub versions: Vec<(FileVersion, bool)>,
    /// What the page ended with, where there is more: a version, or a common prefix.
    pub next: Option<(String, Option<VersionId>)>,
}

/// The place of a version in a list.
type Position = (FileKey, Reverse<VersionStamp>);

fn position(version: &FileVersion) -> Position {
    (version.key.clone(), Reverse(version.stamp))
}

/// The versions of a range that have been read, up to where all of them have.
struct Batch {
    versions: Vec<(FileVersion, bool)>,
    is_last: bool,
}

impl Store {
    /// Versions of a bucket's files, and what their keys have in common where they are put together.
    pub async fn versions_page(
        &self,
        no: BucketNo,
        query: ListQuery,
        after: VersionsAfter,
    ) -> Result<VersionsPage, StoreError> {
        let (after, mut shown) = self.versions_begin(no, after).await?;
        let (mut listing, mut page) = (Listing::new(ListQuery { after, ..query }), VersionsPage::default());
        while let Some(range) = listing.range().cloned() {
            let batch = self.versions_batch(no, &range, shown.as_ref()).await?;
            for (version, is_newest) in batch.versions {
                let at = position(&version);
                match listing.show(version.key.as_str()) {
                    Listed::Key => page.versions.push((version, is_newest)),
                    Listed::CommonPrefix(prefix) => page.folders.push(prefix),
                    Listed::Passed => {}
                    Listed::NextPage => break,
                }
                shown = Some(at);
            }
            if batch.is_last {
                break;
            }
        }
        let last_id = page.versions.last().map(|(version, _)| version.version().id());
        page.next = listing.next().map(|last| match last {
            Last::Key(key) => (key.clone(), last_id),
            Last::CommonPrefix(prefix) => (prefix.clone(), None),
        });
        Ok(page)
    }

    async fn versions_begin(
        &self,
        no: BucketNo,
        after: VersionsAfter,
    ) -> Result<(After, Option<Position>), StoreError> {
        let (key, id) = match after {
            VersionsAfter::Nothing => return Ok((After::Nothing, None)),
            VersionsAfter::Key(key) => return Ok((After::Marker(key), None)),
            VersionsAfter::Version(key, id) => (key, id),
        };
        let stamp = match id {
            VersionId::Stamp(stamp) => Some(stamp),
            VersionId::Null => self.file_version(no, &key, id).await?.map(|version| version.stamp),
        };
        let text = key.as_str().to_owned();
        Ok(match stamp {
            Some(stamp) => (After::Within(text), Some((key, Reverse(stamp)))),
            None => (After::Marker(text), None),
        })
    }

    /// The next versions of a range behind `shown`.
    async fn versions_batch(
        &self,
        no: BucketNo,
        range: &KeyRange,
        shown: Option<&Position>,
    ) -> Result<Batch, StoreError> {
        let files = self.files_in(no, range, BATCH).await?;
        let markers = self.files_gone_in(no, range, BATCH).await?;
        let old = self.files_old_in(no, range, shown, BATCH).await?;
        let is_cut = |rows: &[FileVersion]| rows.len() as u64 == BATCH;
        let cuts = [&files, &markers, &old].into_iter().filter(|rows| is_cut(rows));
        // Behind the end of what was cut, versions may be missing between those that were read.
        let until = cuts.filter_map(|rows| rows.last().map(position)).min();
        let newest = files.into_iter().chain(markers).map(|version| (version, true));
        let mut versions: Vec<_> = newest.chain(old.into_iter().map(|version| (version, false))).collect();
        versions.retain(|(version, _)| {
            let at = position(version);
            shown.is_none_or(|shown| at > *shown) && until.as_ref().is_none_or(|until| at <= *until)
        });
        versions.sort_by_cached_key(|(version, _)| position(version));
        Ok(Batch { versions, is_last: until.is_none() })
    }

    /// The first `limit` old versions whose keys lie in the range, behind `shown`.
    async fn files_old_in(
        &self,
        no: BucketNo,
        range: &KeyRange,
        shown: Option<&Position>,
        limit: u64,
    ) -> Result<Vec<FileVersion>, StoreError> {
        let mut select = version::Entity::find()
            .filter(version::Column::BucketNo.eq(no.0))
            .filter(version::Column::Key.gte(range.start.clone()));
        if let Some(end) = &range.end {
            select = select.filter(version::Column::Key.lt(end.clone()));
        }
        if let Some((key, Reverse(stamp))) = shown {
            let is_behind = Condition::any()
                .add(version::Column::Key.gt(key.as_str().as_bytes().to_vec()))
                .add(version::Column::Stamp.lt(stamp.to_bytes().to_vec()));
            select = select.filter(version::Column::Key.gte(key.as_str().as_bytes().to_vec())).filter(is_behind);
        }
        let select = select.order_by_asc(version::Column::Key).order_by_desc(version::Column::Stamp).limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(FileVersion::try_from).collect()
    }
}
