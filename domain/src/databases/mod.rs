//! Key-value databases (contract C 2.3, 4.5): tables of items with typed attributes, as DynamoDB has them.
//!
//! An item is a map of attribute names to values. Its key is one attribute, or two of them: the partition key, by whose
//! hash items are spread, and the sort key, by which those of one partition are sorted. Indexes look at the same items by
//! other keys. What is over REST and over DynamoDB's own protocol alike is decided here.

mod item;
mod number;
mod refusal;
mod value;

pub use self::{
    item::{ITEM_BYTES_MAX, Item},
    number::{Number, NumberFault},
    refusal::item_too_large,
    value::{AttributeValue, NAME_BYTES_MAX, NESTING_MAX, SetKind, ValueFault},
};
