//! The vault's log, which outlives the vault.

use http_shell::{answer::Json, cursor, error::Result, paging::PageQuery, query::Query, state::State};
use serde::Serialize;
use store::vault::VaultLogEntry;
use utoipa::ToSchema;

use super::VaultPerson;

/// The name of the list in its cursors.
const LIST: &str = "vault-log";
/// An event of the vault.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "event": "vault.device_added", "at": 1_767_225_600_000_i64, "deviceId": "ZGV2aWNlZGV2aWNlZGV2aQ",
    "deviceName": "Ada's phone", "ip": "203.0.113.7", "userAgent": "Authenticator/2.1 (iPhone)"
}))]
pub(crate) struct VaultLogEntryBody {
    /// `vault.created`, `vault.replaced`, `vault.deleted`, `vault.keyset_changed`, `vault.reset_requested`,
    /// `vault.reset_cancelled`, `vault.device_added` or `vault.device_removed`
    event: &'static str,
    /// When.
    at: i64,
    /// The device that it is about, or that did it.
    device_id: Option<String>,
    /// What that device was called.
    device_name: Option<String>,
    /// The address that the request came from.
    ip: Option<String>,
    /// The program that it came through.
    user_agent: Option<String>,
}

impl From<VaultLogEntry> for VaultLogEntryBody {
    fn from(entry: VaultLogEntry) -> Self {
        Self {
            event: entry.event.as_str(),
            at: entry.at.as_millis(),
            device_id: entry.device_id.map(|id| id.to_string()),
            device_name: entry.device_name.map(|name| name.to_string()),
            ip: entry.ip,
            user_agent: entry.user_agent,
        }
    }
}

/// A page of the log.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultLogAnswer {
    /// The entries, newest first.
    entries: Vec<VaultLogEntryBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The vault's log
///
/// What happened to the person's vaults, newest first. It is kept when a vault is deleted.
#[utoipa::path(get, path = "/v1/me/vault/log", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn vault_log(
    person: VaultPerson,
    page: Query<PageQuery>,
    state: State,
) -> Result<Json<VaultLogAnswer>> {
    let log = state.store.vault_log(person.user_id(), page.after(LIST)?, page.limit()).await?;
    Ok(Json(VaultLogAnswer {
        entries: log.entries.into_iter().map(VaultLogEntryBody::from).collect(),
        cursor: log.next_before.map(|before| cursor::write(LIST, before)),
    }))
}
