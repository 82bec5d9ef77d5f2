//! The processes that serve: each says now and then that it is there, and how it is.

use domain::time::Timestamp;
use sea_orm::{EntityTrait, QueryOrder};
use serde::{Deserialize, Serialize};

use crate::{Change, Expect, Store, StoreError, json, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "nodes")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub version: String,
        pub started_at: i64,
        pub seen_at: i64,
        pub health: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A process that serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// When it started.
    pub started_at: Timestamp,
    /// When it last said that it is there.
    pub seen_at: Timestamp,
    /// How it was then.
    pub health: NodeHealth,
}

/// How a node is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeHealth {
    /// How long the database took to answer, in microseconds.
    pub database_us: u64,
    /// `in_process` or `redis`.
    pub hub: String,
    /// Whether the hub reaches the other nodes.
    pub hub_connected: bool,
    /// How long that has been so, in seconds.
    pub hub_for_seconds: u64,
    /// What the process holds in RAM, in bytes; 0 where the system doesn't say.
    pub resident_bytes: u64,
    /// How much more the database's clock shows than the node's, in milliseconds.
    pub clock_behind_ms: i64,
    /// Whether that is so much that the node claims no work.
    pub clock_is_off: bool,
}

impl TryFrom<row::Model> for Node {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let health = serde_json::from_str(&row.health)
            .map_err(|error| StoreError::corrupt(format_args!("nodes {}: {error}", row.name)))?;
        let (started_at, seen_at) = (Timestamp(row.started_at), Timestamp(row.seen_at));
        Ok(Self { name: row.name, version: row.version, started_at, seen_at, health })
    }
}

impl Change {
    /// Says that `node` is there.
    pub fn node_seen(&mut self, node: &Node) {
        self.run_statement(
            Sql::new(
                "INSERT INTO nodes (name, version, started_at, seen_at, health) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (name) DO UPDATE SET version = excluded.version, started_at = excluded.started_at, \
                 seen_at = excluded.seen_at, health = excluded.health",
                [
                    node.name.as_str().into(),
                    node.version.as_str().into(),
                    node.started_at.0.into(),
                    node.seen_at.0.into(),
                    json::text(&node.health).into(),
                ],
            ),
            Expect::Any,
        );
    }

    /// Says that the node of this name has left.
    pub fn node_left(&mut self, name: &str) {
        self.run_statement(Sql::new("DELETE FROM nodes WHERE name = $1", [name.into()]), Expect::Any);
    }

    /// Forgets the nodes that were last seen before `before`.
    pub fn nodes_purge(&mut self, before: Timestamp) {
        self.run_statement(Sql::new("DELETE FROM nodes WHERE seen_at < $1", [before.0.into()]), Expect::Any);
    }
}

impl Store {
    /// The nodes that said that they are there and not that they left, by name.
    pub async fn nodes(&self) -> Result<Vec<Node>, StoreError> {
        let rows = row::Entity::find().order_by_asc(row::Column::Name).read_all(self.reader()).await?;
        rows.into_iter().map(Node::try_from).collect()
    }

    /// The node of this name.
    pub async fn node(&self, name: &str) -> Result<Option<Node>, StoreError> {
        row::Entity::find_by_id(name.to_owned()).read_one(self.reader()).await?.map(Node::try_from).transpose()
    }
}
