//! What rules and pull requests ask of objects: whether merges are among them, or heads.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

use domain::{
    Result,
    git::{BranchName, ObjectId, OpenPull, RefMove, rules::RuleSet, wire::Listing},
};

use super::{Quarantine, internal};

impl Quarantine {
    /// Notes of refs whose rules ask for it whether they gain a merge commit. A new one gains what none of the repository's `refs`
    /// has.
    pub async fn look_for_merges(&self, moves: &mut [RefMove], refs: &[Listing], rules: &RuleSet) -> Result<()> {
        for asked in moves.iter_mut().filter(|asked| rules.asks_for_merges(&asked.name)) {
            let Some(new) = asked.new else { continue };
            let mut input = format!("{new}\n");
            // What nothing names now may be an object that isn't there.
            let old = asked.old.filter(|old| refs.iter().any(|it| it.oid == *old));
            let known = old.map_or_else(|| refs.iter().map(|it| it.oid).collect(), |old| vec![old]);
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

    /// Notes of branches that move from where `refs` say that they are which heads of open pull requests into them they gain.
    pub async fn look_for_heads(&self, moves: &mut [RefMove], refs: &[Listing], open: &[OpenPull]) -> Result<()> {
        let branches = moves.iter().filter_map(|asked| Some((asked.name.branch()?, asked.new?)));
        let branches: HashMap<BranchName, ObjectId> = branches.collect();
        for asked in moves {
            let there =
                refs.iter().find(|it| it.name == asked.name).map(|it| it.oid).filter(|oid| asked.old == Some(*oid));
            let (Some(branch), Some(old), Some(new)) = (asked.name.branch(), there, asked.new) else { continue };
            let into = open.iter().filter(|pull| pull.base == branch);
            let heads: HashSet<ObjectId> =
                into.map(|pull| branches.get(&pull.head).copied().unwrap_or(pull.head_oid)).collect();
            if heads.is_empty() {
                continue;
            }
            let job = self.job("rev-list").with_all([new.to_string(), format!("^{old}")]);
            let gained = self.host.parts.git.run(&job, b"").await.map_err(internal)?;
            let gained = gained.split(|byte| *byte == b'\n').filter_map(|line| ObjectId::read(line).ok());
            asked.gained_heads = gained.filter(|oid| heads.contains(oid)).collect();
        }
        Ok(())
    }
}
