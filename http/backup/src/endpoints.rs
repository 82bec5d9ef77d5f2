//! Reading, saving and deleting the backup.

use actors::backup::{BackupSaved, DeleteBackup, SaveBackup};
use domain::{
    App, Error, PersonCaller, Result as DomainResult,
    backup::{BODY_BYTES_MAX, Backup, BackupDraft, VERSION},
};
use http_shell::{
    answer::{Json, Object},
    body::{Body, RequestBody},
    caller::{Door, Person},
    error::Result,
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The backup opens to the authenticator app's own sign-in (contract A 4.1, 5.5).
pub(crate) struct BackupDoor;

impl Door for BackupDoor {
    const WHO: &'static str = "the Authenticator app";
    const CODE: &'static str = "authenticator_only";
    const REFUSAL: &'static str = "The authenticator backup opens only in the Authenticator app.";

    fn admits(person: &PersonCaller) -> bool {
        person.app == App::Authenticator && person.platform.is_mobile()
    }
}

/// A backup.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "version": 1, "salt": "q83vASNFZ4mrze8BI0VniQ==", "ciphertext": "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=",
    "revision": 3, "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_312_000_000_i64
}))]
pub(crate) struct BackupBody {
    /// The format; always 1.
    version: u64,
    /// What the phone encrypted with, base64.
    salt: String,
    /// Base64 of a 12-byte nonce, the AES-256-GCM ciphertext of the account list, and the 16-byte tag.
    ciphertext: String,
    /// Rises by one with every save.
    revision: i64,
    /// When the first revision was saved.
    created_at: i64,
    /// When this revision was saved.
    updated_at: i64,
}

impl From<Backup> for BackupBody {
    fn from(backup: Backup) -> Self {
        Self {
            version: VERSION,
            salt: backup.salt,
            ciphertext: backup.ciphertext,
            revision: backup.revision,
            created_at: backup.created_at.as_millis(),
            updated_at: backup.updated_at.as_millis(),
        }
    }
}

/// The backup, or null where there is none.
#[derive(Serialize, ToSchema)]
pub(crate) struct BackupAnswer {
    /// The backup.
    vault: Option<BackupBody>,
}

/// A save that was refused, with the backup that is there now.
#[derive(Serialize, ToSchema)]
pub(crate) struct BackupChangedBody {
    /// `The backup changed since this phone last saw it.`
    error: String,
    /// `stale_revision`
    code: String,
    /// The backup that is there now.
    vault: Option<BackupBody>,
}

/// What a phone asks to save.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "version": 1, "salt": "q83vASNFZ4mrze8BI0VniQ==", "ciphertext": "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=",
    "revision": 2
}))]
pub(crate) struct BackupPut {
    /// The format; 1.
    #[schema(minimum = 1, maximum = 1)]
    version: u64,
    /// What the phone encrypted with, base64.
    #[schema(min_length = 24, max_length = 88)]
    salt: String,
    /// Base64 of nonce, ciphertext and tag.
    #[schema(min_length = 40, max_length = 262_144)]
    ciphertext: String,
    /// The revision that the phone last saw; 0 for none.
    revision: u64,
}

impl RequestBody for BackupPut {
    const LIMIT: usize = BODY_BYTES_MAX;
    const TOO_LARGE: &'static str = "The backup is too large.";
}

impl BackupPut {
    pub(crate) fn draft(self) -> DomainResult<BackupDraft> {
        BackupDraft::check(self.version, self.salt, self.ciphertext, self.revision)
    }
}

/// Whether a backup was deleted.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"ok": true, "deleted": true}))]
pub(crate) struct BackupDeleted {
    /// Always true.
    ok: bool,
    /// False when there was none.
    deleted: bool,
}

/// The backup
#[utoipa::path(get, path = "/v1/me/authenticator/vault")]
pub(crate) async fn backup_get(person: Person<BackupDoor>, state: State) -> Result<Object<BackupAnswer>> {
    let backup = state.store.backup(person.user_id()).await?;
    Ok(Object(BackupAnswer { vault: backup.map(BackupBody::from) }))
}

/// Save the backup
///
/// Saves only when `revision` is the current one, 0 where there is no backup yet.
#[utoipa::path(put, path = "/v1/me/authenticator/vault", responses(
    (status = 409, description = "The backup changed since this phone last saw it.", body = BackupChangedBody)
))]
pub(crate) async fn backup_put(
    person: Person<BackupDoor>,
    body: Body<BackupPut>,
    state: State,
) -> Result<Json<BackupAnswer>> {
    let save = SaveBackup(body.into_inner().draft()?);
    match state.actors.backup.ask(&person.user_id(), save, person.context()).await? {
        BackupSaved::Saved(backup) => Ok(Json(BackupAnswer { vault: Some(backup.into()) })),
        BackupSaved::Changed(current) => Err(changed(current).into()),
    }
}

/// Delete the backup
///
/// The accounts on the phone stay. The next backup starts at revision 0 again.
#[utoipa::path(delete, path = "/v1/me/authenticator/vault")]
pub(crate) async fn backup_delete(person: Person<BackupDoor>, state: State) -> Result<Json<BackupDeleted>> {
    let deleted = state.actors.backup.ask(&person.user_id(), DeleteBackup, person.context()).await?;
    Ok(Json(BackupDeleted { ok: true, deleted }))
}

fn changed(current: Option<Backup>) -> Error {
    let vault = serde_json::to_value(current.map(BackupBody::from)).unwrap_or(Value::Null);
    Error::Conflict {
        code: "stale_revision",
        message: "The backup changed since this phone last saw it.".into(),
        adds: Map::from_iter([("vault".to_owned(), vault)]),
    }
}
