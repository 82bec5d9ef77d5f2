//! The tree of an expression.

use std::{fmt, sync::Arc};

use super::{
    evaluator::{Surroundings, evaluate},
    fault::{ExpressionFault, FaultKind},
    functions::Function,
    parser::parse,
    usage::Usage,
    value::Value,
    vocabulary::{ContextName, Vocabulary},
};

/// Characters of an expression (UTF-16, as elsewhere), at most.
pub const EXPRESSION_LEN_MAX: usize = 21_000;

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct Expression {
    text: Arc<str>,
    tree: Node,
}

impl Expression {
    /// Reads an expression, without `${{` and `}}`.
    pub fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Self, ExpressionFault> {
        if text.encode_utf16().count() > EXPRESSION_LEN_MAX {
            return Err(FaultKind::TooLong.at(1));
        }
        Ok(Self { text: text.into(), tree: parse(text, vocabulary)? })
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The expression's value.
    pub fn evaluate(&self, surroundings: &impl Surroundings) -> Result<Value, ExpressionFault> {
        evaluate(&self.tree, surroundings)
    }

    /// What the expression names.
    pub fn usage(&self) -> Usage {
        Usage::of(&self.tree)
    }

    /// The text, where the expression is nothing but one.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match &self.tree {
            Node::Literal(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// One operator, call or operand. Operators of one level stand in one node, however many there are, so that the tree is never
/// deeper than what the parser counts.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Literal(Value),
    Context(ContextName),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    /// From left to right: each result is the left side of what follows.
    Compare(Box<Node>, Vec<(Comparator, Node)>),
    /// A value, and where to look in it, from left to right.
    Index(Box<Node>, Vec<Index>),
    Call(Call),
}

/// `==` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// What stands behind a value.
#[derive(Clone, Debug)]
pub(super) enum Index {
    /// `.*` or `[*]`.
    Each,
    /// `.name` or `[…]`.
    At(Node),
}

/// A function's call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub function: Function,
    pub arguments: Vec<Node>,
    pub position: usize,
}
