//! Notification protocols (contract A 4.3).

mod attachments;
mod preview;
mod rule;
mod templates;

use actors::notify::protocols::{ChangeProtocol, DeleteProtocol, MakeProtocol};
use domain::{
    id::ProtocolId,
    notify::{Attachment, Inactive, Protocol, ProtocolChange, ProtocolDraft},
    problems::{Problems, all},
};
use http_shell::{
    answer::{Created, Json, Object},
    body::{Body, RequestBody},
    error::Result,
    owned::Owned,
    path::Path,
    permission::{OrgRead, OrgWrite},
    state::State,
    wire::{Done, nullable},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::rule::{RuleBody, read_rules};
pub(crate) use self::{attachments::*, preview::*, templates::*};
use super::organization::NotifyOrg;

/// A protocol.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "protocolId": "ptc_01jd7rt4m5e9fv2w8x3c6k0hqz", "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Nights",
    "enabled": true, "rules": [{
        "events": ["ops.alarm"], "roles": ["admin"], "steps": [{"afterMinutes": 0, "channels": {"push": true}}]
    }],
    "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "updatedAt": 1_767_225_600_000_i64,
    "attachments": [{"resourceType": "project", "resourceId": "prj_01jd7rt4m5e9fv2w8x3c6k0hqz", "resourceLabel": "Shop"}],
    "active": true
}))]
pub(crate) struct ProtocolBody {
    /// The protocol's id.
    protocol_id: String,
    /// The organization that it belongs to.
    org_id: String,
    /// What it is called.
    name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Whether it does anything.
    enabled: bool,
    /// What it does.
    rules: Vec<RuleBody>,
    /// The person who made the protocol.
    created_by: String,
    /// When it or its attachments last changed.
    updated_at: i64,
    /// What it is attached to. To nothing: it applies to no event.
    attachments: Vec<AttachmentBody>,
    /// Whether it applies to anything as it is.
    active: bool,
    /// Why it doesn't.
    #[serde(skip_serializing_if = "Option::is_none")]
    inactive: Option<InactiveBody>,
}

/// Why a protocol applies to nothing.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"reason": "disabled", "message": "It is disabled."}))]
pub(crate) struct InactiveBody {
    /// `disabled` or `not_attached`
    reason: &'static str,
    /// The same as a sentence.
    message: &'static str,
}

impl From<Inactive> for InactiveBody {
    fn from(inactive: Inactive) -> Self {
        Self { reason: inactive.as_str(), message: inactive.message() }
    }
}

/// What a protocol is attached to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"resourceType": "project", "resourceId": "prj_01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
#[expect(clippy::struct_field_names, reason = "the names are the contract's")]
pub(crate) struct AttachmentBody {
    /// `org`, `project`, `agent`, `calendar`, `mailbox` or `space`.
    resource_type: &'static str,
    /// The thing's id.
    resource_id: String,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_label: Option<String>,
}

impl From<Attachment> for AttachmentBody {
    fn from(attachment: Attachment) -> Self {
        Self {
            resource_type: attachment.resource_type.as_str(),
            resource_id: attachment.resource_id,
            resource_label: attachment.resource_label,
        }
    }
}

impl From<Protocol> for ProtocolBody {
    fn from(protocol: Protocol) -> Self {
        let inactive = protocol.inactive();
        let ProtocolDraft { name, description, enabled, rules } = protocol.draft;
        Self {
            protocol_id: protocol.id.to_string(),
            org_id: protocol.org_id.to_string(),
            name,
            description,
            enabled,
            rules: rules.iter().map(RuleBody::from).collect(),
            created_by: protocol.created_by.to_string(),
            updated_at: protocol.updated_at.as_millis(),
            attachments: protocol.attachments.into_iter().map(AttachmentBody::from).collect(),
            active: inactive.is_none(),
            inactive: inactive.map(InactiveBody::from),
        }
    }
}

/// One protocol.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProtocolAnswer {
    /// The protocol.
    protocol: ProtocolBody,
}

impl From<Protocol> for ProtocolAnswer {
    fn from(protocol: Protocol) -> Self {
        Self { protocol: protocol.into() }
    }
}

/// The protocols.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProtocolsAnswer {
    /// The oldest first; at most 100.
    protocols: Vec<ProtocolBody>,
}

/// The notification protocols
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/protocols")]
pub(crate) async fn protocols_list(org: NotifyOrg<OrgRead>, state: State) -> Result<Json<ProtocolsAnswer>> {
    let found = state.store.protocols(org.id()).await?;
    Ok(Json(ProtocolsAnswer { protocols: found.into_iter().map(ProtocolBody::from).collect() }))
}

