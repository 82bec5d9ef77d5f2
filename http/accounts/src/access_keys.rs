//! Access keys of an organization.

use actors::organization::{DeleteAccessKey, MakeAccessKey};
use domain::{
    Timestamp,
    access_key::{ACCESS_KEY_RESOURCES_MAX, Access, AccessKeyGrant, AccessKeyId},
    account::name_check,
    id::ResourceId,
    problems::{Problems, all},
    storage::KeyPrefix,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::{KeysRead, KeysWrite},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::{RevocationKind, accounts::AccessKey};
use utoipa::ToSchema;

/// The message of the 403 that keys read.
const PEOPLE_ONLY: &str = "This is for people, not for keys.";

/// What an access key may do.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AccessBody {
    /// Read.
    Read,
    /// Read and write.
    Write,
}

impl From<Access> for AccessBody {
    fn from(access: Access) -> Self {
        match access {
            Access::Read => Self::Read,
            Access::Write => Self::Write,
        }
    }
}

impl From<AccessBody> for Access {
    fn from(access: AccessBody) -> Self {
        match access {
            AccessBody::Read => Self::Read,
            AccessBody::Write => Self::Write,
        }
    }
}

/// An access key, without its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "accessKeyId": "TRPAK7QW2MZ5N3XD4RHB", "name": "Backups", "access": "write",
    "resources": ["res_01jd7rt4m5e9fv2w8x3c6k0hqz"], "prefix": null, "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "createdAt": 1_767_225_600_000_i64, "expiresAt": null, "lastUsedAt": 1_767_312_000_000_i64
}))]
pub(crate) struct AccessKeyBody {
    /// The key's id, which programs sign with.
    access_key_id: String,
    /// What it is called.
    name: String,
    /// What it may do, as far as its maker may.
    access: AccessBody,
    /// The buckets and databases that it reaches; null for all of the organization.
    resources: Option<Vec<String>>,
    /// What the keys of files begin with that it reaches; null for all.
    prefix: Option<String>,
    /// The person who made the key.
    created_by: String,
    /// When.
    created_at: i64,
    /// When it stops working by itself.
    expires_at: Option<i64>,
    /// When it was last used, to the hour.
    last_used_at: Option<i64>,
}

impl From<AccessKey> for AccessKeyBody {
    fn from(key: AccessKey) -> Self {
        let resources = key.grant.resources;
        Self {
            access_key_id: key.id.to_string(),
            name: key.name,
            access: key.grant.access.into(),
            resources: resources.map(|ids| ids.iter().map(ResourceId::to_string).collect()),
            prefix: key.grant.prefix.map(|prefix| prefix.as_str().to_owned()),
            created_by: key.maker.to_string(),
            created_at: key.created_at.as_millis(),
            expires_at: key.expires_at.map(Timestamp::as_millis),
            last_used_at: key.last_used_at.map(Timestamp::as_millis),
        }
    }
}

/// The access keys.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccessKeysAnswer {
    /// All of them, the oldest first.
    access_keys: Vec<AccessKeyBody>,
}

/// The access keys
///
/// For people. What programs sign requests of S3's and DynamoDB's protocols with.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/access-keys", responses(
    (status = 403, description = "This is for people, not for keys.")))]
pub(crate) async fn access_keys_list(org: Org<KeysRead>, state: State) -> Result<Json<AccessKeysAnswer>> {
    org.authority().person(PEOPLE_ONLY)?;
    let found = state.store.access_keys(org.id()).await?;
    Ok(Json(AccessKeysAnswer { access_keys: found.into_iter().map(AccessKeyBody::from).collect() }))
}

/// A new access key.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "Backups", "access": "write", "resources": ["res_01jd7rt4m5e9fv2w8x3c6k0hqz"]}))]
pub(crate) struct AccessKeyCreate {
    /// What it is called: 1 to 80 characters.
    name: String,
    /// `read` or `write`; nothing that its maker may not.
    access: AccessBody,
    /// The buckets and databases that it reaches, 1 to 100; all of the organization, when it is absent.
    resources: Option<Vec<String>>,
    /// What the keys of files begin with that it reaches, 1 to 1,024 bytes; all, when it is absent. With a prefix it reaches
    /// files only: no settings of a bucket, and no database.
    prefix: Option<String>,
    /// When it stops working by itself; never, when it is absent.
    expires_at: Option<i64>,
}

impl RequestBody for AccessKeyCreate {}

impl AccessKeyCreate {
    fn command(self) -> domain::Result<MakeAccessKey> {
        let resources = self.resources.as_deref().map(resources).transpose();
        let prefix = self.prefix.map(prefix).transpose();
        let (name, resources, prefix) = all((name_check("name", &self.name), resources, prefix))?;
        let grant = AccessKeyGrant { access: self.access.into(), resources, prefix };
        Ok(MakeAccessKey { name, grant, expires_at: self.expires_at.map(Timestamp) })
    }
}

fn resources(ids: &[String]) -> domain::Result<Vec<ResourceId>> {
    let mut problems = Problems::new();
    problems.require((1..=ACCESS_KEY_RESOURCES_MAX).contains(&ids.len()), "resources", "Name 1 to 100 of them.");
    let mut read = Vec::new();
    for (place, id) in ids.iter().enumerate().take(ACCESS_KEY_RESOURCES_MAX) {
        match id.parse() {
            Ok(id) if !read.contains(&id) => read.push(id),
            Ok(_) => problems.add(format!("resources[{place}]"), "It is named twice."),
            Err(_) => problems.add(format!("resources[{place}]"), "There is no bucket and no database with this id."),
        }
    }
    problems.into_result().map(|()| read)
}

fn prefix(text: String) -> domain::Result<KeyPrefix> {
    let message = "Must have 1 to 1,024 bytes, none of them 0.";
    let prefix = if text.is_empty() { None } else { KeyPrefix::parse(text).ok() };
    prefix.ok_or_else(|| domain::Error::invalid("prefix", message))
}

/// A new access key with its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccessKeyAnswer {
    /// The key.
    access_key: AccessKeyBody,
    /// The secret, shown once.
    #[schema(example = "iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ")]
    secret_access_key: String,
}

/// Make an access key
///
/// For people: a key makes no keys. A program signs requests of S3's and DynamoDB's protocols with it. It never may more than
/// its maker may at that moment. The secret is shown once and not kept, so a lost answer can't be repeated: delete the key
/// and make another.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/access-keys", responses(
    (status = 400, description = "An organization has at most 100 access keys."),
    (status = 403, description = "This is for people, not for keys."),
))]
pub(crate) async fn access_key_create(
    org: Org<KeysWrite>,
    body: Body<AccessKeyCreate>,
    state: State,
) -> Result<Created<AccessKeyAnswer>> {
    let command = body.into_inner().command()?;
    let (key, secret) = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    Ok(Created(AccessKeyAnswer { access_key: key.into(), secret_access_key: secret.reveal().to_owned() }))
}

/// Delete an access key
///
/// For people. The key is dead on every node within a second.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/access-keys/{accessKeyId}", responses(
    (status = 403, description = "This is for people, not for keys.")))]
pub(crate) async fn access_key_delete(org: Org<KeysWrite>, id: Path<AccessKeyId>, state: State) -> Result<NoContent> {
    state.actors.organization.ask(&org.id(), DeleteAccessKey(*id), org.context()).await?;
    state.credentials.refresh(RevocationKind::Key, *id);
    Ok(NoContent)
}
