//! Document paths: an attribute, and the way into its maps and lists.

use std::{fmt, sync::Arc};

use crate::databases::{AttributeValue, Item};

/// A step into a map or a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// The entry of a map with this name.
    Name(Arc<str>),
    /// The entry of a list at this place, the first at 0.
    Index(usize),
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&super::fault::shown(name)),
            Self::Index(place) => write!(f, "[{place}]"),
        }
    }
}

/// The way to a value in an item. `Display` is DynamoDB's way of writing it: `[orders, [0], price]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPath {
    /// The attribute, and then the steps into it.
    steps: Vec<PathStep>,
}

impl DocumentPath {
    /// The attribute with this name.
    pub fn new(root: Arc<str>) -> Self {
        Self { steps: vec![PathStep::Name(root)] }
    }

    /// One step further in.
    pub fn push(&mut self, step: PathStep) {
        self.steps.push(step);
    }

    /// The attribute's name and the steps into it; never empty, and the first of them is a name.
    pub fn steps(&self) -> &[PathStep] {
        &self.steps
    }

    /// The attribute.
    pub fn root(&self) -> &str {
        match self.steps.first() {
            Some(PathStep::Name(name)) => name,
            Some(PathStep::Index(_)) | None => "",
        }
    }

    /// The value that lies there.
    pub fn find<'i>(&self, item: &'i Item) -> Option<&'i AttributeValue> {
        let inner = self.steps.get(1..).unwrap_or_default();
        inner.iter().try_fold(item.get(self.root())?, |value, step| match (value, step) {
            (AttributeValue::Map(entries), PathStep::Name(name)) => entries.get(&**name),
            (AttributeValue::List(entries), PathStep::Index(place)) => entries.get(*place),
            _ => None,
        })
    }
}

impl fmt::Display for DocumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.steps.iter().enumerate() {
            write!(f, "{}{step}", if place == 0 { "[" } else { ", " })?;
        }
        f.write_str("]")
    }
}
