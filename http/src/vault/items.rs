//! The items of a vault: which there are, what they hold, and changing them.

use actors::vault::{ChangeItems, ItemResult, ItemsChanged};
use domain::{
    Error, Result as DomainResult,
    problems::Problems,
    vault::{
        ITEM_IDS_PER_REQUEST_MAX, ITEMS_BODY_BYTES_MAX, Item, ItemChange, ItemChanges, ItemHead, ItemId, Rejection,
        VaultId,
    },
};
use serde::{Deserialize, Serialize};
use store::vault::ItemState;
use utoipa::{IntoParams, ToSchema};

use super::{AnyJson, OwnVault, VaultPerson, VaultProof, sealed::present};
use crate::{
    answer::{Json, Object},
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    query::{Query, RequestQuery},
    state::State,
};

/// Where one item stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"itemId": "aXRlbWl0ZW1pdGVtaXRlbQ", "revision": 3, "deleted": false}))]
pub(crate) struct VaultIndexEntry {
    #[schema(value_type = String)]
    item_id: ItemId,
    revision: i64,
    deleted: bool,
}

impl From<ItemState> for VaultIndexEntry {
    fn from(item: ItemState) -> Self {
        Self { item_id: item.item_id, revision: item.head.revision, deleted: item.head.deleted }
    }
}

/// Where every item of a vault stands.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultIndex {
    /// The vault's revision.
    revision: i64,
    /// Every item, deleted ones included, by id.
    items: Vec<VaultIndexEntry>,
}

/// The index of a vault
///
/// Every item with its revision, and no ciphertext: what a device compares with what it has.
#[utoipa::path(get, path = "/v1/me/vault/vaults/{vaultId}/index")]
pub(crate) async fn vault_index(vault: OwnVault, state: State) -> Result<Object<VaultIndex>> {
    // The revision was read before the items, so that the index is never older than it says.
    let items = state.store.vault_index(vault.person.user_id()).await?;
    let items = items.into_iter().map(VaultIndexEntry::from).collect();
    Ok(Object(VaultIndex { revision: vault.head.revision, items }))
}

/// An item.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "itemId": "aXRlbWl0ZW1pdGVtaXRlbQ", "revision": 3, "deleted": false, "key": "c2VhbGVk", "overview": "c2VhbGVk",
    "details": "c2VhbGVk", "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_312_000_000_i64
}))]
pub(crate) struct ItemBody {
    item_id: String,
    /// Rises by one with every change.
    revision: i64,
    deleted: bool,
    /// The item's key, sealed; absent for a deleted item, as are the next two.
    #[schema(value_type = AnyJson, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<AnyJson>,
    /// What lists show, sealed.
    #[schema(value_type = AnyJson, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    overview: Option<AnyJson>,
    /// The rest, sealed.
    #[schema(value_type = AnyJson, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<AnyJson>,
    created_at: i64,
    updated_at: i64,
}

impl TryFrom<Item> for ItemBody {
    type Error = Error;

    fn try_from(item: Item) -> DomainResult<Self> {
        let deleted = item.content.is_none();
        let (key, overview, details) = match item.content {
            Some(content) => {
                (Some(content.key.try_into()?), Some(content.overview.try_into()?), Some(content.details.try_into()?))
            }
            None => (None, None, None),
        };
        Ok(Self {
            item_id: item.item_id.to_string(),
            revision: item.revision,
            deleted,
            key,
            overview,
            details,
            created_at: item.created_at.as_millis(),
            updated_at: item.updated_at.as_millis(),
        })
    }
}

/// Which items to read.
#[derive(Deserialize, IntoParams)]
pub(crate) struct VaultItemsQuery {
    /// Up to 100 ids, separated by commas.
    #[serde(default)]
    ids: String,
}

impl RequestQuery for VaultItemsQuery {}

impl VaultItemsQuery {
    fn item_ids(&self) -> DomainResult<Vec<ItemId>> {
        let ids: Vec<&str> = if self.ids.is_empty() { Vec::new() } else { self.ids.split(',').collect() };
        if ids.len() > ITEM_IDS_PER_REQUEST_MAX {
            return Err(Error::bad_request("too_many_ids", "Ask for up to 100 item ids."));
        }
        let mut problems = Problems::new();
        let mut read = Vec::with_capacity(ids.len());
        for (place, text) in ids.into_iter().enumerate() {
            read.extend(problems.keep(ItemId::check(&format!("ids[{place}]"), text))?);
        }
        problems.into_result().map(|()| read)
    }
}

/// Items.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultItems {
    /// Those that the vault has, by id.
    items: Vec<ItemBody>,
}

