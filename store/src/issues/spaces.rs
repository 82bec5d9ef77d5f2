//! Spaces.

use domain::{
    Timestamp,
    id::{OrgId, SpaceId, TeamId, UserId},
    issues::{key::SpaceKey, space::Space},
};

use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct SpaceRow {
        id: String,
        org_id: String,
        key: String,
        name: String,
        description: String,
        template: String,
        lead_id: Option<String>,
        icon: Option<String>,
        color: Option<String>,
        archived_at: Option<i64>,
        seq: i64,
        config: String,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

row! {
    struct TeamRow {
        team_id: String,
    }
}

const COLUMNS: &str = "id, org_id, key, name, description, template, lead_id, icon, color, archived_at, seq, config, version, \
                       created_at, updated_at";

/// A name in a column, as the domain writes it.
fn word<T: serde::de::DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_value(serde_json::Value::from(text)).map_err(|_| StoreError::corrupt(what))
}

/// A name for a column, as the domain writes it.
fn written(value: &impl serde::Serialize) -> String {
    json::text(value).trim_matches('"').to_owned()
}

impl TryFrom<SpaceRow> for Space {
    type Error = StoreError;

    fn try_from(row: SpaceRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("an id of issue_spaces");
        Ok(Self {
            org_id: row.org_id.parse().map_err(|_| corrupt())?,
            space_id: row.id.parse().map_err(|_| corrupt())?,
            key: row.key,
            name: row.name,
            description: row.description,
            template: word("issue_spaces.template", &row.template)?,
            lead_id: row.lead_id.map(|id| id.parse()).transpose().map_err(|_| corrupt())?,
            icon: row.icon,
            color: row.color.map(|color| word("issue_spaces.color", &color)).transpose()?,
            archived: row.archived_at.is_some(),
            archived_at: row.archived_at.map(Timestamp),
            seq: row.seq,
            config: json::read("issue_spaces.config", &row.config)?,
            version: row.version,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Store {
    /// The organization's spaces, in the order of their keys.
    pub async fn issue_spaces(&self, org_id: OrgId) -> Result<Vec<Space>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM issue_spaces WHERE org_id = $1 ORDER BY key");
        let rows: Vec<SpaceRow> = self.reader().rows(&Sql::new(statement, [org_id.to_string().into()])).await?;
        let mut spaces = rows.into_iter().map(Space::try_from).collect::<Result<Vec<_>, _>>()?;
        // Databases don't agree on the order of texts.
        spaces.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(spaces)
    }

    /// The organization's space with this id.
    pub async fn issue_space(&self, org_id: OrgId, id: SpaceId) -> Result<Option<Space>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM issue_spaces WHERE org_id = $1 AND id = $2");
        let sql = Sql::new(statement, [org_id.to_string().into(), id.to_string().into()]);
        self.reader().row::<SpaceRow>(&sql).await?.map(Space::try_from).transpose()
    }

    /// The organization's space that a text names: by its key, in any case, or its id.
    pub async fn issue_space_named(&self, org_id: OrgId, text: &str) -> Result<Option<Space>, StoreError> {
        let (id, key) = (text.parse::<SpaceId>().ok(), text.parse::<SpaceKey>().ok());
        let statement = format!("SELECT {COLUMNS} FROM issue_spaces WHERE org_id = $1 AND (id = $2 OR key = $3)");
        let key = key.map(|key| key.as_str().to_owned());
        let values = [org_id.to_string().into(), id.map(|id| id.to_string()).into(), key.into()];
        self.reader().row::<SpaceRow>(&Sql::new(statement, values)).await?.map(Space::try_from).transpose()
    }

    /// The teams of the organization that a person is in.
    pub async fn teams_of_person(&self, org_id: OrgId, user_id: UserId) -> Result<Vec<TeamId>, StoreError> {
        let statement = "SELECT team_id FROM team_members WHERE org_id = $1 AND user_id = $2";
        let sql = Sql::new(statement, [org_id.to_string().into(), user_id.to_string().into()]);
        let rows: Vec<TeamRow> = self.reader().rows(&sql).await?;
        let parsed = |row: TeamRow| row.team_id.parse().map_err(|_| StoreError::corrupt("team_members.team_id"));
        rows.into_iter().map(parsed).collect()
    }
}

impl Change {
    /// Adds a space.
    pub fn issue_space_add(&mut self, space: &Space) {
        let statement = format!(
            "INSERT INTO issue_spaces ({COLUMNS}) VALUES \
             ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
        );
        let values = [
            space.space_id.to_string().into(),
            space.org_id.to_string().into(),
            space.key.clone().into(),
            space.name.clone().into(),
            space.description.clone().into(),
            space.template.as_str().into(),
            space.lead_id.map(|id| id.to_string()).into(),
            space.icon.clone().into(),
            space.color.map(|color| written(&color)).into(),
            space.archived_at.map(|at| at.0).into(),
            space.seq.into(),
            json::text(&space.config).into(),
            space.version.into(),
            space.created_at.0.into(),
            space.updated_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes a space; stale where it isn't in the version before.
    pub fn issue_space_set(&mut self, space: &Space) {
        let statement = "UPDATE issue_spaces SET name = $3, description = $4, lead_id = $5, icon = $6, color = $7, \
                         archived_at = $8, config = $9, updated_at = $10, version = version + 1 \
                         WHERE id = $1 AND version + 1 = $2";
        let values = [
            space.space_id.to_string().into(),
            space.version.into(),
            space.name.clone().into(),
            space.description.clone().into(),
            space.lead_id.map(|id| id.to_string()).into(),
            space.icon.clone().into(),
            space.color.map(|color| written(&color)).into(),
            space.archived_at.map(|at| at.0).into(),
            json::text(&space.config).into(),
            space.updated_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes the next numbers of a space that is as it was read; stale where somebody else took them, or changed the space.
    pub fn issue_numbers_take(&mut self, space: &Space, count: i64) {
        let statement = "UPDATE issue_spaces SET seq = seq + $4 WHERE id = $1 AND seq = $2 AND version = $3";
        let values = [space.space_id.to_string().into(), space.seq.into(), space.version.into(), count.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
