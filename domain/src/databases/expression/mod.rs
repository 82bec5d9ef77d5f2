//! DynamoDB's expressions: what an update does to an item, and what has to hold of it before.
//!
//! A text is read into a tree whose `#names` and `:values` are what they stand for ([`Update::parse`], [`Condition::parse`]),
//! and the tree is asked of items ([`Update::apply`], [`Condition::holds`]). Reading finds everything that is wrong with an
//! expression whatever the item is, and says at which character; texts are DynamoDB's own. What is wrong with the syntax is
//! said first, then what stands first in the text.
//!
//! ```text
//! update    = section { section }                        each section once
//! section   = SET path "=" value {"," …} | REMOVE path {"," …} | ADD path :value {"," …} | DELETE path :value {"," …}
//! value     = operand [ ("+" | "-") operand ]
//! operand   = path | :value | if_not_exists(path, operand) | list_append(operand, operand)
//!
//! condition = and { OR and }
//! and       = not { AND not }
//! not       = NOT not | "(" condition ")" | compared
//! compared  = term ("=" | "<>" | "<" | "<=" | ">" | ">=") term | term BETWEEN term AND term | term IN (term {"," term})
//!           | attribute_exists(path) | attribute_not_exists(path) | attribute_type(term, :value)
//!           | begins_with(term, term) | contains(term, term)
//! term      = path | :value | size(term)
//! path      = name { "." name | "[" digits "]" }         a name is a word that isn't reserved, or a #name
//! ```
//!
//! An operand may stand in parentheses; two around the same thing are refused. Keywords are read in any case, names of
//! functions as they are written here.

mod condition;
mod fault;
mod parser;
mod path;
mod reserved;
mod substitutes;
mod token;
mod update;

pub use self::{
    condition::{Comparator, Condition, Term},
    fault::{ExpressionFault, ExpressionFaultKind},
    path::{DocumentPath, PathStep},
    substitutes::{PLACEHOLDER_BYTES_MAX, Substitutes},
    update::{Action, ActionKind, SetOperand, SetValue, Update, UpdateFault, UpdateFaultKind},
};

/// Bytes of an expression (DynamoDB, "Expression parameters").
pub const EXPRESSION_BYTES_MAX: usize = 4 * 1024;
/// Operators and functions in an expression (DynamoDB): `+`, `-`, comparisons, `BETWEEN`, `IN`, `AND`, `OR`, `NOT` and each
/// function.
pub const OPERATORS_MAX: usize = 300;
/// Operands behind an `IN` (DynamoDB).
pub const IN_OPERANDS_MAX: usize = 100;
/// How deep parentheses, `NOT` and functions may stand in one another. DynamoDB names no limit; this one keeps hostile
/// expressions from overflowing a stack.
pub const EXPRESSION_LEVELS_MAX: usize = 64;
/// The greatest position of a list that a path can name.
pub const LIST_INDEX_MAX: u32 = i32::MAX.unsigned_abs();

#[cfg(test)]
mod tests;
