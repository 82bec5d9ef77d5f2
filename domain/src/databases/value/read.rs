//! Attribute values from JSON, strictly: exactly one type each, and nothing that DynamoDB would refuse.
//!
//! Reading goes as deep as [`NESTING_MAX`] and no deeper, whatever is sent. Of two JSON members with one name the last one
//! counts, as in every body.

use std::{collections::BTreeSet, fmt::Write};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

use super::{AttributeValue, NAME_BYTES_MAX, NESTING_MAX, SetKind, ValueFault};
use crate::{databases::Number, error::Error};

/// Characters of a name in the path of a fault; longer ones are cut.
const STEP_LEN_MAX: usize = 64;

/// A value that can't be read: what is wrong, and the way to it, from the inside to the outside.
#[derive(Debug)]
pub(in crate::databases) struct Misread {
    fault: ValueFault,
    steps: Vec<String>,
}

impl From<ValueFault> for Misread {
    fn from(fault: ValueFault) -> Self {
        Self { fault, steps: Vec::new() }
    }
}

impl Misread {
    /// The same fault, seen from one level further out.
    pub fn below(mut self, name: &str) -> Self {
        let mut step: String = name.chars().take(STEP_LEN_MAX).collect();
        if step.len() < name.len() {
            step.push('…');
        }
        self.steps.push(format!(".{step}"));
        self
    }

    fn at(mut self, place: usize) -> Self {
        self.steps.push(format!("[{place}]"));
        self
    }

    /// The 400 that names the place below `path`.
    pub fn into_error(self, path: &str) -> Error {
        let mut whole = path.to_owned();
        for step in self.steps.iter().rev() {
            // Writing to a String does not fail.
            let _ = write!(whole, "{step}");
        }
        Error::invalid(whole, self.fault.to_string())
    }
}

type Reading<T> = Result<T, Misread>;

/// The value that lies `level` deep.
fn read(json: Value, level: usize) -> Reading<AttributeValue> {
    if level > NESTING_MAX {
        return Err(ValueFault::TooDeep.into());
    }
    let Value::Object(types) = json else { return Err(ValueFault::NotTyped.into()) };
    if types.len() > 1 {
        return Err(ValueFault::SeveralTypes.into());
    }
    let (name, json) = types.into_iter().next().ok_or(ValueFault::NoType)?;
    typed(&name, json, level).map_err(|misread| misread.below(&name))
}

fn typed(name: &str, json: Value, level: usize) -> Reading<AttributeValue> {
    Ok(match name {
        "S" => AttributeValue::String(text(json)?),
        "N" => AttributeValue::Number(number(json)?),
        "B" => AttributeValue::Binary(binary(json)?),
        "BOOL" => AttributeValue::Bool(json.as_bool().ok_or(ValueFault::WrongKind("true or false"))?),
        "NULL" if json == Value::Bool(true) => AttributeValue::Null,
        "NULL" => return Err(ValueFault::NullNotTrue.into()),
        "M" => AttributeValue::Map(attributes(object(json)?, level + 1)?),
        "L" => AttributeValue::List(entries(json, |entry| read(entry, level + 1))?),
        "SS" => AttributeValue::StringSet(set(json, SetKind::String, text)?),
        "NS" => AttributeValue::NumberSet(set(json, SetKind::Number, number)?),
        "BS" => AttributeValue::BinarySet(set(json, SetKind::Binary, binary)?),
        _ => return Err(ValueFault::UnknownType.into()),
    })
}

/// The attributes of a map or an item, whose values lie `level` deep.
pub(in crate::databases) fn attributes<C: FromIterator<(String, AttributeValue)>>(
    members: Map<String, Value>,
    level: usize,
) -> Reading<C> {
    let one = |(name, json): (String, Value)| {
        name_check(&name)?;
        let value = read(json, level).map_err(|misread| misread.below(&name))?;
        Ok((name, value))
    };
    members.into_iter().map(one).collect()
}

fn name_check(name: &str) -> Result<(), ValueFault> {
    match name.len() {
        0 => Err(ValueFault::EmptyName),
        len if len > NAME_BYTES_MAX => Err(ValueFault::LongName),
        _ => Ok(()),
    }
}

pub(in crate::databases) fn object(json: Value) -> Reading<Map<String, Value>> {
    match json {
        Value::Object(members) => Ok(members),
        _ => Err(ValueFault::WrongKind("an object").into()),
    }
}

fn text(json: Value) -> Reading<String> {
    match json {
        Value::String(text) => Ok(text),
        _ => Err(ValueFault::WrongKind("a string").into()),
    }
}

fn number(json: Value) -> Reading<Number> {
    text(json)?.parse().map_err(|fault| ValueFault::Number(fault).into())
}

fn binary(json: Value) -> Reading<Vec<u8>> {
    STANDARD.decode(text(json)?).map_err(|_| ValueFault::NotBase64.into())
}

fn entries<T>(json: Value, one: impl Fn(Value) -> Reading<T>) -> Reading<Vec<T>> {
    let Value::Array(entries) = json else { return Err(ValueFault::WrongKind("a list").into()) };
    let one = |(place, entry)| one(entry).map_err(|misread| misread.at(place));
    entries.into_iter().enumerate().map(one).collect()
}

fn set<T: Ord>(json: Value, kind: SetKind, one: fn(Value) -> Reading<T>) -> Reading<BTreeSet<T>> {
    let mut set = BTreeSet::new();
    for (place, entry) in entries(json, one)?.into_iter().enumerate() {
        if !set.insert(entry) {
            return Err(Misread::from(ValueFault::Duplicate).at(place));
        }
    }
    if set.is_empty() { Err(ValueFault::EmptySet(kind).into()) } else { Ok(set) }
}

impl AttributeValue {
    /// Reads the value that the body has at `path`; 400 naming what is wrong where.
    pub fn read(path: &str, json: Value) -> crate::Result<Self> {
        read(json, 1).map_err(|misread| misread.into_error(path))
    }
}
