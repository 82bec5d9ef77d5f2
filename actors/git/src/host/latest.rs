//! Which commit each entry of a folder is from.

use std::{
    collections::HashMap,
    io,
    time::{Duration, Instant},
};

use domain::{
    Result,
    git::{
        ObjectId,
        objects::{Commit, LATEST_WALK_MAX, LatestCommits, RepositoryPath, TreeEntry},
    },
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::ChildStdout,
    time::timeout,
};

use super::{
    reading::{PIECE_LEN, Reading},
    views::failed,
};

/// How long git looks.
const WALK_LASTS: Duration = Duration::from_secs(5);
/// Bytes that are read of what it tells.
const TOLD_MAX: u64 = 64 * 1024 * 1024;
/// Fields that are read before somebody else gets the thread.
const FIELDS_AT_ONCE: usize = 10_000;

impl Reading {
    /// The commits that the entries of a folder are from, in their order: the newest one each that made it what it is. None
    /// where the search ended before, since it takes only so long.
    pub async fn latest(
        &self,
        from: ObjectId,
        folder: Option<&RepositoryPath>,
        entries: &[TreeEntry],
    ) -> Result<Vec<Option<Commit>>> {
        let mut latest = LatestCommits::of(entries, folder);
        if !latest.is_done() {
            let shape = ["-z", "--format=%H", "--raw", "-t", "-c", "--no-abbrev", "--no-renames", "--no-color"];
            let walk_max = format!("--max-count={}", LATEST_WALK_MAX + 1);
            let job = self.job("log").with_all(shape).with(walk_max).with(from.to_string()).with("--");
            let job = job.with_all(folder.map(|path| format!(":(literal){}", path.as_str())));
            // It ends when this is dropped, however much there would be to tell.
            let mut run = self.start(&job).await?;
            if let Some(stdout) = run.stdout.take()
                && let Ok(read) = timeout(WALK_LASTS, read_walk(stdout, &mut latest)).await
            {
                read.map_err(failed)?;
            }
        }
        let commits: HashMap<ObjectId, Commit> = self.commits(&latest.commits()).await?;
        Ok(entries.iter().map(|entry| commits.get(&latest.commit_of(entry)?).cloned()).collect())
    }
}

async fn read_walk(stdout: ChildStdout, latest: &mut LatestCommits) -> io::Result<()> {
    let mut told = BufReader::with_capacity(PIECE_LEN, stdout.take(TOLD_MAX));
    let (mut field, mut fields, began) = (Vec::new(), 0_usize, Instant::now());
    // What has no end is cut.
    while !latest.is_done() && told.read_until(0, &mut field).await? > 0 && field.pop() == Some(0) {
        latest.take(&field);
        field.clear();
        fields += 1;
        if fields.is_multiple_of(FIELDS_AT_ONCE) {
            if began.elapsed() > WALK_LASTS {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}
