//! Tables (contract C 2.3): what items' keys are, by what else they can be found, and how the table behaves.

mod draft;
mod index;
mod name;
mod settings;

use std::ops::RangeInclusive;

pub use draft::TableDraft;
pub use index::{Index, IndexKind, IndexStatus, Projection, ProjectionType};
pub use name::TableName;
pub use settings::{BillingMode, RECOVERY_DAYS, TableChange, TableClass, TableSettings, TableStatus};

use super::{KeySchema, Source, index_exists, index_is_local, no_index, too_many_indexes};
use crate::{error::Result, problems::Problems};

/// Tables of an organization, where the configuration says nothing else (`databases.max_tables`).
pub const TABLES_MAX_DEFAULT: u64 = 500;
/// Characters of the name of a table or an index (DynamoDB).
pub const NAME_LEN: RangeInclusive<usize> = 3..=255;
/// Characters of the name of an attribute that a key is made of, or that a request names (contract C 4.5).
pub const ATTRIBUTE_LEN: RangeInclusive<usize> = 1..=255;
/// Global indexes of a table (DynamoDB).
pub const GLOBAL_INDEXES_MAX: usize = 20;
/// Local indexes of a table (DynamoDB).
pub const LOCAL_INDEXES_MAX: usize = 5;
/// Attributes that one index includes (DynamoDB).
pub const INCLUDED_MAX: usize = 20;
/// Attributes that all indexes of a table include (DynamoDB).
pub const INCLUDED_IN_ALL_MAX: usize = 100;

/// What is wrong with the name of an attribute, if anything.
pub(in crate::databases) fn attribute_name_fault(name: &str) -> Option<&'static str> {
    if !ATTRIBUTE_LEN.contains(&name.chars().count()) {
        Some("Names of attributes have 1 to 255 characters.")
    } else if name.chars().any(char::is_control) {
        Some("Names of attributes have no control characters.")
    } else {
        None
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: TableName,
    /// What its items' keys are made of.
    pub schema: KeySchema,
    /// By what else its items can be found, in the order in which that was said.
    pub indexes: Vec<Index>,
    /// How it behaves.
    pub settings: TableSettings,
}

impl Table {
    /// The index with this name; 400 where there is none.
    pub fn index(&self, name: &str) -> Result<&Index> {
        self.indexes.iter().find(|index| index.name.as_str() == name).ok_or_else(|| no_index(name))
    }

    /// What a scan or query reads: the table, or one of its indexes.
    pub fn source(&self, index: Option<&str>) -> Result<Source<'_>> {
        let index = index.map(|name| self.index(name)).transpose()?;
        Ok(Source { table: self, index })
    }

    /// The table with one more index, which is global.
    pub fn with_index(&self, index: Index) -> Result<Self> {
        if self.indexes.iter().any(|it| it.name == index.name) {
            return Err(index_exists());
        }
        let global = |index: &&Index| index.kind == IndexKind::Global;
        if self.indexes.iter().filter(global).count() >= GLOBAL_INDEXES_MAX {
            return Err(too_many_indexes());
        }
        let mut problems = Problems::new();
        problems.require(index.kind == IndexKind::Global, "kind", "Local indexes are made with their table.");
        let table = Self { indexes: [&self.indexes[..], &[index]].concat(), ..self.clone() };
        let place = table.indexes.len() - 1;
        table.index_check(place, "", &mut problems);
        table.included_check(&mut problems);
        problems.into_result().map(|()| table)
    }

    /// The table without an index, which is global.
    pub fn without_index(&self, name: &str) -> Result<Self> {
        if self.index(name)?.kind == IndexKind::Local {
            return Err(index_is_local());
        }
        let indexes = self.indexes.iter().filter(|index| index.name.as_str() != name).cloned().collect();
        Ok(Self { indexes, ..self.clone() })
    }
}

#[cfg(test)]
pub(crate) mod tests;
