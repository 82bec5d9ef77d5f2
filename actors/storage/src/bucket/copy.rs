//! Copying many files in one commit.

use std::collections::HashMap;

use domain::{
    Result, Timestamp,
    id::{OrgId, ResourceId, UserId},
    storage::{FileCopy, FileKey, Overwrite, VersionId, file_exists, file_not_found, no_bucket, version_not_found},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    storage::{BucketNo, FileRows, FileVersion},
};

use super::Bucket;
use crate::{
    open::{OpenBucket, read_beside, writer},
    plan::{Draft, FileBefore},
};

/// Copies files into a bucket, all or none of them; each is copied as it was before the others were.
#[derive(Clone, Debug)]
pub struct CopyFiles {
    /// Whose buckets they are.
    pub org_id: OrgId,
    /// The bucket that the files lie in.
    pub source: ResourceId,
    /// Which ones, at most a thousand, whose copies have names of their own.
    pub copies: Vec<FileCopy>,
    /// Whether a copy may take the place of a file.
    pub overwrite: Overwrite,
}

impl Command for CopyFiles {
    /// How many files were copied.
    type Reply = u64;

    const NAME: &'static str = "copy_files";
}

impl Handle<CopyFiles> for Bucket {
    async fn handle(&mut self, command: &CopyFiles, turn: &mut Turn<'_, Self>) -> Result<u64> {
        let CopyFiles { org_id, source, copies, overwrite } = command;
        let (now, store) = (turn.now(), turn.services().store.clone());
        let by = writer(turn, *org_id).await?;
        if let Some(grant) = turn.context().caller.grant() {
            grant.resource_check(*source)?;
            grant.resource_check(*turn.key())?;
        }
        let open = OpenBucket::load(&store, *turn.key()).await?.ok_or_else(no_bucket)?;
        open.check_usable(*org_id)?;
        let from = read_beside(&store, &open, *source).await?;
        if copies.is_empty() {
            return Ok(0);
        }
        copies.iter().try_for_each(|copy| open.moving.check_write(&copy.to))?;
        let sources = Sources::read(&store, from, copies).await?;
        let rows =
            written(&store, &open, Written { copies, sources: &sources, overwrite: *overwrite, by, now }).await?;
        open.check_room(&store, rows.bytes_added()).await?;
        let mut change = Change::new();
        change.file_rows(open.seen(), now, &rows);
        let target = AuditTarget::new("bucket", open.bucket.id()).labelled(&open.bucket.resource.name);
        let entry = AuditEntry::new(turn.context(), "object.copied", target).in_org(*org_id);
        change.audit_add(now, entry.with_metadata(json!({ "files": copies.len(), "from": source })));
        turn.commit(change).await?;
        Ok(copies.len() as u64)
    }
}

/// The versions that are copied.
struct Sources(HashMap<(FileKey, Option<VersionId>), FileVersion>);

impl Sources {
    /// Reads them; 404 where one isn't there.
    async fn read(store: &Store, no: BucketNo, copies: &[FileCopy]) -> Result<Self> {
        let mut keys: Vec<_> = copies.iter().map(|copy| copy.from.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        let heads = store.file_heads(no, &keys).await?;
        let heads: HashMap<_, _> = heads.into_iter().map(|head| (head.key.clone(), head)).collect();
        let mut found = HashMap::with_capacity(copies.len());
        for FileCopy { from, version, .. } in copies {
            let head = heads.get(from);
            let source = match version {
                None => head.filter(|head| head.content.is_some()).cloned().ok_or_else(file_not_found)?,
                Some(id) => match head.filter(|head| head.version().id() == *id) {
                    Some(head) => Some(head.clone()),
                    None => store.file_version(no, from, *id).await?,
                }
                .filter(|version| version.content.is_some())
                .ok_or_else(version_not_found)?,
            };
            found.insert((from.clone(), *version), source);
        }
        Ok(Self(found))
    }

    fn of(&self, copy: &FileCopy) -> Result<&FileVersion> {
        self.0.get(&(copy.from.clone(), copy.version)).ok_or_else(file_not_found)
    }
}

/// What is written where, and by whom.
struct Written<'w> {
    copies: &'w [FileCopy],
    sources: &'w Sources,
    overwrite: Overwrite,
    by: UserId,
    now: Timestamp,
}

/// What the copies make of the bucket's rows; 409 where a file is in the way.
async fn written(store: &Store, open: &OpenBucket, written: Written<'_>) -> Result<FileRows> {
    let Written { copies, sources, overwrite, by, now } = written;
    let keys: Vec<_> = copies.iter().map(|copy| copy.to.clone()).collect();
    let before = FileBefore::read_many(store, open, &keys).await?;
    let (mut rows, none) = (FileRows::new(), FileBefore::default());
    for copy in copies {
        let (source, target) = (sources.of(copy)?, before.get(&copy.to).unwrap_or(&none));
        if overwrite == Overwrite::Refused && target.state().exists() {
            return Err(file_exists());
        }
        rows.share(source);
        let changes = target.state().put(open.versioning(), now)?;
        target.rewrite(
            &mut rows,
            &changes,
            now,
            Some(&Draft { key: &copy.to, by, content: source.content.clone() }),
        )?;
    }
    Ok(rows)
}
