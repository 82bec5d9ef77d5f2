//! Pull requests that are merged as soon as nothing stands against it.
//!
//! Whatever may take away what stands against them sets their timers in its own commit; what the timer leaves is an entry of the work
//! queue, as merging is no work for a turn.

use domain::{
    Timestamp,
    git::{BranchName, ObjectId, PullNumber},
    id::{OrgId, ResourceId},
};
use serde::{Deserialize, Serialize};

use crate::{Change, Expect, NewWork, git::RepositoryNo, sql::Sql};

/// What the owner of a repository is called, whose timers these are.
pub const REPOSITORY_KIND: &str = "repository";
/// What the names of the timers begin with, before the number of the pull request.
pub const MERGE_TIMER: &str = "auto_merge/";
/// The topic of pull requests that may be merged now.
pub const MERGES_WANTED: &str = "git.auto_merge";

/// A pull request that may be merged now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeWanted {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The repository.
    pub repository_id: ResourceId,
    /// The number of the pull request.
    pub number: u32,
}

/// Which of the pull requests that wait.
#[derive(Clone, Copy, Debug)]
pub enum Waiting<'a> {
    /// All of the repository.
    All,
    /// This one.
    One(PullNumber),
    /// Those into this branch.
    Into(&'a BranchName),
    /// Those whose head names this commit.
    At(ObjectId),
}

impl Change {
    /// Has pull requests be looked at that wait to be merged; whether there are any, the commit finds out.
    pub fn waiting_pulls_wake(&mut self, no: RepositoryNo, which: Waiting<'_>, now: Timestamp) {
        self.wakes_timers();
        let (condition, value): (&str, Option<sea_orm::Value>) = match which {
            Waiting::All => ("", None),
            Waiting::One(number) => (" AND p.number = $5", Some(i64::from(number.get()).into())),
            Waiting::Into(branch) => (" AND p.base = $5", Some(branch.as_str().into())),
            Waiting::At(commit) => (" AND p.head_oid = $5", Some(commit.as_bytes().to_vec().into())),
        };
        let statement = format!(
            "INSERT INTO timers (kind, key, name, due, wake_at, tenant) \
             SELECT $2, r.id, $3 || CAST(p.number AS TEXT), $4, $4, r.org_id FROM pulls p \
             JOIN repositories r ON r.repo_no = p.repo_no \
             WHERE p.repo_no = $1 AND p.auto_merge IS NOT NULL{condition} \
             ON CONFLICT (kind, key, name) DO UPDATE SET due = excluded.due, wake_at = excluded.wake_at, \
             claimed_by = NULL, tenant = excluded.tenant"
        );
        let values: [sea_orm::Value; 4] = [no.0.into(), REPOSITORY_KIND.into(), MERGE_TIMER.into(), now.0.into()];
        self.run_statement(Sql::new(statement, values.into_iter().chain(value)), Expect::Any);
    }

    /// Has a pull request be merged, if that can be done.
    pub fn merge_want(&mut self, now: Timestamp, wanted: &MergeWanted) {
        self.work_add(now, NewWork::new(MERGES_WANTED, wanted.org_id, wanted));
    }
}
