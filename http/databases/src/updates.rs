//! Updating items by expressions.

use std::collections::BTreeMap;

use actors::databases::{SlotKey, UpdateItem};
use domain::{
    Result as DomainResult,
    databases::{Condition, Item, ItemUpdate, PUT_BODY_BYTES_MAX, Substitutes, Table as Rules, Update},
    problems::all,
};
use http_shell::{
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    permission::ResourcesWrite,
    state::State,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{argument::Table, items::ItemAnswer};

/// An update of an item.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "key": {"userId": {"S": "ada"}, "at": {"N": "1767225600"}},
    "update": "SET visits = if_not_exists(visits, :none) + :one REMOVE #draft",
    "condition": "attribute_not_exists(locked) OR visits < :most",
    "names": {"#draft": "draft"},
    "values": {":none": {"N": "0"}, ":one": {"N": "1"}, ":most": {"N": "100"}}
}))]
pub(crate) struct ItemUpdateBody {
    /// The attributes of the key and no others, each with exactly one type.
    #[schema(value_type = BTreeMap<String, Value>)]
    key: Map<String, Value>,
    /// DynamoDB's update expression: sections `SET`, `REMOVE`, `ADD` and `DELETE`; up to 4,096 bytes and 300 operators and
    /// functions.
    update: String,
    /// DynamoDB's condition expression, which has to hold of the item as it is; as long as that.
    condition: Option<String>,
    /// What each `#name` of the expressions stands for; each is used.
    names: Option<BTreeMap<String, String>>,
    /// What each `:value` of the expressions stands for, each with exactly one type; each is used.
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    values: Option<Map<String, Value>>,
}

impl RequestBody for ItemUpdateBody {
    const LIMIT: usize = PUT_BODY_BYTES_MAX;
}

impl ItemUpdateBody {
    fn read(self, table: &Rules) -> DomainResult<ItemUpdate> {
        let (key, mut substitutes) = all((
            Item::read("key", Value::Object(self.key)),
            Substitutes::read(self.names.unwrap_or_default(), self.values.unwrap_or_default()),
        ))?;
        let update = Update::parse(&self.update, &mut substitutes).map_err(|fault| fault.into_error("update"));
        let condition = self.condition.map(|condition| {
            Condition::parse(&condition, &mut substitutes).map_err(|fault| fault.into_error("condition"))
        });
        ItemUpdate::check(table, key, all((update, condition.transpose()))?, &substitutes)
    }
}

/// Update an item
///
/// Does what DynamoDB's `UpdateItem` does: changes the item as the update says, where the condition holds of it, or makes it
/// where there is none. All that the update reads is the item as it was before. Answers the item as it is kept.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases/{databaseId}/items/update", responses(
    (status = 400, description = "A key has only ….\n\n… must be a string.\n\n… can't be empty."),
    (status = 409, description = "The condition doesn't hold."),
    (status = 413, description = "The item is larger than DynamoDB's 400 KB limit."),
))]
pub(crate) async fn database_item_update(
    org: Org<ResourcesWrite>,
    body: Body<ItemUpdateBody>,
    Table(open): Table,
    state: State,
) -> Result<ItemAnswer> {
    let update = body.into_inner().read(&open.table)?;
    let slot = SlotKey::of(org.id(), open.kept.id, update.row());
    let item = state.actors.kv_slot.ask(&slot, UpdateItem(update), org.context()).await?;
    Ok(ItemAnswer { item: item.to_text() })
}
