//! Landing a push: its refs, its pack and what became of it, in one commit.

use actors_base::RepositoryChange;
use domain::{
    Authority, Caller, Context, Result,
    git::{
        AccessLevel, RefMove, RefVerdict, all_or_none, decide_each, repository_deleted, rules::Ruling, wire::Listing,
    },
    id::{BranchRuleId, JobId, KeyId, OrgId, PushId},
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    git::{NewPack, PushedRef, StoredPush, StoredRepository},
};

use crate::{
    Repository, Scanned, SecretsRefused,
    live::tell,
    packs,
    pulls::{Followed, Merge, follow},
    rename::Rename,
    resource::{found, reaches},
    rules::{audit_bypass, rule_on},
};

/// Moves refs of a repository, with the pack that their objects came in.
#[derive(Clone, Debug)]
pub struct LandPush {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The refs.
    pub moves: Vec<RefMove>,
    /// Those that can't be moved at all, and why.
    pub refused: Vec<PushedRef>,
    /// Whether others can't, whose names no ref has.
    pub refuses_more: bool,
    /// Whether all of them are moved, or none.
    pub is_atomic: bool,
    /// The objects that came, where there are any: not where there are secrets in them that nobody allowed.
    pub pack: Option<NewPack>,
    /// The secrets in them.
    pub secrets: Scanned,
}

/// What became of a push.
#[derive(Clone, Debug)]
pub struct LandedPush {
    /// The refs, in their order.
    pub refs: Vec<PushedRef>,
    /// Whether the repository has the pack now: not where nothing was moved, or where it had it before.
    pub took_pack: bool,
    /// The secrets for which none of them was moved.
    pub secrets: Option<SecretsRefused>,
    /// The first rule that refused one of the refs.
    pub rule: Option<BranchRuleId>,
}

/// What a push brings beside its refs.
#[derive(Default)]
pub(crate) struct Beside<'m> {
    /// The pull request that is merged by it.
    pub(crate) merge: Option<&'m Merge>,
    /// The branch that is renamed by it.
    pub(crate) rename: Option<&'m Rename>,
    /// What is written where a ref is moved.
    pub(crate) change: Change,
}

impl Command for LandPush {
    type Reply = LandedPush;

    const NAME: &'static str = "land_push";
}

impl Handle<LandPush> for Repository {
    async fn handle(&mut self, command: &LandPush, turn: &mut Turn<'_, Self>) -> Result<LandedPush> {
        Ok(self.land(command, Beside::default(), turn).await?.0)
    }
}

impl Repository {
    /// Decides on a push and commits what follows. What the rules say to each of the moves, where they were asked, is answered, too.
    pub(crate) async fn land(
        &mut self,
        command: &LandPush,
        beside: Beside<'_>,
        turn: &mut Turn<'_, Self>,
    ) -> Result<(LandedPush, Vec<Option<Ruling>>)> {
        let Beside { merge, rename, change: beside } = beside;
        let LandPush { org_id, moves, refused, refuses_more, is_atomic, pack, secrets } = command;
        let (store, now) = (turn.services().store.clone(), turn.now());
        let authority = turn.authority(*org_id).await?;
        let mut repository = found(&store, *org_id, *turn.key()).await?;
        reaches(&store, &authority, &repository, AccessLevel::Write).await?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        if let Some(rename) = rename {
            rename.settle_default(&mut repository);
        }
        let names: Vec<_> = moves.iter().map(|asked| asked.name.clone()).collect();
        let places = store.repository_ref_places(repository.no, &names).await?;
        let decided: Vec<_> = moves.iter().cloned().zip(places).collect();
        let mut verdicts = decide_each(&decided, &repository.settings.default_branch);
        let rulings = rule_on(turn, (&repository, authority), (moves, merge), &mut verdicts).await?;
        if *is_atomic {
            all_or_none(&mut verdicts, *refuses_more || !refused.is_empty());
        }
        let mut change = Change::new();
        let decided = secrets.decide(&store, (&repository, &authority)).await?;
        let secrets = decided.refuse(&mut change, turn, (&repository, &authority))?;
        if let Some(secrets) = &secrets {
            verdicts.fill(Err(secrets.refusal().reason()));
        }
        let mut refs: Vec<PushedRef> = moves.iter().zip(verdicts).map(pushed).collect();
        let is_moved = refs.iter().any(|it| it.verdict != RefVerdict::Refused);
        let push = push_of(turn, &authority)?;
        let (mut taken, mut told) = (None, Vec::new());
        if is_moved {
            change.append(beside);
            taken = take_pack(&mut change, turn, &repository, pack.as_ref()).await?;
            self.settle_default(&mut repository, moves, &refs, turn).await?;
            change.repository_pushed(now, &repository, taken);
            write_refs(&mut change, &repository, moves, &refs);
            let by = authority.on_behalf_of()?;
            let moved = Followed { repository: &repository, moves, refs: &refs, by, merge };
            told.push(RepositoryChange::Refs { push_id: push.id, version: repository.refs_version + 1 });
            told.extend(followed(&mut change, turn, moved, rename).await?);
            decided.allow(&mut change, turn, (&repository, &authority))?;
            for (it, ruling) in refs.iter().zip(&rulings).filter(|(it, _)| it.verdict != RefVerdict::Refused) {
                if let Some(ruling) = ruling {
                    audit_bypass(&mut change, turn, (&repository, &it.name), ruling);
                }
            }
        }
        refs.extend(refused.iter().cloned());
        let report = report(&refs, secrets.as_ref());
        let push = StoredPush { is_atomic: *is_atomic, report, ..push };
        change.push_add(repository.no, &push, &refs);
        turn.commit(change).await?;
        tell(turn, told);
        let rule = rulings.iter().flatten().find_map(Ruling::refusal).map(|(rule, _)| rule.rule_id);
        Ok((LandedPush { refs, took_pack: taken.is_some(), secrets, rule }, rulings))
    }