/// Items of a vault
///
/// Those of the ids that the vault has, deleted ones without their content.
#[utoipa::path(get, path = "/v1/me/vault/vaults/{vaultId}/items", responses(
    (status = 400, description = "Ask for up to 100 item ids."),
))]
pub(crate) async fn vault_items_get(
    vault: OwnVault,
    query: Query<VaultItemsQuery>,
    state: State,
) -> Result<Json<VaultItems>> {
    let items = state.store.vault_items(vault.person.user_id(), &query.item_ids()?).await?;
    Ok(Json(VaultItems { items: items.into_iter().map(ItemBody::try_from).collect::<DomainResult<_>>()? }))
}

/// Changes of items.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VaultItemsChange {
    /// 1 to 50 changes, of different items.
    #[schema(min_items = 1, max_items = 50)]
    changes: Vec<ItemChangeBody>,
}

/// One change. A live item has `key`, `overview` and `details`; a deletion has none of them.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({
    "itemId": "aXRlbWl0ZW1pdGVtaXRlbQ", "baseRevision": 0, "key": "c2VhbGVk", "overview": "c2VhbGVk",
    "details": "c2VhbGVk"
}))]
pub(crate) struct ItemChangeBody {
    /// The item: 22 base64url characters.
    item_id: String,
    /// The revision that the device last saw; 0 for a new item.
    base_revision: u64,
    /// True for a deletion; otherwise left out.
    #[schema(value_type = bool, required = false)]
    #[serde(default, deserialize_with = "present")]
    deleted: Option<bool>,
    /// The item's key, sealed; up to 8 KB.
    #[schema(value_type = AnyJson, required = false)]
    #[serde(default, deserialize_with = "present")]
    key: Option<AnyJson>,
    /// What lists show, sealed; up to 64 KB.
    #[schema(value_type = AnyJson, required = false)]
    #[serde(default, deserialize_with = "present")]
    overview: Option<AnyJson>,
    /// The rest, sealed; up to 1 MB.
    #[schema(value_type = AnyJson, required = false)]
    #[serde(default, deserialize_with = "present")]
    details: Option<AnyJson>,
}

impl RequestBody for VaultItemsChange {
    const LIMIT: usize = ITEMS_BODY_BYTES_MAX;
    const TOO_LARGE: &'static str = "Send fewer changes at once.";
}

impl VaultItemsChange {
    fn changes(self) -> DomainResult<ItemChanges> {
        let mut problems = Problems::new();
        let mut changes = Vec::with_capacity(self.changes.len());
        for (place, change) in self.changes.into_iter().enumerate() {
            changes.extend(problems.keep(change.check(place))?);
        }
        problems.into_result()?;
        ItemChanges::check(changes)
    }
}

impl ItemChangeBody {
    fn check(self, place: usize) -> DomainResult<ItemChange> {
        let path = |field: &str| format!("changes[{place}].{field}");
        let mut problems = Problems::new();
        let item_id = problems.keep(ItemId::check(&path("itemId"), &self.item_id))?;
        let base_revision = i64::try_from(self.base_revision);
        problems.require(base_revision.is_ok(), path("baseRevision"), "Is larger than any revision.");
        problems.require(self.deleted != Some(false), path("deleted"), "Must be true, or left out.");
        match (item_id, base_revision) {
            (Some(item_id), Ok(base_revision)) if problems.is_empty() => Ok(ItemChange {
                item_id,
                base_revision,
                deleted: self.deleted.is_some(),
                key: self.key.map(Into::into),
                overview: self.overview.map(Into::into),
                details: self.details.map(Into::into),
            }),
            _ => Err(problems.into_error()),
        }
    }
}

/// What became of one change.
#[derive(Serialize, ToSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub(crate) enum ItemResultBody {
    /// Done.
    #[serde(rename_all = "camelCase")]
    Ok {
        /// The item.
        item_id: String,
        /// Its revision now.
        revision: i64,
        /// Whether it is deleted now.
        deleted: bool,
        /// When it was first made.
        created_at: i64,
        /// When it was changed.
        updated_at: i64,
    },
    /// The item is at another revision than the change says.
    #[serde(rename_all = "camelCase")]
    Conflict {
        /// The item.
        item_id: String,
        /// The item as it is; null where there is none.
        current: Option<ItemBody>,
    },
    /// Refused.
    #[serde(rename_all = "camelCase")]
    Rejected {
        /// The item.
        item_id: String,
        /// `limit` (the vault is full) or `invalid`.
        code: &'static str,
        /// A sentence for people.
        error: &'static str,
    },
}

impl TryFrom<ItemResult> for ItemResultBody {
    type Error = Error;

