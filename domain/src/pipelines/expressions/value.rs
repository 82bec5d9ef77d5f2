//! Values, and what becomes of one where another kind is wanted.

use std::{collections::HashMap, sync::Arc};

use super::number;

/// A value of an expression. Cloning one is cheap; arrays and objects have an identity, by which they are compared.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing, and what isn't there.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number with 53 bits of precision, an infinity, or no number at all.
    Number(f64),
    /// A text.
    Text(Arc<str>),
    /// Values in a row.
    Array(Arc<Array>),
    /// Values by name.
    Object(Arc<Object>),
}

/// Values in a row.
#[derive(Debug, Default)]
pub struct Array {
    items: Vec<Value>,
    /// Whether `.*` made it: a name or an index that follows is then looked up in each item.
    is_filtered: bool,
}

/// Values by name, in the order in which they came. Names are alike regardless of case; the first one stays.
#[derive(Debug, Default)]
pub struct Object {
    entries: Vec<(Arc<str>, Value)>,
    places: HashMap<Box<str>, usize>,
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// An array.
    pub fn array(items: impl IntoIterator<Item = Self>) -> Self {
        Self::Array(Arc::new(Array { items: items.into_iter().collect(), is_filtered: false }))
    }

    /// An object.
    pub fn object<N: Into<Arc<str>>>(entries: impl IntoIterator<Item = (N, Self)>) -> Self {
        let mut object = Object::default();
        for (name, value) in entries {
            object.insert(name.into(), value);
        }
        Self::Object(Arc::new(object))
    }

    /// The kind's name, as it stands for arrays and objects where a text is wanted.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "Null",
            Self::Boolean(_) => "Boolean",
            Self::Number(_) => "Number",
            Self::Text(_) => "String",
            Self::Array(_) => "Array",
            Self::Object(_) => "Object",
        }
    }

    /// Whether a condition with this value holds.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(value) => *value,
            Self::Number(value) => *value != 0.0 && !value.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Array(_) | Self::Object(_) => true,
        }
    }

    /// The value as a text: null is empty, a number is printed as JavaScript prints it rounded to 15 places.
    pub fn to_text(&self) -> Arc<str> {
        match self {
            Self::Null => "".into(),
            Self::Boolean(true) => "true".into(),
            Self::Boolean(false) => "false".into(),
            Self::Number(value) => number::print_rounded(*value).into(),
            Self::Text(text) => Arc::clone(text),
            Self::Array(_) | Self::Object(_) => self.kind().into(),
        }
    }

    /// The value as a number: NaN where it is none.
    pub fn to_number(&self) -> f64 {
        match self {
            Self::Null => 0.0,
            Self::Boolean(value) => f64::from(u8::from(*value)),
            Self::Number(value) => *value,
            Self::Text(text) => number::read(text),
            Self::Array(_) | Self::Object(_) => f64::NAN,
        }
    }

    /// Whether the value is neither an array nor an object.
    pub const fn is_primitive(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Object(_))
    }
}

impl Array {
    /// What `.*` makes of these.
    pub(super) fn filtered(items: Vec<Value>) -> Self {
        Self { items, is_filtered: true }
    }

    /// The values.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    pub(super) const fn is_filtered(&self) -> bool {
        self.is_filtered
    }
}

impl Object {
    /// The names and values, in their order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    /// The value of this name, regardless of case.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let place = *self.places.get(name.to_lowercase().as_str())?;
        self.entries.get(place).map(|(_, value)| value)
    }

    /// Adds a value. Of names that differ in case the first stays; the same name again takes the new value.
    pub(super) fn insert(&mut self, name: Arc<str>, value: Value) {
        let folded = name.to_lowercase().into_boxed_str();
        match self.places.get(&folded).and_then(|place| self.entries.get_mut(*place)) {
            Some((there, old)) if *there == name => *old = value,
            Some(_) => {}
            None => {
                self.places.insert(folded, self.entries.len());
                self.entries.push((name, value));
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}
