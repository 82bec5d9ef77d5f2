//! Views: how a database's rows are looked at.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{
    COLUMN_WIDTH, FILTERS_MAX, Filter, PROPERTIES_MAX, PropertyKind, Schema, VIEWS_MAX, field::Field, is_named_id,
    name, unknown_property,
};
use crate::{Error, Result, app::names, problems::Problems};

names! {
    /// How a view lays the rows out (contract B 2.6).
    ViewLayout { Calendar = "calendar", Table = "table", Board = "board", }
}

/// What rows are sorted by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewSort {
    /// A property, or `title`, `createdAt` or `updatedAt`.
    pub by: String,
    /// Whether the greatest comes first.
    #[serde(default)]
    pub desc: bool,
}

/// A view of a database. In JSON it is the contract's, and as such it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// Its id, which the client chose.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// How it lays the rows out.
    pub layout: ViewLayout,
    /// Which rows it shows: those that all of these hold for.
    pub filters: Vec<Filter>,
    /// What they are sorted by; otherwise by their positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<ViewSort>,
    /// What they are grouped by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// The date that a calendar shows them at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_property: Option<String>,
    /// Properties that it doesn't show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Vec<String>>,
    /// Widths of columns, in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub widths: Option<BTreeMap<String, f64>>,
}

impl View {
    fn check(&mut self, schema: &Schema, path: &str, problems: &mut Problems) -> Result<()> {
        problems.require(is_named_id(&self.id), format!("{path}.id"), "An id has 1 to 32 characters.");
        match name(&self.name) {
            Some(name) => self.name = name,
            None => problems.add(format!("{path}.name"), "A name has 1 to 100 characters."),
        }
        filters_check(schema, &self.filters, &format!("{path}.filters"), problems)?;
        for named in self.sort.iter().map(|sort| &sort.by).chain(&self.group_by) {
            Field::find(schema, named).ok_or_else(unknown_property)?;
        }
        if let Some(named) = &self.date_property {
            let field = Field::find(schema, named).ok_or_else(unknown_property)?;
            let is_date = field.kind() == PropertyKind::Date;
            problems.require(is_date, format!("{path}.dateProperty"), "Choose a date.");
        }
        // One more than the properties: the title is a column too.
        let hidden = self.hidden.as_ref().is_none_or(|ids| is_list_of_ids(ids.iter()));
        problems.require(hidden, format!("{path}.hidden"), "Name up to 51 properties.");
        let widths = self.widths.as_ref().is_none_or(|widths| {
            is_list_of_ids(widths.keys()) && widths.values().all(|width| COLUMN_WIDTH.contains(width))
        });
        problems.require(widths, format!("{path}.widths"), "Give up to 51 widths from 1 to 10,000.");
        Ok(())
    }

    /// What is left of it in a schema that may have changed since it was checked.
    fn fit(&mut self, schema: &Schema) {
        let knows = |id: &String| Field::find(schema, id).is_some();
        self.filters.retain(|filter| filter.fits(schema));
        self.sort.take_if(|sort| !knows(&sort.by));
        self.group_by.take_if(|id| !knows(id));
        self.date_property.take_if(|id| Field::find(schema, id).is_none_or(|field| field.kind() != PropertyKind::Date));
        if let Some(hidden) = &mut self.hidden {
            hidden.retain(knows);
        }
        if let Some(widths) = &mut self.widths {
            widths.retain(|id, _| knows(id));
        }
    }
}

fn is_list_of_ids<'a>(mut ids: impl ExactSizeIterator<Item = &'a String>) -> bool {
    ids.len() <= PROPERTIES_MAX + 1 && ids.all(|id| is_named_id(id))
}

/// Notes what is wrong with filters under `path`; 400 `Unknown property.` where the schema has none such.
pub(super) fn filters_check(schema: &Schema, filters: &[Filter], path: &str, problems: &mut Problems) -> Result<()> {
    problems.require(filters.len() <= FILTERS_MAX, path, "Use up to 20 filters.");
    for (place, filter) in filters.iter().enumerate() {
        filter.check(schema, &format!("{path}[{place}]"), problems)?;
    }
    Ok(())
}

/// The views of a database, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Views(Vec<View>);

impl Views {
    /// Checks views as a client sent them, against the schema that they are of; names are trimmed.
    ///
    /// Errors: 400 `Unknown property.`, and 400 `invalid` with every field at fault.
    pub fn check(mut views: Vec<View>, schema: &Schema) -> Result<Self> {
        if views.len() > VIEWS_MAX {
            return Err(Error::invalid("views", "A database has up to 20 views."));
        }
        let mut problems = Problems::new();
        let mut seen = HashSet::new();
        for (place, view) in views.iter_mut().enumerate() {
            let path = format!("views[{place}]");
            view.check(schema, &path, &mut problems)?;
            problems.require(seen.insert(view.id.clone()), format!("{path}.id"), "Each view has an id of its own.");
        }
        problems.into_result().map(|()| Self(views))
    }

    /// What is left of them when the schema changes: what names a property that is gone, or that is of another type, goes
    /// with it.
    #[must_use]
    pub fn fitted(mut self, schema: &Schema) -> Self {
        for view in &mut self.0 {
            view.fit(schema);
        }
        self
    }

    /// The views, in their order.
    pub fn views(&self) -> &[View] {
        &self.0
    }

    /// The view with this id.
    pub fn view(&self, id: &str) -> Option<&View> {
        self.0.iter().find(|view| view.id == id)
    }
}
