//! Making, changing and deleting tables, as the organization's book does it.

use actors_base::{
    Services,
    resources::{NewResource, ResourceChange, ResourceCreate, ResourceKind},
};
use domain::{
    Result,
    databases::{IndexStatus, Table, TableChange, no_table},
    id::ResourceId,
    resource::{Resource, ResourceStatus},
};
use store::{
    Change,
    databases::{KeptIndex, KeptTable},
};

use super::{TABLES, removal::delete_after, table_status};

/// Makes a table, which is usable at once.
#[derive(Clone, Debug)]
pub struct CreateTable(pub Table);

impl ResourceCreate for CreateTable {
    const COMMAND: &'static str = "create_table";
    const KIND: ResourceKind = TABLES;

    fn draft(&self) -> NewResource {
        NewResource::named(self.0.name.as_str())
    }

    async fn rows(&self, _: &Services, resource: &Resource) -> Result<Change> {
        let table = &self.0;
        let numbered = (1..).zip(&table.indexes);
        let indexes: Vec<_> =
            numbered.map(|(no, index)| KeptIndex { index: index.clone(), no, status: IndexStatus::Active }).collect();
        let mut change = Change::new();
        change.table_add(&KeptTable {
            // The database gives the number.
            no: 0,
            id: resource.id,
            org_id: resource.org_id,
            schema: table.schema.clone(),
            indexes_made: indexes.last().map_or(0, |index| index.no),
            indexes,
            settings: table.settings.clone(),
            epoch: 1,
        });
        Ok(change)
    }
}

/// Changes how a table behaves.
#[derive(Clone, Debug)]
pub struct ChangeTable {
    /// Which.
    pub id: ResourceId,
    /// What is to be changed.
    pub change: TableChange,
}

impl ResourceChange for ChangeTable {
    const COMMAND: &'static str = "change_table";
    const KIND: ResourceKind = TABLES;
    const ACT: &'static str = "changed";

    fn id(&self) -> ResourceId {
        self.id
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        table_status(resource.status).check_usable()?;
        let mut kept = kept(services, resource).await?.ok_or_else(no_table)?;
        kept.settings = self.change.clone().apply(kept.settings)?;
        let mut change = Change::new();
        change.table_update(&kept);
        Ok(change)
    }
}

/// Deletes a table: it is out of use at once, and what lies in it is deleted by a job.
#[derive(Clone, Copy, Debug)]
pub struct DeleteTable(pub ResourceId);

impl ResourceChange for DeleteTable {
    const COMMAND: &'static str = "delete_table";
    const KIND: ResourceKind = TABLES;
    const ACT: &'static str = "deleted";

    fn id(&self) -> ResourceId {
        self.0
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        table_status(resource.status).check_usable()?;
        resource.status = ResourceStatus::Deleting;
        let mut change = Change::new();
        match kept(services, resource).await? {
            Some(kept) => {
                kept.settings.check_deletable()?;
                change.table_update(&kept);
                delete_after(&mut change, resource.org_id, services.store.now());
            }
            // Nothing is left of it but its record.
            None => change.resource_remove(resource.id),
        }
        Ok(change)
    }
}

async fn kept(services: &Services, resource: &Resource) -> Result<Option<KeptTable>> {
    let database = services.store.database(resource.org_id, resource.id).await?;
    Ok(database.and_then(|database| database.kept))
}
