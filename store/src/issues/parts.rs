//! Components and versions of spaces.

use domain::{
    Timestamp,
    id::{OrgId, SpaceId},
    issues::{
        issue::Issue,
        parts::{Component, ComponentAssignee, Version, folded},
    },
};

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    struct ComponentRow {
        id: String,
        space_id: String,
        name: String,
        description: String,
        lead_id: Option<String>,
        default_assignee: String,
        version: i64,
        created_at: i64,
    }
}

row! {
    struct VersionRow {
        id: String,
        space_id: String,
        name: String,
        description: String,
        start_date: Option<String>,
        release_date: Option<String>,
        released_at: Option<i64>,
        archived: i64,
        place: i64,
        version: i64,
        created_at: i64,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

const COMPONENT: &str = "id, space_id, name, description, lead_id, default_assignee, version, created_at";
const VERSION: &str =
    "id, space_id, name, description, start_date, release_date, released_at, archived, place, version, created_at";

/// A kind of thing that issues of a space have, and that goes only where none has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A component.
    Component,
    /// A version.
    Version,
    /// A sprint; issues come only to one that isn't closed.
    Sprint,
}

impl PartKind {
    const fn value_kind(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Version => "version",
            Self::Sprint => "sprint",
        }
    }

    /// What counts a part that is still there: it meets one row.
    const fn stays(self) -> &'static str {
        match self {
            Self::Component => "UPDATE issue_components SET version = version WHERE id = $1",
            Self::Version => "UPDATE issue_versions SET version = version WHERE id = $1",
            Self::Sprint => "UPDATE issue_sprints SET version = version WHERE id = $1 AND state <> 'closed'",
        }
    }

    const fn removes(self) -> &'static str {
        match self {
            Self::Component => "DELETE FROM issue_components WHERE id = $1 AND version = $2",
            Self::Version => "DELETE FROM issue_versions WHERE id = $1 AND version = $2",
            Self::Sprint => "DELETE FROM issue_sprints WHERE id = $1 AND version = $2",
        }
    }
}

impl TryFrom<ComponentRow> for Component {
    type Error = StoreError;

    fn try_from(row: ComponentRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("a value of issue_components");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            space_id: row.space_id.parse().map_err(|_| corrupt())?,
            name: row.name,
            description: row.description,
            lead_id: row.lead_id.map(|id| id.parse()).transpose().map_err(|_| corrupt())?,
            default_assignee: ComponentAssignee::from_name(&row.default_assignee).ok_or_else(corrupt)?,
            version: row.version,
            created_at: Timestamp(row.created_at),
        })
    }
}

impl TryFrom<VersionRow> for Version {
    type Error = StoreError;

    fn try_from(row: VersionRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("a value of issue_versions");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            space_id: row.space_id.parse().map_err(|_| corrupt())?,
            name: row.name,
            description: row.description,
            start_date: row.start_date,
            release_date: row.release_date,
            released_at: row.released_at.map(Timestamp),
            archived: row.archived == 1,
            place: row.place,
            version: row.version,
            created_at: Timestamp(row.created_at),
        })
    }
}

impl Store {
    /// The components of the organization, or of one of its spaces, by their names.
    pub async fn issue_components(&self, org_id: OrgId, space: Option<SpaceId>) -> Result<Vec<Component>, StoreError> {
        let statement =
            format!("SELECT {COMPONENT} FROM issue_components WHERE org_id = $1 AND ($2 = '' OR space_id = $2)");
        let rows: Vec<ComponentRow> = self.reader().rows(&Sql::new(statement, of_space(org_id, space))).await?;
        let mut found = rows.into_iter().map(Component::try_from).collect::<Result<Vec<_>, _>>()?;
        // Databases don't agree on the order of texts.
        found.sort_by_cached_key(|it| (folded(&it.name), it.id));
        Ok(found)
    }

    /// The versions of the organization, or of one of its spaces, by their places.
    pub async fn issue_versions(&self, org_id: OrgId, space: Option<SpaceId>) -> Result<Vec<Version>, StoreError> {
        let statement = format!(
            "SELECT {VERSION} FROM issue_versions WHERE org_id = $1 AND ($2 = '' OR space_id = $2) ORDER BY place, id"
        );
        let rows: Vec<VersionRow> = self.reader().rows(&Sql::new(statement, of_space(org_id, space))).await?;
        rows.into_iter().map(Version::try_from).collect()
    }

    /// How many issues have a part, those in the trash among them; of a version, also those that it affects.
    pub async fn issue_part_uses(&self, org_id: OrgId, kind: PartKind, id: &str) -> Result<i64, StoreError> {
        let statement = "SELECT COUNT(DISTINCT t.seq) AS count FROM issue_terms t WHERE t.value_no = \
                         (SELECT no FROM issue_values WHERE org_id = $1 AND kind = $2 AND value = $3)";
        let values = [org_id.to_string().into(), kind.value_kind().into(), id.to_owned().into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.map_or(0, |row| row.count))
    }

