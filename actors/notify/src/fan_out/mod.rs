//! From events to notices, deliveries and escalations.
//!
//! The outbox's dispatcher hands over the events that it claimed. Those that came together are decided on together
//! ([`case`], [`decide`]) and committed together, each with the settlement of its entry: a notice to each person whom it
//! concerns, over the channels of their settings, and an escalation for each protocol that it is for. An event whose entry
//! was settled meanwhile, by another node that took it when the lease ended, fails the commit; then, and when one of them
//! can't be stored, each is tried on its own, and what fails for good is put aside with the reason.
//!
//! It must never happen that an entry goes without its notices, or that one event holds up the others.

mod alerts;
mod case;
mod decide;

use actors_base::Services;
use domain::backoff::{TRIES_MAX, pause_after};
use store::{Change, CommitError, OutboxClaim, OutboxEntry, StoreError, outbox};

use self::{
    case::{Case, Known},
    decide::Decisions,
};

/// People told in one commit, about; a commit is under way for some ten milliseconds then.
const PEOPLE_PER_COMMIT: usize = 100;
/// How often an event is decided on again because something changed meanwhile.
const STALE_ROUNDS_MAX: u32 = 3;

/// Turns the events among `claims` into what follows from them, and settles their entries. An error says that the store is
/// away; what is left then comes again when its lease ends.
pub async fn deliver(services: &Services, claims: &[OutboxClaim]) -> Result<(), StoreError> {
    let mut cases = Vec::new();
    for claim in claims {
        let OutboxEntry::Event { event } = &claim.entry else { continue };
        match Case::read(claim, event) {
            Ok(case) => cases.push(case),
            Err(reason) => give_up(services, claim, &reason).await?,
        }
    }
    let mut rest = cases.as_slice();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(together(rest));
        deliver_together(services, now).await?;
        rest = later;
    }
    Ok(())
}

/// How many of `cases` are decided on together: as many as one commit takes; what is resolved stands alone, because it ends
/// what an earlier one may have started.
fn together(cases: &[Case<'_>]) -> usize {
    let mut people = 0;
    let fitting = cases.iter().take_while(|case| {
        people += case.people();
        people <= PEOPLE_PER_COMMIT && !case.event.resolved
    });
    fitting.count().max(1)
}

async fn deliver_together(services: &Services, cases: &[Case<'_>]) -> Result<(), StoreError> {
    let outcome = match attempt(services, cases).await {
        Ok(outcome) => outcome,
        Err(error @ StoreError::Unavailable(_)) => return Err(error),
        Err(StoreError::Failed(reason)) => Err(CommitError::Failed(reason)),
    };
    match outcome {
        Ok(()) => Ok(()),
        Err(CommitError::Unavailable(error)) => Err(StoreError::Unavailable(error)),
        Err(error) => {
            tracing::debug!(%error, events = cases.len(), "events are tried one by one");
            for case in cases {
                deliver_alone(services, case).await?;
            }
            Ok(())
        }
    }
}

/// Decides on the current state, and commits; the outer error says that the state couldn't be read.
async fn attempt(services: &Services, cases: &[Case<'_>]) -> Result<Result<(), CommitError>, StoreError> {
    let known = Known::load(services, cases).await?;
    let mut decisions = Decisions::new(services, &known).await?;
    for (case, facts) in cases.iter().zip(&known.facts) {
        decisions.decide(case, facts);
    }
    let mut change = Change::new();
    change.outbox_take(cases.iter().map(|case| case.claim));
    change.append(decisions.into_change());
    Ok(services.store.commit(change).await)
}

async fn deliver_alone(services: &Services, case: &Case<'_>) -> Result<(), StoreError> {
    let mut failure = String::new();
    for _ in 0..=STALE_ROUNDS_MAX {
        match attempt(services, std::slice::from_ref(case)).await {
            Ok(Ok(())) => return Ok(()),
            // Settled by another node, or what it was decided on changed: decided again, and put off if that goes on.
            Ok(Err(error @ (CommitError::Stale | CommitError::Duplicate { .. }))) => failure = error.to_string(),
            Ok(Err(CommitError::Unavailable(error))) | Err(StoreError::Unavailable(error)) => {
                return Err(StoreError::Unavailable(error));
            }
            Ok(Err(CommitError::Failed(error) | CommitError::TooLong(error))) | Err(StoreError::Failed(error)) => {
                failure = error;
                break;
            }
        }
    }
    put_off(services, case.claim, &failure).await
}

/// Has the event tried again later, or puts it aside when it was tried often enough.
async fn put_off(services: &Services, claim: &OutboxClaim, error: &str) -> Result<(), StoreError> {
    let OutboxClaim { work, .. } = claim;
    if work.attempts >= TRIES_MAX {
        return give_up(services, claim, error).await;
    }
    tracing::warn!(seq = work.seq, error, "an event waits for another try");
    let again_at = services.store.now().after(pause_after(work.attempts, work.seq));
    let mut change = Change::new();
    change.work_put_off(outbox::EVENT, work, error, again_at);
    commit_if_still_ours(services, change).await
}

async fn give_up(services: &Services, claim: &OutboxClaim, error: &str) -> Result<(), StoreError> {
    tracing::error!(seq = claim.work.seq, error, "an event was given up");
    metrics::counter!("troupe_outbox_given_up_total", "topic" => outbox::EVENT).increment(1);
    let mut change = Change::new();
    change.work_given_up(&claim.work, error);
    commit_if_still_ours(services, change).await
}

/// Commits what becomes of an event that failed. An entry that another node has settled or claimed is that node's.
async fn commit_if_still_ours(services: &Services, change: Change) -> Result<(), StoreError> {
    match services.store.commit(change).await {
        Ok(()) | Err(CommitError::Stale) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
