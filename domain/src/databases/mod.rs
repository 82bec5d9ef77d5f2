//! Key-value databases (contract C 2.3, 4.5): tables of items with typed attributes, as DynamoDB has them.
//!
//! An item is a map of attribute names to values. Its key is one attribute, or two of them: the partition key, by whose
//! hash items are spread, and the sort key, by which those of one partition are sorted. Indexes look at the same items by
//! other keys. What is over REST and over DynamoDB's own protocol alike is decided here.

mod cursor;
mod expression;
mod filter;
mod item;
mod key;
mod number;
mod page;
mod query;
mod refusal;
mod table;
mod value;
mod write;

pub use self::{
    cursor::{CURSOR_LEN_MAX, CursorKey, CursorScope, Direction, Position, QueryScope},
    expression::{
        Action, ActionKind, Comparator, Condition, DocumentPath, EXPRESSION_BYTES_MAX, EXPRESSION_LEVELS_MAX,
        ExpressionFault, ExpressionFaultKind, IN_OPERANDS_MAX, LIST_INDEX_MAX, OPERATORS_MAX, PLACEHOLDER_BYTES_MAX,
        PathStep, SetOperand, SetValue, Substitutes, Term, Update, UpdateFault, UpdateFaultKind,
    },
    filter::{FILTERS_MAX, Filter, FilterMatch, FilterOp, Filters, PROJECTION_MAX, projection_check},
    item::{ITEM_BYTES_MAX, Item},
    key::{
        Key, KeyAttribute, KeyRange, KeySchema, KeyType, KeyValue, PARTITION_KEY_BYTES_MAX, RowKey, SLOTS,
        SORT_KEY_BYTES_MAX, slot_range,
    },
    number::{Number, NumberFault},
    page::{PAGE_BYTES_MAX, PAGE_ITEMS, PAGE_ITEMS_DEFAULT, PAGE_TEXT_BYTES_MAX, PageTally, ReadBytes},
    query::{QueryRange, SortCondition, SortOp, Source},
    refusal::{
        begins_with_on_number, condition_fails, condition_value_missing, index_creating, index_exists, index_failed,
        index_is_local, invalid_page_cursor, item_changed, item_deleted, item_exists, item_not_found, item_too_large,
        key_empty, key_only, key_too_long, key_twice, key_type_wrong, no_database, no_index, no_sort_key, no_table,
        sort_value_missing, table_creating, table_deleting, table_exists, table_protected, too_many_indexes,
    },
    table::{
        ATTRIBUTE_LEN, BillingMode, GLOBAL_INDEXES_MAX, INCLUDED_IN_ALL_MAX, INCLUDED_MAX, Index, IndexKind,
        IndexStatus, LOCAL_INDEXES_MAX, NAME_LEN, Projection, ProjectionType, RECOVERY_DAYS, TABLES_MAX_DEFAULT, Table,
        TableChange, TableClass, TableDraft, TableName, TableSettings, TableStatus,
    },
    value::{AttributeValue, NAME_BYTES_MAX, NESTING_MAX, SetKind, ValueFault},
    write::{
        EXPIRED_LONG_AGO, Expected, IMPORT_BODY_BYTES_MAX, ITEMS_PER_IMPORT, Import, ImportMode, ImportPlan,
        IndexChange, ItemTag, ItemUpdate, KEYS_PER_REQUEST, PUT_BODY_BYTES_MAX, Put, PutOutcome, batch_check,
        expires_at,
    },
};
