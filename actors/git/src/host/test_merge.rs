//! Test merges: the commits to which pull requests would come if each were merged now.
//!
//! Such a commit follows from the two that it merges, and from nothing else: whoever makes it, and whenever, makes the same one.

use domain::{
    Error, Result, Timestamp,
    git::{CommitText, Identity, NewCommit, ObjectId, test_merge_message},
};
use store::git::{NewPack, StoredRepository};

use super::{GitHost, Quarantine, internal, merging::Merger};

/// Whoever makes test merges, as git names them.
const MAKER: (&str, &str) = ("Troupe", "noreply@troupe.invalid");
/// The last second of the year 9999, in seconds since 1970: some programs read no later one.
const SECONDS_MAX: i64 = 253_402_300_799;

impl GitHost {
    /// The commits that merge heads into bases, in the order of these (each a base and a head): none where files have conflicts, or the
    /// two have nothing in common. With them comes the pack of what the repository hasn't, for the commit that names it.
    pub(crate) async fn test_merges(
        &self,
        repository: &StoredRepository,
        ends: &[(ObjectId, ObjectId)],
    ) -> Result<(Vec<Option<ObjectId>>, Option<NewPack>)> {
        let mut quarantine = self.quarantine(repository).await?;
        let mut made = Vec::with_capacity(ends.len());
        for ends in ends {
            made.push(quarantine.test_merge(*ends).await?);
        }
        let tips: Vec<ObjectId> = made.iter().flatten().copied().collect();
        if tips.is_empty() {
            return Ok((made, None));
        }
        let known: Vec<ObjectId> = ends.iter().flat_map(|(base, head)| [*base, *head]).collect();
        quarantine.pack_all(&tips, &known).await?;
        let pack = quarantine.keep(repository).await?;
        Ok((made, pack))
    }

    /// Lets go of a pack that no commit names.
    pub(crate) async fn abandon(&self, pack: &NewPack) -> Result<()> {
        Ok(self.parts.store.repository_pack_abandon(pack).await?)
    }
}

impl Quarantine {
    async fn test_merge(&self, (base, head): (ObjectId, ObjectId)) -> Result<Option<ObjectId>> {
        let merger = Merger { git: &self.host.parts.git, quarantine: self };
        if !merger.are_related(base, head).await? {
            return Ok(None);
        }
        let Ok(tree) = merger.try_trees(base, head).await? else { return Ok(None) };
        let seconds = self.newer_of(base, head).await?;
        let line = Identity::new(MAKER.0, MAKER.1).line(Timestamp(seconds * 1_000));
        let message = test_merge_message(base, head).into_bytes();
        let text = CommitText { author: line.clone(), encoding: None, message };
        merger.write(&NewCommit { tree, parents: vec![base, head], committer: line, text }).await.map(Some)
    }

    /// When the newer one of two commits was put where it is, in seconds since 1970.
    async fn newer_of(&self, one: ObjectId, other: ObjectId) -> Result<i64> {
        let job = self.job("log").with_all(["--no-walk=unsorted", "--format=%ct"]);
        let job = job.with_all([one.to_string(), other.to_string()]);
        let said = self.host.parts.git.run(&job, b"").await.map_err(internal)?;
        let said = String::from_utf8_lossy(&said);
        let newest = said.lines().filter_map(|line| line.trim().parse::<i64>().ok()).max();
        let newest = newest.ok_or_else(|| Error::internal(format_args!("git log says {said:?}")))?;
        Ok(newest.clamp(0, SECONDS_MAX))
    }
}
