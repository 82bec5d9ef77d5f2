//! Who is on call.

use domain::{
    Error, Timestamp,
    notify::{Rota, rota::ASKABLE},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    org::Org,
    owned::Owned,
    permission::OrgRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::OverrideBody;

/// When.
#[derive(Deserialize, IntoParams)]
pub(crate) struct OnCallQuery {
    /// The moment; now where it isn't said.
    at: Option<i64>,
}

impl RequestQuery for OnCallQuery {
    fn check(&self, problems: &mut Problems) {
        let may_be = self.at.is_none_or(|at| ASKABLE.contains(&Timestamp(at)));
        problems.require(may_be, "at", "Use a moment between 1970 and the year 9000.");
    }
}

/// The person who is on call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Ada Lovelace",
    "since": 1_767_225_600_000_i64, "until": 1_767_312_000_000_i64
}))]
pub(crate) struct OnCallAnswer {
    /// The person's id.
    user_id: String,
    /// What they are called.
    name: String,
    /// Since when.
    since: i64,
    /// Until when; not then any more.
    until: i64,
    /// The override that says so, when it isn't their turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#override: Option<OverrideBody>,
}

/// See who is on call
///
/// The person whom a step to the rota tells that runs at this moment.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/rotas/{rotaId}/on-call", responses(
    (status = 404, description = "Nobody of this rota belongs to the organization any more.")
))]
pub(crate) async fn rota_on_call(
    _: Org<OrgRead>,
    query: Query<OnCallQuery>,
    rota: Owned<Rota>,
    state: State,
) -> Result<Json<OnCallAnswer>> {
    let at = query.at.map_or_else(|| state.store.now(), Timestamp);
    Ok(Json(on_call(&rota, at, &state).await?))
}

async fn on_call(rota: &Rota, at: Timestamp, state: &State) -> domain::Result<OnCallAnswer> {
    let nobody = || Error::NotFound {
        code: "nobody_on_call",
        message: "Nobody of this rota belongs to the organization any more.".into(),
    };
    let found = state.store.on_call(rota, at).await?.ok_or_else(nobody)?;
    let member = state.store.member(rota.org_id, found.user_id).await?.ok_or_else(nobody)?;
    Ok(OnCallAnswer {
        user_id: found.user_id.to_string(),
        name: member.name,
        since: found.since.as_millis(),
        until: found.until.as_millis(),
        r#override: found.by_override.map(OverrideBody::from),
    })
}
