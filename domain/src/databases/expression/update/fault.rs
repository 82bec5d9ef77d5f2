//! Why an update can't be made of an item: DynamoDB's words, and where in the item.

use super::DocumentPath;
use crate::{
    databases::{NumberFault, ValueFault, item_too_large},
    error::Error,
};

/// Why an update can't be made of an item. `Display` is DynamoDB's text, but of numbers REST's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpdateFaultKind {
    /// An operand isn't there.
    #[error("The provided expression refers to an attribute that does not exist in the item")]
    Missing,
    /// The way to a place leads through what isn't there, or is no map or list.
    #[error("The document path provided in the update expression is invalid for update")]
    NoSuchPlace,
    /// An operand, or what lies there, is of a type that the action means nothing for.
    #[error("An operand in the update expression has an incorrect data type")]
    WrongType,
    /// A sum or difference is no number that can be kept.
    #[error("{}", .0.to_string().trim_end_matches('.'))]
    Number(#[from] NumberFault),
    /// Values would lie too deep in one another.
    #[error("{}", ValueFault::TooDeep.to_string().trim_end_matches('.'))]
    TooDeep,
    /// The item would be too large.
    #[error("Item size to update has exceeded the maximum allowed size")]
    TooLarge,
}

/// Why an update can't be made of an item, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateFault {
    /// Why.
    pub kind: UpdateFaultKind,
    /// Where in the item.
    pub path: DocumentPath,
}

impl UpdateFault {
    /// The 400 that names the field of the body at `path`, which has the expression; 413 where the item would be too large.
    pub fn into_error(self, path: &str) -> Error {
        match self.kind {
            UpdateFaultKind::TooLarge => item_too_large(),
            kind => Error::invalid(path, format!("{kind}: {}.", self.path)),
        }
    }
}
