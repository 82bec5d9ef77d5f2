//! Deleting many files, a thousand in one commit.
//!
//! Nothing is written down in between: what is deleted isn't there any more when the same is asked again, so whoever asks
//! goes on by asking again.

use std::collections::BTreeSet;

use domain::{
    Result,
    id::{OrgId, UserId},
    storage::{BATCH_FILES_MAX, BATCHES_PER_CALL, Deletion, FileKey, no_bucket},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    storage::FileRows,
};

use super::Bucket;
use crate::{
    open::{OpenBucket, writer},
    plan::{Draft, FileBefore},
};

/// Deletes files and folders, those of them that are there.
#[derive(Clone, Debug)]
pub struct DeleteFiles {
    /// Whose bucket it is.
    pub org_id: OrgId,
    /// Which ones.
    pub deletion: Deletion,
}

/// What became of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletedFiles {
    /// Files that this call deleted.
    pub deleted: u64,
    /// Whether nothing is left to delete.
    pub done: bool,
}

impl Command for DeleteFiles {
    type Reply = DeletedFiles;

    const NAME: &'static str = "delete_files";
}

impl Handle<DeleteFiles> for Bucket {
    async fn handle(&mut self, command: &DeleteFiles, turn: &mut Turn<'_, Self>) -> Result<DeletedFiles> {
        let by = writer(turn, command.org_id).await?;
        turn.context().caller.grant().map_or(Ok(()), |grant| grant.resource_check(*turn.key()))?;
        let mut deleted = 0;
        for _ in 0..BATCHES_PER_CALL {
            match step(turn, command, by).await {
                Ok(Step { files, is_last: false }) => deleted += files,
                Ok(Step { files, is_last: true }) => return Ok(DeletedFiles { deleted: deleted + files, done: true }),
                // The first step decides anew; what later ones come to is no reason to take back what is done.
                Err(error) if deleted == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(DeletedFiles { deleted, done: false })
    }
}

/// What a commit deleted, and whether that was all.
struct Step {
    files: u64,
    is_last: bool,
}

async fn step(turn: &mut Turn<'_, Bucket>, command: &DeleteFiles, by: UserId) -> Result<Step> {
    let (store, now) = (turn.services().store.clone(), turn.now());
    let open = OpenBucket::load(&store, *turn.key()).await?.ok_or_else(no_bucket)?;
    open.check_usable(command.org_id)?;
    let (found, is_last) = found(&store, &open, &command.deletion).await?;
    if found.is_empty() {
        return Ok(Step { files: 0, is_last });
    }
    found.iter().try_for_each(|key| open.moving.check_write(key))?;
    let keys: Vec<_> = found.into_iter().collect();
    let read = FileBefore::read_many(&store, &open, &keys).await?;
    // What a lane has deleted since is not deleted here.
    let before: Vec<_> = read.iter().filter(|(_, file)| file.state().exists()).collect();
    if before.is_empty() {
        return Ok(Step { files: 0, is_last });
    }
    let mut rows = FileRows::new();
    for &(key, file) in &before {
        let changes = file.state().delete(open.versioning(), now)?;
        file.rewrite(&mut rows, &changes, now, Some(&Draft { key, by, content: None }))?;
    }
    let mut change = Change::new();
    change.file_rows(open.seen(), now, &rows);
    let target = AuditTarget::new("bucket", open.bucket.id()).labelled(&open.bucket.resource.name);
    let entry = AuditEntry::new(turn.context(), "object.deleted", target).in_org(command.org_id);
    change.audit_add(now, entry.with_metadata(json!({ "files": before.len() })));
    turn.commit(change).await?;
    Ok(Step { files: before.len() as u64, is_last })
}

/// The files that are deleted next, and whether they are the last ones.
async fn found(store: &Store, open: &OpenBucket, deletion: &Deletion) -> Result<(BTreeSet<FileKey>, bool)> {
    let no = open.seen().no;
    let named = store.file_heads(no, &deletion.files).await?.into_iter().filter(|head| head.content.is_some());
    let mut found: BTreeSet<_> = named.map(|head| head.key).collect();
    for folder in &deletion.folders {
        let room = BATCH_FILES_MAX.saturating_sub(found.len());
        let files = store.files_in(no, &folder.range(), room as u64).await?;
        let is_all = files.len() < room;
        found.extend(files.into_iter().map(|file| file.key));
        if !is_all {
            return Ok((found, false));
        }
    }
    Ok((found, true))
}
