//! Keys with which people's machines use git.

use actors::organization::{DeleteMachineKey, MakeMachineKey};
use domain::{
    Timestamp,
    git::{Machine, MachineId},
    problems::all,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    caller::Person,
    error::Result,
    org::Org,
    path::Path,
    permission::GitRead,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::{RevocationKind, accounts::Key};
use utoipa::ToSchema;

use super::argument::{CommandLine, FreshFactor, MachineKeyId};

/// A machine's key, without its secret (contract C 2.2).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "keyId": "key_01jd7rt4m5e9fv2w8x3c6k0hqz", "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "ada-laptop",
    "kind": "api", "scopes": ["git:read", "git:write"], "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "machineId": "8f14e45fceea167a", "expiresAt": 1_775_001_600_000_i64, "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct MachineKeyBody {
    /// The key's id.
    key_id: String,
    /// The organization whose repositories it opens.
    org_id: String,
    /// What the machine is called.
    name: String,
    /// Always `api`.
    kind: &'static str,
    /// `git:read`, and `git:write` where who made it had that.
    scopes: Vec<&'static str>,
    /// The person whose machine it is.
    created_by: String,
    /// What the machine calls itself.
    machine_id: Option<String>,
    /// When the key ends.
    expires_at: Option<i64>,
    /// When it was made.
    created_at: i64,
}

impl From<Key> for MachineKeyBody {
    fn from(key: Key) -> Self {
        Self {
            key_id: key.id.to_string(),
            org_id: key.org_id.to_string(),
            name: key.name,
            kind: key.kind.as_str(),
            scopes: key.scopes.iter().map(domain::Scope::as_str).collect(),
            created_by: key.maker.to_string(),
            machine_id: key.machine_id.map(|id| id.as_str().to_owned()),
            expires_at: key.expires_at.map(Timestamp::as_millis),
            created_at: key.created_at.as_millis(),
        }
    }
}

/// The keys of your machines.
#[derive(Serialize, ToSchema)]
pub(crate) struct MachineKeysAnswer {
    /// The oldest first; at most 20.
    keys: Vec<MachineKeyBody>,
}

/// The keys of your machines
///
/// The keys with which your machines use git in this organization, without their secrets.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/git-credentials")]
pub(crate) async fn git_credentials_list(
    person: Person<CommandLine>,
    org: Org<GitRead>,
    state: State,
) -> Result<Json<MachineKeysAnswer>> {
    let keys = state.store.machine_keys(org.id(), person.user_id(), state.store.now()).await?;
    Ok(Json(MachineKeysAnswer { keys: keys.into_iter().map(MachineKeyBody::from).collect() }))
}

/// The machine that is to have a key.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"machineId": "8f14e45fceea167a", "machine": "ada-laptop"}))]
pub(crate) struct MachineKeyCreate {
    /// What the machine calls itself: 16 to 64 letters, digits, `_` and `-`.
    machine_id: String,
    /// What it is called: 1 to 64 characters.
    machine: String,
}

impl RequestBody for MachineKeyCreate {}

/// A new key of a machine, with its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "key": "trp_k_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2", "keyId": "key_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "name": "ada-laptop", "scopes": ["git:read", "git:write"], "expiresAt": 1_775_001_600_000_i64
}))]
pub(crate) struct MachineKeyAnswer {
    /// The credential, shown once.
    key: String,
    /// The key's id.
    key_id: String,
    /// What the machine is called.
    name: String,
    /// `git:read`, and `git:write` where you have that.
    scopes: Vec<&'static str>,
    /// 90 days on.
    expires_at: Option<i64>,
}

/// Make a key for a machine
///
/// The key opens the organization's repositories, and nothing else, for 90 days. It takes the place of the key that the
/// machine had. Whoever has no second factor reads `enrol: true`; enrolling one confirms it, too.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/git-credentials", responses(
    (status = 400, description = "One person has keys for at most 20 machines."),
))]
pub(crate) async fn git_credentials_create(
    _person: Person<CommandLine>,
    org: Org<GitRead>,
    _factor: FreshFactor,
    body: Body<MachineKeyCreate>,
    state: State,
) -> Result<Created<MachineKeyAnswer>> {
    let MachineKeyCreate { machine_id, machine } = body.into_inner();
    let (id, name) = all((MachineId::parse("machineId", &machine_id), Machine::name_check("machine", &machine)))?;
    let command = MakeMachineKey(Machine { id, name });
    let (key, token) = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    Ok(Created(MachineKeyAnswer {
        key: token.reveal().to_owned(),
        key_id: key.id.to_string(),
        name: key.name,
        scopes: key.scopes.iter().map(domain::Scope::as_str).collect(),
        expires_at: key.expires_at.map(Timestamp::as_millis),
    }))
}

/// Delete the key of a machine
///
/// Only one's own. The key is dead on every node within a second.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/git-credentials/{keyId}")]
pub(crate) async fn git_credentials_delete(
    _person: Person<CommandLine>,
    org: Org<GitRead>,
    Path(MachineKeyId(id)): Path<MachineKeyId>,
    state: State,
) -> Result<NoContent> {
    state.actors.organization.ask(&org.id(), DeleteMachineKey(id), org.context()).await?;
    state.credentials.refresh(RevocationKind::Key, id);
    Ok(NoContent)
}
