//! What a query means once its names are resolved: the form that is evaluated, and that a search compiles.

use std::sync::Arc;

use super::{fields::FieldKey, text::TextQuestion};
use crate::Timestamp;

/// A value of a field: the id of a thing, a label without case, or a number, day or instant as text in the history.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub Arc<str>);

impl From<&str> for ValueId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// A query whose names are resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Conditions, parts before wholes.
    pub tests: Vec<Test>,
    /// The whole condition, as a place in `tests`; every issue will do where there is none.
    pub root: Option<usize>,
    /// The order that is asked for.
    pub order: Vec<Order>,
    /// What is right, and may still not be what was meant.
    pub warnings: Vec<super::Warning>,
}

/// A condition. NOT is gone: it was pushed down to what is asked of fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// All of these hold.
    All(Vec<usize>),
    /// One of these holds.
    Any(Vec<usize>),
    /// Something is asked of fields; of several by one name, each is asked.
    Ask(Vec<FieldKey>, Ask),
}

/// What is asked of fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// There is a value.
    Some,
    /// There is no value.
    None,
    /// One of these is among the values, or there is none and [`Choice::or_empty`] says that will do.
    OneOf(Choice<ValueId>),
    /// There is a value, and none of these is among them.
    NoneOf(Choice<ValueId>),
    /// As [`Ask::OneOf`], of numbers.
    OneNumber(Choice<f64>),
    /// As [`Ask::NoneOf`], of numbers.
    NoNumber(Choice<f64>),
    /// A number compares so.
    Compare(Comparison, f64),
    /// A clock's time, in milliseconds, compares so: `elapsed` or `remaining`.
    Clock(&'static str, Comparison, f64),
    /// A document of the fields has the words.
    Words(TextQuestion),
    /// There is a document, and none has the words.
    NoWords(TextQuestion),
    /// At some time, the field had one of these values.
    Was(Choice<ValueId>, Times),
    /// In that time the field had some value, and never one of these.
    WasNot(Choice<ValueId>, Times),
    /// The field changed.
    Changed(Change),
    /// The field didn't change so.
    Unchanged(Change),
}

/// Values that are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice<T> {
    /// The values.
    pub values: Vec<T>,
    /// Whether no value is asked for as well.
    pub or_empty: bool,
}

impl<T> Default for Choice<T> {
    fn default() -> Self {
        Self { values: Vec::new(), or_empty: false }
    }
}

/// How numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// When something was, and who made it so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// It began before all of these.
    pub before: Vec<Timestamp>,
    /// It went on after all of these.
    pub after: Vec<Timestamp>,
    /// It was at some instant of each of these, the last instant included.
    pub during: Vec<(Timestamp, Timestamp)>,
    /// One of each of these people did it.
    pub by: Vec<Vec<ValueId>>,
}

/// A change that is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// What was taken away, where that matters.
    pub from: Option<Choice<ValueId>>,
    /// What came, where that matters.
    pub to: Option<Choice<ValueId>>,
    /// When, and by whom.
    pub times: Times,
}

/// A field to sort by.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The fields of this name.
    pub fields: Vec<FieldKey>,
    /// Whether the most comes first.
    pub descends: bool,
}

impl Comparison {
    /// Whether two numbers compare so.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::LessEqual => value <= bound,
            Self::Greater => value > bound,
            Self::GreaterEqual => value >= bound,
        }
    }

    /// How those compare that don't compare so.
    #[must_use]
    pub const fn denied(self) -> Self {
        match self {
            Self::Less => Self::GreaterEqual,
            Self::LessEqual => Self::Greater,
            Self::Greater => Self::LessEqual,
            Self::GreaterEqual => Self::Less,
        }
    }
}

impl Ask {
    /// What NOT before it asks. Issues without a value are in neither.
    #[must_use]
    pub fn denied(self) -> Self {
        match self {
            Self::Some => Self::None,
            Self::None => Self::Some,
            Self::OneOf(choice) => Self::NoneOf(choice),
            Self::NoneOf(choice) => Self::OneOf(choice),
            Self::OneNumber(choice) => Self::NoNumber(choice),
            Self::NoNumber(choice) => Self::OneNumber(choice),
            Self::Compare(comparison, bound) => Self::Compare(comparison.denied(), bound),
            Self::Clock(part, comparison, bound) => Self::Clock(part, comparison.denied(), bound),
            Self::Words(question) => Self::NoWords(question),
            Self::NoWords(question) => Self::Words(question),
            Self::Was(choice, times) => Self::WasNot(choice, times),
            Self::WasNot(choice, times) => Self::Was(choice, times),
            Self::Changed(change) => Self::Unchanged(change),
            Self::Unchanged(change) => Self::Changed(change),
        }
    }
}
