//! Looking at rows: which ones, in which order, in which groups.

use std::cmp::Ordering;

use super::{
    Filter, GroupKey, Properties, Schema, SortKey, ViewSort, field::Field, filter::CompiledFilter, group,
    order::sortable, unknown_property, view::filters_check,
};
use crate::{Result, Timestamp, id::PageId, problems::Problems};

/// What a row is filtered, sorted and grouped by.
#[derive(Clone, Copy, Debug)]
pub struct RowFacts<'r> {
    /// Its id.
    pub id: PageId,
    /// Its title.
    pub title: &'r str,
    /// Its place among its siblings.
    pub position: f64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Its values, relations among them.
    pub properties: &'r Properties,
}

/// A way of looking at the rows of a database.
#[derive(Debug)]
pub struct RowPlan<'s> {
    compiled: Vec<CompiledFilter<'s>>,
    sort: Option<Field<'s>>,
    desc: bool,
    group: Option<Field<'s>>,
}

impl<'s> RowPlan<'s> {
    /// The plan that a client asked for.
    ///
    /// Errors: 400 `Unknown property.`, and 400 `invalid` where a filter compares with something that makes no sense.
    pub fn new(
        schema: &'s Schema,
        filters: &[Filter],
        sort: Option<&ViewSort>,
        group_by: Option<&str>,
    ) -> Result<Self> {
        let mut problems = Problems::new();
        filters_check(schema, filters, "filters", &mut problems)?;
        problems.into_result()?;
        let field = |name: &str| Field::find(schema, name).ok_or_else(unknown_property);
        Ok(Self {
            compiled: filters.iter().filter_map(|filter| CompiledFilter::new(schema, filter)).collect(),
            sort: sort.map(|sort| field(&sort.by)).transpose()?,
            desc: sort.is_some_and(|sort| sort.desc),
            group: group_by.map(field).transpose()?,
        })
    }

    /// Whether it shows every row, by position alone.
    pub const fn is_plain(&self) -> bool {
        self.compiled.is_empty() && self.sort.is_none() && self.group.is_none()
    }

    /// Whether it shows this row.
    pub fn shows(&self, row: &RowFacts<'_>) -> bool {
        self.compiled.iter().all(|filter| filter.lets(row))
    }

    /// Where a row stands.
    pub fn key(&self, row: &RowFacts<'_>) -> SortKey {
        SortKey::new(self.sort.and_then(|field| sortable(field, row)), row)
    }

    /// The order of two rows.
    pub fn order(&self, one: &SortKey, two: &SortKey) -> Ordering {
        one.against(two, self.desc)
    }

    /// The groups that a row is in: none where nothing is grouped, otherwise one at least.
    pub fn groups(&self, row: &RowFacts<'_>) -> Vec<GroupKey> {
        self.group.map(|field| group::groups(field, row)).unwrap_or_default()
    }

    /// The groups that are there even without rows.
    pub fn standing_groups(&self) -> Vec<GroupKey> {
        self.group.map(group::standing).unwrap_or_default()
    }
}
