//! Filters of scans and queries (contract C 4.5): eleven operators on attributes of an item.
//!
//! | | holds where |
//! |---|---|
//! | `=` | the attribute is equal by value: sets without order, numbers as numbers |
//! | `<>` | it is not: also where it has another type, or isn't there |
//! | `<`, `<=`, `>`, `>=` | it is a text, number or binary of the value's type, and stands so in their order |
//! | `between` | as `>=` the value and `<=` the second one |
//! | `begins_with` | it is a text or binary of the value's type that begins with it |
//! | `contains` | it is a text or binary of the value's type with that in it, or a set or list with that entry |
//! | `exists`, `not_exists` | it is there, or isn't; `NULL` is there |
//!
//! A value of a type that an operator means nothing for is no error: nothing matches. Attributes of keys are filtered as all
//! others are, unlike in DynamoDB. A name means the attribute with that very name; there are no paths into maps.

use std::cmp::Ordering;

use super::{AttributeValue, Item, condition_value_missing, table::attribute_name_fault};
use crate::{app::names, error::Result, problems::Problems};

/// Filters of a scan or query (contract C 4.5).
pub const FILTERS_MAX: usize = 10;
/// Attributes that a scan or query is asked for (contract C 4.5).
pub const PROJECTION_MAX: usize = 50;

names! {
    /// How a filter compares (contract C 4.5).
    FilterOp {
        Equal = "=", NotEqual = "<>", Less = "<", LessOrEqual = "<=", Greater = ">", GreaterOrEqual = ">=",
        BeginsWith = "begins_with", Contains = "contains", Between = "between", Exists = "exists",
        NotExists = "not_exists",
    }
}

names! {
    /// Whether all filters have to hold, or one of them (contract C 4.5).
    FilterMatch { All = "all", Any = "any", }
}

/// A filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The attribute that it looks at.
    pub attribute: String,
    /// How it compares.
    pub op: FilterOp,
    /// With what.
    pub value: Option<AttributeValue>,
    /// The upper end of `between`.
    pub value2: Option<AttributeValue>,
}

impl Filter {
    /// Whether it has the values that its operator needs.
    fn is_whole(&self) -> bool {
        match self.op {
            FilterOp::Exists | FilterOp::NotExists => true,
            FilterOp::Between => self.value.is_some() && self.value2.is_some(),
            _ => self.value.is_some(),
        }
    }

    /// Whether it holds for the item.
    pub fn holds(&self, item: &Item) -> bool {
        let found = item.get(&self.attribute);
        match self.op {
            FilterOp::Exists => found.is_some(),
            FilterOp::NotExists => found.is_none(),
            FilterOp::Equal => found == self.value.as_ref(),
            FilterOp::NotEqual => found != self.value.as_ref(),
            _ => found.zip(self.value.as_ref()).is_some_and(|(found, value)| self.compares(found, value)),
        }
    }

    fn compares(&self, found: &AttributeValue, value: &AttributeValue) -> bool {
        let is = |holds: fn(Ordering) -> bool| found.order(value).is_some_and(holds);
        match self.op {
            FilterOp::Less => is(Ordering::is_lt),
            FilterOp::LessOrEqual => is(Ordering::is_le),
            FilterOp::Greater => is(Ordering::is_gt),
            FilterOp::GreaterOrEqual => is(Ordering::is_ge),
            FilterOp::Between => {
                let is_below = |end: &AttributeValue| found.order(end).is_some_and(Ordering::is_le);
                is(Ordering::is_ge) && self.value2.as_ref().is_some_and(is_below)
            }
            FilterOp::BeginsWith => found.begins_with(value),
            FilterOp::Contains => found.contains(value),
            FilterOp::Equal | FilterOp::NotEqual | FilterOp::Exists | FilterOp::NotExists => false,
        }
    }
}

/// The filters of a scan or query, and how they are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filters {
    filters: Vec<Filter>,
    matching: FilterMatch,
}

impl Filters {
    /// Filters that every item passes.
    pub const fn none() -> Self {
        Self { filters: Vec::new(), matching: FilterMatch::All }
    }

    /// Checks how many there are, what they look at, and that they have their values.
    pub fn check(filters: Vec<Filter>, matching: FilterMatch) -> Result<Self> {
        let mut problems = Problems::new();
        problems.require(filters.len() <= FILTERS_MAX, "filters", "Send up to 10 filters.");
        for (place, filter) in filters.iter().take(FILTERS_MAX).enumerate() {
            if let Some(fault) = attribute_name_fault(&filter.attribute) {
                problems.add(format!("filters[{place}].attribute"), fault);
            }
        }
        problems.into_result()?;
        if filters.iter().all(Filter::is_whole) {
            Ok(Self { filters, matching })
        } else {
            Err(condition_value_missing())
        }
    }

    /// Whether the item passes. Without a filter every item does, however they are joined.
    pub fn hold(&self, item: &Item) -> bool {
        match self.matching {
            FilterMatch::All => self.filters.iter().all(|filter| filter.holds(item)),
            FilterMatch::Any => self.filters.is_empty() || self.filters.iter().any(|filter| filter.holds(item)),
        }
    }

    /// Whether there is none, so that items need not be read to know that they pass.
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// The filters.
    pub fn as_slice(&self) -> &[Filter] {
        &self.filters
    }

    /// How they are joined.
    pub const fn matching(&self) -> FilterMatch {
        self.matching
    }
}

/// The attributes that a scan or query asks for: up to 50, each once however often it is named; none for all of them.
pub fn projection_check(names: Vec<String>) -> Result<Vec<String>> {
    let mut problems = Problems::new();
    problems.require(names.len() <= PROJECTION_MAX, "projection", "Ask for up to 50 attributes.");
    for (place, name) in names.iter().take(PROJECTION_MAX).enumerate() {
        if let Some(fault) = attribute_name_fault(name) {
            problems.add(format!("projection[{place}]"), fault);
        }
    }
    problems.into_result().map(|()| names)
}

#[cfg(test)]
pub(crate) mod tests;
