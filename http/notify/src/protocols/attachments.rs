//! What protocols are attached to.

use actors::notify::protocols::{AttachProtocol, DetachProtocol};
use domain::{
    id::ProtocolId,
    notify::{Attachment, ResourceType},
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    path::{Path, PathParameter},
    permission::OrgWrite,
    state::State,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::ProtocolAnswer;
use crate::organization::NotifyOrg;

/// The id of what a protocol is attached to.
pub(crate) struct AttachedId(String);

impl PathParameter for AttachedId {
    const NAME: &'static str = "resourceId";
    const DESCRIPTION: &'static str = "What the protocol is attached to; of the kind `org`, its own organization.";
    const EXAMPLE: &'static str = "prj_01jd7rt4m5e9fv2w8x3c6k0hqz";
    const NOT_FOUND: &'static str = "The protocol is not attached to this.";

    fn read(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// What the thing is called.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"label": "Shop"}))]
pub(crate) struct AttachmentPut {
    /// 1 to 120 characters.
    label: Option<String>,
}

impl RequestBody for AttachmentPut {}

/// Attach a notification protocol
///
/// The protocol then applies to what happens in this. Attached to the organization, it applies to whatever happens
/// there.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}",
    responses((status = 400, description = "A protocol has at most 100 attachments.")))]
pub(crate) async fn protocol_attach(
    org: NotifyOrg<OrgWrite>,
    id: Path<ProtocolId>,
    resource_type: Path<ResourceType>,
    resource_id: Path<AttachedId>,
    body: Body<AttachmentPut>,
    state: State,
) -> Result<Json<ProtocolAnswer>> {
    let attachment = Attachment::check(org.id(), *resource_type, &resource_id.0.0, body.label.as_deref())?;
    let command = AttachProtocol { protocol_id: *id, attachment };
    let attached = state.actors.protocols.ask(&org.id(), command, org.context()).await?;
    Ok(Json(attached.into()))
}

/// Detach a notification protocol
///
/// What runs already goes on.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}")]
pub(crate) async fn protocol_detach(
    org: NotifyOrg<OrgWrite>,
    id: Path<ProtocolId>,
    resource_type: Path<ResourceType>,
    resource_id: Path<AttachedId>,
    state: State,
) -> Result<Json<ProtocolAnswer>> {
    let command =
        DetachProtocol { protocol_id: *id, resource_type: *resource_type, resource_id: resource_id.0.0.clone() };
    let detached = state.actors.protocols.ask(&org.id(), command, org.context()).await?;
    Ok(Json(detached.into()))
}
