//! Indexes: the same items by other keys, and as much of them as was asked for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{INCLUDED_MAX, TableName, attribute_name_fault};
use crate::{
    app::names,
    databases::{Item, KeySchema},
    problems::Problems,
};

names! {
    /// Whether an index is sorted within the table's own partitions, or has partitions of its own (contract C 2.3).
    IndexKind { Local = "local", Global = "global", }
}

names! {
    /// What an index shows of its items (contract C 2.3).
    ProjectionType { All = "ALL", KeysOnly = "KEYS_ONLY", Include = "INCLUDE", }
}

names! {
    /// How far an index is: DynamoDB's names, and one for an index to which adding the items from before was given up.
    IndexStatus {
        Creating = "CREATING", Updating = "UPDATING", Deleting = "DELETING", Active = "ACTIVE", Failed = "FAILED",
    }
}

/// What an index shows of its items: keys always, and then all, nothing more, or these attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projection {
    /// How much.
    #[serde(rename = "type")]
    pub projection_type: ProjectionType,
    /// Which attributes, for [`ProjectionType::Include`] only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
}

impl Projection {
    pub(super) fn check(&self, path: &str, problems: &mut Problems) {
        let path = format!("{path}attributes");
        if self.projection_type == ProjectionType::Include {
            let is_some = (1..=INCLUDED_MAX).contains(&self.attributes.len());
            problems.require(is_some, &path, "An index includes 1 to 20 attributes.");
        } else {
            problems.require(self.attributes.is_empty(), &path, "Only INCLUDE has attributes.");
        }
        let distinct: BTreeSet<_> = self.attributes.iter().collect();
        problems.require(distinct.len() == self.attributes.len(), &path, "An attribute is listed twice.");
        for (place, name) in self.attributes.iter().take(INCLUDED_MAX).enumerate() {
            if let Some(fault) = attribute_name_fault(name) {
                problems.add(format!("{path}[{place}]"), fault);
            }
        }
    }
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// Its name, the only one in its table.
    pub name: TableName,
    /// What its keys are made of.
    #[serde(flatten)]
    pub schema: KeySchema,
    /// Whether it has partitions of its own.
    pub kind: IndexKind,
    /// What it shows of its items.
    pub projection: Projection,
}

impl Index {
    /// What the index shows of an item of a table with this schema.
    pub fn shown(&self, item: Item, table: &KeySchema) -> Item {
        if self.projection.projection_type == ProjectionType::All {
            return item;
        }
        let keys = table.attributes().chain(self.schema.attributes()).map(|attribute| &attribute.name);
        item.project(keys.chain(&self.projection.attributes).map(String::as_str))
    }
}
