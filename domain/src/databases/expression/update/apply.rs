//! Making an update of an item: all operands are those of the item as it was before.

use std::{borrow::Cow, collections::BTreeMap};

use super::{Action, ActionKind, SetOperand, SetValue, Update, UpdateFault, UpdateFaultKind, edits::Edits};
use crate::databases::{
    AttributeValue, ITEM_BYTES_MAX, Item, NESTING_MAX, Number, NumberFault,
    expression::{DocumentPath, PathStep},
};

/// What becomes of a place.
enum Outcome {
    /// It stays as it is.
    Keep,
    /// This lies there.
    Put(AttributeValue),
    /// Nothing lies there.
    Remove,
}

type Attributes = BTreeMap<String, AttributeValue>;

impl Update {
    /// The item as the update makes it of this one.
    pub fn apply(&self, item: &Item) -> Result<Item, UpdateFault> {
        let mut attributes: Attributes =
            item.attributes().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let mut making = Making { item, update: self, put_bytes: 0 };
        making.edit_map(&mut attributes, &self.edits)?;
        Ok(attributes.into_iter().collect())
    }
}

struct Making<'u> {
    /// As it was before.
    item: &'u Item,
    update: &'u Update,
    /// Bytes of the values that were put into the item so far, all of which it has in the end.
    put_bytes: usize,
}

type Made<T> = Result<T, UpdateFault>;

fn fault(kind: impl Into<UpdateFaultKind>, path: &DocumentPath) -> UpdateFault {
    UpdateFault { kind: kind.into(), path: path.clone() }
}

impl<'u> Making<'u> {
    fn edit(&mut self, value: &mut AttributeValue, edits: &Edits) -> Made<()> {
        match value {
            AttributeValue::Map(entries) => self.edit_map(entries, edits),
            AttributeValue::List(entries) => self.edit_list(entries, edits),
            _ => Err(self.no_such_place(edits)),
        }
    }

    fn edit_map(&mut self, entries: &mut Attributes, edits: &Edits) -> Made<()> {
        for (step, inner) in &edits.inner {
            let PathStep::Name(name) = step else { return Err(self.no_such_place(inner)) };
            let Some(number) = inner.action else {
                let value = entries.get_mut(&**name).ok_or_else(|| self.no_such_place(inner))?;
                self.edit(value, inner)?;
                continue;
            };
            match self.outcome(number, entries.get(&**name))? {
                Outcome::Keep => {}
                Outcome::Put(value) => drop(entries.insert(name.to_string(), value)),
                Outcome::Remove => drop(entries.remove(&**name)),
            }
        }
        Ok(())
    }

    /// Positions are those before the update, also where entries come or go.
    fn edit_list(&mut self, entries: &mut Vec<AttributeValue>, edits: &Edits) -> Made<()> {
        let (len, mut removed) = (entries.len(), Vec::new());
        for (step, inner) in &edits.inner {
            let PathStep::Index(place) = step else { return Err(self.no_such_place(inner)) };
            let entry = entries.get_mut(*place).filter(|_| *place < len);
            let Some(number) = inner.action else {
                self.edit(entry.ok_or_else(|| self.no_such_place(inner))?, inner)?;
                continue;
            };
            match (self.outcome(number, entry.as_deref())?, entry) {
                (Outcome::Put(value), Some(entry)) => *entry = value,
                // They come in the order of their positions.
                (Outcome::Put(value), None) => entries.push(value),
                (Outcome::Remove, Some(_)) => removed.push(*place),
                (Outcome::Keep, _) | (Outcome::Remove, None) => {}
            }
        }
        let (mut place, mut removed) = (0, removed.into_iter().peekable());
        entries.retain(|_| {
            place += 1;
            removed.next_if_eq(&(place - 1)).is_none()
        });
        Ok(())
    }

    /// That what is done here can't be reached.
    fn no_such_place(&self, edits: &Edits) -> UpdateFault {
        fault(UpdateFaultKind::NoSuchPlace, &self.action(edits.first()).path)
    }

