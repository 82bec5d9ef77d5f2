//! Deleting what lies in tables that are being deleted, and then the tables, as a job.

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{Tenant, Timestamp, id::OrgId};
use store::{Change, NewWork, Permits, databases::TableRows};

/// The job that empties an organization's tables that are being deleted.
pub(crate) const TABLE_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("These tables are being deleted; what is left in them can't be kept."),
    ..Topic::new("databases.removal")
};

/// Has the tables that the change has be deleted be emptied after it. Each deletion adds an entry of its own: one that is about
/// to end must not keep the next one out. Of several, the first empties all tables, and the others find none.
pub(crate) fn delete_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.work_add(now, NewWork::new(TABLE_REMOVAL.name, org_id, &()));
}

/// Has the tables of an organization that the change deletes be deleted after it.
pub(crate) fn delete_tables_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.tables_close(org_id);
    delete_after(change, org_id, now);
}

/// Empties an organization's tables that are being deleted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableRemoval;

impl Handler for TableRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let mut cleared = Cleared::of(job)?;
        while let Some(table) = job.store().table_deleting_next(org_id).await? {
            clear(&mut cleared, job, table.no, TableRows::Indexes).await?;
            clear(&mut cleared, job, table.no, TableRows::Items).await?;
            let mut change = Change::new();
            change.table_remove(&table);
            cleared.step(job, change, &[("tables", 1)]).await?;
        }
        Ok(Change::new())
    }
}

/// Deletes these rows of a table, a step at a time.
pub(crate) async fn clear(cleared: &mut Cleared, job: &Job, table_no: i64, rows: TableRows) -> Result<(), Halt> {
    loop {
        let batch = job.store().table_rows_next(table_no, rows).await?;
        if batch.rows.is_empty() {
            return Ok(());
        }
        cleared.step(job, batch.change, &batch.rows).await?;
    }
}