    /// Has the first branch that is pushed into an empty repository be its default, where the one that was named isn't pushed.
    async fn settle_default(
        &self,
        repository: &mut StoredRepository,
        moves: &[RefMove],
        refs: &[PushedRef],
        turn: &Turn<'_, Self>,
    ) -> Result<()> {
        let made = || moves.iter().zip(refs).filter(|(_, it)| it.verdict == RefVerdict::Created);
        let branches: Vec<_> = made().filter_map(|(asked, _)| asked.name.branch()).collect();
        let Some(first) = branches.first() else { return Ok(()) };
        if branches.contains(&repository.settings.default_branch) {
            return Ok(());
        }
        if turn.services().store.repository_has_branches(repository.no).await? {
            return Ok(());
        }
        repository.settings.default_branch = first.clone();
        Ok(())
    }
}

/// Adds a pack to the repository, unless it is there; whether it was added.
pub(crate) async fn take_pack<'p>(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    repository: &StoredRepository,
    pack: Option<&'p NewPack>,
) -> Result<Option<&'p NewPack>> {
    let (store, now) = (&turn.services().store, turn.now());
    let Some(pack) = pack else { return Ok(None) };
    if store.repository_has_pack(repository.no, pack.hash).await? {
        return Ok(None);
    }
    change.repository_pack_add(now, repository.no, pack);
    packs::join_after(change, store, (repository, pack), now).await?;
    Ok(Some(pack))
}

/// Has pull requests follow what was moved, and audits it; what changed of them.
async fn followed(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    moved: Followed<'_>,
    rename: Option<&Rename>,
) -> Result<Vec<RepositoryChange>> {
    if let Some(rename) = rename {
        let changed = rename.follow(change, turn, (moved.repository, moved.by)).await?;
        rename.audit(change, turn, moved.repository);
        return Ok(changed);
    }
    let changed = follow(change, turn, moved).await?;
    audit(change, turn, moved.repository, moved.refs);
    Ok(changed)
}

/// The push as it is noted, without what became of it.
fn push_of(turn: &Turn<'_, Repository>, authority: &Authority) -> Result<StoredPush> {
    Ok(StoredPush {
        id: PushId::new(turn.now()),
        pushed_by: authority.on_behalf_of()?,
        key_id: key_of(turn.context()),
        job_id: job_of(turn.context()),
        ip: turn.context().ip.map(|ip| ip.to_string()),
        is_atomic: false,
        report: String::new(),
        pushed_at: turn.now(),
    })
}

fn pushed((asked, verdict): (&RefMove, std::result::Result<RefVerdict, String>)) -> PushedRef {
    let RefMove { name, old, new, .. } = asked.clone();
    match verdict {
        Ok(verdict) => PushedRef { name, old, new, verdict, reason: None },
        Err(reason) => PushedRef { name, old, new, verdict: RefVerdict::Refused, reason: Some(reason) },
    }
}

fn write_refs(change: &mut Change, repository: &StoredRepository, moves: &[RefMove], refs: &[PushedRef]) {
    for (asked, it) in moves.iter().zip(refs) {
        match (it.verdict, asked.new) {
            (RefVerdict::Refused, _) => {}
            (RefVerdict::Deleted, _) => change.repository_ref_remove(repository.no, &asked.name),
            (_, Some(oid)) => {
                let listing = Listing { name: asked.name.clone(), oid, peeled: asked.peeled };
                change.repository_ref_put(repository.no, &listing);
            }
            (_, None) => {}
        }
    }
}

/// What can't be made out from the pushes alone, or is looked for by who audits: branches that are gone or rewritten, tags that
/// are moved or gone.
fn audit(change: &mut Change, turn: &Turn<'_, Repository>, repository: &StoredRepository, refs: &[PushedRef]) {
    use domain::git::RefKind::{Branch, Tag};
    for it in refs {
        let act = match (it.name.kind(), it.verdict) {
            (Branch, RefVerdict::Deleted) => "branch.deleted",
            (Branch, RefVerdict::Forced) => "branch.forced",
            (Tag, RefVerdict::Deleted) => "tag.deleted",
            (Tag, RefVerdict::Updated | RefVerdict::Forced) => "tag.moved",
            _ => continue,
        };
        let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
        let entry = AuditEntry::new(turn.context(), act, target).in_org(repository.resource.org_id);
        let oid = |oid: Option<domain::git::ObjectId>| oid.map(|oid| oid.to_string());
        let about = json!({ "ref": it.name.to_string(), "from": oid(it.old), "to": oid(it.new) });
        change.audit_add(turn.now(), entry.with_metadata(about));
    }
}

/// What people are shown of a push.
fn report(refs: &[PushedRef], secrets: Option<&SecretsRefused>) -> String {
    let line = |it: &PushedRef| match &it.reason {
        None => format!("{} {}\n", it.verdict.as_str(), it.name),
        Some(reason) => format!("refused {}: {reason}\n", it.name),
    };
    let secrets = secrets.map(|secrets| secrets.refusal().text());
    secrets.into_iter().chain(refs.iter().map(line)).collect()
}

pub(crate) fn key_of(context: &Context) -> Option<KeyId> {
    match &context.caller {
        Caller::Key(key) => Some(key.key_id),
        _ => None,
    }
}

fn job_of(context: &Context) -> Option<JobId> {
    match &context.caller {
        Caller::Job(job) => Some(job.job_id),
        _ => None,
    }
}
