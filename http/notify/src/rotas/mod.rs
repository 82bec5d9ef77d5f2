//! On-call rotas.

mod handover;
mod on_call;
mod overrides;

use actors::notify::protocols::{ChangeRota, DeleteRota, MakeRota};
use domain::{
    id::{RotaId, UserId},
    notify::{Rota, RotaChange, RotaDraft, Zone},
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    path::Path,
    permission::{OrgRead, OrgWrite},
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::handover::HandoverBody;
pub(crate) use self::{on_call::*, overrides::*};

/// A rota.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "rotaId": "rot_01jd7rt4m5e9fv2w8x3c6k0hqz", "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Operations",
    "people": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "usr_01jd7rt4m5e9fv2w8x3c6k0hqy"],
    "handover": {"every": "week", "day": 1, "at": "09:00", "interval": 1}, "timeZone": "Europe/Vienna",
    "overrides": [], "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct RotaBody {
    /// The rota's id.
    rota_id: String,
    /// The organization that it belongs to.
    org_id: String,
    /// What it is called.
    name: String,
    /// The people who take turns, in their order. Whoever has left the organization is passed over.
    people: Vec<String>,
    /// When one hands over to the next.
    handover: HandoverBody,
    /// Where the clock hangs that says so.
    time_zone: String,
    /// Windows in which somebody else is on call; where two overlap, the later in this list counts.
    overrides: Vec<OverrideBody>,
    /// The person who made the rota.
    created_by: String,
    /// Since when it exists.
    created_at: i64,
    /// When it or its overrides last changed.
    updated_at: i64,
}

impl From<Rota> for RotaBody {
    fn from(rota: Rota) -> Self {
        Self {
            rota_id: rota.id.to_string(),
            org_id: rota.org_id.to_string(),
            people: rota.draft.people.iter().map(UserId::to_string).collect(),
            handover: (&rota.draft.handover).into(),
            time_zone: rota.draft.zone.name().to_owned(),
            name: rota.draft.name,
            overrides: rota.overrides.into_iter().map(OverrideBody::from).collect(),
            created_by: rota.created_by.to_string(),
            created_at: rota.created_at.as_millis(),
            updated_at: rota.updated_at.as_millis(),
        }
    }
}

/// One rota.
#[derive(Serialize, ToSchema)]
pub(crate) struct RotaAnswer {
    /// The rota.
    rota: RotaBody,
}

/// The rotas.
#[derive(Serialize, ToSchema)]
pub(crate) struct RotasAnswer {
    /// The oldest first; at most 50.
    rotas: Vec<RotaBody>,
}

/// The on-call rotas
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/rotas")]
pub(crate) async fn rotas_list(org: Org<OrgRead>, state: State) -> Result<Json<RotasAnswer>> {
    let found = state.store.rotas(org.id()).await?;
    Ok(Json(RotasAnswer { rotas: found.into_iter().map(RotaBody::from).collect() }))
}

/// An on-call rota
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/rotas/{rotaId}")]
pub(crate) async fn rota_get(_: Org<OrgRead>, Owned(rota): Owned<Rota>) -> Result<Object<RotaAnswer>> {
    Ok(Object(RotaAnswer { rota: rota.into() }))
}

/// A new rota.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "name": "Operations", "people": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"],
    "handover": {"every": "day", "at": "09:00"}, "timeZone": "Europe/Vienna"
}))]
pub(crate) struct RotaCreate {
    /// What it is called: 1 to 80 characters.
    name: String,
    /// The people who take turns, in their order: 1 to 50 members. The first is on call at once.
    people: Vec<String>,
    /// When one hands over to the next.
    handover: HandoverBody,
    /// Where the clock hangs that says so: a name such as `Europe/Vienna`; `UTC` where it isn't said.
    time_zone: Option<String>,
}

impl RequestBody for RotaCreate {}

impl RotaCreate {
    pub(crate) fn draft(self) -> domain::Result<RotaDraft> {
        let mut problems = Problems::new();
        let people = read_people(&self.people, &mut problems);
        let zone = self.time_zone.as_deref().map(|name| Zone::parse("timeZone", name)).transpose();
        let zone = problems.keep(zone)?.flatten().unwrap_or_default();
        match self.handover.read(&mut problems)? {
            Some(handover) if problems.is_empty() => RotaDraft { name: self.name, people, handover, zone }.check(),
            _ => Err(problems.into_error()),
        }
    }
}

fn read_people(ids: &[String], problems: &mut Problems) -> Vec<UserId> {
    let mut people = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        match id.parse() {
            Ok(user_id) => people.push(user_id),
            Err(_) => problems.add(format!("people[{place}]"), "This is no person's id."),
        }
    }
    people
}

/// Make an on-call rota
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/rotas", responses(
    (status = 400, description = "An organization has at most 50 rotas.")
))]
pub(crate) async fn rota_create(
    org: Org<OrgWrite>,
    body: Body<RotaCreate>,
    state: State,
) -> Result<Created<RotaAnswer>> {
    let command = MakeRota(body.into_inner().draft()?);
    let made = state.actors.protocols.ask(&org.id(), command, org.context()).await?;
    Ok(Created(RotaAnswer { rota: made.into() }))
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"timeZone": "Europe/Berlin"}))]
pub(crate) struct RotaPatch {
    /// What it is called: 1 to 80 characters.
    name: Option<String>,
    /// The people who take turns, in their order: 1 to 50.
    people: Option<Vec<String>>,
    /// When one hands over to the next.
    handover: Option<HandoverBody>,
    /// Where the clock hangs that says so.
    time_zone: Option<String>,
}

impl RequestBody for RotaPatch {}

impl RotaPatch {
    pub(crate) fn change(self) -> domain::Result<RotaChange> {
        let mut problems = Problems::new();
        let people = self.people.map(|ids| read_people(&ids, &mut problems));
        let zone = self.time_zone.as_deref().map(|name| Zone::parse("timeZone", name)).transpose();
        let zone = problems.keep(zone)?.flatten();
        let handover = match &self.handover {
            Some(handover) => handover.read(&mut problems)?,
            None => None,
        };
        problems.into_result()?;
        Ok(RotaChange { name: self.name, people, handover, zone })
    }
}

/// Change an on-call rota
///
/// The person whose turn it is keeps it until the next handover; when they are no longer in the rota, the next after them
/// who is takes over at once.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/notify/rotas/{rotaId}")]
pub(crate) async fn rota_patch(
    org: Org<OrgWrite>,
    id: Path<RotaId>,
    body: Body<RotaPatch>,
    state: State,
) -> Result<Json<RotaAnswer>> {
    let command = ChangeRota { rota_id: *id, change: body.into_inner().change()? };
    let changed = state.actors.protocols.ask(&org.id(), command, org.context()).await?;
    Ok(Json(RotaAnswer { rota: changed.into() }))
}

/// Delete an on-call rota
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/notify/rotas/{rotaId}", responses(
    (status = 409, description = "The protocol Nights uses this rota.")
))]
pub(crate) async fn rota_delete(org: Org<OrgWrite>, id: Path<RotaId>, state: State) -> Result<Json<Done>> {
    state.actors.protocols.ask(&org.id(), DeleteRota(*id), org.context()).await?;
    Ok(Json(Done::new()))
}
