//! Updates of items, read.

mod apply;
mod edits;
mod fault;

use std::sync::Arc;

pub(super) use self::edits::Clash;
use self::edits::Edits;
pub use self::fault::{UpdateFault, UpdateFaultKind};
use super::DocumentPath;
use crate::databases::AttributeValue;

/// What an update does to an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    actions: Vec<Action>,
    /// The actions by where they are, none of which is in another's way.
    edits: Edits,
}

/// One thing that an update does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Where.
    pub path: DocumentPath,
    /// What.
    pub kind: ActionKind,
}

/// What is done at a place in an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// This lies there afterwards (`SET`). Behind a list's end it is added to it.
    Set(SetValue),
    /// Nothing lies there afterwards (`REMOVE`).
    Remove,
    /// A number becomes greater by this one, or a set has the entries of this one too (`ADD`); where nothing lies, this does.
    Add(Arc<AttributeValue>),
    /// A set loses the entries of this one (`DELETE`), and goes where it has no other.
    Delete(Arc<AttributeValue>),
}

/// What `SET` makes of an item as it was before the update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetValue {
    /// What the operand is.
    Operand(SetOperand),
    /// The sum of two numbers.
    Sum(SetOperand, SetOperand),
    /// The difference of two numbers.
    Difference(SetOperand, SetOperand),
}

/// Something that a `SET` looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOperand {
    /// What lies there in the item, where something does.
    Path(DocumentPath),
    /// This value.
    Value(Arc<AttributeValue>),
    /// What lies there, or else something else.
    IfNotExists {
        /// There.
        path: DocumentPath,
        /// Something else.
        otherwise: Box<Self>,
    },
    /// One list and then another.
    ListAppend(Box<[Self; 2]>),
}

impl SetOperand {
    /// The name of the type of a value that the expression has.
    pub(super) fn known_type(&self) -> Option<&'static str> {
        if let Self::Value(value) = self { Some(value.type_name()) } else { None }
    }
}

impl Update {
    /// Adds an action, unless one of those that are there is in its way.
    pub(super) fn push(&mut self, action: Action) -> Result<(), Clash> {
        self.edits.add(&action.path, self.actions.len())?;
        self.actions.push(action);
        Ok(())
    }

    /// What it does, in the order of the text.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }
}
