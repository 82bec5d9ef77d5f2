//! The schema of a database: which properties its rows have.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{OPTIONS_MAX, PROPERTIES_MAX, is_named_id, name};
use crate::{Error, Result, app::names, id::PageId, problems::Problems};

names! {
    /// What the values of a property are (contract B 2.6).
    PropertyKind {
        Number = "number", Text = "text", Url = "url", Date = "date", Select = "select", Checkbox = "checkbox",
        MultiSelect = "multi_select", Relation = "relation",
    }
}

impl PropertyKind {
    /// Whether its values are options.
    pub const fn has_options(self) -> bool {
        matches!(self, Self::Select | Self::MultiSelect)
    }
}

names! {
    /// The color of an option (contract B 2.6).
    OptionColor {
        Gray = "gray", Brown = "brown", Orange = "orange", Yellow = "yellow", Green = "green", Blue = "blue",
        Purple = "purple", Pink = "pink", Red = "red",
    }
}

/// One of the values that a `select` or `multi_select` property offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectOption {
    /// Its id, which the client chose.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Its color.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<OptionColor>,
}

/// A property of a database's rows. In JSON it is the contract's, and as such it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Property {
    /// Its id, which the client chose.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: PropertyKind,
    /// What it offers, where its values are options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<SelectOption>>,
    /// The database whose rows a relation names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_id: Option<PageId>,
    /// The relation of that database that this one is the other side of: both show and change the same pairs of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inverse_of: Option<String>,
}

impl Property {
    /// The place of an option among those that it offers.
    pub fn option_place(&self, id: &str) -> Option<usize> {
        self.options.as_ref()?.iter().position(|option| option.id == id)
    }

    fn check(&mut self, path: &str, problems: &mut Problems) {
        problems.require(is_named_id(&self.id), format!("{path}.id"), "An id has 1 to 32 characters.");
        match name(&self.name) {
            Some(name) => self.name = name,
            None => problems.add(format!("{path}.name"), "A name has 1 to 100 characters."),
        }
        if self.kind.has_options() {
            let options = self.options.get_or_insert_default();
            check_options(options, &format!("{path}.options"), problems);
        } else {
            let none = self.options.as_ref().is_none_or(Vec::is_empty);
            problems.require(none, format!("{path}.options"), "Only select and multi_select properties have options.");
            self.options = None;
        }
        let is_relation = self.kind == PropertyKind::Relation;
        let message = if is_relation { "A relation names a database." } else { "Only a relation names a database." };
        problems.require(self.database_id.is_some() == is_relation, format!("{path}.databaseId"), message);
        let inverse = self.inverse_of.as_ref().is_none_or(|id| is_relation && is_named_id(id));
        problems.require(inverse, format!("{path}.inverseOf"), "Only a relation can be the other side of one.");
    }
}

fn check_options(options: &mut [SelectOption], path: &str, problems: &mut Problems) {
    problems.require(options.len() <= OPTIONS_MAX, path, "A property has up to 100 options.");
    let mut seen = HashSet::new();
    for (place, option) in options.iter_mut().enumerate() {
        let path = format!("{path}[{place}]");
        problems.require(is_named_id(&option.id), format!("{path}.id"), "An id has 1 to 32 characters.");
        problems.require(seen.insert(option.id.clone()), format!("{path}.id"), "Each option has an id of its own.");
        match name(&option.name) {
            Some(name) => option.name = name,
            None => problems.add(format!("{path}.name"), "A name has 1 to 100 characters."),
        }
    }
}

/// The properties of a database's rows, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema(Vec<Property>);

impl Schema {
    /// Checks properties as a client sent them; names are trimmed.
    pub fn check(mut properties: Vec<Property>) -> Result<Self> {
        if properties.len() > PROPERTIES_MAX {
            return Err(Error::invalid("schema", "A database has up to 50 properties."));
        }
        let mut problems = Problems::new();
        let mut seen = HashSet::new();
        for (place, property) in properties.iter_mut().enumerate() {
            let path = format!("schema[{place}]");
            property.check(&path, &mut problems);
            let is_new = seen.insert(property.id.clone());
            problems.require(is_new, format!("{path}.id"), "Each property has an id of its own.");
        }
        problems.into_result().map(|()| Self(properties))
    }

    /// The properties, in their order.
    pub fn properties(&self) -> &[Property] {
        &self.0
    }

    /// The property with this id.
    pub fn property(&self, id: &str) -> Option<&Property> {
        self.0.iter().find(|property| property.id == id)
    }
}
