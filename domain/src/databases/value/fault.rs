//! What can be wrong with a typed attribute value, in the words of both doors.

use crate::databases::NumberFault;

/// Which set is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the types of the contract")]
pub enum SetKind {
    String,
    Number,
    Binary,
}

/// Why JSON is no attribute value. `Display` is what REST answers of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueFault {
    /// JSON of another kind than an object.
    #[error("Must be an object with exactly one of S, N, B, BOOL, NULL, M, L, SS, NS and BS.")]
    NotTyped,
    /// An object without a type.
    #[error("Must have one of S, N, B, BOOL, NULL, M, L, SS, NS and BS.")]
    NoType,
    /// An object with several types.
    #[error("Must have only one of S, N, B, BOOL, NULL, M, L, SS, NS and BS.")]
    SeveralTypes,
    /// A type that there is none of.
    #[error("Isn't a type: those are S, N, B, BOOL, NULL, M, L, SS, NS and BS.")]
    UnknownType,
    /// JSON of another kind than the type asks for.
    #[error("Must be {0}.")]
    WrongKind(&'static str),
    /// A binary that isn't base64 with its padding.
    #[error("Must be base64: the standard alphabet, padded with =.")]
    NotBase64,
    /// A number that can't be one.
    #[error(transparent)]
    Number(#[from] NumberFault),
    /// `NULL` with another value than `true`.
    #[error("Must be true.")]
    NullNotTrue,
    /// A set without an entry.
    #[error("Sets can't be empty.")]
    EmptySet(SetKind),
    /// A set with two equal entries.
    #[error("Is in this set already.")]
    Duplicate,
    /// A value that lies too deep in others.
    #[error("Values can be nested up to 32 levels deep.")]
    TooDeep,
    /// An attribute without a name.
    #[error("Names of attributes can't be empty.")]
    EmptyName,
    /// An attribute whose name is too long.
    #[error("Names of attributes have at most 65,535 bytes.")]
    LongName,
}

impl ValueFault {
    /// What DynamoDB says of it, as the text of a `ValidationException`; nothing where DynamoDB can't read the request at
    /// all, and where what it says is made of what was sent. Behind what can't be a number it adds a colon, a space and that.
    pub const fn dynamodb_text(self) -> Option<&'static str> {
        Some(match self {
            Self::NotTyped
            | Self::WrongKind(_)
            | Self::NotBase64
            | Self::Duplicate
            | Self::EmptyName
            | Self::LongName => return None,
            Self::NoType | Self::UnknownType => {
                "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
            }
            Self::SeveralTypes => {
                "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported \
                 datatypes"
            }
            Self::Number(NumberFault::Unreadable) => "The parameter cannot be converted to a numeric value",
            Self::Number(NumberFault::TooManyDigits) => {
                "Attempting to store more than 38 significant digits in a Number"
            }
            Self::Number(NumberFault::Overflow) => {
                "Number overflow. Attempting to store a number with magnitude larger than supported range"
            }
            Self::Number(NumberFault::Underflow) => {
                "Number underflow. Attempting to store a number with magnitude smaller than supported range"
            }
            Self::NullNotTrue => {
                "One or more parameter values were invalid: Null attribute value types must have the value of true"
            }
            Self::EmptySet(SetKind::String) => {
                "One or more parameter values were invalid: An string set  may not be empty"
            }
            Self::EmptySet(SetKind::Number) => {
                "One or more parameter values were invalid: An number set  may not be empty"
            }
            Self::EmptySet(SetKind::Binary) => {
                "One or more parameter values were invalid: Binary sets should not be empty"
            }
            Self::TooDeep => {
                "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond \
                 supported limit"
            }
        })
    }
}
