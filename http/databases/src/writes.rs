//! Writing items.

use std::sync::Arc;

use actix_web::http::header;
use actors::databases::{DeleteItem, DeleteItems, ImportItems, PutItem, SlotKey};
use domain::{
    Error,
    databases::{
        Expected, IMPORT_BODY_BYTES_MAX, Import, ImportMode, Item, ItemTag, KEYS_PER_REQUEST, PUT_BODY_BYTES_MAX, Put,
        RowKey, batch_check,
    },
    problems::{Problems, all},
};
use http_shell::{
    answer::{Json, NoContent},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    permission::ResourcesWrite,
    state::State,
};
use kernel::CpuKind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    argument::Table,
    items::{ItemAnswer, ItemKeyBody},
    names::named,
};

/// Which item a put replaces, by the `ETag` that it was read with.
pub(crate) struct IfMatch(Option<ItemTag>);

impl Argument for IfMatch {
    fn describe(facts: &mut Facts) {
        let description = "The `ETag` of the item that is replaced, instead of `original`.";
        facts.header("If-Match", description, false);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        if !call.request.headers().contains_key(header::IF_MATCH) {
            return Ok(Self(None));
        }
        let tag = call.header(header::IF_MATCH).and_then(ItemTag::parse);
        let tag = tag.ok_or_else(|| Error::invalid("If-Match", "Send the ETag of an item."))?;
        Ok(Self(Some(tag)))
    }
}

/// An item that is put.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"item": {"userId": {"S": "ada"}, "at": {"N": "1767225600"}, "admin": {"BOOL": true}}}))]
pub(crate) struct ItemPut {
    /// The item's attributes, each with exactly one type.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    item: Map<String, Value>,
    /// The item that it replaces, as it was read. With another key, that one moves. Without it, an item is only made.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    original: Option<Map<String, Value>>,
}

impl RequestBody for ItemPut {
    const LIMIT: usize = PUT_BODY_BYTES_MAX;
    const TOO_LARGE: &'static str = "The item is larger than DynamoDB's 400 KB limit.";
}

impl ItemPut {
    fn read(self, if_match: Option<ItemTag>) -> domain::Result<PutItem> {
        let original = self.original.map(|original| Item::read("original", Value::Object(original))).transpose();
        let (item, original) = all((Item::read("item", Value::Object(self.item)), original))?;
        let expected = match (original, if_match) {
            (None, None) => Expected::None,
            (Some(original), None) => Expected::Equal(original),
            (None, Some(tag)) => Expected::Tagged(tag),
            (Some(_), Some(_)) => return Err(Error::invalid("original", "Send original or If-Match, not both.")),
        };
        Ok(PutItem { item, expected })
    }
}

/// Put an item
///
/// Without `original` and `If-Match` it is made, where there is none with its key. With one of them it replaces that item,
/// where it is still the same. Answers the item as it is kept.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/databases/{databaseId}/items", responses(
    (status = 400, description = "A key has only ….\n\n… must be a string.\n\n… can't be empty."),
    (status = 409, description = "An item with this key already exists.\n\n\
        This item was deleted. Create it again instead.\n\nThis item changed since you opened it."),
))]
pub(crate) async fn database_item_put(
    org: Org<ResourcesWrite>,
    body: Body<ItemPut>,
    IfMatch(if_match): IfMatch,
    Table(open): Table,
    state: State,
) -> Result<ItemAnswer> {
    let command = body.into_inner().read(if_match)?;
    let put = Put::check(&open.table, command.item.clone(), command.expected.clone())?;
    let item = command.item.to_text();
    let slot = SlotKey::of(org.id(), open.kept.id, put.to());
    state.actors.kv_slot.ask(&slot, command, org.context()).await?;
    Ok(ItemAnswer { item })
}

/// Delete an item
///
/// An item that isn't there is deleted already.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases/{databaseId}/items/delete", responses(
    (status = 400, description = "A key has only ….\n\n… must be a string.\n\n… can't be empty."),
))]
pub(crate) async fn database_item_delete(
    org: Org<ResourcesWrite>,
    body: Body<ItemKeyBody>,
    Table(open): Table,
    state: State,
) -> Result<NoContent> {
    let key = body.into_inner().read()?;
    let row = open.table.schema.key(&key)?.row();
    state.actors.kv_slot.ask(&SlotKey::of(org.id(), open.kept.id, &row), DeleteItem(key), org.context()).await?;
    Ok(NoContent)
}