    /// How many issues that aren't done are to be fixed in a version.
    pub async fn issue_version_open(&self, org_id: OrgId, id: &str) -> Result<i64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_terms t JOIN issues i ON i.seq = t.seq \
                         WHERE t.field = 'fixVersion' AND i.category < 2 AND i.deleted_at IS NULL AND t.value_no = \
                         (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'version' AND value = $2)";
        let values = [org_id.to_string().into(), id.to_owned().into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.map_or(0, |row| row.count))
    }
}

fn of_space(org_id: OrgId, space: Option<SpaceId>) -> [sea_orm::Value; 2] {
    [org_id.to_string().into(), space.map_or_else(String::new, |id| id.to_string()).into()]
}

impl Change {
    /// Adds a component; stale where another one of the space has its name.
    pub fn issue_component_add(&mut self, org_id: OrgId, component: &Component) {
        let statement = "INSERT INTO issue_components (id, org_id, space_id, name, folded, description, lead_id, \
                         default_assignee, version, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                         ON CONFLICT DO NOTHING";
        let values = [
            component.id.to_string().into(),
            org_id.to_string().into(),
            component.space_id.to_string().into(),
            component.name.clone().into(),
            folded(&component.name).into(),
            component.description.clone().into(),
            component.lead_id.map(|id| id.to_string()).into(),
            component.default_assignee.as_str().into(),
            component.version.into(),
            component.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes a component, whose version was counted; stale where it isn't in the version before, or another one has its name.
    pub fn issue_component_set(&mut self, component: &Component) {
        let statement = "UPDATE issue_components SET name = $3, folded = $4, description = $5, lead_id = $6, \
                         default_assignee = $7, version = version + 1 WHERE id = $1 AND version + 1 = $2 AND NOT EXISTS \
                         (SELECT 1 FROM issue_components o WHERE o.space_id = $8 AND o.folded = $4 AND o.id <> $1)";
        let values = [
            component.id.to_string().into(),
            component.version.into(),
            component.name.clone().into(),
            folded(&component.name).into(),
            component.description.clone().into(),
            component.lead_id.map(|id| id.to_string()).into(),
            component.default_assignee.as_str().into(),
            component.space_id.to_string().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Adds a version; stale where another one of the space has its name.
    pub fn issue_version_add(&mut self, org_id: OrgId, version: &Version) {
        let statement = "INSERT INTO issue_versions (id, org_id, space_id, name, folded, description, start_date, \
                         release_date, released_at, archived, place, version, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING";
        let values = [
            version.id.to_string().into(),
            org_id.to_string().into(),
            version.space_id.to_string().into(),
            version.name.clone().into(),
            folded(&version.name).into(),
            version.description.clone().into(),
            version.start_date.clone().into(),
            version.release_date.clone().into(),
            version.released_at.map(|at| at.0).into(),
            i64::from(version.archived).into(),
            version.place.into(),
            version.version.into(),
            version.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes a version, whose count of changes was counted; stale where it isn't as before, or another one has its name.
    pub fn issue_version_set(&mut self, version: &Version) {
        let statement = "UPDATE issue_versions SET name = $3, folded = $4, description = $5, start_date = $6, \
                         release_date = $7, released_at = $8, archived = $9, place = $10, version = version + 1 \
                         WHERE id = $1 AND version + 1 = $2 AND NOT EXISTS \
                         (SELECT 1 FROM issue_versions o WHERE o.space_id = $11 AND o.folded = $4 AND o.id <> $1)";
        let values = [
            version.id.to_string().into(),
            version.version.into(),
            version.name.clone().into(),
            folded(&version.name).into(),
            version.description.clone().into(),
            version.start_date.clone().into(),
            version.release_date.clone().into(),
            version.released_at.map(|at| at.0).into(),
            i64::from(version.archived).into(),
            version.place.into(),
            version.space_id.to_string().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes a part that no issue has; stale where it changed, or an issue came to have it.
    pub fn issue_part_remove(&mut self, org_id: OrgId, kind: PartKind, (id, version): (&str, i64)) {
        self.run_statement(Sql::new(kind.removes(), [id.to_owned().into(), version.into()]), Expect::Rows(1));
        let statement = "UPDATE issue_terms SET seq = seq WHERE value_no = \
                         (SELECT no FROM issue_values WHERE org_id = $1 AND kind = $2 AND value = $3)";
        let values = [org_id.to_string().into(), kind.value_kind().into(), id.to_owned().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(0));
    }

    /// Has the commit be stale where a part that an issue comes to have is gone.
    pub(super) fn issue_parts_stay(&mut self, issue: &Issue, before: Option<&Issue>) {
        for (field, kind) in [
            ("component", PartKind::Component),
            ("fixVersion", PartKind::Version),
            ("affectedVersion", PartKind::Version),
            ("sprint", PartKind::Sprint),
        ] {
            let had = before.map(|before| before.kept(field)).unwrap_or_default();
            for id in issue.kept(field).into_iter().filter(|id| !had.contains(id)) {
                self.run_statement(Sql::new(kind.stays(), [id.into()]), Expect::Rows(1));
            }
        }
    }
}
