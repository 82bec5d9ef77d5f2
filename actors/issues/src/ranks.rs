//! Ranks: issues of a space are put before or behind another one, without touching those between which they go.
//!
//! A rank grows with each issue that goes between two neighbours. Once one is too long, a job spreads its neighbours anew.

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Error, Result, Timestamp,
    id::{IssueId, OrgId, SpaceId},
    issues::rank::{EVENED_MAX, Rank},
    tenant::Tenant,
};
use kernel::{Command, Handle, Turn};
use serde::{Deserialize, Serialize};
use store::{
    Change, NewWork, Permits,
    issues::{RankSide, StoredIssue},
};

use super::{space::IssueSpace, sprints::planned};

/// The job that spreads neighbours whose ranks grew too long.
pub(crate) const RANKS_EVENING: Topic = Topic { permits: Permits::with_spare(1, 3), ..Topic::new("issues.ranks") };

/// Puts issues of a space before or behind another one of it, in their order.
#[derive(Clone, Debug)]
pub struct RankIssues {
    /// The organization.
    pub org_id: OrgId,
    /// Which ones; each once.
    pub issues: Vec<IssueId>,
    /// Next to which one, which is none of them.
    pub beside: IssueId,
    /// On which side of it.
    pub side: RankSide,
}

impl Command for RankIssues {
    type Reply = ();

    const NAME: &'static str = "rank_issues";
}

impl Handle<RankIssues> for IssueSpace {
    async fn handle(&mut self, command: &RankIssues, turn: &mut Turn<'_, Self>) -> Result<()> {
        let RankIssues { org_id, issues, beside, side } = command;
        planned(turn, *org_id).await?;
        let of = (*org_id, *turn.key());
        let store = &turn.services().store;
        let gone = |path: String| Error::invalid(path, "The space has no such issue.");
        let is_here = |stored: &StoredIssue| stored.issue.space_id == of.1;
        let mut moved = Vec::new();
        for (at, id) in issues.iter().enumerate() {
            let found = store.issue(of.0, *id).await?.filter(is_here);
            moved.push(found.ok_or_else(|| gone(format!("issues.{at}")))?.issue);
        }
        let path = match side {
            RankSide::Before => "before",
            RankSide::After => "after",
        };
        let found = store.issue(of.0, *beside).await?.filter(is_here);
        let beside = found.ok_or_else(|| gone(path.to_owned()))?.issue;
        let next = store.issue_rank_next(of, (&beside.rank, *side), issues).await?;
        let ranks = between((&beside.rank, *side), next.as_deref(), moved.len())?;
        let mut change = Change::new();
        // Whoever moves the one beside which they go meanwhile has this be decided again.
        change.issue_rank_set(beside.issue_id, (&beside.rank, &beside.rank));
        for (issue, rank) in moved.iter().zip(&ranks) {
            change.issue_rank_set(issue.issue_id, (&issue.rank, rank.as_str()));
        }
        if let Some(crowded) = ranks.iter().find(|rank| rank.is_crowded()) {
            even_after(&mut change, of, crowded, turn.now());
        }
        turn.commit(change).await
    }
}

/// So many ranks next to one, on a side of it, and this side of the next one there.
fn between((beside, side): (&str, RankSide), next: Option<&str>, count: usize) -> Result<Vec<Rank>> {
    let corrupt = || Error::internal("a rank that is none");
    let beside = Rank::parse(beside).ok_or_else(corrupt)?;
    let next = next.map(|rank| Rank::parse(rank).ok_or_else(corrupt)).transpose()?;
    let spread = match side {
        RankSide::Before => Rank::spread(next.as_ref(), Some(&beside), count),
        RankSide::After => Rank::spread(Some(&beside), next.as_ref(), count),
    };
    spread.ok_or_else(corrupt)
}

/// Where ranks are to be spread.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Crowded {
    space_id: SpaceId,
    rank: String,
}

fn even_after(change: &mut Change, (org_id, space_id): (OrgId, SpaceId), crowded: &Rank, now: Timestamp) {
    let crowded = Crowded { space_id, rank: crowded.as_str().to_owned() };
    change.work_add(now, NewWork::new(RANKS_EVENING.name, org_id, &crowded));
}

/// Spreads ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RanksEvening;

impl Handler for RanksEvening {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let Crowded { space_id, rank } = job.payload()?;
        let (of, half) = ((org_id, space_id), EVENED_MAX as u64 / 2);
        let store = job.store();
        let mut all = store.issue_rank_neighbours(of, (&rank, RankSide::Before), half).await?;
        all.reverse();
        let behind = store.issue_rank_neighbours(of, (&rank, RankSide::After), half).await?;
        all.extend(behind.into_iter().filter(|(_, other)| *other != rank));
        let (Some((_, first)), Some((_, last))) = (all.first(), all.last()) else { return Ok(Change::new()) };
        let low = store.issue_rank_next(of, (first, RankSide::Before), &[]).await?;
        let high = store.issue_rank_next(of, (last, RankSide::After), &[]).await?;
        let (low, high) = (low.as_deref().and_then(Rank::parse), high.as_deref().and_then(Rank::parse));
        let Some(ranks) = Rank::spread(low.as_ref(), high.as_ref(), all.len()) else {
            return Err(Halt::Refused("there is no room between two ranks".to_owned()));
        };
        let mut change = Change::new();
        for ((id, was), is) in all.iter().zip(&ranks) {
            change.issue_rank_set(*id, (was, is.as_str()));
        }
        Ok(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_go_between_their_neighbours_in_their_order() {
        let ranks = |side, next| between(("V", side), next, 3).expect("room");
        for (side, next) in [(RankSide::Before, None), (RankSide::Before, Some("U")), (RankSide::After, Some("W"))] {
            let found = ranks(side, next);
            assert!(found.is_sorted_by(|one, other| one < other), "{found:?}");
            let is_beside = |rank: &Rank| (rank.as_str() < "V") == (side == RankSide::Before);
            assert!(found.iter().all(is_beside), "{found:?}");
        }
        assert!(ranks(RankSide::After, None).iter().all(|rank| rank.as_str() > "V"));
        assert!(between(("V", RankSide::After), Some("0"), 1).is_err());
    }
}
