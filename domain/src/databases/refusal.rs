//! What databases refuse, one function each, so that what is answered and what is documented is the same.

use crate::error::Error;

/// 413: the item has more than [`super::ITEM_BYTES_MAX`].
pub fn item_too_large() -> Error {
    Error::too_large("The item is larger than DynamoDB's 400 KB limit.")
}
