//! The job that merges what waits for it.

use std::time::{Duration, Instant};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Caller, Context, Error, KeyCaller, Origin, PersonCaller, Result, Scope,
    git::{AccessLevel, Asker, AutoMerge, AutoMergeEnd, Pull, PullNumber, PullState},
    id::{KeyId, OrgId},
    resource::ResourceStatus,
};
use kernel::Registry;
use store::{
    Change, Permits, Store,
    git::{MergeWanted, StoredRepository},
};

use super::EndWaiting;
use crate::{
    Repository,
    host::GitHost,
    pulls::landing::{Landing, MadeCommit},
    resource::reaches,
};

/// Pull requests that may be merged now, of which a few are looked at beside each other.
pub const MERGES_WANTED: Topic = Topic {
    permits: Permits::with_spare(2, 6),
    goes_on_because: Some("A pull request waits to be merged."),
    ..Topic::new(store::git::MERGES_WANTED)
};
/// How long a turn may take.
const TURN_MAX: Duration = Duration::from_mins(1);
/// How often a merge is made anew whose branches moved meanwhile, before it is left for later.
const TRIES_MAX: usize = 5;

/// Merges what waits for it.
#[derive(Clone)]
pub struct WaitingMerges {
    /// The repositories.
    pub repository: Registry<Repository>,
    /// Their objects.
    pub git: GitHost,
}

/// What a look at a pull request comes to.
enum Outcome {
    /// It is merged, or doesn't wait, or goes on waiting.
    Settled,
    /// Its branches moved while it was merged.
    Moved,
    /// It isn't waited for any more.
    Over(AutoMergeEnd, String),
}

impl Handler for WaitingMerges {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (store, wanted) = (job.store(), job.payload::<MergeWanted>()?);
        let Some(number) = PullNumber::new(wanted.number) else { return Ok(Change::new()) };
        for _ in 0..TRIES_MAX {
            let Some(repository) = store.repository(wanted.org_id, wanted.repository_id).await?.filter(is_there) else {
                return Ok(Change::new());
            };
            let Some(pull) = store.pull(repository.no, number).await?.filter(|it| it.state == PullState::Open) else {
                return Ok(Change::new());
            };
            let Some(wish) = pull.auto_merge.clone() else { return Ok(Change::new()) };
            match self.look(store, (&repository, &pull), &wish).await? {
                Outcome::Settled => return Ok(Change::new()),
                Outcome::Moved => {}
                Outcome::Over(end, reason) => {
                    let command = EndWaiting { org_id: wanted.org_id, number, wish, end, reason };
                    self.repository.ask(&wanted.repository_id, command, system()).await?;
                    return Ok(Change::new());
                }
            }
        }
        Err(Halt::Later("its branches move all the time".to_owned()))
    }
}

fn is_there(repository: &StoredRepository) -> bool {
    repository.purge_at.is_none() && repository.resource.status != ResourceStatus::Deleting
}

fn system() -> Context {
    Context::system(Origin::Actor, Instant::now() + TURN_MAX)
}

/// What a refusal comes to.
fn refused(error: Error) -> Result<Outcome> {
    match AutoMergeEnd::of_refusal(&error) {
        Some(AutoMergeEnd::NoRight) => {
            Ok(Outcome::Over(AutoMergeEnd::NoRight, AutoMergeEnd::NoRight.sentence().to_owned()))
        }
        Some(end) => Ok(Outcome::Over(end, error.to_string())),
        None if matches!(error, Error::Conflict { .. }) => Ok(Outcome::Moved),
        None => Err(error),
    }
}

impl WaitingMerges {
    /// Merges a pull request, where nothing stands against it.
    async fn look(
        &self,
        store: &Store,
        (repository, pull): (&StoredRepository, &Pull),
        wish: &AutoMerge,
    ) -> Result<Outcome> {
        let caller = match asking(store, repository, wish).await {
            Ok(caller) => caller,
            Err(error) => return refused(error),
        };
        let landing = Landing {
            git: &self.git,
            store,
            owner: &self.repository,
            repository,
            pull,
            by: wish.by,
            context: Context { caller, ..system() },
            timeout: TURN_MAX,
        };
        match landing.has_to_wait(&wish.asked).await {
            Ok(true) => return Ok(Outcome::Settled),
            Ok(false) => {}
            Err(error) => return refused(error),
        }
        let made = landing.merge(&wish.asked).await;
        let is_ruled_out = matches!(&made, Err(Error::Forbidden { code: "branch_rule", .. }));
        // What a rule asks for may have changed while the commits were made.
        if is_ruled_out && landing.has_to_wait(&wish.asked).await? {
            return Ok(Outcome::Settled);
        }
        match made {
            Ok(MadeCommit { secrets: None, .. }) => Ok(Outcome::Settled),
            Ok(MadeCommit { secrets: Some(secrets), .. }) => {
                Ok(Outcome::Over(AutoMergeEnd::Refused, secrets.refusal().reason()))
            }
            Err(error) => refused(error),
        }
    }
}

/// Whoever asked, as long as they may merge now: a key has to be good still.
async fn asking(store: &Store, repository: &StoredRepository, wish: &AutoMerge) -> Result<Caller> {
    let org_id = repository.resource.org_id;
    let caller = match wish.asker {
        Asker::Person { sign_in_id, app, platform } => {
            Caller::Person(PersonCaller { user_id: wish.by, sign_in_id, app, platform, confirmed_until: None })
        }
        Asker::Key { key_id } => Caller::Key(key(store, org_id, key_id).await?),
    };
    let authority = store.authority(org_id, &caller).await?;
    authority.require(Scope::GitWrite)?;
    reaches(store, &authority, repository, AccessLevel::Write).await?;
    Ok(caller)
}

async fn key(store: &Store, org_id: OrgId, key_id: KeyId) -> Result<KeyCaller> {
    let found = store.key(org_id, key_id).await?;
    let key = found.filter(|key| key.expires_at.is_none_or(|at| at > store.now())).ok_or(Error::Unauthenticated)?;
    Ok(KeyCaller {
        key_id,
        org_id,
        maker: key.maker,
        kind: key.kind,
        scopes: key.scopes,
        is_machine: key.machine_id.is_some(),
    })
}
