//! What a table is, on the wire: as it is asked for, and as it is shown.

use actors::databases::table_status;
use domain::{
    Result,
    databases::{
        Index, IndexKind, IndexStatus, KeyAttribute, KeySchema, KeyType, Projection, ProjectionType, TableClass,
        TableName,
    },
    problems::{Problems, all},
    resource::Resource,
};
use serde::{Deserialize, Serialize};
use store::databases::{KeptIndex, KeptTable, TableCount};
use utoipa::ToSchema;

use super::names::named;

/// An attribute that keys are made of.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "userId", "type": "S"}))]
pub(crate) struct KeyAttributeBody {
    /// The attribute's name: 1 to 255 characters.
    name: String,
    /// The type of its values: `S` (a string), `N` (a number) or `B` (binary).
    #[serde(rename = "type")]
    key_type: String,
}

impl KeyAttributeBody {
    fn read(self, path: &str) -> Result<KeyAttribute> {
        let key_type = named(&format!("{path}.type"), &self.key_type, KeyType::ALL, KeyType::as_str)?;
        Ok(KeyAttribute { name: self.name, key_type })
    }

    fn of(attribute: &KeyAttribute) -> Self {
        Self { name: attribute.name.clone(), key_type: attribute.key_type.as_str().to_owned() }
    }
}

/// The schema that a partition key and a sort key make; `path` stands before their fields.
pub(super) fn read_schema(
    path: &str,
    partition: KeyAttributeBody,
    sort: Option<KeyAttributeBody>,
) -> Result<KeySchema> {
    let (partition, sort) = all((
        partition.read(&format!("{path}partitionKey")),
        sort.map(|sort| sort.read(&format!("{path}sortKey"))).transpose(),
    ))?;
    Ok(KeySchema { partition, sort })
}

/// What an index shows of its items.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"type": "INCLUDE", "attributes": ["name"]}))]
pub(crate) struct IndexProjection {
    /// `ALL`, `KEYS_ONLY` or `INCLUDE`.
    #[serde(rename = "type")]
    projection_type: String,
    /// Of `INCLUDE`: 1 to 20 attributes beside the keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attributes: Option<Vec<String>>,
}

/// A new index.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "by-email", "partitionKey": {"name": "email", "type": "S"}, "kind": "global"}))]
pub(crate) struct IndexCreate {
    /// What it is called: 3 to 255 letters, digits, `_`, `.` and `-`.
    name: String,
    /// By whose values its items are spread.
    partition_key: KeyAttributeBody,
    /// By whose values those of one partition are sorted.
    sort_key: Option<KeyAttributeBody>,
    /// `global`, or `local` for one with the table's own partition key.
    kind: String,
    /// What it shows of its items; all of them where it isn't said.
    projection: Option<IndexProjection>,
}

impl IndexCreate {
    /// The index; `path` stands before its fields.
    pub(super) fn read(self, path: &str) -> Result<Index> {
        let (name, schema, kind, projection) = all((
            TableName::parse(&format!("{path}name"), &self.name),
            read_schema(path, self.partition_key, self.sort_key),
            named(&format!("{path}kind"), &self.kind, IndexKind::ALL, IndexKind::as_str),
            self.projection.map(|projection| projection.read(path)).transpose(),
        ))?;
        let all_of_it = Projection { projection_type: ProjectionType::All, attributes: Vec::new() };
        Ok(Index { name, schema, kind, projection: projection.unwrap_or(all_of_it) })
    }
}

impl IndexProjection {
    fn read(self, path: &str) -> Result<Projection> {
        let path = format!("{path}projection.type");
        let projection_type = named(&path, &self.projection_type, ProjectionType::ALL, ProjectionType::as_str)?;
        Ok(Projection { projection_type, attributes: self.attributes.unwrap_or_default() })
    }

    fn of(projection: &Projection) -> Self {
        let attributes = Some(projection.attributes.clone()).filter(|attributes| !attributes.is_empty());
        Self { projection_type: projection.projection_type.as_str().to_owned(), attributes }
    }
}

/// The indexes that are asked for, with all that is wrong with any of them.
pub(super) fn read_indexes(indexes: Vec<IndexCreate>) -> Result<Vec<Index>> {
    let mut problems = Problems::new();
    let mut read = Vec::with_capacity(indexes.len());
    for (place, index) in indexes.into_iter().enumerate() {
        read.extend(problems.keep(index.read(&format!("indexes[{place}].")))?);
    }
    problems.into_result().map(|()| read)
}

