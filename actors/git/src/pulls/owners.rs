//! Asking whoever owns what a pull request changes for a review.
//!
//! Whose files they are is looked at behind the commit that opened the pull request, or moved its head, from an entry of the work queue
//! that this commit left. A rule that asks for their approval has it looked at before the turn that merges.

use std::{
    collections::{BTreeSet, HashMap},
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Origin, Result, Timestamp,
    account::Email,
    git::{
        AccessLevel, OWNERS_NAMED_MAX, ObjectId, OwnerName, OwnerSets, Principal, Pull, PullEvent, PullNumber,
        PullState, REVIEWERS_MAX, REVIEWS_MAX, RefName, ReviewState, Visibility, branch_among,
    },
    id::{OrgId, TeamId, UserId},
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Registry, Turn};
use store::{
    Change, Permits, Store,
    git::{OwnersWanted, PULL_OWNERS, StoredRepository},
};

use super::news::News;
use crate::{
    Repository,
    host::GitHost,
    live::{review_changed, tell},
    resource::level_of_member,
};

/// Pull requests whose owners are to be asked, of which a few are looked at beside each other.
pub const OWNERS_ASKED: Topic = Topic {
    permits: Permits::with_spare(2, 6),
    goes_on_because: Some("Those who own what a pull request changes are asked to review it."),
    ..Topic::new(PULL_OWNERS)
};
/// How long asking may take.
const TURN_MAX: Duration = Duration::from_mins(1);

/// Has the change leave word that owners are to be asked, of a pull request that is open and no draft: of what it changes now, or of
/// what it didn't change `since`.
pub(crate) fn want_owners(
    change: &mut Change,
    (by, now): (UserId, Timestamp),
    repository: &StoredRepository,
    (pull, since): (&Pull, Option<ObjectId>),
) {
    if pull.state != PullState::Open || pull.is_draft {
        return;
    }
    let wanted = OwnersWanted {
        org_id: repository.resource.org_id,
        repository_id: repository.id(),
        number: pull.number.get(),
        head: pull.head_oid.to_string(),
        since: since.map(|oid| oid.to_string()),
        by,
    };
    change.pull_owners_want(now, &wanted);
}

/// Who owns what a head changes, of those who may write to the repository; nothing where that can't be told.
async fn owner_sets(
    git: &GitHost,
    store: &Store,
    repository: &StoredRepository,
    (base, head): (ObjectId, ObjectId),
) -> Result<Option<OwnerSets>> {
    let Some(named) = git.owners(repository, base, head).await? else { return Ok(None) };
    let mut known: HashMap<&OwnerName, Option<Principal>> = HashMap::new();
    for name in named.iter().flatten() {
        if known.contains_key(name) {
            continue;
        }
        if known.len() >= OWNERS_NAMED_MAX {
            return Ok(None);
        }
        known.insert(name, owner(store, repository, name).await?);
    }
    let set = |names: &Vec<OwnerName>| -> Vec<Principal> {
        names.iter().filter_map(|name| known.get(name).copied().flatten()).collect()
    };
    Ok(Some(OwnerSets(named.iter().map(set).filter(|set| !set.is_empty()).collect())))
}

/// Who owns what a pull request changes, where a rule of its base asks for their approval. What can't be told nobody approves.
pub async fn owners_of_pull(
    git: &GitHost,
    store: &Store,
    repository: &StoredRepository,
    (pull, base): (&Pull, ObjectId),
) -> Result<Option<OwnerSets>> {
    let rules = store.branch_rules(repository.no).await?;
    if !rules.asks_for_owners(&RefName::of_branch(&pull.base)) {
        return Ok(None);
    }
    owner_sets(git, store, repository, (base, pull.head_oid)).await
}

/// Who is named, if they may write to the repository.
async fn owner(store: &Store, repository: &StoredRepository, name: &OwnerName) -> Result<Option<Principal>> {
    let org_id = repository.resource.org_id;
    let found = match name {
        OwnerName::Id(id) => Some(*id),
        OwnerName::Email(email) => person(store, email).await?.map(Principal::Person),
        OwnerName::Team { organization, name } => {
            let is_this = match organization {
                Some(named) => is_organization(store, org_id, named).await?,
                None => true,
            };
            if is_this { team(store, org_id, name).await?.map(Principal::Team) } else { None }
        }
    };
    let may_write = match found {
        Some(Principal::Person(id)) => level_of_member(store, repository, id).await? >= Some(AccessLevel::Write),
        Some(Principal::Team(id)) => {
            let is_there = store.team(org_id, id).await?.is_some();
            let is_open = repository.settings.visibility == Visibility::Organization;
            let granted = store.repository_grant(repository.no, Principal::Team(id)).await?;
            is_there && (is_open || granted >= Some(AccessLevel::Write))
        }
        None => false,
    };
    Ok(found.filter(|_| may_write))
}

async fn person(store: &Store, email: &Email) -> Result<Option<UserId>> {
    Ok(store.person_by_email(email).await?.map(|person| person.id))
}

/// Whether this is how the organization is named, by its address or its id.
async fn is_organization(store: &Store, org_id: OrgId, named: &str) -> Result<bool> {
    if named.parse().is_ok_and(|named: OrgId| named == org_id) {
        return Ok(true);
    }
    let organization = store.organization(org_id).await?;
    Ok(organization.is_some_and(|it| it.slug.as_str().eq_ignore_ascii_case(named)))
}

/// The team of this name, in which hyphens may stand for blanks.
async fn team(store: &Store, org_id: OrgId, name: &str) -> Result<Option<TeamId>> {
    let found = match store.team_by_name(org_id, name).await? {
        None if name.contains('-') => store.team_by_name(org_id, &name.replace('-', " ")).await?,
        found => found,
    };
    Ok(found.map(|team| team.id))
}

