//! The items of a vault: which there are, and what they hold.

use std::fmt::Write as _;

use actix_web::{HttpResponse, http::StatusCode};
use domain::{
    Error, Result as DomainResult,
    problems::Problems,
    vault::{ITEM_IDS_PER_REQUEST_MAX, Item, ItemContent, ItemId, Sealed},
};
use http_shell::{
    answer::{Answer, Object, written},
    call::Call,
    error::Result,
    facts::Facts,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::vault::ItemState;
use utoipa::{IntoParams, ToSchema};

use super::{OwnVault, sealed::AnyJson};

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
#[derive(ToSchema)]
pub(crate) struct VaultItems {
    /// The items that the vault has, by id.
    #[schema(value_type = Vec<ItemBody>)]
    items: Vec<Item>,
}

impl Answer for VaultItems {
    fn describe(facts: &mut Facts) {
        facts.answer::<Self>(200, "Done.");
    }

    fn respond(self, _: &Call) -> Result<HttpResponse> {
        Ok(written(StatusCode::OK, self.json().into_bytes()))
    }
}

impl VaultItems {
    /// The answer as it is sent. What is sealed was read as JSON when it came in, and goes out as the text that it is: it makes
    /// up nearly all of the answer, and to read it once more would take as long as all else.
    fn json(&self) -> String {
        let sealed = self.items.iter().filter_map(|item| item.content.as_ref()).map(ItemContent::bytes).sum::<usize>();
        let mut json = String::with_capacity(sealed + ITEM_BYTES * (self.items.len() + 1));
        json.push_str(r#"{"items":["#);
        for (place, item) in self.items.iter().enumerate() {
            if place > 0 {
                json.push(',');
            }
            write_item(&mut json, item);
        }
        json.push_str("]}");
        json
    }
}

/// Bytes of an item beside what is sealed, about.
const ITEM_BYTES: usize = 192;

/// An item, as [`ItemBody`] is written.
fn write_item(json: &mut String, item: &Item) {
    let deleted = item.content.is_none();
    // To write into a text can't fail, and an id has no character that JSON escapes.
    let _ = write!(json, r#"{{"itemId":"{}","revision":{},"deleted":{deleted}"#, item.item_id, item.revision);
    if let Some(ItemContent { key, overview, details }) = &item.content {
        let [key, overview, details] = [key, overview, details].map(Sealed::as_str);
        json.extend([r#","key":"#, key, r#","overview":"#, overview, r#","details":"#, details]);
    }
    let (created_at, updated_at) = (item.created_at.as_millis(), item.updated_at.as_millis());
    let _ = write!(json, r#","createdAt":{created_at},"updatedAt":{updated_at}}}"#);
}

/// Items of a vault
///
/// The items of these ids that the vault has, deleted ones without their content.
#[utoipa::path(get, path = "/v1/me/vault/vaults/{vaultId}/items", responses(
    (status = 400, description = "Ask for up to 100 item ids."),
))]
pub(crate) async fn vault_items_get(
    vault: OwnVault,
    query: Query<VaultItemsQuery>,
    state: State,
) -> Result<VaultItems> {
    Ok(VaultItems { items: state.store.vault_items(vault.person.user_id(), &query.item_ids()?).await? })
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn items_are_written_as_they_are_described() {
        let sealed = |text: &str| Sealed::from_json_text(text.to_owned());
        let content =
            ItemContent { key: sealed("\"a\\u0000\""), overview: sealed("{ \"b\":1}"), details: sealed("null") };
        let item = |content| Item {
            item_id: "aXRlbWl0ZW1pdGVtaXRlbQ".parse().unwrap(),
            revision: 3,
            content,
            created_at: Timestamp(1),
            updated_at: Timestamp(2),
        };
        for items in [vec![], vec![item(Some(content.clone()))], vec![item(None), item(Some(content))]] {
            let bodies: Vec<_> = items.iter().cloned().map(|item| ItemBody::try_from(item).unwrap()).collect();
            let described = format!(r#"{{"items":{}}}"#, serde_json::to_string(&bodies).unwrap());
            assert_eq!(VaultItems { items }.json(), described);
        }
    }
}
