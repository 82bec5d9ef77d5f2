//! Tables: listing, making, reading, changing and deleting them.

use actors::{
    databases::{ChangeTable, CreateTable, DeleteTable},
    resources::{ChangeResource, CreateResource},
};
use domain::{
    databases::{BillingMode, GLOBAL_INDEXES_MAX, LOCAL_INDEXES_MAX, Table, TableChange, TableDraft},
    id::{OrgId, ResourceId},
    problems::{Problems, all},
    resource::{Resource, ResourceType},
};
use http_shell::{
    answer::{Accepted, Created, Json, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    path::{DatabaseId, Path},
    permission::{ResourcesRead, ResourcesWrite},
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use store::databases::{Database, KeptTable, TableCount};
use utoipa::ToSchema;

use super::{
    description::{IndexCreate, KeyAttributeBody, TableBody, TableSummary, read_indexes, read_schema},
    names::named,
    record::DatabaseRecord,
};

/// Databases in one answer.
const LISTED_MAX: usize = 5_000;
/// Why a table isn't shown beside its record.
const MISSING: &str = "missing";

/// A database in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DatabaseEntry {
    #[serde(flatten)]
    record: DatabaseRecord,
    /// The database's table; null where there is none any more.
    table: Option<TableSummary>,
    /// `missing`, where there is no table.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// Databases.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DatabasesAnswer {
    /// At most 5,000, by their names.
    databases: Vec<DatabaseEntry>,
}

/// The databases
///
/// All databases of the organization, those that are being deleted among them.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/databases")]
pub(crate) async fn databases_list(org: Org<ResourcesRead>, state: State) -> Result<Json<DatabasesAnswer>> {
    let store = &state.store;
    // All of them, which `databases.max_tables` bounds: the first by name are no others than those of all.
    let count = store.resources_count(org.id(), ResourceType::Database).await?;
    let mut resources = store.resources(org.id(), ResourceType::Database, count).await?;
    resources.sort_by(|one, other| one.name.cmp(&other.name));
    resources.truncate(LISTED_MAX);
    let counts = store.table_counts(org.id(), None).await?;
    let mut tables: std::collections::HashMap<ResourceId, KeptTable> =
        store.kept_tables(org.id()).await?.into_iter().map(|kept| (kept.id, kept)).collect();
    let entry = |resource: Resource| {
        let count = counts.get(&resource.id).copied().unwrap_or_default();
        let table = tables.remove(&resource.id).map(|kept| TableSummary::of(&resource, &kept, count));
        DatabaseEntry { error: table.is_none().then_some(MISSING), table, record: resource.into() }
    };
    Ok(Json(DatabasesAnswer { databases: resources.into_iter().map(entry).collect() }))
}

/// A database with its table.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DatabaseAnswer {
    /// The database's record.
    database: DatabaseRecord,
    /// The database's table; null where there is none any more.
    table: Option<TableBody>,
}

impl DatabaseAnswer {
    fn of(database: Database, count: TableCount) -> Self {
        let table = database.kept.map(|kept| TableBody::of(&database.resource, &kept, count));
        Self { database: database.resource.into(), table }
    }

    /// The database with this id, as it is now.
    pub(super) async fn read(state: &State, org_id: OrgId, id: ResourceId) -> Result<Self> {
        let database = state.store.database(org_id, id).await?.ok_or_else(domain::databases::no_database)?;
        Self::counted(state, database).await
    }

    async fn counted(state: &State, database: Database) -> Result<Self> {
        let Resource { org_id, id, .. } = database.resource;
        let count = state.store.table_counts(org_id, Some(id)).await?.remove(&id).unwrap_or_default();
        Ok(Self::of(database, count))
    }
}

/// A database
///
/// The record of a database and its table, also while they are being deleted.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/databases/{databaseId}")]
pub(crate) async fn database_get(
    _org: Org<ResourcesRead>,
    Owned(database): Owned<Database>,
    state: State,
) -> Result<Object<DatabaseAnswer>> {
    Ok(Object(DatabaseAnswer::counted(&state, database).await?))
}

/// A new table.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({
    "name": "Sessions", "partitionKey": {"name": "userId", "type": "S"}, "sortKey": {"name": "at", "type": "N"},
    "indexes": [{"name": "by-email", "partitionKey": {"name": "email", "type": "S"}, "kind": "global"}]
}))]
pub(crate) struct DatabaseCreate {
    /// What it is called: 3 to 255 letters, digits, `_`, `.` and `-`; unique in the organization.
    name: String,
    /// By whose values items are spread.
    partition_key: KeyAttributeBody,
    /// By whose values those of one partition are sorted.
    sort_key: Option<KeyAttributeBody>,
    /// Up to 20 global and 5 local ones.
    indexes: Option<Vec<IndexCreate>>,
    /// Whether it can't be deleted; false where it isn't said.
    deletion_protection: Option<bool>,
    /// The attribute that says when an item expires: a number of seconds since the Unix epoch.
    ttl_attribute: Option<String>,
    /// `PAY_PER_REQUEST`, which holds where it isn't said, or `PROVISIONED`; kept and shown only.
    billing_mode: Option<String>,
}

