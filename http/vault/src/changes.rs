//! Changing items.

use actors::vault::{ChangeItems, ItemResult, ItemsChanged};
use domain::{
    Error, Result as DomainResult,
    problems::{Problems, all},
    vault::{ITEMS_BODY_BYTES_MAX, ItemChange, ItemChanges, ItemHead, ItemId, Rejection, VaultId},
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    VaultPerson,
    items::ItemBody,
    proof::VaultProof,
    sealed::{AnyJson, present},
};

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
    pub(crate) fn changes(self) -> DomainResult<ItemChanges> {
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
        let not_true = || Error::invalid(path("deleted"), "Must be true, or left out.");
        let (item_id, base_revision, ()) = all((
            ItemId::check(&path("itemId"), &self.item_id),
            i64::try_from(self.base_revision)
                .map_err(|_| Error::invalid(path("baseRevision"), "Is larger than any revision.")),
            if self.deleted == Some(false) { Err(not_true()) } else { Ok(()) },
        ))?;
        Ok(ItemChange {
            item_id,
            base_revision,
            deleted: self.deleted.is_some(),
            key: self.key.map(Into::into),
            overview: self.overview.map(Into::into),
            details: self.details.map(Into::into),
        })
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
        /// The item's revision now.
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
    /// The vault's revision: one more than before where anything was changed.
    revision: i64,
    /// The vault's live items.
    item_count: u64,
}

/// What became of the changes.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultItemsChanged {
    /// A result for each change, in the order in which they were sent.
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
        http_shell::body::parse::<VaultItemsChange>(body.as_bytes())?.changes()
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
