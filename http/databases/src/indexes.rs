//! Indexes that come and go while their table is in use.

use actors::{
    databases::{CreateIndex, DeleteIndex},
    resources::ChangeResource,
};
use domain::databases::TableName;
use http_shell::{
    answer::Accepted,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::{DatabaseId, Path, PathParameter},
    permission::ResourcesWrite,
    state::State,
};

use super::{
    description::IndexCreate,
    tables::{DatabaseAnswer, TableAnswer},
};

/// The name of an index.
pub(crate) struct IndexName(String);

impl PathParameter for IndexName {
    const NAME: &'static str = "indexName";
    const DESCRIPTION: &'static str = "What an index is called.";
    const EXAMPLE: &'static str = "by-email";
    const NOT_FOUND: &'static str = "Index not found.";

    fn read(text: &str) -> Option<Self> {
        TableName::parse(Self::NAME, text).ok().map(|name| Self(name.as_str().to_owned()))
    }
}

impl RequestBody for IndexCreate {}

/// Make an index
///
/// Only a global one: it can be read once the items that are there have been added, and is kept up with every write until
/// then, too. It takes the place of one of its name that has failed.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases/{databaseId}/indexes", responses(
    (status = 404, description = "Table not found"),
    (status = 409, description = "An index with this name exists.\n\nA table has up to 20 global indexes.\n\n\
        This table is being created.\n\nThis table is being deleted."),
))]
pub(crate) async fn database_index_create(
    org: Org<ResourcesWrite>,
    body: Body<IndexCreate>,
    Path(DatabaseId(id)): Path<DatabaseId>,
    state: State,
) -> Result<Accepted<TableAnswer>> {
    let command = ChangeResource(CreateIndex { id, index: body.into_inner().read("")? });
    state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    Ok(Accepted(DatabaseAnswer::read(&state, org.id(), id).await?.into()))
}

/// Delete an index
///
/// The index is out of use at once.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/databases/{databaseId}/indexes/{indexName}", responses(
    (status = 404, description = "Table not found"),
    (status = 409, description = "A local index stays as long as its table.\n\nThis table is being created.\n\n\
        This table is being deleted."),
))]
pub(crate) async fn database_index_delete(
    org: Org<ResourcesWrite>,
    Path(DatabaseId(id)): Path<DatabaseId>,
    Path(IndexName(name)): Path<IndexName>,
    state: State,
) -> Result<Accepted<TableAnswer>> {
    let command = ChangeResource(DeleteIndex { id, name });
    state.actors.resource_book.ask(&org.id(), command, org.context()).await?;
    Ok(Accepted(DatabaseAnswer::read(&state, org.id(), id).await?.into()))
}
