//! From what becomes of a file's versions to what becomes of its rows.

use std::collections::HashMap;

use domain::{
    Error, Result, Timestamp,
    id::UserId,
    storage::{FileKey, FileState, RowChange, Version, VersionName, VersionStamp, Versioning},
};
use store::{
    Store,
    storage::{BucketNo, FileContent, FileRows, FileVersion},
};

use crate::open::OpenBucket;

/// A version that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'d> {
    /// Of which file.
    pub key: &'d FileKey,
    /// By whom.
    pub by: UserId,
    /// What it says; none of a delete marker.
    pub content: Option<FileContent>,
}

impl Draft<'_> {
    fn version(&self, version: Version, revision: VersionStamp, now: Timestamp) -> FileVersion {
        FileVersion {
            key: self.key.clone(),
            stamp: version.stamp,
            name: version.name,
            revision,
            modified: now,
            created_by: self.by,
            content: self.content.clone(),
        }
    }
}

/// A file, as it is read before something is decided on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileBefore {
    /// Its newest version.
    pub head: Option<FileVersion>,
    /// Those of its old versions that the decision may name.
    pub others: Vec<FileVersion>,
}

impl FileBefore {
    /// Reads what a write or a delete decides on. Only in a bucket whose versioning is suspended is there an old
    /// version that has to make room.
    pub async fn read(store: &Store, no: BucketNo, key: &FileKey, versioning: Option<Versioning>) -> Result<Self> {
        let head = store.file_head(no, key).await?;
        let null = match versioning {
            Some(Versioning::Suspended) => store.file_older_null(no, key).await?,
            None | Some(Versioning::Enabled | Versioning::Disabled) => None,
        };
        Ok(Self { head, others: null.into_iter().collect() })
    }

    /// Reads the same of many files; those that have neither are left out.
    pub async fn read_many(store: &Store, open: &OpenBucket, keys: &[FileKey]) -> Result<HashMap<FileKey, Self>> {
        let no = open.seen().no;
        let mut before: HashMap<_, Self> = HashMap::with_capacity(keys.len());
        for head in store.file_heads(no, keys).await? {
            let key = head.key.clone();
            before.entry(key).or_default().head = Some(head);
        }
        if open.versioning() == Some(Versioning::Suspended) {
            for null in store.file_older_nulls(no, keys).await? {
                before.entry(null.key.clone()).or_default().others.push(null);
            }
        }
        Ok(before)
    }

    /// What decisions see of it.
    pub fn state(&self) -> FileState {
        let null = self.others.iter().find(|other| other.name == VersionName::Null);
        FileState { newest: self.head.as_ref().map(FileVersion::version), older_null: null.map(FileVersion::version) }
    }

    /// Adds what `changes` make of the rows; the version that is the newest one then, where there is one. A version
    /// that they insert is made of `draft`.
    pub fn rewrite(
        &self,
        rows: &mut FileRows,
        changes: &[RowChange],
        now: Timestamp,
        draft: Option<&Draft<'_>>,
    ) -> Result<Option<FileVersion>> {
        let revision = VersionStamp::next(now, self.head.as_ref().map(|head| head.revision));
        let (mut after, mut head_goes) = (None, false);
        for change in changes {
            match change {
                RowChange::Keep(_) => {
                    rows.old_comes(self.head()?);
                    head_goes = true;
                }
                RowChange::Drop(_) => {
                    rows.release(self.head()?);
                    head_goes = true;
                }
                RowChange::DropOld(stamp) => {
                    let old = self.other(*stamp)?;
                    rows.old_goes(old);
                    rows.release(old);
                }
                RowChange::Promote(stamp) => {
                    let old = self.other(*stamp)?;
                    rows.old_goes(old);
                    after = Some(FileVersion { revision, ..old.clone() });
                }
                RowChange::Insert(version) => {
                    let draft = draft.ok_or_else(|| Error::internal("a decision makes a version of nothing"))?;
                    after = Some(draft.version(*version, revision, now));
                }
            }
        }
        if head_goes || after.is_some() {
            rows.head(self.head.as_ref(), after.as_ref());
        }
        Ok(after)
    }

    /// Bytes of the versions that `changes` let go of.
    pub fn freed(&self, changes: &[RowChange]) -> u64 {
        let goes = |change: &RowChange| match change {
            RowChange::Drop(_) => self.head.as_ref().map(FileVersion::bytes),
            RowChange::DropOld(stamp) => self.other(*stamp).ok().map(FileVersion::bytes),
            RowChange::Keep(_) | RowChange::Promote(_) | RowChange::Insert(_) => None,
        };
        changes.iter().filter_map(goes).sum()
    }

    fn head(&self) -> Result<&FileVersion> {
        self.head.as_ref().ok_or_else(|| Error::internal("a decision names a newest version that isn't there"))
    }

    fn other(&self, stamp: VersionStamp) -> Result<&FileVersion> {
        let found = self.others.iter().find(|other| other.stamp == stamp);
        found.ok_or_else(|| Error::internal("a decision names an old version that wasn't read"))
    }
}
