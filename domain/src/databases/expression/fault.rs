//! What can be wrong with an expression, whatever the item is: DynamoDB's words, and where it stands.

use crate::error::Error;

/// Bytes of a text of the request that is repeated in an answer.
const SHOWN_BYTES_MAX: usize = 64;

/// Why an expression is refused. `Display` is what DynamoDB says behind `Invalid UpdateExpression: ` and the like.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text says what it is for")]
pub enum ExpressionFaultKind {
    #[error("Expression size has exceeded the maximum allowed size; expression size: {0}")]
    TooLong(usize),
    #[error("The expression can not be empty;")]
    Empty,
    #[error("Syntax error; token: \"{token}\", near: \"{near}\"")]
    Syntax { token: String, near: String },
    #[error("The expression contains too many operators or functions; maximum: 300")]
    TooManyOperators,
    #[error("The expression is nested too deeply; maximum levels: 64")]
    TooManyLevels,
    #[error("Attribute name is a reserved keyword; reserved keyword: {0}")]
    ReservedName(String),
    #[error("An expression attribute name used in the document path is not defined; attribute name: {0}")]
    UndefinedName(String),
    #[error("An expression attribute value used in expression is not defined; attribute value: {0}")]
    UndefinedValue(String),
    #[error("List index is not within the allowable range; index: [{0}]")]
    ListIndex(String),
    #[error("The document path has too many nesting elements; nesting elements: {0}")]
    PathTooDeep(usize),
    #[error("Invalid function name; function: {0}")]
    UnknownFunction(String),
    #[error("The function is not allowed in {expression}; function: {function}")]
    ForeignFunction { expression: &'static str, function: String },
    #[error("The function is not allowed to be used this way in an expression; function: {0}")]
    MisusedFunction(&'static str),
    #[error(
        "Incorrect number of operands for operator or function; operator or function: {operator}, number of operands: \
         {count}"
    )]
    OperandCount { operator: &'static str, count: usize },
    #[error("Operator or function requires a document path; operator or function: {0}")]
    PathWanted(&'static str),
    #[error(
        "Incorrect operand type for operator or function; operator or function: {operator}, operand type: {operand_type}"
    )]
    OperandType { operator: &'static str, operand_type: &'static str },
    #[error("Incorrect operand type for operator or function; operator: {operator}, operand type: {operand_type}")]
    SectionOperandType { operator: &'static str, operand_type: &'static str },
    #[error("Invalid attribute type name found; type: {0}, valid types: {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}")]
    UnknownType(String),
    #[error(
        "The first operand must be distinct from the remaining operands for this operator or function; operator: \
         {operator}, first operand: {path}"
    )]
    NotDistinct { operator: &'static str, path: String },
    #[error("The BETWEEN operator requires same data type for lower and upper bounds; {0}")]
    BoundTypes(String),
    #[error("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; {0}")]
    BoundOrder(String),
    #[error("The expression has redundant parentheses;")]
    RedundantParentheses,
    #[error("The \"{0}\" section can only be used once in an update expression;")]
    SectionTwice(&'static str),
    #[error(
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: {one}, path \
         two: {two}"
    )]
    PathsOverlap { one: String, two: String },
    #[error(
        "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: {one}, path \
         two: {two}"
    )]
    PathsConflict { one: String, two: String },
}

/// Why an expression is refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionFault {
    /// Why.
    pub kind: ExpressionFaultKind,
    /// At which of its characters, counted from 1; none where that is about all of it.
    pub character: Option<usize>,
}

impl ExpressionFault {
    /// The 400 that names the field of the body at `path`, which has the expression.
    pub fn into_error(self, path: &str) -> Error {
        let said = self.kind.to_string();
        let said = said.trim_end_matches(';');
        let message = match self.character {
            Some(character) => format!("At character {character}: {said}."),
            None => format!("{said}."),
        };
        Error::invalid(path, message)
    }
}

/// A text of the request, as far as an answer repeats it.
pub(super) fn shown(text: &str) -> String {
    if text.len() <= SHOWN_BYTES_MAX {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)])
}
