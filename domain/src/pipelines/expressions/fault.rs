//! What is wrong with an expression, or went wrong when it was evaluated.

use super::{budget::VALUES_MAX, parser::EXPRESSION_DEPTH_MAX, tree::EXPRESSION_LEN_MAX};

/// An expression can't be read or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (at position {position} of the expression)")]
pub struct ExpressionFault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The character of the expression where that shows, from 1.
    pub position: usize,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// There is nothing to evaluate.
    #[error("An expression was expected")]
    Empty,
    /// The text is longer than [`EXPRESSION_LEN_MAX`].
    #[error("An expression has at most {EXPRESSION_LEN_MAX} characters")]
    TooLong,
    /// Operators and calls stand deeper in each other than [`EXPRESSION_DEPTH_MAX`].
    #[error("An expression is nested at most {EXPRESSION_DEPTH_MAX} deep")]
    TooDeep,
    /// This doesn't belong where it stands.
    #[error("Unexpected symbol: '{0}'")]
    UnexpectedSymbol(String),
    /// The text ends too early, after this.
    #[error("Unexpected end of expression: '{0}'")]
    UnexpectedEnd(String),
    /// No context goes by this name here.
    #[error("Unrecognized named-value: '{0}'")]
    UnknownContext(String),
    /// No function goes by this name here.
    #[error("Unrecognized function: '{0}'")]
    UnknownFunction(String),
    /// This function was given too few arguments.
    #[error("Too few parameters supplied: '{0}'")]
    TooFewArguments(String),
    /// This function was given too many arguments.
    #[error("Too many parameters supplied: '{0}'")]
    TooManyArguments(String),
    /// This function takes pairs, and one more.
    #[error("Even number of parameters supplied, requires an odd number of parameters: '{0}'")]
    EvenArguments(String),
    /// `case` was given something else than a boolean as a condition.
    #[error("A condition of case must be a boolean")]
    ConditionOfCase,
    /// `format` was given a text with braces that mean nothing.
    #[error("The following format string is invalid: {0}")]
    BadFormat(String),
    /// `format` was given a text that names more arguments than there are.
    #[error("The following format string references more arguments than were supplied: {0}")]
    MissingArgument(String),
    /// `fromJSON` was given something else than JSON.
    #[error("fromJSON was given a text that isn't JSON: {0}")]
    NotJson(&'static str),
    /// `hashFiles` failed.
    #[error("hashFiles failed: {0}")]
    Files(String),
    /// Evaluating makes more than [`VALUES_MAX`].
    #[error("The values of an expression take more than {VALUES_MAX} bytes")]
    TooMuch,
}

impl FaultKind {
    /// The fault, at this place.
    pub(super) fn at(self, position: usize) -> ExpressionFault {
        ExpressionFault { kind: self, position }
    }
}