impl RequestBody for DatabaseCreate {
    fn check(&self, problems: &mut Problems) {
        // What is wrong with a thousand indexes is not listed.
        let is_few = self.indexes.as_ref().is_none_or(|it| it.len() <= GLOBAL_INDEXES_MAX + LOCAL_INDEXES_MAX);
        problems.require(is_few, "indexes", "A table has up to 20 global and 5 local indexes.");
    }
}

fn read_billing_mode(text: Option<&str>) -> domain::Result<Option<BillingMode>> {
    text.map(|text| named("billingMode", text, BillingMode::ALL, BillingMode::as_str)).transpose()
}

impl DatabaseCreate {
    fn read(self) -> domain::Result<Table> {
        let (schema, indexes, billing_mode) = all((
            read_schema("", self.partition_key, self.sort_key),
            read_indexes(self.indexes.unwrap_or_default()),
            read_billing_mode(self.billing_mode.as_deref()),
        ))?;
        let draft = TableDraft {
            name: self.name,
            schema,
            indexes,
            billing_mode: billing_mode.unwrap_or(BillingMode::PayPerRequest),
            deletion_protection: self.deletion_protection.unwrap_or(false),
            ttl_attribute: self.ttl_attribute,
            keep_changes: false,
        };
        draft.check()
    }
}

/// Make a database
///
/// The table can be used at once.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases", responses(
    (status = 400, description = "An organization has at most 500 tables."),
    (status = 409, description = "A table with this name exists."),
))]
pub(crate) async fn database_create(
    org: Org<ResourcesWrite>,
    body: Body<DatabaseCreate>,
    state: State,
) -> Result<Created<DatabaseAnswer>> {
    let command = CreateResource(CreateTable(body.into_inner().read()?));
    let made = state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    Ok(Created(DatabaseAnswer::read(&state, org.id(), made.id).await?))
}

/// What is to change of a table. What isn't named stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"deletionProtection": true}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct DatabasePatch {
    /// Whether it can't be deleted.
    deletion_protection: Option<bool>,
    /// The attribute that says when an item expires, for items that are written from now on; null for none.
    #[serde(default, deserialize_with = "nullable")]
    ttl_attribute: Option<Option<String>>,
    /// `PAY_PER_REQUEST` or `PROVISIONED`; kept and shown only.
    billing_mode: Option<String>,
}

impl RequestBody for DatabasePatch {}

/// Change a database
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/databases/{databaseId}", responses(
    (status = 404, description = "Table not found"),
    (status = 409, description = "This table is being created.\n\nThis table is being deleted."),
))]
pub(crate) async fn database_patch(
    org: Org<ResourcesWrite>,
    body: Body<DatabasePatch>,
    Path(DatabaseId(id)): Path<DatabaseId>,
    state: State,
) -> Result<Json<DatabaseAnswer>> {
    let body = body.into_inner();
    let change = TableChange {
        billing_mode: read_billing_mode(body.billing_mode.as_deref())?,
        deletion_protection: body.deletion_protection,
        ttl_attribute: body.ttl_attribute,
        ..TableChange::default()
    };
    let command = ChangeResource(ChangeTable { id, change });
    state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    Ok(Json(DatabaseAnswer::read(&state, org.id(), id).await?))
}

/// A table.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TableAnswer {
    /// The table as it is now.
    table: Option<TableBody>,
}

impl From<DatabaseAnswer> for TableAnswer {
    fn from(answer: DatabaseAnswer) -> Self {
        Self { table: answer.table }
    }
}

/// The record of a database.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DatabaseRecordAnswer {
    /// The database's record.
    database: DatabaseRecord,
}

/// Delete a database
///
/// The database is out of use at once. What lies in it is deleted afterwards, and its record then.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/databases/{databaseId}", responses(
    (status = 409, description = "This table is protected from deletion.\n\nThis table is being created.\n\n\
        This table is being deleted."),
))]
pub(crate) async fn database_delete(
    org: Org<ResourcesWrite>,
    Path(DatabaseId(id)): Path<DatabaseId>,
    state: State,
) -> Result<Accepted<DatabaseRecordAnswer>> {
    let command = ChangeResource(DeleteTable(id));
    let deleted = state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    Ok(Accepted(DatabaseRecordAnswer { database: deleted.into() }))
}