/// Keys of items.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"keys": [{"userId": {"S": "ada"}, "at": {"N": "1767225600"}}]}))]
pub(crate) struct ItemKeysBody {
    /// 1 to 100 keys, each once.
    #[schema(value_type = Vec<std::collections::BTreeMap<String, Value>>, min_items = 1, max_items = 100)]
    keys: Vec<Map<String, Value>>,
}

impl RequestBody for ItemKeysBody {}

impl ItemKeysBody {
    fn read(self) -> domain::Result<Vec<Item>> {
        if !KEYS_PER_REQUEST.contains(&self.keys.len()) {
            return Err(Error::invalid("keys", "Send 1 to 100 keys."));
        }
        let mut problems = Problems::new();
        let mut read = Vec::with_capacity(self.keys.len());
        for (place, key) in self.keys.into_iter().enumerate() {
            read.extend(problems.keep(Item::read(&format!("keys[{place}]"), Value::Object(key)))?);
        }
        problems.into_result().map(|()| read)
    }
}

/// What became of a batch of deletes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"deleted": 2, "failed": 0}))]
pub(crate) struct ItemsDeleted {
    /// How many of the keys have no item now.
    deleted: usize,
    /// How many could not be deleted: all are deleted, or the request fails.
    failed: usize,
}

/// The slot that writes the first of these rows, and all of them with it.
fn first_slot<'r>(
    org: &Org<ResourcesWrite>,
    id: domain::id::ResourceId,
    mut rows: impl Iterator<Item = &'r RowKey>,
) -> domain::Result<SlotKey> {
    let first = rows.next().ok_or_else(|| Error::internal("a batch of no rows"))?;
    Ok(SlotKey::of(org.id(), id, first))
}

/// Delete items
///
/// All of them at once. An item that isn't there is deleted already.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases/{databaseId}/items/batch-delete", responses(
    (status = 400, description = "A key has only ….\n\n… must be a string.\n\n… can't be empty.\n\n\
        The same key is listed twice."),
))]
pub(crate) async fn database_items_delete(
    org: Org<ResourcesWrite>,
    body: Body<ItemKeysBody>,
    Table(open): Table,
    state: State,
) -> Result<Json<ItemsDeleted>> {
    let keys = body.into_inner().read()?;
    let rows = batch_check(&open.table.schema, &keys)?;
    let (slot, deleted) = (first_slot(&org, open.kept.id, rows.iter())?, keys.len());
    state.actors.kv_slot.ask(&slot, DeleteItems(keys), org.context()).await?;
    Ok(Json(ItemsDeleted { deleted, failed: 0 }))
}

/// Items that are imported.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"items": [{"userId": {"S": "ada"}, "at": {"N": "1767225600"}}], "mode": "skip"}))]
pub(crate) struct ItemsImport {
    /// 1 to 100 items, each with a key of its own.
    #[schema(value_type = Vec<std::collections::BTreeMap<String, Value>>, min_items = 1, max_items = 100)]
    items: Vec<Value>,
    /// What becomes of an item whose key is taken: `skip` leaves it out, which holds where it isn't said; with `overwrite` it
    /// takes the place.
    mode: Option<String>,
}

impl RequestBody for ItemsImport {
    const LIMIT: usize = IMPORT_BODY_BYTES_MAX;
}

/// What became of an import.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"imported": 98, "skipped": 2}))]
pub(crate) struct ItemsImported {
    /// Items that were written.
    imported: usize,
    /// Items that were left out, because their keys were taken.
    skipped: usize,
}

/// Import items
///
/// All of them at once, or none where any of them can't be written.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases/{databaseId}/items/import", responses(
    (status = 400, description = "The same key is listed twice."),
))]
pub(crate) async fn database_items_import(
    org: Org<ResourcesWrite>,
    body: Body<ItemsImport>,
    Table(open): Table,
    state: State,
) -> Result<Json<ItemsImported>> {
    let body = body.into_inner();
    let mode = body.mode.as_deref().map(|mode| named("mode", mode, ImportMode::ALL, ImportMode::as_str)).transpose()?;
    let table = open.table;
    let reading = move || Import::check(&table, body.items, mode.unwrap_or(ImportMode::Skip));
    let import = state.actors.kernel.cpu().run(org.id().into(), CpuKind::Document, reading).await??;
    let slot = first_slot(&org, open.kept.id, import.rows())?;
    let done = state.actors.kv_slot.ask(&slot, ImportItems(Arc::new(import)), org.context()).await?;
    Ok(Json(ItemsImported { imported: done.imported, skipped: done.skipped }))
}
