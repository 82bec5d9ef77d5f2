//! A saved filter.

use actors_base::Services;
use domain::{
    Authority, Error, Result, Scope,
    id::{IssueFilterId, OrgId, TeamId, UserId},
    issues::{
        filter::{Filter, Sharing, Subscription},
        limits::FILTER_NOT_FOUND,
    },
};
use kernel::{Command, Handle, Resource, Turn};
use store::{Change, Store, issues::FilterOf};

use super::{access::teams_of, subscription::set_timer};

/// A saved filter.
#[derive(Debug)]
pub struct IssueFilter;

impl Resource for IssueFilter {
    type Key = IssueFilterId;
    type Services = Services;

    const KIND: &'static str = "issue_filter";

    async fn load(_: &IssueFilterId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// What is to be changed of a filter; what isn't said stays.
#[derive(Clone, Debug, Default)]
pub struct FilterPatch {
    /// What people read.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The query.
    pub jql: Option<String>,
    /// Who else sees it.
    pub sharing: Option<Sharing>,
    /// Columns that it is shown with.
    pub columns: Option<Vec<String>>,
    /// The version that was seen.
    pub version: Option<i64>,
}

/// Changes a filter.
#[derive(Clone, Debug)]
pub struct ChangeFilter {
    /// The organization.
    pub org_id: OrgId,
    /// What is to be changed.
    pub patch: FilterPatch,
}

/// Deletes a filter.
#[derive(Clone, Copy, Debug)]
pub struct DeleteFilter {
    /// The organization.
    pub org_id: OrgId,
}

/// Stars a filter, or no longer.
#[derive(Clone, Copy, Debug)]
pub struct StarFilter {
    /// The organization.
    pub org_id: OrgId,
    /// Whether it is starred.
    pub starred: bool,
}

/// Has the caller be mailed what a filter finds, or no longer.
#[derive(Clone, Copy, Debug)]
pub struct SubscribeFilter {
    /// The organization.
    pub org_id: OrgId,
    /// When.
    pub subscription: Option<Subscription>,
}

impl Command for ChangeFilter {
    type Reply = FilterOf;

    const NAME: &'static str = "change_issue_filter";
}

impl Command for DeleteFilter {
    type Reply = ();

    const NAME: &'static str = "delete_issue_filter";
}

impl Command for StarFilter {
    type Reply = FilterOf;

    const NAME: &'static str = "star_issue_filter";
}

impl Command for SubscribeFilter {
    type Reply = FilterOf;

    const NAME: &'static str = "subscribe_issue_filter";
}

/// 400 at the first person or team that a filter is to be shared with and that the organization hasn't.
pub(crate) async fn known_people(store: &Store, filter: &Filter) -> Result<()> {
    for (at, id) in filter.sharing.users.iter().enumerate() {
        let is_known = match id.parse::<UserId>() {
            Ok(person) => store.member(filter.org_id, person).await?.is_some(),
            Err(_) => false,
        };
        if !is_known {
            return Err(Error::invalid(format!("sharing.users.{at}"), "There is no such person."));
        }
    }
    for (at, id) in filter.sharing.teams.iter().enumerate() {
        let is_known = match id.parse::<TeamId>() {
            Ok(team) => store.team(filter.org_id, team).await?.is_some(),
            Err(_) => false,
        };
        if !is_known {
            return Err(Error::invalid(format!("sharing.teams.{at}"), "There is no such team."));
        }
    }
    Ok(())
}

/// The filter, which the caller may read; 404 otherwise.
async fn read(turn: &Turn<'_, IssueFilter>, org_id: OrgId) -> Result<(Authority, UserId, FilterOf)> {
    let authority = turn.authority(org_id).await?;
    authority.require(Scope::IssuesRead)?;
    let person = authority.on_behalf_of()?;
    let store = &turn.services().store;
    let teams = teams_of(store, &authority).await?;
    let found = store.issue_filter(org_id, *turn.key(), person).await?;
    let found = found.filter(|found| found.filter.is_read_by(&authority, &teams));
    Ok((authority, person, found.ok_or_else(|| Error::not_found(FILTER_NOT_FOUND))?))
}

impl Handle<ChangeFilter> for IssueFilter {
    async fn handle(&mut self, command: &ChangeFilter, turn: &mut Turn<'_, Self>) -> Result<FilterOf> {
        let (authority, _, found) = read(turn, command.org_id).await?;
        found.filter.require_editable(&authority)?;
        let patch = command.patch.clone();
        if patch.version.is_some_and(|version| version != found.filter.version) {
            let now = serde_json::json!({"filterId": found.filter.id, "version": found.filter.version});
            return Err(Error::conflict("stale_version", "The filter changed. Load it again.").adding("filter", now));
        }
        let before = found.filter.clone();
        let mut filter = Filter {
            name: patch.name.map_or_else(|| before.name.clone(), |name| name.trim().to_owned()),
            description: patch.description.unwrap_or_else(|| before.description.clone()),
            jql: patch.jql.unwrap_or_else(|| before.jql.clone()),
            sharing: patch.sharing.unwrap_or_else(|| before.sharing.clone()),
            columns: patch.columns.or_else(|| before.columns.clone()),
            ..before.clone()
        };
        if filter == before {
            return Ok(found);
        }
        filter.check()?;
        if filter.sharing != before.sharing {
            known_people(&turn.services().store, &filter).await?;
        }
        filter.version += 1;
        filter.updated_at = turn.now();
        let mut change = Change::new();
        change.issue_filter_set(&filter);
        turn.commit(change).await?;
        Ok(FilterOf { filter, ..found })
    }
}

impl Handle<DeleteFilter> for IssueFilter {
    async fn handle(&mut self, command: &DeleteFilter, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (authority, _, found) = read(turn, command.org_id).await?;
        found.filter.require_editable(&authority)?;
        let mut change = Change::new();
        change.issue_filter_remove(found.filter.id);
        turn.commit(change).await
    }
}

impl Handle<StarFilter> for IssueFilter {
    async fn handle(&mut self, command: &StarFilter, turn: &mut Turn<'_, Self>) -> Result<FilterOf> {
        let (_, person, found) = read(turn, command.org_id).await?;
        let mut change = Change::new();
        change.issue_filter_star(found.filter.id, person, command.starred);
        turn.commit(change).await?;
        Ok(FilterOf { starred: command.starred, ..found })
    }
}

impl Handle<SubscribeFilter> for IssueFilter {
    async fn handle(&mut self, command: &SubscribeFilter, turn: &mut Turn<'_, Self>) -> Result<FilterOf> {
        let (_, person, found) = read(turn, command.org_id).await?;
        let mut change = Change::new();
        change.issue_filter_subscribe(found.filter.id, person, command.subscription);
        set_timer(&mut change, (command.org_id, found.filter.id, person), (command.subscription, turn.now()));
        turn.commit(change).await?;
        Ok(FilterOf { subscription: command.subscription, ..found })
    }
}