/// A notification protocol
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/protocols/{protocolId}")]
pub(crate) async fn protocol_get(
    _: NotifyOrg<OrgRead>,
    Owned(protocol): Owned<Protocol>,
) -> Result<Object<ProtocolAnswer>> {
    Ok(Object(protocol.into()))
}

/// A new protocol: a template's id, or what the protocol says.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"template": "production-on-call"}))]
pub(crate) struct ProtocolCreate {
    /// The id of a ready-made template; nothing else stands beside it.
    template: Option<String>,
    /// What it is called: 1 to 80 characters.
    name: Option<String>,
    /// What it is for: up to 256 characters.
    description: Option<String>,
    /// Whether it does anything; true where it isn't said.
    enabled: Option<bool>,
    /// What it does: 1 to 20 rules.
    rules: Option<Vec<RuleBody>>,
    /// Whether it is attached to the organization at once, so that it applies to whatever happens there; false where it
    /// isn't said.
    attach: Option<bool>,
}

impl RequestBody for ProtocolCreate {
    fn check(&self, problems: &mut Problems) {
        let alone = self.name.is_none() && self.description.is_none() && self.enabled.is_none() && self.rules.is_none();
        if self.template.is_some() {
            problems.require(alone, "template", "Send a template, or a name and rules, but not both.");
            return;
        }
        problems.require(self.name.is_some(), "name", "This field is required.");
        problems.require(self.rules.is_some(), "rules", "This field is required.");
    }
}

impl ProtocolCreate {
    pub(crate) fn draft(self) -> domain::Result<ProtocolDraft> {
        if let Some(template) = &self.template {
            return ProtocolDraft::from_template(template);
        }
        let mut problems = Problems::new();
        let draft = ProtocolDraft {
            name: self.name.unwrap_or_default(),
            description: self.description,
            enabled: self.enabled.unwrap_or(true),
            rules: read_rules(self.rules.unwrap_or_default(), &mut problems),
        };
        all((draft.check(), problems.into_result())).map(|(draft, ())| draft)
    }
}

/// Make a notification protocol
///
/// The protocol applies to no event until it is attached to something: to the organization with `attach`, or to anything
/// later. Until then it says `active: false` and why.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/protocols", responses(
    (status = 400, description = "An organization has at most 100 protocols.")
))]
pub(crate) async fn protocol_create(
    org: NotifyOrg<OrgWrite>,
    body: Body<ProtocolCreate>,
    state: State,
) -> Result<Created<ProtocolAnswer>> {
    let body = body.into_inner();
    let attachments = body.attach.filter(|attach| *attach).map(|_| Attachment::to_organization(org.id()));
    let command = MakeProtocol { draft: body.draft()?, attachments: attachments.into_iter().collect() };
    let made = state.actors.protocols.ask(&org.id(), command, org.context()).await?;
    Ok(Created(made.into()))
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"enabled": false}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct ProtocolPatch {
    /// What it is called: 1 to 80 characters.
    name: Option<String>,
    /// What it is for: up to 256 characters; null takes the description away.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    description: Option<Option<String>>,
    /// Whether it does anything.
    enabled: Option<bool>,
    /// What it does: 1 to 20 rules, which take the place of those that there are.
    rules: Option<Vec<RuleBody>>,
}

impl RequestBody for ProtocolPatch {}

impl ProtocolPatch {
    pub(crate) fn change(self) -> domain::Result<ProtocolChange> {
        let mut problems = Problems::new();
        let rules = self.rules.map(|rules| read_rules(rules, &mut problems));
        problems.into_result()?;
        Ok(ProtocolChange { name: self.name, description: self.description, enabled: self.enabled, rules })
    }
}

/// Change a notification protocol
///
/// What runs already goes on as it was. Disabling the protocol ends what it runs.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/notify/protocols/{protocolId}")]
pub(crate) async fn protocol_patch(
    org: NotifyOrg<OrgWrite>,
    id: Path<ProtocolId>,
    body: Body<ProtocolPatch>,
    state: State,
) -> Result<Json<ProtocolAnswer>> {
    let command = ChangeProtocol { protocol_id: *id, change: body.into_inner().change()? };
    let changed = state.actors.protocols.ask(&org.id(), command, org.context()).await?;
    Ok(Json(changed.into()))
}

/// Delete a notification protocol
///
/// What it runs ends.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/notify/protocols/{protocolId}")]
pub(crate) async fn protocol_delete(
    org: NotifyOrg<OrgWrite>,
    id: Path<ProtocolId>,
    state: State,
) -> Result<Json<Done>> {
    state.actors.protocols.ask(&org.id(), DeleteProtocol(*id), org.context()).await?;
    Ok(Json(Done::new()))
}
