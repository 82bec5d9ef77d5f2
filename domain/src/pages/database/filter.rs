//! Filters of rows: ten operators, each with a meaning for every kind of property.
//!
//! | | number | text, url | date | select | checkbox | list |
//! |---|---|---|---|---|---|---|
//! | `is` | equal | equal but for case | that day, or that moment | that option | as given | these entries, in any order |
//! | `contains` | its digits have these | has this text in it, but for case | is written with this in it, as `2026-11` | that option, or one of these | as given | all of these |
//! | `gt`, `after` | greater | later in the alphabet | later | later among the options | true, where false is given | more entries than the number given |
//! | `lt`, `before` | less | earlier | earlier | earlier | false, where true is given | fewer entries |
//!
//! A list is what `multi_select` and `relation` hold. `is_not` and `not_contains` hold where their opposites don't, so also for
//! rows without a value; the orders hold only for rows with one. A checkbox without a value counts as false, except to
//! `is_empty`, which asks whether it was ever given one. A filter without a value is one that somebody is still writing:
//! it holds for every row.

use std::{cmp::Ordering, collections::BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{
    LIST_ENTRY_LEN_MAX, LIST_LEN_MAX, PropertyKind, RowFacts, Schema, TEXT_LEN_MAX,
    date::Moment,
    field::{Cell, Field},
    unknown_property,
};
use crate::{Result, app::names, problems::Problems};

names! {
    /// How a filter compares (contract B 2.6).
    FilterOp {
        After = "after", Before = "before", Contains = "contains", NotContains = "not_contains", Is = "is",
        IsNot = "is_not", Gt = "gt", Lt = "lt", IsEmpty = "is_empty", IsNotEmpty = "is_not_empty",
    }
}

/// What a filter compares with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "JSON's kinds of value")]
pub enum FilterValue {
    Flag(bool),
    Number(Number),
    Text(String),
    List(Vec<String>),
}

impl FilterValue {
    fn is_blank(&self) -> bool {
        match self {
            Self::Flag(_) | Self::Number(_) => false,
            Self::Text(text) => text.trim().is_empty(),
            Self::List(entries) => entries.is_empty(),
        }
    }

    fn fits_limits(&self) -> bool {
        match self {
            Self::Flag(_) | Self::Number(_) => true,
            Self::Text(text) => text.chars().count() <= TEXT_LEN_MAX,
            Self::List(entries) => {
                entries.len() <= LIST_LEN_MAX && entries.iter().all(|entry| entry.chars().count() <= LIST_ENTRY_LEN_MAX)
            }
        }
    }
}

/// A filter of rows (contract B 2.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filter {
    /// What it looks at: a property, or `title`, `createdAt` or `updatedAt`.
    pub property: String,
    /// How it compares.
    pub op: FilterOp,
    /// What it compares with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<FilterValue>,
}

impl Filter {
    /// Notes what is wrong with it under `path`; 400 `Unknown property.` where the schema has none such.
    pub(super) fn check(&self, schema: &Schema, path: &str, problems: &mut Problems) -> Result<()> {
        let field = Field::find(schema, &self.property).ok_or_else(unknown_property)?;
        let message = match &self.value {
            Some(value) if !value.fits_limits() => Some("A value has up to 4,000 characters, or 50 entries of 32."),
            _ => Test::read(field, self).err(),
        };
        if let Some(message) = message {
            problems.add(format!("{path}.value"), message);
        }
        Ok(())
    }

    /// Whether the schema has what it looks at, and it compares with something that makes sense there.
    pub(super) fn fits(&self, schema: &Schema) -> bool {
        Field::find(schema, &self.property).is_some_and(|field| Test::read(field, self).is_ok())
    }
}

/// A filter that is ready to look at many rows.
#[derive(Debug)]
pub(super) struct CompiledFilter<'s> {
    field: Field<'s>,
    test: Test,
}

