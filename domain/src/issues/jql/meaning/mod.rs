//! What queries mean: names, types, functions, and which issues match.
//!
//! [`resolve`] turns a [`Query`](super::Query) into a [`Plan`] that no longer has names or NOT. A [`Plan`] is held against the
//! [`Facts`] of one issue here; the compiled search answers the same.

mod evaluate;
mod facts;
mod fields;
mod functions;
mod moments;
mod operand;
mod plan;
mod resolve;
mod text;

#[cfg(test)]
mod tests;

pub use self::{
    evaluate::Fallback,
    facts::{Facts, HistoryEntry, SortKey, ValueSpan, spans},
    fields::{FieldKey, FieldKind, KnownField, ValueKind},
    moments::{Clock, day_number, duration, numbered_day},
    plan::{Ask, Change, Choice, Comparison, Order, Plan, Test, Times, ValueId},
    resolve::{Names, Reader, resolve},
    text::{Sought, Stem, Term, TextQuestion, unstemmed},
};
use super::Place;

/// Saved filters that one query may read, one that is read twice counted twice.
pub const FILTERS_MAX: usize = 100;

/// Saved filters that may stand in each other.
pub const FILTER_DEPTH_MAX: usize = 10;

/// Errors, and warnings, that are told of one query.
pub const PROBLEMS_MAX: usize = 100;

/// Something in a query that is right, and may still not be what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What may be meant instead.
    pub message: &'static str,
    /// Where that begins.
    pub start: Place,
    /// Where that ends.
    pub end: Place,
}