    fn try_from(result: ItemResult) -> DomainResult<Self> {
        Ok(match result {
            ItemResult::Done { item_id, head: ItemHead { revision, deleted, created_at }, updated_at } => Self::Ok {
                item_id: item_id.to_string(),
                revision,
                deleted,
                created_at: created_at.as_millis(),
                updated_at: updated_at.as_millis(),
            },
            ItemResult::Conflict { item_id, current } => {
                Self::Conflict { item_id: item_id.to_string(), current: current.map(ItemBody::try_from).transpose()? }
            }
            ItemResult::Rejected { item_id, rejection } => {
                let (code, error) = match rejection {
                    Rejection::Limit => ("limit", "Your vault is full. Delete something first."),
                    Rejection::Invalid(why) => ("invalid", why),
                };
                Self::Rejected { item_id: item_id.to_string(), code, error }
            }
        })
    }
}

/// Where the vault stands after the changes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"revision": 12, "itemCount": 240}))]
pub(crate) struct VaultStanding {
    /// Its revision: one more than before where anything was changed.
    revision: i64,
    /// Its live items.
    item_count: u64,
}

/// What became of the changes.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultItemsChanged {
    /// One for each change, in the order in which they were sent.
    results: Vec<ItemResultBody>,
    /// Where the vault stands now.
    vault: VaultStanding,
}

impl TryFrom<ItemsChanged> for VaultItemsChanged {
    type Error = Error;

    fn try_from(changed: ItemsChanged) -> DomainResult<Self> {
        let results = changed.results.into_iter().map(ItemResultBody::try_from).collect::<DomainResult<_>>()?;
        Ok(Self { results, vault: VaultStanding { revision: changed.revision, item_count: changed.item_count } })
    }
}

/// Change items
///
/// One transaction: deletions first, then the rest in order; each change is answered on its own. A change at a deleted
/// item's revision brings it back. Other devices hear of it on the live socket.
#[utoipa::path(post, path = "/v1/me/vault/vaults/{vaultId}/items", responses(
    (status = 404, description = "There's no vault for this account.\n\nThat vault isn't yours."),
))]
pub(crate) async fn vault_items_change(
    person: VaultPerson,
    Path(vault_id): Path<VaultId>,
    body: Body<VaultItemsChange>,
    VaultProof(proof): VaultProof,
    state: State,
) -> Result<Json<VaultItemsChanged>> {
    let change = ChangeItems { vault_id, changes: body.into_inner().changes()?, proof };
    let changed = state.actors.vault.ask(&person.user_id(), change, person.context()).await?;
    Ok(Json(changed.try_into()?))
}

#[cfg(test)]
mod tests {
    use domain::vault::Sealed;

    use super::*;

    const ITEM: &str = "aXRlbWl0ZW1pdGVtaXRlbQ";

    fn read(change: &str) -> DomainResult<ItemChanges> {
        let body = format!("{{\"changes\": [{change}]}}");
        crate::body::parse::<VaultItemsChange>(body.as_bytes())?.changes()
    }

    fn problem_paths(change: &str) -> Vec<String> {
        match read(change) {
            Err(Error::Invalid { problems }) => problems.into_iter().map(|problem| problem.path).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_sealed_is_kept_to_the_letter() {
        for sealed in
            ["\"text\"", "null", "{\"b\":  1,\"a\":1.50e3}", "[ ]", "\"\\u0000\\ud800\"", "12345678901234567890123"]
        {
            let changes = read(&format!(
                "{{\"itemId\": \"{ITEM}\", \"baseRevision\": 0, \"key\": {sealed} , \"overview\":{sealed}, \"details\": 1}}"
            ));
            let changes = changes.unwrap();
            assert_eq!(changes.as_slice()[0].key.as_ref().map(Sealed::as_str), Some(sealed));
            assert_eq!(changes.as_slice()[0].overview.as_ref().map(Sealed::as_str), Some(sealed));
            let body = AnyJson::try_from(changes.as_slice()[0].key.clone().unwrap()).unwrap();
            assert_eq!(serde_json::to_string(&body).unwrap(), sealed);
        }
    }

    #[test]
    fn an_absent_part_is_absent() {
        let changes = read(&format!("{{\"itemId\": \"{ITEM}\", \"baseRevision\": 1, \"deleted\": true}}")).unwrap();
        assert!(changes.as_slice()[0].deleted);
        assert_eq!(changes.as_slice()[0].key, None);
    }

    #[test]
    fn every_field_at_fault_is_named_with_its_place() {
        assert_eq!(
            problem_paths("{\"itemId\": \"short\", \"baseRevision\": 18446744073709551615, \"deleted\": false}"),
            ["changes[0].itemId", "changes[0].baseRevision", "changes[0].deleted"]
        );
        assert_eq!(
            problem_paths(&format!("{{\"itemId\": \"{ITEM}\", \"baseRevision\": 0, \"x\": 1}}")),
            ["changes[0].x"]
        );
        assert_eq!(
            problem_paths(&format!("{{\"itemId\": \"{ITEM}\", \"baseRevision\": -1}}")),
            ["changes[0].baseRevision"]
        );
    }
}