impl<'s> CompiledFilter<'s> {
    /// `filter`, compiled; one that doesn't fit the schema lets every row through.
    pub fn new(schema: &'s Schema, filter: &Filter) -> Option<Self> {
        let field = Field::find(schema, &filter.property)?;
        Some(Self { field, test: Test::read(field, filter).ok()? })
    }

    /// Whether the row goes through.
    pub fn lets(&self, row: &RowFacts<'_>) -> bool {
        self.test.holds(self.field, self.field.cell(row))
    }
}

#[derive(Debug)]
enum Test {
    Always,
    Empty { wanted: bool },
    Equals { what: Operand, wanted: bool },
    Contains { what: Operand, wanted: bool },
    Beyond { what: Operand, side: Ordering },
}

/// A filter's value, read as its field asks for.
#[derive(Debug)]
enum Operand {
    Flag(bool),
    Number(f64),
    /// In lower case.
    Text(String),
    Moment(Moment),
    /// The place of an option.
    Place(Option<usize>),
    Entries(BTreeSet<String>),
}

impl Test {
    fn read(field: Field<'_>, filter: &Filter) -> Result<Self, &'static str> {
        match filter.op {
            FilterOp::IsEmpty => return Ok(Self::Empty { wanted: true }),
            FilterOp::IsNotEmpty => return Ok(Self::Empty { wanted: false }),
            _ => {}
        }
        let Some(value) = filter.value.as_ref().filter(|value| !value.is_blank()) else { return Ok(Self::Always) };
        Ok(match filter.op {
            FilterOp::Is => Self::Equals { what: Operand::equal(field, value)?, wanted: true },
            FilterOp::IsNot => Self::Equals { what: Operand::equal(field, value)?, wanted: false },
            FilterOp::Contains => Self::Contains { what: Operand::part(field, value)?, wanted: true },
            FilterOp::NotContains => Self::Contains { what: Operand::part(field, value)?, wanted: false },
            FilterOp::Gt | FilterOp::After => {
                Self::Beyond { what: Operand::ordered(field, value)?, side: Ordering::Greater }
            }
            _ => Self::Beyond { what: Operand::ordered(field, value)?, side: Ordering::Less },
        })
    }

    fn holds(&self, field: Field<'_>, cell: Cell<'_>) -> bool {
        match self {
            Self::Always => true,
            Self::Empty { wanted } => matches!(cell, Cell::Empty) == *wanted,
            Self::Equals { what, wanted } => what.equals(filled(field, cell)) == *wanted,
            Self::Contains { what, wanted } => what.is_in(filled(field, cell)) == *wanted,
            Self::Beyond { what, side } => what.place_of(field, filled(field, cell)) == Some(*side),
        }
    }
}

/// A checkbox that was never given a value counts as false.
fn filled<'r>(field: Field<'_>, cell: Cell<'r>) -> Cell<'r> {
    match cell {
        Cell::Empty if field.kind() == PropertyKind::Checkbox => Cell::Flag(false),
        cell => cell,
    }
}

impl Operand {
    /// What `is` compares with.
    fn equal(field: Field<'_>, value: &FilterValue) -> Result<Self, &'static str> {
        match field.kind() {
            PropertyKind::MultiSelect | PropertyKind::Relation => entries(value),
            PropertyKind::Select => match value {
                FilterValue::Text(id) => Ok(Self::Entries([id.clone()].into())),
                _ => Err("Give the id of an option."),
            },
            _ => Self::ordered(field, value),
        }
    }

    /// What `contains` looks for.
    fn part(field: Field<'_>, value: &FilterValue) -> Result<Self, &'static str> {
        match (field.kind(), value) {
            (PropertyKind::Checkbox, _) => Self::ordered(field, value),
            (PropertyKind::Select | PropertyKind::MultiSelect | PropertyKind::Relation, value) => entries(value),
            (_, FilterValue::Text(text)) => Ok(Self::Text(text.trim().to_lowercase())),
            (PropertyKind::Number, FilterValue::Number(number)) => Ok(Self::Text(number.to_string())),
            _ => Err("Give a text."),
        }
    }

    /// What the orders compare with.
    fn ordered(field: Field<'_>, value: &FilterValue) -> Result<Self, &'static str> {
        match (field.kind(), value) {
            (PropertyKind::Number | PropertyKind::MultiSelect | PropertyKind::Relation, value) => {
                number(value).map(Self::Number).ok_or("Give a number.")
            }
            (PropertyKind::Checkbox, FilterValue::Flag(flag)) => Ok(Self::Flag(*flag)),
            (PropertyKind::Checkbox, _) => Err("Give true or false."),
            (PropertyKind::Date, FilterValue::Text(text)) => {
                Moment::parse(text.trim()).map(Self::Moment).ok_or("Give a date as YYYY-MM-DD or YYYY-MM-DDTHH:MM.")
            }
            (PropertyKind::Date, _) => Err("Give a date as YYYY-MM-DD or YYYY-MM-DDTHH:MM."),
            (PropertyKind::Select, FilterValue::Text(id)) => Ok(Self::Place(field.option_place(id))),
            (PropertyKind::Select, _) => Err("Give the id of an option."),
            (PropertyKind::Text | PropertyKind::Url, FilterValue::Text(text)) => {
                Ok(Self::Text(text.trim().to_lowercase()))
            }
            (PropertyKind::Text | PropertyKind::Url, _) => Err("Give a text."),
        }
    }

    fn equals(&self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Flag(wanted), Cell::Flag(flag)) => *wanted == flag,
            (Self::Number(wanted), Cell::Number(number, _)) => wanted.total_cmp(&number).is_eq(),
            (Self::Text(wanted), Cell::Text(text)) => *wanted == text.to_lowercase(),
            (Self::Moment(wanted), Cell::Moment(moment)) => moment.against(*wanted).is_eq(),
            (Self::Entries(wanted), Cell::Text(id)) => wanted.len() == 1 && wanted.contains(id),
            (Self::Entries(wanted), Cell::List(entries)) => {
                wanted.len() == entries.len() && entries.iter().all(|entry| wanted.contains(entry))
            }
            _ => false,
        }
    }

    fn is_in(&self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Flag(wanted), Cell::Flag(flag)) => *wanted == flag,
            (Self::Text(part), Cell::Text(text)) => text.to_lowercase().contains(part),
            (Self::Text(part), Cell::Number(_, number)) => number.to_string().contains(part),
            (Self::Text(part), Cell::Moment(moment)) => moment.sortable().to_lowercase().contains(part),
            (Self::Entries(wanted), Cell::Text(id)) => wanted.contains(id),
            (Self::Entries(wanted), Cell::List(entries)) => wanted.iter().all(|entry| entries.contains(entry)),
            _ => false,
        }
    }

