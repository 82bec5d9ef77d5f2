//! An issue that something in a repository says it closes.

use domain::{
    Error, Result, Scope,
    git::{ObjectId, PullNumber},
    id::{OrgId, ResourceId, UserId},
    issues::{
        access::{Permission, may},
        closing::{NO_RIGHT, NO_WAY},
        settings::Settings,
        workflow::Category,
    },
};
use kernel::{Command, Handle, Turn};
use store::{Change, issues::IssueChanged};

use crate::{
    IssueOwner,
    access::issue_seen,
    fields::touched,
    issue::{BlockedTransition, Opened, definition_of, moved, transitions_of, written},
};

/// What says that an issue is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosingSource {
    /// A commit.
    Commit(ObjectId),
    /// A pull request.
    Pull(PullNumber),
}

/// Brings an issue to a status that is done, as far as the person could do it themselves.
#[derive(Clone, Debug)]
pub struct CloseIssue {
    /// The organization.
    pub org_id: OrgId,
    /// Whoever pushed or merged.
    pub by: UserId,
    /// The repository.
    pub repository_id: ResourceId,
    /// What the repository is called.
    pub repository: String,
    /// What of it names the issue.
    pub source: ClosingSource,
}

impl Command for CloseIssue {
    type Reply = ();

    const NAME: &'static str = "close_issue";
}

impl ClosingSource {
    /// How the history calls it: a commit by its 40 digits, a pull request by `#` and its number.
    fn name(self) -> String {
        match self {
            Self::Commit(commit) => commit.to_string(),
            Self::Pull(number) => format!("#{number}"),
        }
    }

    /// What did it, as the history says it.
    const fn cause(self) -> &'static str {
        match self {
            Self::Commit(_) => "commit",
            Self::Pull(_) => "pull",
        }
    }
}

impl CloseIssue {
    /// What tells it from all else that closes the issue.
    fn key(&self) -> String {
        format!("{} {}", self.repository_id, self.source.name())
    }

    /// What may be done in the issue's name; nothing where the person doesn't see it, or its space is archived.
    async fn opened(&self, turn: &Turn<'_, IssueOwner>) -> Result<Option<Opened>> {
        let store = &turn.services().store;
        let seen = async {
            let authority = store.authority_of_person(self.org_id, self.by).await?;
            authority.require(Scope::IssuesRead)?;
            let (stored, space, role) = issue_seen(store, &authority, (self.org_id, *turn.key())).await?;
            Ok::<_, Error>(Opened { authority, person: self.by, stored, space, role })
        };
        match seen.await {
            Ok(opened) => Ok(Some(opened).filter(|opened| !opened.space.archived)),
            Err(Error::NotFound { .. } | Error::Forbidden { .. } | Error::MissingScope(_)) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// What the history is told beside the fields.
    fn told(&self, reason: Option<&str>) -> Vec<String> {
        let named = [self.repository.clone(), self.source.name()];
        named.into_iter().chain(reason.map(str::to_owned)).collect()
    }
}

/// The status that is done to which the person may bring the issue; otherwise why there is none.
fn way(opened: &Opened, settings: &Settings) -> std::result::Result<String, String> {
    let Opened { authority, stored, space, role, .. } = opened;
    if !authority.has(Scope::IssuesWrite) || !may(Some(*role), Permission::Transition) {
        return Err(NO_RIGHT.to_owned());
    }
    let is_done = |it: &&BlockedTransition| {
        settings.status(&it.transition.to).is_some_and(|status| status.category == Category::Done)
    };
    let open = transitions_of(authority, (space, *role), &stored.issue);
    let ways: Vec<_> = open.iter().filter(is_done).collect();
    if let Some(free) = ways.iter().find(|it| it.blocked.is_empty()) {
        return Ok(free.transition.to.clone());
    }
    let reasons = ways.first().map(|it| it.blocked.iter().map(|blocked| blocked.why.as_str()).collect::<Vec<_>>());
    Err(reasons.map_or_else(|| NO_WAY.to_owned(), |reasons| reasons.join(" ")))
}

impl Handle<CloseIssue> for IssueOwner {
    async fn handle(&mut self, command: &CloseIssue, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (now, id, key) = (turn.now(), *turn.key(), command.key());
        let Some(opened) = command.opened(turn).await? else { return Ok(()) };
        let store = &turn.services().store;
        if store.issue_closing_is_known(id, &key).await? {
            return Ok(());
        }
        let mut change = Change::new();
        if opened.stored.issue.status_category != Category::Done {
            change.append(closed(command, turn, &opened).await?);
        }
        change.issue_closing_known(id, &key, now);
        turn.commit(change).await
    }
}

/// What closing the issue writes, or that it couldn't be done.
async fn closed(command: &CloseIssue, turn: &Turn<'_, IssueOwner>, opened: &Opened) -> Result<Change> {
    let (now, cause) = (turn.now(), command.source.cause());
    let settings = turn.services().store.issue_catalog(command.org_id).await?.settings;
    let (before, mut after) = (&opened.stored, opened.stored.clone());
    let found = way(opened, &settings);
    let mut change = if let Ok(to) = &found {
        let definition = definition_of(&opened.space, &after.issue)
            .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
        moved(&mut after.issue, &definition, to, &settings, now);
        written(turn, opened, (&mut after, cause)).await?
    } else {
        touched(&mut after, now);
        let mut change = Change::new();
        change.issue_set(&after, before);
        change
    };
    let changed = IssueChanged { before, after: &after, by: command.by, cause, at: now };
    change.issue_development_add(changed, command.told(found.err().as_deref()));
    Ok(change)
}
