//! Test merges of open pull requests, which `refs/pull/<number>/merge` name.
//!
//! They are made behind the commit that moved a head or a base, and landed by a turn that looks whether both are still there. Where
//! they aren't, the commit is kept all the same, since whoever asked for it may run on it; the ref is left to whoever moved them.

use std::time::{Duration, Instant};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Origin, Result, Tenant, Timestamp,
    git::{ObjectId, OpenPull, Pull, PullNumber, PullState, RefName, wire::Listing},
    id::{OrgId, ResourceId},
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Registry, Turn};
use store::{
    Change, NewWork, Permits, Store,
    git::{NewPack, RepositoryNo, StoredRepository},
};

use crate::{
    Repository,
    host::{GitHost, Reading},
    push::take_pack,
};

/// Test merges that are to be made anew, since a base has moved.
pub const TEST_MERGES: Topic = Topic { permits: Permits::with_spare(1, 1), ..Topic::new("git.test_merges") };
/// Pull requests whose test merges are made anew when a branch moves, at most: the newest of those that are open.
const MADE_ANEW_MAX: usize = 50;
/// How long landing them may take.
const TURN_MAX: Duration = Duration::from_mins(1);

/// Has test merges be made anew of those among the open pull requests that `are_moved`.
pub(crate) fn want_test_merges(
    change: &mut Change,
    now: Timestamp,
    (repository, open): (&StoredRepository, &[OpenPull]),
    are_moved: impl Fn(&OpenPull) -> bool,
) {
    let numbers = open.iter().filter(|pull| are_moved(pull)).map(|pull| pull.number.get());
    let numbers: Vec<u32> = numbers.take(MADE_ANEW_MAX).collect();
    if !numbers.is_empty() {
        let payload = (repository.id(), numbers);
        change.work_add(now, NewWork::new(TEST_MERGES.name, repository.resource.org_id, &payload));
    }
}

/// Makes test merges.
#[derive(Clone)]
pub struct TestMerges {
    /// The repositories.
    pub repository: Registry<Repository>,
    /// Their objects.
    pub git: GitHost,
}

/// A test merge that was made, or couldn't be.
#[derive(Clone, Copy, Debug)]
struct TestMerge {
    number: PullNumber,
    base: ObjectId,
    head: ObjectId,
    commit: Option<ObjectId>,
}

/// Has refs name test merges, where these are still those of their pull requests. Those of pull requests that are over go.
#[derive(Clone, Debug)]
pub(crate) struct PutTestMerges {
    org_id: OrgId,
    merges: Vec<TestMerge>,
    pack: Option<NewPack>,
}

impl Command for PutTestMerges {
    /// Whether the repository has the pack now.
    type Reply = bool;

    const NAME: &'static str = "put_test_merges";
}

impl Handler for TestMerges {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (store, (id, numbers)) = (job.store(), job.payload::<(ResourceId, Vec<u32>)>()?);
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let found = store.repository(org_id, id).await?.filter(|repository| repository.purge_at.is_none());
        let Some(repository) = found else { return Ok(Change::new()) };
        let mut wanted = Vec::with_capacity(numbers.len());
        for number in numbers.into_iter().filter_map(PullNumber::new) {
            let Some(pull) = store.pull(repository.no, number).await? else { continue };
            let base = RefName::of_branch(&pull.base);
            let places = store.repository_ref_places(repository.no, std::slice::from_ref(&base)).await?;
            let base = places.first().and_then(|place| place.oid).unwrap_or(pull.base_oid);
            wanted.push((pull, base));
        }
        self.make(&repository, &wanted).await?;
        Ok(Change::new())
    }
}

impl TestMerges {
    /// The test merges of pull requests, each with what its base names, in their order: none where a pull request can't be merged, or
    /// is over. What isn't there is made and landed first.
    ///
    /// # Errors
    /// When the repository can't be read, or has more to do than it takes.
    pub async fn make(
        &self,
        repository: &StoredRepository,
        wanted: &[(Pull, ObjectId)],
    ) -> Result<Vec<Option<ObjectId>>> {
        let refs = self.git.refs(repository.no).await?;
        let reading = self.git.reading(repository).await?;
        let (mut merges, mut named) = (Vec::with_capacity(wanted.len()), Vec::with_capacity(wanted.len()));
        for (pull, base) in wanted {
            let (number, base, head) = (pull.number, *base, pull.head_oid);
            let there = named_now(&refs, number);
            let commit = current(&reading, there, (base, head)).await?.filter(|_| pull.state == PullState::Open);
            merges.push(TestMerge { number, base, head, commit });
            named.push(there);
        }
        let pack = self.make_missing(repository, wanted, &mut merges).await?;
        let moved: Vec<_> =
            merges.iter().zip(&named).filter(|(it, there)| it.commit != **there).map(|(it, _)| *it).collect();
        if !moved.is_empty() || pack.is_some() {
            self.land(repository, moved, pack).await?;
        }
        Ok(merges.into_iter().map(|it| it.commit).collect())
    }

