//! Deleting mailboxes: out of sight in one small commit, and what lies in them afterwards, a batch at a time.

use domain::{
    Timestamp,
    id::{MailboxId, OrgId},
};

use super::IdRow;
use crate::{Change, Expect, Store, StoreError, sql::Sql};

impl Change {
    /// Takes a mailbox out of sight, and frees its addresses; stale when it has another version.
    pub fn mailbox_close(&mut self, id: MailboxId, version: i64, now: Timestamp) {
        let statement = "UPDATE mailboxes SET deleted_at = $3, version = version + 1 \
                         WHERE id = $1 AND version = $2 AND deleted_at IS NULL";
        let values = [id.to_string().into(), version.into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.mail_addresses_free(id);
    }

    /// The same of all mailboxes of an organization that is gone, whose domains anybody may claim again.
    pub fn mailboxes_close(&mut self, org_id: OrgId, now: Timestamp) {
        self.mail_domains_end(org_id);
        self.mail_preferences_end(org_id);
        let statement = "UPDATE mailboxes SET deleted_at = $2 WHERE org_id = $1 AND deleted_at IS NULL";
        self.run_statement(Sql::new(statement, [org_id.to_string().into(), now.0.into()]), Expect::Any);
        let statement = "DELETE FROM mail_directories WHERE org_id = $1";
        self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
    }

    /// Deletes what is left of a mailbox in which nothing is left; what arrived for it is dropped by who files it.
    pub fn mailbox_remove(&mut self, id: MailboxId) {
        for statement in [
            "DELETE FROM mail_addresses WHERE mailbox_id = $1",
            "DELETE FROM mail_members WHERE mailbox_id = $1",
            "DELETE FROM mailboxes WHERE id = $1",
        ] {
            self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
        }
    }
}

impl Store {
    /// A mailbox of the organization that is out of sight, if there is any.
    pub async fn mailbox_closed_next(&self, org_id: OrgId) -> Result<Option<MailboxId>, StoreError> {
        let sql = Sql::new(
            "SELECT id FROM mailboxes WHERE org_id = $1 AND deleted_at IS NOT NULL ORDER BY id LIMIT 1",
            [org_id.to_string().into()],
        );
        let row: Option<IdRow> = self.reader().row(&sql).await?;
        row.map(|row| row.id.parse().map_err(|_| StoreError::corrupt("mailboxes.id"))).transpose()
    }
}