/// An index.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TableIndexBody {
    /// What it is called.
    name: String,
    /// By whose values its items are spread.
    partition_key: KeyAttributeBody,
    /// By whose values those of one partition are sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_key: Option<KeyAttributeBody>,
    /// `local` or `global`.
    kind: &'static str,
    /// What it shows of its items.
    projection: IndexProjection,
    /// `CREATING`, `ACTIVE`, or `FAILED` where adding the items from before it was given up: it can be deleted, or made again.
    status: &'static str,
    /// Whether items from before it are still being added.
    #[serde(skip_serializing_if = "Option::is_none")]
    backfilling: Option<bool>,
}

impl From<&KeptIndex> for TableIndexBody {
    fn from(kept: &KeptIndex) -> Self {
        let KeptIndex { index, status, .. } = kept;
        Self {
            name: index.name.to_string(),
            partition_key: KeyAttributeBody::of(&index.schema.partition),
            sort_key: index.schema.sort.as_ref().map(KeyAttributeBody::of),
            kind: index.kind.as_str(),
            projection: IndexProjection::of(&index.projection),
            status: status.as_str(),
            backfilling: (*status == IndexStatus::Creating).then_some(true),
        }
    }
}

/// A table as it is now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "partitionKey": {"name": "userId", "type": "S"}, "sortKey": {"name": "at", "type": "N"}, "name": "Sessions",
    "status": "ACTIVE", "indexes": [], "itemCount": 12, "sizeBytes": 3_456, "billingMode": "PAY_PER_REQUEST",
    "tableClass": "STANDARD", "deletionProtection": false, "createdAt": 1_767_225_600_000_i64
}))]
pub(super) struct TableBody {
    /// By whose values items are spread.
    partition_key: KeyAttributeBody,
    /// By whose values those of one partition are sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_key: Option<KeyAttributeBody>,
    /// What it is called.
    name: String,
    /// `CREATING`, `ACTIVE`, `UPDATING` or `DELETING`.
    status: &'static str,
    /// The table's indexes.
    indexes: Vec<TableIndexBody>,
    /// How many items it has now.
    item_count: u64,
    /// How many bytes these are, names and values.
    size_bytes: u64,
    /// `PAY_PER_REQUEST` or `PROVISIONED`; kept and shown only.
    billing_mode: &'static str,
    /// Always `STANDARD`.
    table_class: &'static str,
    /// Whether it can't be deleted.
    deletion_protection: bool,
    /// The attribute that says when an item expires, in seconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_attribute: Option<String>,
    /// When it was made.
    created_at: i64,
}

impl TableBody {
    pub(super) fn of(resource: &Resource, kept: &KeptTable, count: TableCount) -> Self {
        Self {
            partition_key: KeyAttributeBody::of(&kept.schema.partition),
            sort_key: kept.schema.sort.as_ref().map(KeyAttributeBody::of),
            name: resource.name.clone(),
            status: table_status(resource.status).as_str(),
            indexes: kept.indexes.iter().map(TableIndexBody::from).collect(),
            item_count: count.items,
            size_bytes: count.bytes,
            billing_mode: kept.settings.billing_mode.as_str(),
            table_class: TableClass::Standard.as_str(),
            deletion_protection: kept.settings.deletion_protection,
            ttl_attribute: kept.settings.ttl_attribute.clone(),
            created_at: resource.created_at.as_millis(),
        }
    }
}

/// A table in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "status": "ACTIVE", "itemCount": 12, "sizeBytes": 3_456, "partitionKey": {"name": "userId", "type": "S"},
    "indexCount": 0, "deletionProtection": false
}))]
pub(super) struct TableSummary {
    /// `CREATING`, `ACTIVE`, `UPDATING` or `DELETING`.
    status: &'static str,
    /// How many items it has now.
    item_count: u64,
    /// How many bytes these are, names and values.
    size_bytes: u64,
    /// By whose values items are spread.
    partition_key: KeyAttributeBody,
    /// By whose values those of one partition are sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_key: Option<KeyAttributeBody>,
    /// How many indexes it has.
    index_count: usize,
    /// Whether it can't be deleted.
    deletion_protection: bool,
}

impl TableSummary {
    pub(super) fn of(resource: &Resource, kept: &KeptTable, count: TableCount) -> Self {
        Self {
            status: table_status(resource.status).as_str(),
            item_count: count.items,
            size_bytes: count.bytes,
            partition_key: KeyAttributeBody::of(&kept.schema.partition),
            sort_key: kept.schema.sort.as_ref().map(KeyAttributeBody::of),
            index_count: kept.indexes.len(),
            deletion_protection: kept.settings.deletion_protection,
        }
    }
}
