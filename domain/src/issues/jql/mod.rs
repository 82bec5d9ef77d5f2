//! The query language of issues: Jira's, in its grammar and its meaning.
//!
//! A text is read once into a [`Query`]. The grammar is that of Atlassian's own parser, which `.ci/issues/run` compares with;
//! `docs/decisions/issues.md` says what differs. Nothing here recurses, so that no query is too deep.

mod fault;
mod lexer;
pub mod meaning;
mod parser;
mod place;
mod print;
mod tree;
mod words;

#[cfg(test)]
mod tests;

pub use self::{
    fault::JqlFault,
    place::{Place, Span},
    tree::{
        Clause, Direction, Field, FieldName, Function, Node, NodeId, NodeKind, Operand, Operator, Predicate,
        PredicateKind, Property, Query, Single, Sort, Word, WordKind,
    },
};

/// Characters of a query, at most (contract B 4.1, B 4.3).
pub const JQL_LEN_MAX: usize = 10_000;
