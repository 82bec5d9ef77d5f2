//! What `#names` and `:values` of expressions stand for.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::fault::shown;
use crate::{
    databases::{AttributeValue, NAME_BYTES_MAX},
    error::{Error, Result},
    problems::Problems,
};

/// Bytes of a `#name` or `:value`, its sign among them (DynamoDB).
pub const PLACEHOLDER_BYTES_MAX: usize = 255;

#[derive(Clone, Debug)]
struct Substitute<T> {
    stands_for: T,
    is_used: bool,
}

/// What the placeholders of a request's expressions stand for, and which of them the expressions have used.
#[derive(Clone, Debug, Default)]
pub struct Substitutes {
    names: BTreeMap<String, Substitute<Arc<str>>>,
    values: BTreeMap<String, Substitute<Arc<AttributeValue>>>,
}

impl Substitutes {
    /// Reads what the body has as `names` and `values`; 400 naming the first one of either that can't be one.
    pub fn read(names: BTreeMap<String, String>, values: Map<String, Value>) -> Result<Self> {
        let (mut read, mut problems) = (Self::default(), Problems::new());
        for (placeholder, name) in names {
            if problems.keep(read.add_name(placeholder, &name))?.is_none() {
                break;
            }
        }
        for (placeholder, value) in values {
            if problems.keep(read.add_value(placeholder, value))?.is_none() {
                break;
            }
        }
        problems.into_result().map(|()| read)
    }

    fn add_name(&mut self, placeholder: String, name: &str) -> Result<()> {
        let path = checked("names", &placeholder, '#')?;
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            return Err(Error::invalid(path, "Names of attributes have 1 to 65,535 bytes."));
        }
        self.names.insert(placeholder, Substitute { stands_for: name.into(), is_used: false });
        Ok(())
    }

    fn add_value(&mut self, placeholder: String, value: Value) -> Result<()> {
        let value = AttributeValue::read(&checked("values", &placeholder, ':')?, value)?;
        self.values.insert(placeholder, Substitute { stands_for: Arc::new(value), is_used: false });
        Ok(())
    }

    /// What a `#name` stands for, which counts as used from now on.
    pub(super) fn name(&mut self, placeholder: &str) -> Option<Arc<str>> {
        self.names.get_mut(placeholder).map(Substitute::taken)
    }

    /// What a `:value` stands for, which counts as used from now on.
    pub(super) fn value(&mut self, placeholder: &str) -> Option<Arc<AttributeValue>> {
        self.values.get_mut(placeholder).map(Substitute::taken)
    }

    /// Bytes of what all `:values` stand for.
    pub fn value_bytes(&self) -> usize {
        self.values.values().map(|substitute| substitute.stands_for.size()).sum()
    }

    /// Passes where the expressions that were read have used all of them; 400 naming the first one of either that none uses.
    pub fn used_check(&self) -> Result<()> {
        let mut problems = Problems::new();
        for (field, unused) in [("names", unused(&self.names)), ("values", unused(&self.values))] {
            if let Some(placeholder) = unused {
                problems.add(format!("{field}.{}", shown(placeholder)), "Isn't used in the expressions.");
            }
        }
        problems.into_result()
    }
}

impl<T: Clone> Substitute<T> {
    fn taken(&mut self) -> T {
        self.is_used = true;
        self.stands_for.clone()
    }
}

fn unused<T>(substitutes: &BTreeMap<String, Substitute<T>>) -> Option<&str> {
    substitutes.iter().find(|(_, substitute)| !substitute.is_used).map(|(placeholder, _)| placeholder.as_str())
}

/// The path of a placeholder in the body; 400 where it can't be one.
fn checked(field: &str, placeholder: &str, sign: char) -> Result<String> {
    let path = format!("{field}.{}", shown(placeholder));
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_one = placeholder.strip_prefix(sign).is_some_and(|name| !name.is_empty() && name.bytes().all(is_known));
    if !is_one {
        return Err(Error::invalid(path, format!("Must be a {sign} and then letters, digits and _.")));
    }
    if placeholder.len() > PLACEHOLDER_BYTES_MAX {
        return Err(Error::invalid(path, "Has at most 255 bytes."));
    }
    Ok(path)
}
