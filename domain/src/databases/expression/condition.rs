//! Conditions of items, read.
//!
//! What an operator means nothing for is no error of an item: it doesn't hold. What isn't there equals nothing, so `<>` holds
//! for it.

use std::{borrow::Cow, cmp::Ordering, sync::Arc};

use super::DocumentPath;
use crate::{
    app::names,
    databases::{AttributeValue, Item, Number},
};

names! {
    /// How two operands are compared (DynamoDB).
    Comparator {
        Equal = "=", NotEqual = "<>", Less = "<", LessOrEqual = "<=", Greater = ">", GreaterOrEqual = ">=",
    }
}

impl Comparator {
    /// Whether it holds for two values, either of which may not be there.
    fn holds(self, left: Option<&AttributeValue>, right: Option<&AttributeValue>) -> bool {
        let both = left.zip(right);
        let ordered = |holds: fn(Ordering) -> bool| both.and_then(|(left, right)| left.order(right)).is_some_and(holds);
        match self {
            Self::Equal => both.is_some_and(|(left, right)| left == right),
            Self::NotEqual => both.is_none_or(|(left, right)| left != right),
            Self::Less => ordered(Ordering::is_lt),
            Self::LessOrEqual => ordered(Ordering::is_le),
            Self::Greater => ordered(Ordering::is_gt),
            Self::GreaterOrEqual => ordered(Ordering::is_ge),
        }
    }
}

/// Something that a condition looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// What lies there in the item.
    Path(DocumentPath),
    /// This value.
    Value(Arc<AttributeValue>),
    /// How large that is: bytes of a text or binary, entries of a set, list or map. Others have no size.
    Size(Box<Self>),
}

impl Term {
    /// The name of its type, where that is the same for every item.
    pub(super) fn known_type(&self) -> Option<&'static str> {
        match self {
            Self::Path(_) => None,
            Self::Value(value) => Some(value.type_name()),
            Self::Size(_) => Some("N"),
        }
    }

    /// What it is in an item, if it is there.
    fn of<'t>(&'t self, item: &'t Item) -> Option<Cow<'t, AttributeValue>> {
        match self {
            Self::Path(path) => path.find(item).map(Cow::Borrowed),
            Self::Value(value) => Some(Cow::Borrowed(&**value)),
            Self::Size(of) => {
                // An item has 400 KB at most.
                let size = u32::try_from(of.of(item)?.length()?).unwrap_or(u32::MAX);
                Some(Cow::Owned(AttributeValue::Number(Number::from(size))))
            }
        }
    }
}

/// What has to hold of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All of them hold (`AND`).
    All(Vec<Self>),
    /// One of them holds (`OR`).
    Any(Vec<Self>),
    /// It doesn't hold.
    Not(Box<Self>),
    /// Both compare like that.
    Compare {
        /// The one.
        left: Term,
        /// How.
        comparator: Comparator,
        /// The other.
        right: Term,
    },
    /// The first one is as great as the second one at least, and as the third one at most.
    Between(Box<[Term; 3]>),
    /// It equals one of these.
    In {
        /// It.
        term: Term,
        /// These, of which there are 100 at most.
        among: Vec<Term>,
    },
    /// Something lies there.
    Exists(DocumentPath),
    /// Nothing lies there.
    NotExists(DocumentPath),
    /// It is of this type.
    HasType {
        /// It.
        term: Term,
        /// The contract's name of the type.
        type_name: &'static str,
    },
    /// A text or binary begins with another one.
    BeginsWith {
        /// The one.
        term: Term,
        /// The other.
        prefix: Term,
    },
    /// A text, binary, set or list has something in it.
    Contains {
        /// The text, binary, set or list.
        term: Term,
        /// What it has in it.
        part: Term,
    },
}

impl Condition {
    /// Whether it holds for the item; one that isn't there is one without attributes.
    pub fn holds(&self, item: &Item) -> bool {
        let both = |one: &Term, other: &Term, holds: fn(&AttributeValue, &AttributeValue) -> bool| {
            one.of(item).zip(other.of(item)).is_some_and(|(one, other)| holds(&one, &other))
        };
        let compares = |left: &Term, comparator: Comparator, right: &Term| {
            comparator.holds(left.of(item).as_deref(), right.of(item).as_deref())
        };
        match self {
            Self::All(conditions) => conditions.iter().all(|condition| condition.holds(item)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(item)),
            Self::Not(condition) => !condition.holds(item),
            Self::Compare { left, comparator, right } => compares(left, *comparator, right),
            Self::Between(terms) => {
                let [term, lower, upper] = &**terms;
                compares(term, Comparator::GreaterOrEqual, lower) && compares(term, Comparator::LessOrEqual, upper)
            }
            Self::In { term, among } => among.iter().any(|one| compares(term, Comparator::Equal, one)),
            Self::Exists(path) => path.find(item).is_some(),
            Self::NotExists(path) => path.find(item).is_none(),
            Self::HasType { term, type_name } => term.of(item).is_some_and(|value| value.type_name() == *type_name),
            Self::BeginsWith { term, prefix } => both(term, prefix, AttributeValue::begins_with),
            Self::Contains { term, part } => both(term, part, AttributeValue::contains),
        }
    }
}
