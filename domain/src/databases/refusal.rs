//! What databases refuse, one function each, so that what is answered and what is documented is the same.

use serde_json::{Map, Value};

use super::{Item, KeySchema};
use crate::error::Error;

/// 404: no database of the organization has this id.
pub fn no_database() -> Error {
    Error::not_found("Database not found")
}

/// 404: the database has no table any more.
pub fn no_table() -> Error {
    Error::not_found("Table not found")
}

/// 404: no item has this key.
pub fn item_not_found() -> Error {
    Error::not_found("Item not found")
}

/// 409: the organization has a table with this name already.
pub fn table_exists() -> Error {
    Error::conflict("table_exists", "A table with this name exists.")
}

/// 409: the table can't be deleted before its protection is taken away.
pub fn table_protected() -> Error {
    Error::conflict("table_protected", "This table is protected from deletion.")
}

/// 409: the table isn't there yet.
pub fn table_creating() -> Error {
    Error::conflict("resource_busy", "This table is being created.")
}

/// 409: items from before the index are still being added to it.
pub fn index_creating() -> Error {
    Error::conflict("resource_busy", "This index is being created.")
}

/// 409: adding the items from before to the index was given up.
pub fn index_failed() -> Error {
    Error::conflict("index_failed", "This index could not be made. Make it again, or delete it.")
}

/// 409: the table isn't there much longer.
pub fn table_deleting() -> Error {
    Error::conflict("resource_busy", "This table is being deleted.")
}

/// 409: a put that makes an item found one with its key.
pub fn item_exists() -> Error {
    Error::conflict("item_exists", "An item with this key already exists.")
}

/// 409: the item that a put replaces is gone.
pub fn item_deleted() -> Error {
    Error::conflict("item_deleted", "This item was deleted. Create it again instead.")
}

/// 409: the item that a put replaces is another one by now, which stands beside it as `current`.
pub fn item_changed(current: &Item) -> Error {
    // Maps with texts for names can always be written.
    let current = serde_json::to_value(current).unwrap_or_default();
    Error::Conflict {
        code: "stale_item",
        message: "This item changed since you opened it.".into(),
        adds: Map::<String, Value>::from_iter([("current".to_owned(), current)]),
    }
}

/// 409: what an update asks of the item doesn't hold; as it is, it stands beside that as `current`, null where it isn't there.
pub fn condition_fails(current: Option<&Item>) -> Error {
    // Maps with texts for names can always be written.
    let current = serde_json::to_value(current).unwrap_or_default();
    Error::Conflict {
        code: "condition_failed",
        message: "The condition doesn't hold.".into(),
        adds: Map::<String, Value>::from_iter([("current".to_owned(), current)]),
    }
}

/// 400: a request names two items by one key.
pub fn key_twice() -> Error {
    Error::bad_request("duplicate_key", "The same key is listed twice.")
}

/// 400: a page cursor is damaged, or belongs to something else than what is asked.
pub fn invalid_page_cursor() -> Error {
    Error::bad_request("invalid_cursor", "Invalid page cursor. Run the request again.")
}

/// 413: the item has more than [`super::ITEM_BYTES_MAX`].
pub fn item_too_large() -> Error {
    Error::too_large("The item is larger than DynamoDB's 400 KB limit.")
}

/// 400: a key has other attributes than the schema, or an item lacks one of them.
pub fn key_only(schema: &KeySchema) -> Error {
    let partition = &schema.partition.name;
    let message = match &schema.sort {
        None => format!("A key has only {partition}."),
        Some(sort) => format!("A key has only {partition} and {}.", sort.name),
    };
    Error::bad_request("invalid_key", message)
}

/// 400: an attribute of a key has another type; `noun` is what it has to be.
pub fn key_type_wrong(name: &str, noun: &str) -> Error {
    Error::bad_request("invalid_key", format!("{name} must be {noun}."))
}

/// 400: an attribute of a key is an empty text or empty binary.
pub fn key_empty(name: &str) -> Error {
    Error::bad_request("invalid_key", format!("{name} can't be empty."))
}

/// 400: an attribute of a key is longer than keys may be.
pub fn key_too_long(name: &str, bytes_max: usize) -> Error {
    let (thousands, rest) = (bytes_max / 1_000, bytes_max % 1_000);
    Error::bad_request("invalid_key", format!("{name} has at most {thousands},{rest:03} bytes."))
}

/// 400: a request names an index that the table doesn't have.
pub fn no_index(name: &str) -> Error {
    Error::bad_request("unknown_index", format!("No index named {name}."))
}

/// 409: the table has an index with this name already.
pub fn index_exists() -> Error {
    Error::conflict("index_exists", "An index with this name exists.")
}

/// 409: the table has as many global indexes as it can have.
pub fn too_many_indexes() -> Error {
    Error::conflict("too_many_indexes", "A table has up to 20 global indexes.")
}

/// 409: local indexes go with their table only.
pub fn index_is_local() -> Error {
    Error::conflict("index_is_local", "A local index stays as long as its table.")
}

/// 400: a filter lacks a value that its operator needs.
pub fn condition_value_missing() -> Error {
    Error::bad_request("condition_value_missing", "A condition is missing its value.")
}

/// 400: a query asks for sort keys where there are none.
pub fn no_sort_key() -> Error {
    Error::bad_request("no_sort_key", "This table or index has no sort key.")
}

/// 400: a query's condition on the sort key lacks a value.
pub fn sort_value_missing() -> Error {
    Error::bad_request("sort_value_missing", "The sort key condition is missing a value.")
}

/// 400: a query asks which numbers begin with others.
pub fn begins_with_on_number() -> Error {
    Error::bad_request("begins_with_on_number", "begins_with works on string and binary sort keys only.")
}