    /// Makes those of open pull requests that aren't there; the pack of what the repository hasn't.
    async fn make_missing(
        &self,
        repository: &StoredRepository,
        wanted: &[(Pull, ObjectId)],
        merges: &mut [TestMerge],
    ) -> Result<Option<NewPack>> {
        let missing = merges
            .iter_mut()
            .zip(wanted)
            .filter(|(it, (pull, _))| it.commit.is_none() && pull.state == PullState::Open);
        let missing: Vec<&mut TestMerge> = missing.map(|(it, _)| it).collect();
        if missing.is_empty() {
            return Ok(None);
        }
        let ends: Vec<_> = missing.iter().map(|it| (it.base, it.head)).collect();
        let (made, pack) = self.git.test_merges(repository, &ends).await?;
        for (it, commit) in missing.into_iter().zip(made) {
            it.commit = commit;
        }
        Ok(pack)
    }

    async fn land(&self, repository: &StoredRepository, merges: Vec<TestMerge>, pack: Option<NewPack>) -> Result<()> {
        let command = PutTestMerges { org_id: repository.resource.org_id, merges, pack: pack.clone() };
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        let landed = self.repository.ask(&repository.id(), command, context).await;
        if let Some(pack) = &pack
            && !landed.as_ref().is_ok_and(|took_pack| *took_pack)
            && let Err(error) = self.git.abandon(pack).await
        {
            tracing::warn!(%error, "a pack of test merges could not be deleted yet");
        }
        landed.map(drop)
    }
}

/// What the ref of a test merge names.
fn named_now(refs: &[Listing], number: PullNumber) -> Option<ObjectId> {
    let name = number.merge_ref()?;
    refs.binary_search_by(|it| it.name.cmp(&name)).ok().map(|at| refs[at].oid)
}

/// The commit that is there, where it merges these two.
async fn current(
    reading: &Reading,
    there: Option<ObjectId>,
    (base, head): (ObjectId, ObjectId),
) -> Result<Option<ObjectId>> {
    let Some(oid) = there else { return Ok(None) };
    let commit = reading.commit(oid).await?;
    Ok(commit.filter(|commit| commit.parents == [base, head]).map(|commit| commit.id))
}

impl Handle<PutTestMerges> for Repository {
    async fn handle(&mut self, command: &PutTestMerges, turn: &mut Turn<'_, Self>) -> Result<bool> {
        let (store, now) = (turn.services().store.clone(), turn.now());
        let found = store.repository(command.org_id, *turn.key()).await?.filter(|it| !it.is_gone());
        let Some(repository) = found.filter(|it| it.resource.status != ResourceStatus::Deleting) else {
            return Ok(false);
        };
        let (mut change, mut is_moved) = (Change::new(), false);
        for merge in &command.merges {
            is_moved |= put(&mut change, (&store, repository.no), merge).await?;
        }
        let taken = take_pack(&mut change, turn, &repository, command.pack.as_ref()).await?;
        if !is_moved && taken.is_none() {
            return Ok(false);
        }
        // Nobody pushed: it stays as it is when somebody last did.
        change.repository_pushed(repository.pushed_at.unwrap_or(now), &repository, taken);
        turn.commit(change).await?;
        Ok(taken.is_some())
    }
}

/// Has the ref name the merge, where the pull request is still of the two commits; whether that changes anything.
async fn put(change: &mut Change, (store, no): (&Store, RepositoryNo), merge: &TestMerge) -> Result<bool> {
    let Some((pull, name)) = store.pull(no, merge.number).await?.zip(merge.number.merge_ref()) else {
        return Ok(false);
    };
    let refs = [name.clone(), RefName::of_branch(&pull.base)];
    let places = store.repository_ref_places(no, &refs).await?;
    let named = |at: usize| places.get(at).and_then(|place| place.oid);
    let is_of_both = pull.head_oid == merge.head && named(1) == Some(merge.base);
    let wanted = match pull.state {
        PullState::Open if is_of_both => merge.commit,
        PullState::Open => return Ok(false),
        PullState::Merged | PullState::Closed => None,
    };
    if named(0) == wanted {
        return Ok(false);
    }
    match wanted {
        Some(oid) => change.repository_ref_put(no, &Listing { name, oid, peeled: None }),
        None => change.repository_ref_remove(no, &name),
    }
    Ok(true)
}
