//! Telling people of pull requests that wait for them: by e-mail, and live.
//!
//! The contract's types of events (A 6) are closed, and none of them is about pull requests; so this is none, and settings of notifications
//! don't reach it. That is why people are only told of what concerns them alone: that they are asked for a review, and what became
//! of their own pull request by somebody else.

use std::collections::BTreeSet;

use actors_base::Services;
use domain::{
    Result, Timestamp,
    git::{AccessLevel, Principal, Pull, ReviewVerdict},
    id::UserId,
};
use serde_json::json;
use store::{Change, EmailTo, OutboxEntry, git::StoredRepository};

use crate::resource::level_of_member;

/// People who are told by one commit that a review is asked of them.
const TOLD_MAX: usize = 50;

/// Something to tell people of a pull request.
pub(crate) struct News<'a> {
    /// What the owner works with.
    pub services: &'a Services,
    /// The repository.
    pub repository: &'a StoredRepository,
    /// The pull request.
    pub pull: &'a Pull,
    /// Whoever did it; they aren't told.
    pub by: UserId,
    /// When.
    pub now: Timestamp,
}

/// What people are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    ReviewAsked,
    Approved,
    ChangesAsked,
    Merged,
}

impl Told {
    /// The type of the live message.
    const fn kind(self) -> &'static str {
        match self {
            Self::ReviewAsked => "pull.review_asked",
            Self::Approved | Self::ChangesAsked => "pull.reviewed",
            Self::Merged => "pull.merged",
        }
    }

    /// What the e-mail is about.
    const fn subject(self) -> &'static str {
        match self {
            Self::ReviewAsked => "Review asked for",
            Self::Approved => "Approved",
            Self::ChangesAsked => "Changes asked for",
            Self::Merged => "Merged",
        }
    }

    /// What somebody did.
    const fn deed(self) -> &'static str {
        match self {
            Self::ReviewAsked => "asks you to review",
            Self::Approved => "approved",
            Self::ChangesAsked => "asks for changes of",
            Self::Merged => "merged",
        }
    }
}

impl News<'_> {
    /// Has these, and who is in these teams, be told that they are asked for a review: the first fifty of them.
    pub(crate) async fn review_asked(&self, change: &mut Change, asked: &[Principal]) -> Result<()> {
        let mut people = BTreeSet::new();
        for principal in asked {
            match principal {
                Principal::Person(id) => people.extend([*id]),
                Principal::Team(id) => {
                    let members = self.services.store.team_members(*id).await?;
                    people.extend(members.into_iter().map(|member| member.user_id));
                }
            }
        }
        people.remove(&self.pull.author);
        self.tell(change, people, Told::ReviewAsked).await
    }

    /// Has whoever opened it be told of a verdict.
    pub(crate) async fn reviewed(&self, change: &mut Change, verdict: ReviewVerdict) -> Result<()> {
        let told = match verdict {
            ReviewVerdict::Approve => Told::Approved,
            ReviewVerdict::Changes => Told::ChangesAsked,
            ReviewVerdict::Comment => return Ok(()),
        };
        self.tell(change, BTreeSet::from([self.pull.author]), told).await
    }

    /// Has whoever opened it be told that it is merged.
    pub(crate) async fn merged(&self, change: &mut Change) -> Result<()> {
        self.tell(change, BTreeSet::from([self.pull.author]), Told::Merged).await
    }

    /// Has people be told who may read the repository.
    async fn tell(&self, change: &mut Change, mut people: BTreeSet<UserId>, told: Told) -> Result<()> {
        people.remove(&self.by);
        if people.is_empty() {
            return Ok(());
        }
        let store = &self.services.store;
        let by = store.person(self.by).await?.map_or_else(|| "Somebody".to_owned(), |person| person.name);
        for user_id in people.into_iter().take(TOLD_MAX) {
            if level_of_member(store, self.repository, user_id).await? < Some(AccessLevel::Read) {
                continue;
            }
            let org_id = self.repository.resource.org_id;
            change.outbox_add_for(org_id, self.now, &self.letter(user_id, &by, told));
            change.outbox_add(self.now, &self.message(user_id, told));
        }
        Ok(())
    }

    fn letter(&self, user_id: UserId, by: &str, told: Told) -> OutboxEntry {
        let (name, number, title) = (&self.repository.resource.name, self.pull.number, &self.pull.title);
        let body = format!(
            "{by} {} the pull request #{number} of {name}:\n\n{title}\n\nFrom {} into {}.\n",
            told.deed(),
            self.pull.head.as_str(),
            self.pull.base.as_str(),
        );
        let subject = format!("{}: {title} ({name} #{number})", told.subject());
        OutboxEntry::Email { to: EmailTo::Person(user_id), subject, body, calendar: None }
    }

    fn message(&self, user_id: UserId, told: Told) -> OutboxEntry {
        let resource = &self.repository.resource;
        let message = json!({
            "type": told.kind(),
            "orgId": resource.org_id,
            "repository": { "resourceId": resource.id, "name": resource.name },
            "number": self.pull.number.get(),
        });
        OutboxEntry::Live { user_id, message }
    }
}
