//! The settings of an organization, and which spaces and filters there are.

use actors_base::Services;
use domain::{
    Error, Result, Scope,
    id::{IssueFilterId, OrgId, SpaceId, UserId},
    issues::{
        builtin::WORKFLOWS,
        filter::{Filter, Sharing},
        key::SpaceKey,
        limits::{FILTERS_OF_PERSON_MAX, SPACES_MAX},
        settings::{Catalog as Kind, Color, Removed, Settings},
        space::{MemberKind, Space, SpaceMember, SpaceRole, Template},
    },
    notify::Zone,
};
use kernel::{Command, Handle, Resource, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    issues::Catalog,
};

use super::boards::board_of;

/// What an organization has for all of its issues.
#[derive(Debug)]
pub struct IssueCatalog;

impl Resource for IssueCatalog {
    type Key = OrgId;
    type Services = Services;

    const KIND: &'static str = "issue_catalog";

    async fn load(_: &OrgId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// Replaces the settings. Answers them with their version.
#[derive(Clone, Debug)]
pub struct PutSettings {
    /// The settings.
    pub settings: Settings,
    /// The version that they were made from.
    pub base_version: i64,
}

/// Makes a space.
#[derive(Clone, Debug)]
pub struct CreateSpace {
    /// What keys of issues begin with.
    pub key: SpaceKey,
    /// What people read.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it is made of.
    pub template: Template,
    /// Whoever leads it.
    pub lead_id: Option<UserId>,
    /// The name of a picture, or an emoji.
    pub icon: Option<String>,
    /// Its color.
    pub color: Option<Color>,
}

/// Makes a filter.
#[derive(Clone, Debug)]
pub struct CreateFilter {
    /// What people read.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The query.
    pub jql: String,
    /// Who else sees it.
    pub sharing: Sharing,
    /// Columns that it is shown with.
    pub columns: Option<Vec<String>>,
}

impl Command for PutSettings {
    type Reply = Catalog;

    const NAME: &'static str = "put_issue_settings";
}

impl Command for CreateSpace {
    type Reply = Space;

    const NAME: &'static str = "create_issue_space";
}

impl Command for CreateFilter {
    type Reply = Filter;

    const NAME: &'static str = "create_issue_filter";
}

/// 409 `stale_version` with what is there.
fn stale(now: &Catalog) -> Error {
    let settings = serde_json::to_value(&now.settings).unwrap_or_default();
    Error::conflict("stale_version", "The settings changed. Load them again.")
        .adding("settings", settings)
        .adding("version", now.settings_version)
}

/// What still uses something that is to go: workflows, spaces, and issues as one.
async fn uses_of(store: &Store, org_id: OrgId, spaces: &[Space], gone: &Removed) -> Result<Vec<serde_json::Value>> {
    let by_workflow = WORKFLOWS.iter().filter(|workflow| match gone.catalog {
        Kind::Status => workflow.has_status(&gone.id),
        Kind::Resolution => workflow.has_resolution(&gone.id),
        _ => false,
    });
    let mut uses: Vec<_> = by_workflow.map(|it| json!({"kind": "workflow", "id": it.id, "name": it.name})).collect();
    let by_space =
        spaces.iter().filter(|space| gone.catalog == Kind::Type && space.config.issue_type_ids.contains(&gone.id));
    uses.extend(by_space.map(|it| json!({"kind": "space", "id": it.space_id, "name": it.name})));
    let issues = store.issue_catalog_uses(org_id, gone).await?;
    if issues > 0 {
        uses.push(json!({"kind": "issues", "id": gone.id, "name": format!("{issues} issues")}));
    }
    Ok(uses)
}

impl Handle<PutSettings> for IssueCatalog {
    async fn handle(&mut self, command: &PutSettings, turn: &mut Turn<'_, Self>) -> Result<Catalog> {
        let org_id = *turn.key();
        turn.authority(org_id).await?.require(Scope::IssuesAdmin)?;
        let store = &turn.services().store;
        let before = store.issue_catalog(org_id).await?;
        if before.settings_version != command.base_version {
            return Err(stale(&before));
        }
        let settings = command.settings.clone().trimmed();
        settings.check()?;
        let spaces = store.issue_spaces(org_id).await?;
        for gone in before.settings.without(&settings) {
            let uses = uses_of(store, org_id, &spaces, &gone).await?;
            if !uses.is_empty() {
                let message = format!("\"{}\" is still used.", gone.name);
                return Err(Error::conflict("in_use", message).adding("uses", uses));
            }
        }
        let mut change = Change::new();
        change.issue_catalog_decided(org_id, before.version);
        change.issue_settings_set(org_id, &settings);
        let entry = AuditEntry::new(turn.context(), "issue_settings.changed", AuditTarget::new("organization", org_id));
        change.audit_add(turn.now(), entry.in_org(org_id));
        turn.commit(change).await?;
        let (settings_version, version) = (before.settings_version + 1, before.version + 1);
        Ok(Catalog { settings, settings_version, version })
    }
}

impl Handle<CreateSpace> for IssueCatalog {
    async fn handle(&mut self, command: &CreateSpace, turn: &mut Turn<'_, Self>) -> Result<Space> {
        let org_id = *turn.key();
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::IssuesAdmin)?;
        let (store, now) = (&turn.services().store, turn.now());
        let catalog = store.issue_catalog(org_id).await?;
        let spaces = store.issue_spaces(org_id).await?;
        if spaces.iter().any(|space| space.key == command.key.as_str()) {
            return Err(Error::conflict("key_taken", "Another space has this key."));
        }
        if spaces.len() >= SPACES_MAX {
            return Err(Error::bad_request(
                "limit_reached",
                format!("An organization has at most {SPACES_MAX} spaces."),
            ));
        }
        if let Some(lead) = command.lead_id
            && store.member(org_id, lead).await?.is_none()
        {
            return Err(Error::invalid("leadId", "There is no such person."));
        }
        let mut config = command.template.config();
        let maker = authority.on_behalf_of()?;
        if let Some(hours) = config.servicedesk.as_mut().and_then(|desk| desk.hours.as_mut()) {
            let zone = store.person(maker).await?.and_then(|person| person.time_zone);
            hours.time_zone = zone.and_then(|name| Zone::find(&name)).unwrap_or(Zone::UTC);
        }
        config.access.members.push(SpaceMember {
            kind: MemberKind::User,
            id: maker.to_string(),
            role: SpaceRole::Admin,
        });
        let space = Space {
            org_id,
            space_id: SpaceId::new(now),
            key: command.key.as_str().to_owned(),
            name: command.name.trim().to_owned(),
            description: command.description.clone(),
            template: command.template,
            lead_id: command.lead_id,
            icon: command.icon.clone(),
            color: command.color,
            archived: false,
            archived_at: None,
            seq: 0,
            config,
            version: 1,
            created_at: now,
            updated_at: now,
        };
        space.check(&catalog.settings)?;
        let mut change = Change::new();
        change.issue_catalog_decided(org_id, catalog.version);
        change.issue_space_add(&space);
        change.issue_board_add(org_id, &board_of(&space, &catalog.settings, now));
        let target = AuditTarget::new("issue_space", space.space_id).labelled(&space.name);
        let entry = AuditEntry::new(turn.context(), "issue_space.created", target).in_org(org_id);
        change.audit_add(now, entry.with_metadata(json!({ "key": space.key })));
        turn.commit(change).await?;
        Ok(space)
    }
}

impl Handle<CreateFilter> for IssueCatalog {
    async fn handle(&mut self, command: &CreateFilter, turn: &mut Turn<'_, Self>) -> Result<Filter> {
        let org_id = *turn.key();
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::IssuesRead)?;
        let owner_id = authority.on_behalf_of()?;
        let (store, now) = (&turn.services().store, turn.now());
        let filter = Filter {
            id: IssueFilterId::new(now),
            org_id,
            name: command.name.trim().to_owned(),
            description: command.description.clone(),
            jql: command.jql.clone(),
            owner_id,
            sharing: command.sharing.clone(),
            columns: command.columns.clone(),
            version: 1,
            updated_at: now,
        };
        filter.check()?;
        super::filter::known_people(store, &filter).await?;
        if store.issue_filters_count(org_id, owner_id).await? >= FILTERS_OF_PERSON_MAX {
            let message = format!("A person has at most {FILTERS_OF_PERSON_MAX} filters.");
            return Err(Error::bad_request("limit_reached", message));
        }
        let mut change = Change::new();
        change.issue_filter_add(&filter);
        turn.commit(change).await?;
        Ok(filter)
    }
}
