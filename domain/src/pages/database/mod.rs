//! Databases (contract B 2.6, 4.6): pages whose subpages are rows with typed properties.
//!
//! A database has a [`Schema`]; each of its rows has [`Properties`] that fit it. [`View`]s say how the rows are looked at:
//! filtered, sorted and grouped, which a [`RowPlan`] does.
//!
//! **Values are read through the schema.** When a property leaves the schema or changes its type, the rows stay as they are,
//! and what no longer fits is not answered ([`Schema::visible`]): a schema changes in one small commit however many rows
//! there are, and a property that comes back brings its values along.

mod date;
mod field;
mod filter;
mod group;
mod order;
mod plan;
mod property;
mod relation;
mod value;
mod view;

use std::ops::RangeInclusive;

pub use filter::{Filter, FilterOp, FilterValue};
pub use group::GroupKey;
pub use order::SortKey;
pub use plan::{RowFacts, RowPlan};
pub use property::{OptionColor, Property, PropertyKind, Schema, SelectOption};
pub use relation::{Relation, RelationEnd};
pub use value::{Properties, PropertiesChange, PropertiesDraft, PropertyValue};
pub use view::{View, ViewLayout, ViewSort, Views};

use crate::Error;

/// Properties of a schema (contract B 4.6).
pub const PROPERTIES_MAX: usize = 50;
/// Views of a database (contract B 4.6).
pub const VIEWS_MAX: usize = 20;
/// Filters of a view (contract B 4.6).
pub const FILTERS_MAX: usize = 20;
/// Characters of the id of a property, and of whatever else clients name: views and options (contract B 4.6).
pub const NAMED_ID_LEN: RangeInclusive<usize> = 1..=32;
/// Characters of the name of a property, a view or an option.
pub const NAME_LEN: RangeInclusive<usize> = 1..=100;
/// Options of a property.
pub const OPTIONS_MAX: usize = 100;
/// Characters of a text value (contract B 4.6).
pub const TEXT_LEN_MAX: usize = 4_000;
/// Entries of a list value (contract B 4.6).
pub const LIST_LEN_MAX: usize = 50;
/// Characters of an entry of a list value (contract B 4.6).
pub const LIST_ENTRY_LEN_MAX: usize = 32;
/// Width of a column, in pixels.
pub const COLUMN_WIDTH: RangeInclusive<f64> = 1.0..=10_000.0;

/// 400: a value, a filter or an order names a property that the schema doesn't have.
pub fn unknown_property() -> Error {
    Error::bad_request("unknown_property", "Unknown property.")
}

/// Whether `id` can be the id of something that clients name.
fn is_named_id(id: &str) -> bool {
    NAMED_ID_LEN.contains(&id.chars().count()) && !id.chars().any(char::is_control)
}

/// A name as it is kept, or nothing where it can't be one.
fn name(text: &str) -> Option<String> {
    let text = text.trim();
    (NAME_LEN.contains(&text.chars().count()) && !text.contains('\0')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
