//! What an organization has for all of its issues.

use domain::{
    id::OrgId,
    issues::settings::{self, Removed, Settings},
};

use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct CatalogRow {
        settings: Option<String>,
        settings_version: i64,
        version: i64,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// The catalogs of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// They; what everybody begins with, until they are first changed.
    pub settings: Settings,
    /// Counts their changes.
    pub settings_version: i64,
    /// Counts the commits that decide on the catalogs or on which spaces there are.
    pub version: i64,
}

impl Store {
    /// The catalogs of an organization.
    pub async fn issue_catalog(&self, org_id: OrgId) -> Result<Catalog, StoreError> {
        let statement = "SELECT settings, settings_version, version FROM issue_catalogs WHERE org_id = $1";
        let sql = Sql::new(statement, [org_id.to_string().into()]);
        let Some(row) = self.reader().row::<CatalogRow>(&sql).await? else { return Ok(Catalog::default()) };
        let settings = row
            .settings
            .map_or_else(|| Ok(Settings::default()), |text| json::read("issue_catalogs.settings", &text))?;
        Ok(Catalog { settings, settings_version: row.settings_version, version: row.version })
    }

    /// How many issues and links have what is to leave its catalog.
    pub async fn issue_catalog_uses(&self, org_id: OrgId, removed: &Removed) -> Result<i64, StoreError> {
        let (statement, kind) = match removed.catalog {
            settings::Catalog::Link => {
                let statement = "SELECT COUNT(*) AS count FROM issue_links WHERE org_id = $1 AND type_id = $2";
                let sql = Sql::new(statement, [org_id.to_string().into(), removed.id.clone().into()]);
                return Ok(self.reader().row::<CountRow>(&sql).await?.map_or(0, |row| row.count));
            }
            settings::Catalog::Status => ("status_no", "status"),
            settings::Catalog::Type => ("type_no", "type"),
            settings::Catalog::Priority => ("priority_no", "priority"),
            settings::Catalog::Resolution => ("resolution_no", "resolution"),
        };
        let text = format!(
            "SELECT COUNT(*) AS count FROM issues JOIN issue_values ON issue_values.no = issues.{statement} \
             WHERE issue_values.org_id = $1 AND issue_values.kind = '{kind}' AND issue_values.value = $2"
        );
        let sql = Sql::new(text, [org_id.to_string().into(), removed.id.clone().into()]);
        Ok(self.reader().row::<CountRow>(&sql).await?.map_or(0, |row| row.count))
    }
}

impl Change {
    /// Counts a decision on the catalogs or on which spaces there are; stale where somebody else has decided since.
    pub fn issue_catalog_decided(&mut self, org_id: OrgId, version: i64) {
        if version == 0 {
            let statement = "INSERT INTO issue_catalogs (org_id, settings_version, version) VALUES ($1, 0, 1) \
                             ON CONFLICT (org_id) DO NOTHING";
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Rows(1));
            return;
        }
        let statement = "UPDATE issue_catalogs SET version = version + 1 WHERE org_id = $1 AND version = $2";
        self.run_statement(Sql::new(statement, [org_id.to_string().into(), version.into()]), Expect::Rows(1));
    }

    /// Writes the settings, behind [`issue_catalog_decided`](Self::issue_catalog_decided).
    pub fn issue_settings_set(&mut self, org_id: OrgId, settings: &Settings) {
        let statement =
            "UPDATE issue_catalogs SET settings = $2, settings_version = settings_version + 1 WHERE org_id = $1";
        let values = [org_id.to_string().into(), json::text(settings).into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
