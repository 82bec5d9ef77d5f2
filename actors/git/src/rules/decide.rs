//! Asking the rules of a repository what they say to changes of its refs.

use domain::{
    Authority, Caller, Result,
    git::{
        RefMove, RefName, RefVerdict,
        rules::{RefAct, RefChange, RuleActor, Ruling},
    },
};
use kernel::Turn;
use serde_json::{Value, json};
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    git::StoredRepository,
};

use crate::{Repository, pulls::Merge};

/// Who changes refs, of which repository.
#[derive(Clone, Copy, Debug)]
pub struct Deciding<'a> {
    /// Where the rules are.
    pub store: &'a Store,
    /// Whose they are.
    pub repository: &'a StoredRepository,
}

/// Who asks, as rules see them. Their teams are looked up where a rule names any.
pub fn rule_actor(caller: &Caller, authority: Authority) -> RuleActor {
    RuleActor::of(caller, authority)
}

/// What the rules of a repository, as they are stored now, say to each of these changes, in their order.
///
/// Checks and teams are read where a rule asks for them; whether merges are added is the caller's to know.
pub async fn decide(deciding: Deciding<'_>, who: RuleActor, changes: Vec<RefChange>) -> Result<Vec<Ruling>> {
    let Deciding { store, repository } = deciding;
    let rules = store.branch_rules(repository.no).await?;
    if rules.0.is_empty() {
        return Ok(vec![Ruling::default(); changes.len()]);
    }
    let who = match who.teams_of().filter(|_| changes.iter().any(|change| rules.asks_for_teams(&change.name))) {
        Some(user_id) => who.in_teams(store.teams_with(repository.resource.org_id, user_id).await?),
        None => who,
    };
    let mut rulings = Vec::with_capacity(changes.len());
    for mut change in changes {
        if let Some(commit) = change.commit.filter(|_| rules.asks_for_checks(&change.name)) {
            let statuses = store.commit_statuses(repository.no, commit).await?;
            change.checks = statuses.into_iter().map(|it| (it.draft.context, it.draft.state)).collect();
        }
        rulings.push(rules.ruling(&who, &change));
    }
    Ok(rulings)
}

/// Has the rules refuse what they don't allow of a push whose refs were decided on otherwise. The rulings are those of all moves,
/// in their order, where a rule was asked.
pub(crate) async fn rule_on(
    turn: &Turn<'_, Repository>,
    (repository, authority): (&StoredRepository, Authority),
    (moves, merge): (&[RefMove], Option<&Merge>),
    verdicts: &mut [Result<RefVerdict, String>],
) -> Result<Vec<Option<Ruling>>> {
    let asked: Vec<Option<RefChange>> =
        moves.iter().zip(verdicts.iter()).map(|asked| change_of(asked, merge)).collect();
    let changes = asked.iter().flatten().cloned().collect();
    let deciding = Deciding { store: &turn.services().store, repository };
    let mut decided = decide(deciding, rule_actor(&turn.context().caller, authority), changes).await?.into_iter();
    let mut rulings = Vec::with_capacity(moves.len());
    for (asked, verdict) in asked.iter().zip(verdicts) {
        let ruling = asked.as_ref().and_then(|_| decided.next());
        if let Some((_, reason)) = ruling.as_ref().and_then(Ruling::refusal) {
            *verdict = Err(reason.to_string());
        }
        rulings.push(ruling);
    }
    Ok(rulings)
}

/// What a push, or the merge of a pull request, does to a ref; nothing where it is refused already.
fn change_of((asked, verdict): (&RefMove, &Result<RefVerdict, String>), merge: Option<&Merge>) -> Option<RefChange> {
    let act = RefAct::of_push(&asked.name, *verdict.as_ref().ok()?)?;
    let merge = merge.filter(|merge| merge.base == asked.name);
    let act = merge.map_or(act, |merge| RefAct::Merge(merge.facts));
    let commit = merge.map(|merge| merge.head).or(asked.peeled).or(asked.new);
    Some(RefChange { commit, ..RefChange::new(asked.name.clone(), act) }.adding_merges(asked.adds_merges))
}

/// Notes in the audit trail which rules were passed by, where any was.
pub(crate) fn audit_bypass(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    (repository, name): (&StoredRepository, &RefName),
    ruling: &Ruling,
) {
    let rules: Vec<Value> = ruling
        .bypassed()
        .map(|rule| {
            let reasons: Vec<String> = rule.reasons.iter().map(ToString::to_string).collect();
            json!({ "ruleId": rule.rule_id, "name": rule.name, "reasons": reasons })
        })
        .collect();
    if rules.is_empty() {
        return;
    }
    let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
    let entry = AuditEntry::new(turn.context(), "push.bypassed", target).in_org(repository.resource.org_id);
    change.audit_add(turn.now(), entry.with_metadata(json!({ "ref": name.to_string(), "rules": rules })));
}
