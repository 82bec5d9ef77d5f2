//! Values of rows' properties, checked against the schema.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{
    LIST_ENTRY_LEN_MAX, LIST_LEN_MAX, Property, PropertyKind, Schema, TEXT_LEN_MAX, date::Moment, unknown_property,
};
use crate::{Result, id::PageId, problems::Problems};

/// Schemes of addresses that a `url` property takes: what is safe to follow.
const SCHEMES: &[&str] = &["http://", "https://", "mailto:", "tel:"];

/// A value of a property (contract B 2.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PropertyValue {
    /// Of a checkbox.
    Flag(bool),
    /// Of a number; it comes back as it was sent.
    Number(Number),
    /// Of a text, url, date (as it is written) or select (the option's id).
    Text(String),
    /// Of a `multi_select` (the options' ids) or relation (the rows' ids).
    List(Vec<String>),
}

/// Values as a client sends them, by the ids of the properties; nothing clears one.
pub type PropertiesDraft = BTreeMap<String, Option<PropertyValue>>;

/// A row's values, by the ids of the properties. An absent one is empty.
pub type Properties = BTreeMap<String, PropertyValue>;

impl PropertyValue {
    /// Whether it says no more than an absent one.
    fn is_blank(&self) -> bool {
        match self {
            Self::Flag(_) | Self::Number(_) => false,
            Self::Text(text) => text.is_empty(),
            Self::List(entries) => entries.is_empty(),
        }
    }

    /// Whether it is one that any property can have (contract B 4.6).
    fn fits_limits(&self) -> bool {
        match self {
            Self::Flag(_) | Self::Number(_) => true,
            Self::Text(text) => text.chars().count() <= TEXT_LEN_MAX && !text.contains('\0'),
            Self::List(entries) => {
                entries.len() <= LIST_LEN_MAX
                    && entries.iter().all(|entry| entry.chars().count() <= LIST_ENTRY_LEN_MAX && !entry.contains('\0'))
            }
        }
    }
}

/// What is wrong with a value that breaks a limit of every property's.
const OVER_LIMIT: &str = "A value is a text of up to 4,000 characters, or a list of up to 50 entries of 32.";

impl Property {
    /// Why `value` is none of this property's; nothing where it is one.
    fn fault(&self, value: &PropertyValue) -> Option<&'static str> {
        let fits = match (self.kind, value) {
            (PropertyKind::Number, PropertyValue::Number(_))
            | (PropertyKind::Checkbox, PropertyValue::Flag(_))
            | (PropertyKind::Text, PropertyValue::Text(_)) => true,
            (PropertyKind::Url, PropertyValue::Text(text)) => is_url(text),
            (PropertyKind::Date, PropertyValue::Text(text)) => Moment::parse(text).is_some(),
            (PropertyKind::Select, PropertyValue::Text(id)) => self.option_place(id).is_some(),
            (PropertyKind::MultiSelect, PropertyValue::List(ids)) => {
                are_different(ids) && ids.iter().all(|id| self.option_place(id).is_some())
            }
            (PropertyKind::Relation, PropertyValue::List(ids)) => {
                are_different(ids) && ids.iter().all(|id| id.parse::<PageId>().is_ok())
            }
            _ => false,
        };
        (!fits).then_some(wanted(self.kind))
    }
}

/// What a value of this kind is, for somebody who gave something else.
const fn wanted(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Number => "Give a number.",
        PropertyKind::Checkbox => "Give true or false.",
        PropertyKind::Text => "Give a text.",
        PropertyKind::Url => "Give an address such as https://example.com.",
        PropertyKind::Date => "Give a date as YYYY-MM-DD or YYYY-MM-DDTHH:MM.",
        PropertyKind::Select => "Give the id of one of the property's options.",
        PropertyKind::MultiSelect => "Give ids of the property's options, each once.",
        PropertyKind::Relation => "Give ids of rows, each once.",
    }
}

fn is_url(text: &str) -> bool {
    let has_scheme = |scheme: &&str| {
        text.len() > scheme.len() && text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.iter().any(has_scheme) && !text.chars().any(|character| character.is_whitespace() || character.is_control())
}

fn are_different(ids: &[String]) -> bool {
    ids.iter().collect::<HashSet<_>>().len() == ids.len()
}

/// What becomes of a row's values: those named change, the others stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertiesChange {
    /// The new values by property, relations aside; nothing clears one.
    values: BTreeMap<String, Option<PropertyValue>>,
    /// The rows that relations name now, by property.
    relations: BTreeMap<String, Vec<PageId>>,
}

impl PropertiesChange {
    /// The values that follow from `before`.
    #[must_use]
    pub fn apply(&self, mut before: Properties) -> Properties {
        for (id, value) in &self.values {
            match value {
                Some(value) => before.insert(id.clone(), value.clone()),
                None => before.remove(id),
            };
        }
        before
    }

    /// The relations that it sets, each with the rows that it names from now on. Pairs of rows are kept apart from the other
    /// values, because both sides show them.
    pub const fn relations(&self) -> &BTreeMap<String, Vec<PageId>> {
        &self.relations
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.relations.is_empty()
    }
}

impl Schema {
    /// Checks values as a client sent them under `properties`; null, an empty text and an empty list clear one.
    ///
    /// Errors: 400 `Unknown property.`, and 400 `invalid` with every value that doesn't fit its property.
    pub fn check_values(&self, values: PropertiesDraft) -> Result<PropertiesChange> {
        let mut problems = Problems::new();
        let mut change = PropertiesChange::default();
        for (id, value) in values {
            let property = self.property(&id).ok_or_else(unknown_property)?;
            let value = value.filter(|value| !value.is_blank());
            let fault = value
                .as_ref()
                .and_then(|value| if value.fits_limits() { property.fault(value) } else { Some(OVER_LIMIT) });
            if let Some(message) = fault {
                problems.add(format!("properties.{id}"), message);
                continue;
            }
            if property.kind == PropertyKind::Relation {
                change.relations.insert(id, rows_of(value));
            } else {
                change.values.insert(id, value);
            }
        }
        problems.into_result().map(|()| change)
    }

    /// What is left of a row's values in the schema as it is now: those that fit it. Relations are kept elsewhere.
    #[must_use]
    pub fn visible(&self, mut values: Properties) -> Properties {
        values.retain(|id, value| {
            let Some(property) = self.property(id) else { return false };
            if let (PropertyKind::MultiSelect, PropertyValue::List(options)) = (property.kind, &mut *value) {
                options.retain(|option| property.option_place(option).is_some());
            }
            property.kind != PropertyKind::Relation && !value.is_blank() && property.fault(value).is_none()
        });
        values
    }
}

fn rows_of(value: Option<PropertyValue>) -> Vec<PageId> {
    match value {
        Some(PropertyValue::List(ids)) => ids.iter().filter_map(|id| id.parse().ok()).collect(),
        _ => Vec::new(),
    }
}
