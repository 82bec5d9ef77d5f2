//! Having somebody be on call for a while, whosever turn it is.

use actors::notify::protocols::{AddOverride, OverrideWindow, RemoveOverride};
use domain::{
    Timestamp,
    id::{RotaId, RotaOverrideId, UserId},
    notify::RotaOverride,
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::OrgWrite,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A window in which somebody is on call, whosever turn it is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "overrideId": "rov_01jd7rt4m5e9fv2w8x3c6k0hqz", "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "from": 1_767_225_600_000_i64, "until": 1_767_312_000_000_i64
}))]
pub(crate) struct OverrideBody {
    /// The override's id.
    override_id: String,
    /// The person who is on call.
    user_id: String,
    /// From when.
    from: i64,
    /// Until when; not then any more.
    until: i64,
}

impl From<RotaOverride> for OverrideBody {
    fn from(one: RotaOverride) -> Self {
        Self {
            override_id: one.id.to_string(),
            user_id: one.user_id.to_string(),
            from: one.from.as_millis(),
            until: one.until.as_millis(),
        }
    }
}

/// The person who is on call, and when.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "from": 1_767_225_600_000_i64, "until": 1_767_312_000_000_i64
}))]
pub(crate) struct OverrideCreate {
    /// A member of the organization.
    #[schema(value_type = String)]
    user_id: UserId,
    /// From when.
    from: i64,
    /// Until when: in the future, and at most 366 days later.
    until: i64,
}

impl RequestBody for OverrideCreate {}

/// One override.
#[derive(Serialize, ToSchema)]
pub(crate) struct OverrideAnswer {
    /// The override.
    r#override: OverrideBody,
}

/// Override an on-call rota
///
/// Where two overrides overlap, the one that was made later counts.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides", responses(
    (status = 400, description = "A rota has at most 100 overrides.")
))]
pub(crate) async fn rota_override_add(
    org: Org<OrgWrite>,
    id: Path<RotaId>,
    body: Body<OverrideCreate>,
    state: State,
) -> Result<Created<OverrideAnswer>> {
    let window = OverrideWindow { user_id: body.user_id, from: Timestamp(body.from), until: Timestamp(body.until) };
    let command = AddOverride { rota_id: *id, window };
    let made = state.actors.protocols.ask(&org.id(), command, org.context()).await?;
    Ok(Created(OverrideAnswer { r#override: made.into() }))
}

/// Take an override of an on-call rota back
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides/{overrideId}")]
pub(crate) async fn rota_override_remove(
    org: Org<OrgWrite>,
    id: Path<RotaId>,
    override_id: Path<RotaOverrideId>,
    state: State,
) -> Result<Json<Done>> {
    let command = RemoveOverride { rota_id: *id, override_id: *override_id };
    state.actors.protocols.ask(&org.id(), command, org.context()).await?;
    Ok(Json(Done::new()))
}