    fn action(&self, number: usize) -> &'u Action {
        &self.update.actions()[number]
    }

    /// What an action makes of what lies at its place.
    fn outcome(&mut self, number: usize, found: Option<&AttributeValue>) -> Made<Outcome> {
        let Action { path, kind } = self.action(number);
        let outcome = match kind {
            ActionKind::Remove => Outcome::Remove,
            ActionKind::Set(value) => Outcome::Put(self.value(value, path)?),
            ActionKind::Add(value) => {
                let Some(found) = found else { return self.put(value.as_ref().clone(), path) };
                Outcome::Put(added(found, value).map_err(|kind| fault(kind, path))?)
            }
            ActionKind::Delete(value) => match found {
                None => Outcome::Keep,
                Some(found) => remaining(found, value).map_err(|kind| fault(kind, path))?,
            },
        };
        match outcome {
            Outcome::Put(value) => self.put(value, path),
            other => Ok(other),
        }
    }

    /// Has a value lie at a place, where it isn't too much.
    fn put(&mut self, value: AttributeValue, path: &DocumentPath) -> Made<Outcome> {
        self.put_bytes += value.size();
        if self.put_bytes > ITEM_BYTES_MAX {
            return Err(fault(UpdateFaultKind::TooLarge, path));
        }
        // The attribute's own value lies at 1.
        if path.steps().len() - 1 + value.levels() > NESTING_MAX {
            return Err(fault(UpdateFaultKind::TooDeep, path));
        }
        Ok(Outcome::Put(value))
    }

    fn value(&self, value: &'u SetValue, path: &DocumentPath) -> Made<AttributeValue> {
        let sum =
            |one: &'u SetOperand, other: &'u SetOperand, add: fn(Number, Number) -> Result<Number, NumberFault>| {
                let sum = add(self.number(one, path)?, self.number(other, path)?);
                sum.map(AttributeValue::Number).map_err(|kind| fault(kind, path))
            };
        match value {
            SetValue::Operand(operand) => self.operand(operand, path).map(Cow::into_owned),
            SetValue::Sum(one, other) => sum(one, other, Number::checked_add),
            SetValue::Difference(one, other) => sum(one, other, Number::checked_sub),
        }
    }

    fn number(&self, operand: &'u SetOperand, path: &DocumentPath) -> Made<Number> {
        match &*self.operand(operand, path)? {
            AttributeValue::Number(number) => Ok(*number),
            _ => Err(fault(UpdateFaultKind::WrongType, path)),
        }
    }

    fn operand(&self, operand: &'u SetOperand, path: &DocumentPath) -> Made<Cow<'u, AttributeValue>> {
        match operand {
            SetOperand::Value(value) => Ok(Cow::Borrowed(&**value)),
            SetOperand::Path(from) => {
                from.find(self.item).map(Cow::Borrowed).ok_or_else(|| fault(UpdateFaultKind::Missing, from))
            }
            SetOperand::IfNotExists { path: from, otherwise } => match from.find(self.item) {
                Some(found) => Ok(Cow::Borrowed(found)),
                None => self.operand(otherwise, path),
            },
            SetOperand::ListAppend(lists) => {
                let [first, second] = &**lists;
                let (first, second) = (self.operand(first, path)?, self.operand(second, path)?);
                appended(first, second).map(Cow::Owned).map_err(|kind| fault(kind, path))
            }
        }
    }
}

/// One list and then another.
fn appended(
    first: Cow<'_, AttributeValue>,
    second: Cow<'_, AttributeValue>,
) -> Result<AttributeValue, UpdateFaultKind> {
    // Before they are copied: many of them could be made of few.
    if first.size() + second.size() > ITEM_BYTES_MAX {
        return Err(UpdateFaultKind::TooLarge);
    }
    match (first.into_owned(), second.into_owned()) {
        (AttributeValue::List(mut entries), AttributeValue::List(more)) => {
            entries.extend(more);
            Ok(AttributeValue::List(entries))
        }
        _ => Err(UpdateFaultKind::WrongType),
    }
}

fn added(found: &AttributeValue, value: &AttributeValue) -> Result<AttributeValue, UpdateFaultKind> {
    use AttributeValue::{BinarySet, Number, NumberSet, StringSet};
    Ok(match (found, value) {
        (Number(found), Number(value)) => Number(found.checked_add(*value)?),
        (StringSet(found), StringSet(value)) => StringSet(found | value),
        (NumberSet(found), NumberSet(value)) => NumberSet(found | value),
        (BinarySet(found), BinarySet(value)) => BinarySet(found | value),
        _ => return Err(UpdateFaultKind::WrongType),
    })
}

fn remaining(found: &AttributeValue, value: &AttributeValue) -> Result<Outcome, UpdateFaultKind> {
    use AttributeValue::{BinarySet, NumberSet, StringSet};
    let (is_empty, left) = match (found, value) {
        (StringSet(found), StringSet(value)) => {
            let left = found - value;
            (left.is_empty(), StringSet(left))
        }
        (NumberSet(found), NumberSet(value)) => {
            let left = found - value;
            (left.is_empty(), NumberSet(left))
        }
        (BinarySet(found), BinarySet(value)) => {
            let left = found - value;
            (left.is_empty(), BinarySet(left))
        }
        _ => return Err(UpdateFaultKind::WrongType),
    };
    Ok(if is_empty { Outcome::Remove } else { Outcome::Put(left) })
}
