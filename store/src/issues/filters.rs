//! Saved filters, who starred them, and who is mailed what they find.

use domain::{
    Timestamp,
    id::{IssueFilterId, OrgId, UserId},
    issues::filter::{Filter, Frequency, Subscription},
};

use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct FilterRow {
        id: String,
        org_id: String,
        owner_id: String,
        name: String,
        description: String,
        jql: String,
        sharing: String,
        columns: Option<String>,
        version: i64,
        updated_at: i64,
        starred: i64,
        frequency: Option<String>,
        hour: Option<i64>,
        weekday: Option<i64>,
        last_sent_at: Option<i64>,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// A filter, and what one person has of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterOf {
    /// The filter.
    pub filter: Filter,
    /// Whether the person starred it.
    pub starred: bool,
    /// When the person is mailed what it finds.
    pub subscription: Option<Subscription>,
}

/// A filter, as queries name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFilter {
    /// Its id.
    pub id: IssueFilterId,
    /// Its name.
    pub name: String,
    /// Its query.
    pub jql: String,
}

/// What is selected of filters for the person whose id is `$2`.
const SELECT: &str = "SELECT f.id AS id, f.org_id AS org_id, f.owner_id AS owner_id, f.name AS name, \
     f.description AS description, f.jql AS jql, f.sharing AS sharing, f.columns AS columns, f.version AS version, \
     f.updated_at AS updated_at, (CASE WHEN s.user_id IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END) AS starred, \
     u.frequency AS frequency, u.hour AS hour, u.weekday AS weekday, u.last_sent_at AS last_sent_at FROM issue_filters f \
     LEFT JOIN issue_filter_stars s ON s.filter_id = f.id AND s.user_id = $2 \
     LEFT JOIN issue_filter_subscriptions u ON u.filter_id = f.id AND u.user_id = $2 WHERE f.org_id = $1";

impl FilterRow {
    fn subscription(&self) -> Result<Option<Subscription>, StoreError> {
        let (Some(frequency), Some(hour)) = (&self.frequency, self.hour) else { return Ok(None) };
        let corrupt = || StoreError::corrupt("issue_filter_subscriptions");
        let weekday = self.weekday.map(i32::try_from).transpose().map_err(|_| corrupt())?;
        Ok(Some(Subscription {
            frequency: Frequency::from_name(frequency).ok_or_else(corrupt)?,
            hour: i32::try_from(hour).map_err(|_| corrupt())?,
            weekday,
            last_sent_at: self.last_sent_at.map(Timestamp),
        }))
    }
}

impl TryFrom<FilterRow> for FilterOf {
    type Error = StoreError;

    fn try_from(row: FilterRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("an id of issue_filters");
        let subscription = row.subscription()?;
        let filter = Filter {
            id: row.id.parse().map_err(|_| corrupt())?,
            org_id: row.org_id.parse().map_err(|_| corrupt())?,
            owner_id: row.owner_id.parse().map_err(|_| corrupt())?,
            name: row.name,
            description: row.description,
            jql: row.jql,
            sharing: json::read("issue_filters.sharing", &row.sharing)?,
            columns: row.columns.map(|text| json::read("issue_filters.columns", &text)).transpose()?,
            version: row.version,
            updated_at: Timestamp(row.updated_at),
        };
        Ok(Self { filter, starred: row.starred != 0, subscription })
    }
}

impl Store {
    /// The organization's filters, with what a person has of each, the starred ones first, then by name.
    pub async fn issue_filters(&self, org_id: OrgId, person: UserId) -> Result<Vec<FilterOf>, StoreError> {
        let sql = Sql::new(SELECT, [org_id.to_string().into(), person.to_string().into()]);
        let rows: Vec<FilterRow> = self.reader().rows_of_many(&sql).await?;
        let mut filters = rows.into_iter().map(FilterOf::try_from).collect::<Result<Vec<_>, _>>()?;
        filters.sort_by_cached_key(|it| (!it.starred, it.filter.name.to_lowercase(), it.filter.id));
        Ok(filters)
    }

    /// The organization's filter with this id, with what a person has of it.
    pub async fn issue_filter(
        &self,
        org_id: OrgId,
        id: IssueFilterId,
        person: UserId,
    ) -> Result<Option<FilterOf>, StoreError> {
        let statement = format!("{SELECT} AND f.id = $3");
        let values = [org_id.to_string().into(), person.to_string().into(), id.to_string().into()];
        self.reader().row::<FilterRow>(&Sql::new(statement, values)).await?.map(FilterOf::try_from).transpose()
    }

