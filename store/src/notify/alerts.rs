//! Alerts that go on, by organization and `dedupKey`. One that is over has no row.

use std::collections::BTreeSet;

use domain::{Timestamp, id::OrgId, notify::OpenAlert};
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter};

use crate::{Change, Expect, Purge, Store, StoreError, json, reader::Reads, sql::Sql};

/// Keys that one statement asks for.
const KEYS_PER_READ: usize = 500;

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "alerts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub org_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub dedup_key: String,
        pub version: i64,
        pub told: String,
        pub opened_at: i64,
        pub last_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What tells one alert from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AlertKey {
    /// The organization that it happens in, where it happens in one.
    pub org_id: Option<OrgId>,
    /// What its source calls it.
    pub dedup_key: String,
}

/// An alert as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAlert {
    /// Which.
    pub key: AlertKey,
    /// Counts how often somebody was told.
    pub version: i64,
    /// What is known of it.
    pub alert: OpenAlert,
}

/// The column: an alert of no organization has an empty one, so that the key is never null.
fn column(org_id: Option<OrgId>) -> String {
    org_id.map(|id| id.to_string()).unwrap_or_default()
}

impl TryFrom<row::Model> for StoredAlert {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let corrupt = |column: &str| StoreError::corrupt(format_args!("alerts.{column}"));
        let org_id = Some(row.org_id.as_str()).filter(|id| !id.is_empty());
        Ok(Self {
            key: AlertKey {
                org_id: org_id.map(str::parse).transpose().map_err(|_| corrupt("org_id"))?,
                dedup_key: row.dedup_key,
            },
            version: row.version,
            alert: OpenAlert {
                told: serde_json::from_str(&row.told).map_err(|_| corrupt("told"))?,
                opened_at: Timestamp(row.opened_at),
                last_at: Timestamp(row.last_at),
            },
        })
    }
}

impl Change {
    /// Opens an alert; a [`Duplicate`](crate::CommitError::Duplicate) when somebody else has.
    pub fn alert_open(&mut self, key: &AlertKey, alert: &OpenAlert) {
        self.insert(row::ActiveModel {
            org_id: Set(column(key.org_id)),
            dedup_key: Set(key.dedup_key.clone()),
            version: Set(1),
            told: Set(json::text(&alert.told)),
            opened_at: Set(alert.opened_at.0),
            last_at: Set(alert.last_at.0),
        });
    }

    /// Writes what is known of the alert that was read at `version`; stale when it is over, or somebody was told meanwhile.
    pub fn alert_set(&mut self, key: &AlertKey, version: i64, alert: &OpenAlert) {
        let statement = "UPDATE alerts SET version = version + 1, told = $4, opened_at = $5, last_at = $6 \
                         WHERE org_id = $1 AND dedup_key = $2 AND version = $3";
        let values = [
            column(key.org_id).into(),
            key.dedup_key.as_str().into(),
            version.into(),
            json::text(&alert.told).into(),
            alert.opened_at.0.into(),
            alert.last_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that the alert went on at `at`, which is news to nobody; stale when it is over. Any number of nodes may note it.
    pub fn alert_goes_on(&mut self, key: &AlertKey, at: Timestamp) {
        let statement = "UPDATE alerts SET last_at = CASE WHEN last_at < $3 THEN $3 ELSE last_at END \
                         WHERE org_id = $1 AND dedup_key = $2";
        let values = [column(key.org_id).into(), key.dedup_key.as_str().into(), at.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// The alert that was read at `version` is over; stale when somebody was told of it meanwhile.
    pub fn alert_close(&mut self, key: &AlertKey, version: i64) {
        let statement = "DELETE FROM alerts WHERE org_id = $1 AND dedup_key = $2 AND version = $3";
        let values = [column(key.org_id).into(), key.dedup_key.as_str().into(), version.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}

impl Purge {
    /// The alerts of which nothing came in since `before`.
    pub fn alerts(before: Timestamp) -> Self {
        Self::new("alerts", ["alerts", "org_id, dedup_key", "last_at < $1"], before.0)
    }
}

impl Store {
    /// Those of these alerts that there are.
    pub async fn alerts(&self, keys: &BTreeSet<AlertKey>) -> Result<Vec<StoredAlert>, StoreError> {
        let mut found = Vec::new();
        // They come in the order of organizations, so that each is asked for with one list of keys.
        for keys in keys.iter().collect::<Vec<_>>().chunks(KEYS_PER_READ) {
            let of_one = keys.chunk_by(|one, other| one.org_id == other.org_id).map(|keys| {
                Condition::all()
                    .add(row::Column::OrgId.eq(column(keys[0].org_id)))
                    .add(row::Column::DedupKey.is_in(keys.iter().map(|key| key.dedup_key.as_str())))
            });
            let any = of_one.fold(Condition::any(), Condition::add);
            found.append(&mut row::Entity::find().filter(any).read_all(self.reader()).await?);
        }
        found.into_iter().map(StoredAlert::try_from).collect()
    }
}
