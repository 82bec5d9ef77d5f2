//! What is said to who asks for what can't be done with conversations (contract B 4.8).

use crate::{Error, calendar::MESSAGE_NOT_FOUND};

/// Contract B 4.8.
pub const THREAD_NOT_FOUND: &str = "Thread not found";
/// The message of the 404 for a label.
pub const LABEL_NOT_FOUND: &str = "Label not found";
/// The message of the 404 for a file of a message.
pub const FILE_NOT_FOUND: &str = "Attachment not found";
/// Contract B 4.8.
pub const CHOOSE_A_LABEL: &str = "Choose a label.";
/// Contract B 4.8.
pub const COMES_BACK_WHEN: &str = "Choose when the conversation comes back.";
/// Contract B 4.8.
pub const TRASH_FIRST: &str = "Move the conversation to trash first.";
/// Contract B 4.8.
pub const SENDER_INVALID: &str = "Enter a valid email address.";

/// 404 for a conversation that isn't there.
pub fn no_thread() -> Error {
    Error::not_found(THREAD_NOT_FOUND)
}

/// 404 for a message that the mailbox hasn't.
pub fn no_message() -> Error {
    Error::not_found(MESSAGE_NOT_FOUND)
}

/// 404 for a file that the message hasn't.
pub fn no_file() -> Error {
    Error::not_found(FILE_NOT_FOUND)
}

/// 404 for a label that the mailbox hasn't.
pub fn no_label() -> Error {
    Error::not_found(LABEL_NOT_FOUND)
}

/// 400 for an action or a view that needs a label.
pub fn choose_a_label() -> Error {
    Error::bad_request("label_required", CHOOSE_A_LABEL)
}

/// 400 for a snooze without an end that can be.
pub fn comes_back_when() -> Error {
    Error::bad_request("until_required", COMES_BACK_WHEN)
}

/// 400 for deleting what isn't in the trash.
pub fn trash_first() -> Error {
    Error::bad_request("not_in_trash", TRASH_FIRST)
}

/// 400 for a sender that is no address.
pub fn sender_invalid() -> Error {
    Error::bad_request("sender_invalid", SENDER_INVALID)
}
