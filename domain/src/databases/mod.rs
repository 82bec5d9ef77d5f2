//! Key-value databases (contract C 2.3, 4.5): tables of items with typed attributes, as DynamoDB has them.
//!
//! An item is a map of attribute names to values. Its key is one attribute, or two of them: the partition key, by whose
//! hash items are spread, and the sort key, by which those of one partition are sorted. Indexes look at the same items by
//! other keys. What is over REST and over DynamoDB's own protocol alike is decided here.

mod filter;
mod item;
mod key;
mod number;
mod query;
mod refusal;
mod table;
mod value;

pub use self::{
    filter::{FILTERS_MAX, Filter, FilterMatch, FilterOp, Filters, PROJECTION_MAX, projection_check},
    item::{ITEM_BYTES_MAX, Item},
    key::{
        Key, KeyAttribute, KeyRange, KeySchema, KeyType, KeyValue, PARTITION_KEY_BYTES_MAX, RowKey, SLOTS,
        SORT_KEY_BYTES_MAX, slot_range,
    },
    number::{Number, NumberFault},
    query::{QueryRange, SortCondition, SortOp, Source},
    refusal::{
        begins_with_on_number, condition_value_missing, index_exists, index_is_local, item_too_large, key_empty,
        key_only, key_too_long, key_type_wrong, no_index, no_sort_key, sort_value_missing, too_many_indexes,
    },
    table::{
        ATTRIBUTE_LEN, BillingMode, GLOBAL_INDEXES_MAX, INCLUDED_IN_ALL_MAX, INCLUDED_MAX, Index, IndexKind,
        IndexStatus, LOCAL_INDEXES_MAX, NAME_LEN, Projection, ProjectionType, RECOVERY_DAYS, Table, TableChange,
        TableClass, TableDraft, TableName, TableSettings, TableStatus,
    },
    value::{AttributeValue, NAME_BYTES_MAX, NESTING_MAX, SetKind, ValueFault},
};
