//! API keys of an organization.

use actors::organization::{DeleteKey, MakeKey};
use domain::{KeyKind, Timestamp, account::name_check, id::KeyId};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    paging::PageQuery,
    path::Path,
    permission::{KeysRead, KeysWrite},
    query::Query,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::{RevocationKind, accounts::Key};
use utoipa::ToSchema;

/// The name of the list in its cursors.
const LIST: &str = "keys";

/// What a key is for.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyKindBody {
    /// A program that calls the API.
    Api,
    /// An assistant's tools endpoint.
    Mcp,
    /// An agent.
    Agent,
}

impl From<KeyKind> for KeyKindBody {
    fn from(kind: KeyKind) -> Self {
        match kind {
            KeyKind::Api => Self::Api,
            KeyKind::Mcp => Self::Mcp,
            KeyKind::Agent => Self::Agent,
        }
    }
}

impl From<KeyKindBody> for KeyKind {
    fn from(kind: KeyKindBody) -> Self {
        match kind {
            KeyKindBody::Api => Self::Api,
            KeyKindBody::Mcp => Self::Mcp,
            KeyKindBody::Agent => Self::Agent,
        }
    }
}

/// A key, without its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "keyId": "key_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Importer", "kind": "api",
    "scopes": ["issues:read", "issues:write"], "hint": "8Fq2", "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "createdAt": 1_767_225_600_000_i64, "expiresAt": null, "lastUsedAt": 1_767_312_000_000_i64
}))]
pub(crate) struct KeyBody {
    /// The key's id.
    key_id: String,
    /// What it is called.
    name: String,
    /// What it is for.
    kind: KeyKindBody,
    /// What it may do, as far as its maker may.
    scopes: Vec<&'static str>,
    /// The secret's last characters, to recognize it by.
    hint: String,
    /// The person who made the key.
    created_by: String,
    /// When.
    created_at: i64,
    /// When it stops working by itself.
    expires_at: Option<i64>,
    /// When it was last used, to the hour.
    last_used_at: Option<i64>,
}

impl From<Key> for KeyBody {
    fn from(key: Key) -> Self {
        Self {
            key_id: key.id.to_string(),
            name: key.name,
            kind: key.kind.into(),
            scopes: key.scopes.iter().map(domain::Scope::as_str).collect(),
            hint: key.hint,
            created_by: key.maker.to_string(),
            created_at: key.created_at.as_millis(),
            expires_at: key.expires_at.map(Timestamp::as_millis),
            last_used_at: key.last_used_at.map(Timestamp::as_millis),
        }
    }
}

/// A page of the keys.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeysAnswer {
    /// The oldest first.
    keys: Vec<KeyBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The keys
#[utoipa::path(get, path = "/v1/orgs/{orgId}/keys", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn keys_list(org: Org<KeysRead>, query: Query<PageQuery>, state: State) -> Result<Json<KeysAnswer>> {
    let page = query.page::<KeyId>(LIST)?;
    let found = state.store.keys(org.id(), page.after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |key| key.id);
    Ok(Json(KeysAnswer { keys: found.into_iter().map(KeyBody::from).collect(), cursor }))
}

/// A new key.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "Importer", "kind": "api", "scopes": ["issues:read", "issues:write"]}))]
pub(crate) struct KeyCreate {
    /// What it is called: 1 to 80 characters.
    name: String,
    /// What it is for.
    kind: KeyKindBody,
    /// What it may do: at least one permission, none that its maker lacks.
    scopes: Vec<String>,
    /// When it stops working by itself; never, when it is absent.
    expires_at: Option<i64>,
}

impl RequestBody for KeyCreate {}

/// A new key with its secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeyAnswer {
    /// The key.
    key: KeyBody,
    /// The credential, shown once.
    #[schema(example = "trp_k_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2")]
    secret: String,
}

/// Make a key
///
/// For people: a key makes no keys. A key has exactly its permissions, and of these never more than its maker has at the
/// moment of use. The secret is shown once and not kept, so a lost answer can't be repeated: delete the key and make
/// another.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/keys", responses(
    (status = 400, description = "An organization has at most 200 keys."),
    (status = 403, description = "This is for people, not for keys."),
))]
pub(crate) async fn key_create(org: Org<KeysWrite>, body: Body<KeyCreate>, state: State) -> Result<Created<KeyAnswer>> {
    let body = body.into_inner();
    let command = MakeKey {
        name: name_check("name", &body.name)?,
        kind: body.kind.into(),
        scopes: body.scopes,
        expires_at: body.expires_at.map(Timestamp),
    };
    let (key, token) = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    Ok(Created(KeyAnswer { key: key.into(), secret: token.reveal().to_owned() }))
}

/// Delete a key
///
/// The key is dead on every node within a second.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/keys/{keyId}")]
pub(crate) async fn key_delete(org: Org<KeysWrite>, id: Path<KeyId>, state: State) -> Result<Json<Done>> {
    state.actors.organization.ask(&org.id(), DeleteKey(*id), org.context()).await?;
    state.credentials.refresh(RevocationKind::Key, *id);
    Ok(Json(Done::new()))
}
