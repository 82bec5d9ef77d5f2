//! A table, as somebody wants to have it.

use std::collections::{BTreeSet, HashMap};

use super::{
    BillingMode, GLOBAL_INDEXES_MAX, INCLUDED_IN_ALL_MAX, Index, IndexKind, LOCAL_INDEXES_MAX, Table, TableName,
    TableSettings, attribute_name_fault, settings,
};
use crate::{
    databases::{KeyAttribute, KeySchema},
    error::Result,
    problems::Problems,
};

/// A table that is to be made.
#[derive(Clone, Debug)]
pub struct TableDraft {
    /// Its name.
    pub name: String,
    /// What its items' keys are made of.
    pub schema: KeySchema,
    /// By what else its items are to be found.
    pub indexes: Vec<Index>,
    /// How it is billed where it is DynamoDB's; kept and shown only.
    pub billing_mode: BillingMode,
    /// Whether it can't be deleted.
    pub deletion_protection: bool,
    /// The attribute that says when an item expires.
    pub ttl_attribute: Option<String>,
    /// Whether changes of items are kept.
    pub keep_changes: bool,
}

impl TableDraft {
    /// The table; 400 naming every field at fault.
    pub fn check(self) -> Result<Table> {
        let mut problems = Problems::new();
        let name = problems.keep(TableName::parse("name", &self.name))?;
        settings::ttl_attribute_check(self.ttl_attribute.as_deref(), &mut problems);
        let settings = TableSettings {
            billing_mode: self.billing_mode,
            deletion_protection: self.deletion_protection,
            ttl_attribute: self.ttl_attribute,
            keep_changes: self.keep_changes,
            ..TableSettings::default()
        };
        let Some(name) = name else { return Err(problems.into_error()) };
        let table = Table { name, schema: self.schema, indexes: self.indexes, settings };
        schema_check(&table.schema, "", &mut problems);
        table.indexes_check(&mut problems);
        problems.into_result().map(|()| table)
    }
}

/// Notes what is wrong with the attributes of keys; `path` stands before their fields.
fn schema_check(schema: &KeySchema, path: &str, problems: &mut Problems) {
    for (attribute, field) in schema.attributes().zip(["partitionKey", "sortKey"]) {
        if let Some(fault) = attribute_name_fault(&attribute.name) {
            problems.add(format!("{path}{field}.name"), fault);
        }
    }
    let is_twice = schema.sort.as_ref().is_some_and(|sort| sort.name == schema.partition.name);
    problems.require(!is_twice, format!("{path}sortKey.name"), "The sort key is another attribute.");
}

impl Table {
    fn indexes_check(&self, problems: &mut Problems) {
        let count = |kind: IndexKind| self.indexes.iter().filter(|index| index.kind == kind).count();
        problems.require(
            count(IndexKind::Global) <= GLOBAL_INDEXES_MAX,
            "indexes",
            "A table has up to 20 global indexes.",
        );
        problems.require(count(IndexKind::Local) <= LOCAL_INDEXES_MAX, "indexes", "A table has up to 5 local indexes.");
        if !problems.is_empty() {
            // What is wrong with a thousand indexes is not listed.
            return;
        }
        let mut names = BTreeSet::new();
        for (place, index) in self.indexes.iter().enumerate() {
            let path = format!("indexes[{place}].");
            problems.require(names.insert(&index.name), format!("{path}name"), "Another index has this name.");
            self.index_check(place, &path, problems);
        }
        self.included_check(problems);
    }

    /// Notes what is wrong with one index, seen beside the table and the indexes before it.
    pub(super) fn index_check(&self, place: usize, path: &str, problems: &mut Problems) {
        let Some((index, before)) = self.indexes[..=place].split_last() else { return };
        schema_check(&index.schema, path, problems);
        index.projection.check(&format!("{path}projection."), problems);
        if index.kind == IndexKind::Local {
            let is_local = self.schema.sort.is_some() && index.schema.partition == self.schema.partition;
            let message = "A local index has the partition key of a table with a sort key.";
            problems.require(is_local, format!("{path}partitionKey"), message);
            problems.require(index.schema.sort.is_some(), format!("{path}sortKey"), "A local index has a sort key.");
        }
        let known = before.iter().map(|index| &index.schema).chain([&self.schema]);
        let types: HashMap<_, _> = known.flat_map(KeySchema::attributes).map(|it| (&it.name, it.key_type)).collect();
        let differs = |it: &KeyAttribute| types.get(&it.name).is_some_and(|known| *known != it.key_type);
        for (attribute, field) in index.schema.attributes().zip(["partitionKey", "sortKey"]) {
            problems.require(!differs(attribute), format!("{path}{field}.type"), "Has another type in another key.");
        }
    }

    pub(super) fn included_check(&self, problems: &mut Problems) {
        let included: usize = self.indexes.iter().map(|index| index.projection.attributes.len()).sum();
        let message = "The indexes of a table include up to 100 attributes in all.";
        problems.require(included <= INCLUDED_IN_ALL_MAX, "indexes", message);
    }
}