    /// The organization of a filter.
    pub async fn issue_filter_org(&self, id: IssueFilterId) -> Result<Option<OrgId>, StoreError> {
        row! {
            struct OrgRow {
                org_id: String,
            }
        }
        let sql = Sql::new("SELECT org_id FROM issue_filters WHERE id = $1", [id.to_string().into()]);
        let row: Option<OrgRow> = self.reader().row(&sql).await?;
        row.map(|row| row.org_id.parse().map_err(|_| StoreError::corrupt("issue_filters.org_id"))).transpose()
    }

    /// How many filters a person has in an organization.
    pub async fn issue_filters_count(&self, org_id: OrgId, owner: UserId) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_filters WHERE org_id = $1 AND owner_id = $2";
        let sql = Sql::new(statement, [org_id.to_string().into(), owner.to_string().into()]);
        let row: Option<CountRow> = self.reader().row(&sql).await?;
        u64::try_from(row.map_or(0, |row| row.count)).map_err(StoreError::corrupt)
    }
}

impl Change {
    /// Adds a filter.
    pub fn issue_filter_add(&mut self, filter: &Filter) {
        let statement = "INSERT INTO issue_filters (id, org_id, owner_id, name, description, jql, sharing, columns, version, \
                         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let values = [
            filter.id.to_string().into(),
            filter.org_id.to_string().into(),
            filter.owner_id.to_string().into(),
            filter.name.clone().into(),
            filter.description.clone().into(),
            filter.jql.clone().into(),
            json::text(&filter.sharing).into(),
            filter.columns.as_ref().map(json::text).into(),
            filter.version.into(),
            filter.updated_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes a filter, whose version was counted; stale where it isn't in the version before.
    pub fn issue_filter_set(&mut self, filter: &Filter) {
        let statement = "UPDATE issue_filters SET name = $3, description = $4, jql = $5, sharing = $6, columns = $7, \
                         updated_at = $8, version = version + 1 WHERE id = $1 AND version + 1 = $2";
        let values = [
            filter.id.to_string().into(),
            filter.version.into(),
            filter.name.clone().into(),
            filter.description.clone().into(),
            filter.jql.clone().into(),
            json::text(&filter.sharing).into(),
            filter.columns.as_ref().map(json::text).into(),
            filter.updated_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes a filter with stars and subscriptions; stale where it is gone.
    pub fn issue_filter_remove(&mut self, id: IssueFilterId) {
        let key = || [id.to_string().into()];
        self.run_statement(Sql::new("DELETE FROM issue_filters WHERE id = $1", key()), Expect::Rows(1));
        self.run_statement(Sql::new("DELETE FROM issue_filter_stars WHERE filter_id = $1", key()), Expect::Any);
        self.run_statement(Sql::new("DELETE FROM issue_filter_subscriptions WHERE filter_id = $1", key()), Expect::Any);
    }

    /// Has a person star a filter, or no longer.
    pub fn issue_filter_star(&mut self, id: IssueFilterId, person: UserId, starred: bool) {
        let statement = if starred {
            "INSERT INTO issue_filter_stars (filter_id, user_id) VALUES ($1, $2) ON CONFLICT (filter_id, user_id) DO NOTHING"
        } else {
            "DELETE FROM issue_filter_stars WHERE filter_id = $1 AND user_id = $2"
        };
        self.run_statement(Sql::new(statement, [id.to_string().into(), person.to_string().into()]), Expect::Any);
    }

    /// Remembers when a person was last mailed what a filter finds.
    pub fn issue_filter_sent(&mut self, id: IssueFilterId, person: UserId, now: Timestamp) {
        let statement = "UPDATE issue_filter_subscriptions SET last_sent_at = $3 WHERE filter_id = $1 AND user_id = $2";
        let values = [id.to_string().into(), person.to_string().into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Has a person be mailed what a filter finds, or no longer.
    pub fn issue_filter_subscribe(&mut self, id: IssueFilterId, person: UserId, wanted: Option<Subscription>) {
        let key = || [id.to_string().into(), person.to_string().into()];
        let statement = "DELETE FROM issue_filter_subscriptions WHERE filter_id = $1 AND user_id = $2";
        self.run_statement(Sql::new(statement, key()), Expect::Any);
        let Some(wanted) = wanted else { return };
        let statement = "INSERT INTO issue_filter_subscriptions (filter_id, user_id, frequency, hour, weekday, last_sent_at) \
                         VALUES ($1, $2, $3, $4, $5, NULL)";
        let values = key().into_iter().chain([
            wanted.frequency.as_str().into(),
            i64::from(wanted.hour).into(),
            wanted.weekday.map(i64::from).into(),
        ]);
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