    /// Where a row's value stands, seen from this one.
    fn place_of(&self, field: Field<'_>, cell: Cell<'_>) -> Option<Ordering> {
        match (self, cell) {
            (Self::Flag(than), Cell::Flag(flag)) => Some(flag.cmp(than)),
            (Self::Number(than), Cell::Number(number, _)) => number.partial_cmp(than),
            (Self::Number(than), Cell::List(entries)) => {
                u32::try_from(entries.len()).ok().and_then(|count| f64::from(count).partial_cmp(than))
            }
            (Self::Text(than), Cell::Text(text)) => Some(text.to_lowercase().as_str().cmp(than)),
            (Self::Moment(than), Cell::Moment(moment)) => Some(moment.against(*than)),
            (Self::Place(Some(than)), Cell::Text(id)) => field.option_place(id).map(|place| place.cmp(than)),
            _ => None,
        }
    }
}

fn number(value: &FilterValue) -> Option<f64> {
    match value {
        FilterValue::Number(number) => number.as_f64(),
        FilterValue::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

fn entries(value: &FilterValue) -> Result<Operand, &'static str> {
    match value {
        FilterValue::Text(id) => Ok(Operand::Entries([id.clone()].into())),
        FilterValue::List(ids) => Ok(Operand::Entries(ids.iter().cloned().collect())),
        _ => Err("Give an id, or a list of ids."),
    }
}
