//! What rules ask of objects: whether merges are among them, and whether a commit is there.

use std::fmt::Write as _;

use domain::{
    Result,
    git::{ObjectId, RefMove, rules::RuleSet, wire::Listing},
};
use gateways::GitJob;
use store::git::StoredRepository;

use super::{GitHost, Quarantine, internal};

impl Quarantine {
    /// Notes of refs whose rules ask for it whether they gain a merge commit. A new one gains what none of the repository's `refs`
    /// has.
    pub async fn look_for_merges(&self, moves: &mut [RefMove], refs: &[Listing], rules: &RuleSet) -> Result<()> {
        for asked in moves.iter_mut().filter(|asked| rules.asks_for_merges(&asked.name)) {
            let Some(new) = asked.new else { continue };
            let mut input = format!("{new}\n");
            let known = asked.old.map_or_else(|| refs.iter().map(|it| it.oid).collect(), |old| vec![old]);
            for oid in known {
                // Writing to a text doesn't fail.
                let _ = writeln!(input, "^{oid}");
            }
            let job = self.job("rev-list").with_all(["--merges", "--max-count=1", "--stdin"]);
            let found = self.host.parts.git.run(&job, input.as_bytes()).await.map_err(internal)?;
            asked.adds_merges = Some(!found.is_empty());
        }
        Ok(())
    }
}

impl GitHost {
    /// Whether the repository has this commit.
    pub async fn has_commit(&self, repository: &StoredRepository, commit: ObjectId) -> Result<bool> {
        let view = self.view(repository).await?;
        let job = GitJob::new(&view, "cat-file").with("--batch-check=%(objecttype)");
        let output = self.parts.git.run(&job, format!("{commit}\n").as_bytes()).await.map_err(internal)?;
        Ok(output == b"commit\n")
    }
}
