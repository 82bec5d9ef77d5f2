//! The next keys of a bucket.

use actors_base::work::job::Halt;
use domain::storage::{FileKey, KeyRange};
use store::storage::{FileVersion, OldVersion};

use super::{Looking, Progress, expiring::Expiring};

/// Keys that are looked at in one step, and old versions that are read at once.
pub(super) const PAGE: u64 = 1_000;

/// Looks at up to 1,000 keys, and commits what becomes of them. A key with more old versions than that is a step of its own, or
/// several.
pub(super) async fn look(looking: &Looking<'_>, progress: &mut Progress) -> Result<(), Halt> {
    let mut heads = heads_after(looking, progress.key.as_ref()).await?;
    let Some((first, last)) = heads.first().zip(heads.last()) else {
        progress.keys_done = true;
        return Ok(());
    };
    let (store, no) = (looking.job.store(), looking.open.seen().no);
    let mut old = store.files_old_between(no, &first.key, &last.key, PAGE + 1).await?;
    if old.len() as u64 > PAGE {
        // Of the last key there may be more; those before it are whole.
        let cut = old.last().map(|old| old.version.key.clone());
        heads.retain(|head| cut.as_ref().is_none_or(|cut| head.key < *cut));
        if heads.is_empty() {
            return look_deep(looking, progress).await;
        }
    }
    let mut expiring = Expiring::new(looking);
    let mut done = None;
    for head in heads {
        let of_key = old.partition_point(|old| old.version.key <= head.key);
        let versions: Vec<OldVersion> = old.drain(..of_key).collect();
        done = Some(head.key.clone());
        if let Some(mut key) = expiring.key(head) {
            key.show(&versions);
            key.finish()?;
        }
    }
    progress.key = done;
    expiring.commit(progress).await
}

/// Looks at the next key, whose old versions are read a thousand at a time.
async fn look_deep(looking: &Looking<'_>, progress: &mut Progress) -> Result<(), Halt> {
    let head = heads_after(looking, progress.key.as_ref()).await?.into_iter().next();
    let Some(head) = head else { return Ok(()) };
    let (store, no, name) = (looking.job.store(), looking.open.seen().no, head.key.clone());
    let mut expiring = Expiring::new(looking);
    let Some(mut key) = expiring.key(head) else {
        progress.key = Some(name);
        return expiring.commit(progress).await;
    };
    let mut before = None;
    loop {
        let versions = store.file_old_aged(no, &name, before, PAGE).await?;
        let Some(last) = versions.last() else { break };
        before = Some(last.version.stamp);
        key.show(&versions);
        if key.is_full() {
            // What is left of the key is looked at again from its newest version on.
            drop(key);
            return expiring.commit(progress).await;
        }
    }
    key.finish()?;
    progress.key = Some(name);
    expiring.commit(progress).await
}

/// The newest versions of the keys behind `after`, in the keys' order: up to 1,000.
async fn heads_after(looking: &Looking<'_>, after: Option<&FileKey>) -> Result<Vec<FileVersion>, Halt> {
    let mut start = after.map(|key| key.as_str().as_bytes().to_vec()).unwrap_or_default();
    if after.is_some() {
        start.push(0);
    }
    let (store, no, range) = (looking.job.store(), looking.open.seen().no, KeyRange { start, end: None });
    let mut heads = store.files_in(no, &range, PAGE).await?;
    heads.extend(store.files_gone_in(no, &range, PAGE).await?);
    heads.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    heads.truncate(usize::try_from(PAGE).unwrap_or(usize::MAX));
    Ok(heads)
}
