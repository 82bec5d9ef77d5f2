//! Teams: named groups of members.

use domain::{
    Error, Result, Scope,
    id::{TeamId, UserId},
    organization::{TEAM_MEMBERS_MAX, TEAMS_MAX},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Store,
    accounts::{Organization as Row, Team, TeamMember},
    audit::AuditTarget,
};

use super::{Organization, changed, changed_with, current, full, store_of};

/// Makes a team.
#[derive(Clone, Debug)]
pub struct MakeTeam {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// Changes the fields that are given.
#[derive(Clone, Debug)]
pub struct ChangeTeam {
    /// Which.
    pub team_id: TeamId,
    /// What it is called.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
}

/// Deletes a team; its members stay in the organization.
#[derive(Clone, Copy, Debug)]
pub struct DeleteTeam(pub TeamId);

/// Puts a member of the organization into a team.
#[derive(Clone, Copy, Debug)]
pub struct AddTeamMember {
    /// Which team.
    pub team_id: TeamId,
    /// Who.
    pub user_id: UserId,
}

/// Takes a member out of a team.
#[derive(Clone, Copy, Debug)]
pub struct RemoveTeamMember {
    /// Which team.
    pub team_id: TeamId,
    /// Who.
    pub user_id: UserId,
}

impl Command for MakeTeam {
    type Reply = Team;

    const NAME: &'static str = "make_team";
}

impl Handle<MakeTeam> for Organization {
    async fn handle(&mut self, command: &MakeTeam, turn: &mut Turn<'_, Self>) -> Result<Team> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        let (now, store) = (turn.now(), store_of(turn));
        let team = Team {
            id: TeamId::new(now),
            org_id: organization.id,
            name: command.name.clone(),
            description: command.description.clone(),
            created_at: now,
            updated_at: now,
        };
        name_is_free(store, &team).await?;
        if store.teams_count(organization.id).await? >= TEAMS_MAX {
            return Err(full("teams", TEAMS_MAX));
        }
        let mut change = changed(turn, &organization, "team.made", target(&team));
        change.team_add(&team);
        turn.commit(change).await?;
        Ok(team)
    }
}

impl Command for ChangeTeam {
    type Reply = Team;

    const NAME: &'static str = "change_team";
}

impl Handle<ChangeTeam> for Organization {
    async fn handle(&mut self, command: &ChangeTeam, turn: &mut Turn<'_, Self>) -> Result<Team> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        let store = store_of(turn);
        let before = team(store, &organization, command.team_id).await?;
        let mut after = before.clone();
        if let Some(name) = &command.name {
            after.name.clone_from(name);
        }
        if let Some(description) = &command.description {
            after.description.clone_from(description);
        }
        if after == before {
            return Ok(before);
        }
        name_is_free(store, &after).await?;
        after.updated_at = turn.now();
        let metadata = json!({ "from": before.name, "to": after.name });
        let mut change = changed_with(turn, &organization, "team.changed", target(&after), Some(metadata));
        change.team_set(&after);
        turn.commit(change).await?;
        Ok(after)
    }
}

impl Command for DeleteTeam {
    type Reply = ();

    const NAME: &'static str = "delete_team";
}

impl Handle<DeleteTeam> for Organization {
    async fn handle(&mut self, DeleteTeam(id): &DeleteTeam, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        let team = team(store_of(turn), &organization, *id).await?;
        let mut change = changed(turn, &organization, "team.deleted", target(&team));
        change.team_remove(organization.id, *id);
        turn.commit(change).await
    }
}

impl Command for AddTeamMember {
    type Reply = TeamMember;

    const NAME: &'static str = "add_team_member";
}

impl Handle<AddTeamMember> for Organization {
    async fn handle(&mut self, command: &AddTeamMember, turn: &mut Turn<'_, Self>) -> Result<TeamMember> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        let (now, store) = (turn.now(), store_of(turn));
        let team = team(store, &organization, command.team_id).await?;
        let member = store.member(organization.id, command.user_id).await?;
        let member = member.ok_or_else(|| Error::not_found("Member not found."))?;
        if store.team_has(team.id, member.user_id).await? {
            return Err(Error::conflict("already_in_team", "This person is in the team already."));
        }
        if store.team_members_count(team.id).await? >= TEAM_MEMBERS_MAX {
            let message = format!("A team has at most {TEAM_MEMBERS_MAX} members.");
            return Err(Error::bad_request("limit_reached", message));
        }
        let metadata = json!({ "userId": member.user_id });
        let mut change = changed_with(turn, &organization, "team.member_added", target(&team), Some(metadata));
        change.team_member_add(now, &team, member.user_id);
        turn.commit(change).await?;
        Ok(TeamMember { user_id: member.user_id, name: member.name, email: member.email, created_at: now })
    }
}

impl Command for RemoveTeamMember {
    type Reply = ();

    const NAME: &'static str = "remove_team_member";
}

impl Handle<RemoveTeamMember> for Organization {
    async fn handle(&mut self, command: &RemoveTeamMember, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        let store = store_of(turn);
        let team = team(store, &organization, command.team_id).await?;
        if !store.team_has(team.id, command.user_id).await? {
            return Err(Error::not_found("Member not found."));
        }
        let metadata = json!({ "userId": command.user_id });
        let mut change = changed_with(turn, &organization, "team.member_removed", target(&team), Some(metadata));
        change.team_member_remove(team.id, command.user_id);
        turn.commit(change).await
    }
}

async fn team(store: &Store, organization: &Row, id: TeamId) -> Result<Team> {
    store.team(organization.id, id).await?.ok_or_else(|| Error::not_found("Team not found."))
}

/// 409 when another team of the organization has the name.
async fn name_is_free(store: &Store, team: &Team) -> Result<()> {
    match store.team_by_name(team.org_id, &team.name).await? {
        Some(other) if other.id != team.id => Err(Error::conflict("name_taken", "A team with this name exists.")),
        _ => Ok(()),
    }
}

fn target(team: &Team) -> AuditTarget {
    AuditTarget::new("team", team.id).labelled(&team.name)
}
