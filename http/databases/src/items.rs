//! Reading one item.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use actors::databases::OpenTable;
use domain::databases::{Item, ItemTag, RowKey, item_not_found};
use http_shell::{
    answer::{Answer, written},
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    permission::ResourcesRead,
    state::State,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::argument::Table;

/// The key of an item.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"key": {"userId": {"S": "ada"}, "at": {"N": "1767225600"}}}))]
pub(crate) struct ItemKeyBody {
    /// The attributes of the key and no others, each with exactly one type.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    key: Map<String, Value>,
}

impl RequestBody for ItemKeyBody {}

impl ItemKeyBody {
    /// The attributes, whichever they are.
    pub(super) fn read(self) -> domain::Result<Item> {
        Item::read("key", Value::Object(self.key))
    }
}

/// An item, as it is kept.
#[derive(ToSchema)]
#[schema(example = json!({"item": {"userId": {"S": "ada"}, "at": {"N": "1767225600"}, "admin": {"BOOL": true}}}))]
pub(crate) struct ItemAnswer {
    /// The item's attributes, each with exactly one type.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub(super) item: String,
}

impl Answer for ItemAnswer {
    fn describe(facts: &mut Facts) {
        facts.answer::<Self>(200, "Here it is. `ETag` names it as it is, for `If-Match` when it is put.");
    }

    fn respond(self, _: &Call) -> Result<HttpResponse> {
        let tag = ItemTag::of_text(&self.item).to_string();
        let mut response = written(StatusCode::OK, format!(r#"{{"item":{}}}"#, self.item).into_bytes());
        let tag = header::HeaderValue::try_from(tag).map_err(domain::Error::internal)?;
        response.headers_mut().insert(header::ETAG, tag);
        Ok(response)
    }
}

/// The item at a row, which the body names.
async fn item_text(state: &State, open: &OpenTable, row: &RowKey) -> Result<String> {
    let found = state.store.item_at(open.kept.no, row).await?.ok_or_else(item_not_found)?;
    Ok(found.text)
}

/// An item
///
/// The item as it is after all writes that were answered before.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases/{databaseId}/items/get", responses(
    (status = 400, description = "A key has only ….\n\n… must be a string.\n\n… can't be empty."),
    (status = 404, description = "Item not found"),
))]
pub(crate) async fn database_item_get(
    _org: Org<ResourcesRead>,
    body: Body<ItemKeyBody>,
    Table(open): Table,
    state: State,
) -> Result<ItemAnswer> {
    let row = open.table.schema.key(&body.into_inner().read()?)?.row();
    Ok(ItemAnswer { item: item_text(&state, &open, &row).await? })
}
