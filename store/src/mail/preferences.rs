//! What people chose of their mailboxes (contract B 4.8).

use domain::{
    id::{OrgId, UserId},
    mail::MailPreferences,
};

use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct PreferencesRow {
        categories: bool,
        push: String,
        version: i64,
    }
}

impl Store {
    /// What the person chose in the organization; what everybody has where they chose nothing.
    pub async fn mail_preferences(&self, org_id: OrgId, user_id: UserId) -> Result<MailPreferences, StoreError> {
        let statement = "SELECT categories, push, version FROM mail_preferences WHERE org_id = $1 AND user_id = $2";
        let values = [org_id.to_string().into(), user_id.to_string().into()];
        let Some(row) = self.reader().row::<PreferencesRow>(&Sql::new(statement, values)).await? else {
            return Ok(MailPreferences::default());
        };
        let push = json::read("mail_preferences.push", &row.push)?;
        Ok(MailPreferences { categories: row.categories, push, version: row.version })
    }
}

impl Change {
    /// Writes what the person chose, under the next version; stale when it has another version than it was read with.
    pub fn mail_preferences_set(&mut self, org_id: OrgId, user_id: UserId, chosen: &MailPreferences) {
        let statement = "INSERT INTO mail_preferences (org_id, user_id, categories, push, version) \
                         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (org_id, user_id) DO UPDATE \
                         SET categories = excluded.categories, push = excluded.push, version = excluded.version \
                         WHERE mail_preferences.version = excluded.version - 1";
        let values = [
            org_id.to_string().into(),
            user_id.to_string().into(),
            chosen.categories.into(),
            json::text(&chosen.push).into(),
            (chosen.version + 1).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Forgets what people chose in an organization that is gone.
    pub(super) fn mail_preferences_end(&mut self, org_id: OrgId) {
        let statement = "DELETE FROM mail_preferences WHERE org_id = $1";
        self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
    }
}