/// Asks owners for reviews of pull requests.
#[derive(Clone)]
pub struct OwnersAsking {
    /// The repositories.
    pub repository: Registry<Repository>,
    /// Their objects.
    pub git: GitHost,
}

impl Handler for OwnersAsking {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let wanted: OwnersWanted = job.payload()?;
        let store = job.store();
        let found = store.repository(wanted.org_id, wanted.repository_id).await?;
        let Some(repository) = found.filter(|repository| repository.purge_at.is_none()) else {
            return Ok(Change::new());
        };
        let pull = match PullNumber::new(wanted.number) {
            Some(number) => store.pull(repository.no, number).await?,
            None => None,
        };
        let Some(pull) = pull.filter(|pull| is_still(pull, &wanted)) else { return Ok(Change::new()) };
        let owners = self.new_owners(store, &repository, (&pull, &wanted)).await?;
        if !owners.is_empty() {
            let (number, head) = (pull.number, pull.head_oid);
            let command = AskOwners { org_id: wanted.org_id, number, head, owners, by: wanted.by };
            let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
            self.repository.ask(&wanted.repository_id, command, context).await?;
        }
        Ok(Change::new())
    }
}

impl OwnersAsking {
    /// Who owns what the pull request changes, and didn't before.
    async fn new_owners(
        &self,
        store: &Store,
        repository: &StoredRepository,
        (pull, wanted): (&Pull, &OwnersWanted),
    ) -> Result<Vec<Principal>> {
        let refs = self.git.refs(repository.no).await?;
        let Some(base) = branch_among(&refs, &pull.base).map(|it| it.oid) else { return Ok(Vec::new()) };
        let Some(sets) = owner_sets(&self.git, store, repository, (base, pull.head_oid)).await? else {
            return Ok(Vec::new());
        };
        let mut owners = sets.principals();
        let since = wanted.since.as_deref().and_then(|oid| oid.parse::<ObjectId>().ok());
        if let Some(since) = since.filter(|_| !owners.is_empty())
            && self.git.reading(repository).await?.commit(since).await?.is_some()
            && let Some(before) = owner_sets(&self.git, store, repository, (base, since)).await?
        {
            let before = before.principals();
            owners.retain(|owner| !before.contains(owner));
        }
        Ok(owners)
    }
}

/// Whether the pull request is what was meant; otherwise there is another entry, or nothing to ask.
fn is_still(pull: &Pull, wanted: &OwnersWanted) -> bool {
    pull.state == PullState::Open && !pull.is_draft && pull.head_oid.to_string() == wanted.head
}

/// Asks these for reviews of a pull request, but for whom that makes no sense.
#[derive(Clone, Debug)]
pub(crate) struct AskOwners {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// What its head named when they were looked for.
    pub head: ObjectId,
    /// Whom.
    pub owners: Vec<Principal>,
    /// Whoever opened it, or moved its head.
    pub by: UserId,
}

impl Command for AskOwners {
    type Reply = ();

    const NAME: &'static str = "ask_owners";
}

impl Handle<AskOwners> for Repository {
    async fn handle(&mut self, command: &AskOwners, turn: &mut Turn<'_, Self>) -> Result<()> {
        let AskOwners { org_id, number, head, owners, by } = command;
        let (store, now) = (&turn.services().store, turn.now());
        let found = store.repository(*org_id, *turn.key()).await?;
        let Some(repository) = found.filter(|it| it.resource.status != ResourceStatus::Deleting) else {
            return Ok(());
        };
        let no = repository.no;
        let is_meant = |pull: &Pull| pull.state == PullState::Open && !pull.is_draft && pull.head_oid == *head;
        let Some(pull) = store.pull(no, *number).await?.filter(is_meant) else { return Ok(()) };
        let before = store.pull_reviewers(no, *number).await?;
        let answered = answered(store, &repository, &pull).await?;
        let mut asked: Vec<Principal> = owners.clone();
        asked.retain(|owner| {
            *owner != Principal::Person(pull.author)
                && !before.iter().any(|it| it.principal == *owner)
                && !answered.contains(&owner.to_string())
        });
        asked.truncate(REVIEWERS_MAX.saturating_sub(before.len()));
        if asked.is_empty() {
            return Ok(());
        }
        let mut change = Change::new();
        change.repository_set(&repository);
        for principal in &asked {
            change.pull_reviewer_add(no, *number, (*principal, *by), now);
        }
        let news = News { services: turn.services(), repository: &repository, pull: &pull, by: *by, now };
        news.review_asked(&mut change, &asked).await?;
        let event = PullEvent::ReviewersChanged { asked, withdrawn: Vec::new() };
        change.pull_event_add((no, *number), (*by, now), &event);
        turn.commit(change).await?;
        tell(turn, [review_changed(*number)]);
        Ok(())
    }
}

/// The ids of who gave a review that wasn't dismissed, and of their teams.
async fn answered(store: &Store, repository: &StoredRepository, pull: &Pull) -> Result<BTreeSet<String>> {
    let reviews = store.pull_reviews(repository.no, pull.number, None, REVIEWS_MAX).await?;
    let standing = reviews.into_iter().filter(|review| review.state != ReviewState::Dismissed);
    let authors: BTreeSet<UserId> = standing.map(|review| review.author).collect();
    let mut answered = BTreeSet::new();
    for author in authors {
        answered.insert(author.to_string());
        let teams = store.teams_with(repository.resource.org_id, author).await?;
        answered.extend(teams.iter().map(ToString::to_string));
    }
    Ok(answered)
}
