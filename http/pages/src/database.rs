//! Databases, on the wire: schemas, views and values.

use std::{collections::BTreeMap, fmt::Display};

use domain::{
    pages::database::{
        Filter, FilterOp, FilterValue, OptionColor, PropertiesDraft, Property, PropertyKind, PropertyValue,
        SelectOption, View, ViewLayout, ViewSort,
    },
    problems::Problems,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A property of a database's rows.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "priority", "name": "Priority", "type": "select", "options": [{"id": "high", "name": "High", "color": "red"}]
}))]
pub(crate) struct PropertyBody {
    /// The property's id, which the client chooses: 1 to 32 characters.
    id: String,
    /// What it is called: 1 to 100 characters.
    name: String,
    /// `number`, `text`, `url`, `date`, `select`, `checkbox`, `multi_select` or `relation`.
    #[serde(rename = "type")]
    kind: String,
    /// Of `select` and `multi_select`: what it offers, up to 100.
    options: Option<Vec<OptionBody>>,
    /// Of `relation`: the database whose rows it names.
    database_id: Option<String>,
    /// Of `relation`: the relation of that database that this one is the other side of.
    inverse_of: Option<String>,
}

/// A value that a property offers.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"id": "high", "name": "High", "color": "red"}))]
pub(crate) struct OptionBody {
    /// The option's id, which the client chooses: 1 to 32 characters.
    id: String,
    /// What it is called: 1 to 100 characters.
    name: String,
    /// `gray`, `brown`, `orange`, `yellow`, `green`, `blue`, `purple`, `pink` or `red`.
    color: Option<String>,
}

/// A way of looking at a database.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "open", "name": "Open", "layout": "board", "groupBy": "priority",
    "filters": [{"property": "done", "op": "is", "value": false}], "sort": {"by": "due", "desc": false}
}))]
pub(crate) struct ViewBody {
    /// The view's id, which the client chooses: 1 to 32 characters.
    id: String,
    /// What it is called: 1 to 100 characters.
    name: String,
    /// `calendar`, `table` or `board`.
    layout: String,
    /// Which rows it shows: those that all of these hold for, up to 20.
    filters: Vec<FilterBody>,
    /// What they are sorted by; otherwise by their positions.
    sort: Option<SortBody>,
    /// The property that they are grouped by.
    group_by: Option<String>,
    /// The date that a calendar shows them at.
    date_property: Option<String>,
    /// Properties that it doesn't show.
    hidden: Option<Vec<String>>,
    /// Widths of columns in pixels, by property: from 1 to 10,000.
    widths: Option<BTreeMap<String, f64>>,
}

/// What rows are sorted by.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"by": "due", "desc": false}))]
pub(crate) struct SortBody {
    /// A property, or `title`, `createdAt` or `updatedAt`.
    by: String,
    /// Whether the greatest comes first.
    #[serde(default)]
    desc: bool,
}

/// A filter of rows.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"property": "priority", "op": "is", "value": "high"}))]
pub(crate) struct FilterBody {
    /// A property, or `title`, `createdAt` or `updatedAt`.
    property: String,
    /// `after`, `before`, `contains`, `not_contains`, `is`, `is_not`, `gt`, `lt`, `is_empty` or `is_not_empty`.
    op: String,
    /// What it compares with. Without it the filter holds for every row.
    value: Option<Value>,
}

/// The one of these names, or a problem.
fn named<T: Copy + Display>(all: &[T], found: Option<T>, path: &str, problems: &mut Problems) -> Option<T> {
    if found.is_none() {
        let names: Vec<_> = all.iter().map(ToString::to_string).collect();
        problems.add(path, format!("Use one of: {}.", names.join(", ")));
    }
    found
}

/// Reads a schema; what names nothing is noted in `problems`. The rest is checked by `domain`.
pub(super) fn read_schema(schema: Vec<PropertyBody>, problems: &mut Problems) -> Vec<Property> {
    let read = schema.into_iter().enumerate();
    read.filter_map(|(place, property)| property.read(&format!("schema[{place}]"), problems)).collect()
}

impl PropertyBody {
    fn read(self, path: &str, problems: &mut Problems) -> Option<Property> {
        let found = PropertyKind::from_name(&self.kind);
        let kind = named(PropertyKind::ALL, found, &format!("{path}.type"), problems);
        let database_id = self.database_id.map(|id| id.parse());
        if let Some(Err(_)) = database_id {
            problems.add(format!("{path}.databaseId"), "There is no such database.");
        }
        let mut options = Vec::new();
        for (place, option) in self.options.iter().flatten().enumerate() {
            options.extend(option.read(&format!("{path}.options[{place}]"), problems));
        }
        Some(Property {
            id: self.id,
            name: self.name,
            kind: kind?,
            options: self.options.is_some().then_some(options),
            database_id: database_id.and_then(Result::ok),
            inverse_of: self.inverse_of,
        })
    }
}

impl OptionBody {
    fn read(&self, path: &str, problems: &mut Problems) -> Option<SelectOption> {
        let color = match &self.color {
            None => None,
            Some(name) => {
                let found = OptionColor::from_name(name);
                Some(named(OptionColor::ALL, found, &format!("{path}.color"), problems)?)
            }
        };
        Some(SelectOption { id: self.id.clone(), name: self.name.clone(), color })
    }
}

/// Reads views; what names nothing is noted in `problems`. The rest is checked by `domain`.
pub(super) fn read_views(views: Vec<ViewBody>, problems: &mut Problems) -> Vec<View> {
    let read = views.into_iter().enumerate();
    read.filter_map(|(place, view)| view.read(&format!("views[{place}]"), problems)).collect()
}

impl ViewBody {
    fn read(self, path: &str, problems: &mut Problems) -> Option<View> {
        let found = ViewLayout::from_name(&self.layout);
        let layout = named(ViewLayout::ALL, found, &format!("{path}.layout"), problems);
        let filters = read_filters(self.filters, &format!("{path}.filters"), problems);
        Some(View {
            id: self.id,
            name: self.name,
            layout: layout?,
            filters,
            sort: self.sort.map(|sort| ViewSort { by: sort.by, desc: sort.desc }),
            group_by: self.group_by,
            date_property: self.date_property,
            hidden: self.hidden,
            widths: self.widths,
        })
    }
}

/// Reads filters; what names nothing is noted in `problems` under `path`.
pub(super) fn read_filters(filters: Vec<FilterBody>, path: &str, problems: &mut Problems) -> Vec<Filter> {
    let read = filters.into_iter().enumerate();
    read.filter_map(|(place, filter)| filter.read(&format!("{path}[{place}]"), problems)).collect()
}

impl FilterBody {
    fn read(self, path: &str, problems: &mut Problems) -> Option<Filter> {
        let op = named(FilterOp::ALL, FilterOp::from_name(&self.op), &format!("{path}.op"), problems);
        let value = self.value.map(serde_json::from_value::<FilterValue>);
        if let Some(Err(_)) = value {
            problems.add(format!("{path}.value"), "Give a text, a number, true or false, or a list of texts.");
        }
        Some(Filter { property: self.property, op: op?, value: value.and_then(Result::ok) })
    }
}

/// Reads values; what can't be one of any property is noted in `problems`.
pub(super) fn read_properties(values: Map<String, Value>, problems: &mut Problems) -> PropertiesDraft {
    let mut read = PropertiesDraft::new();
    for (id, value) in values {
        if value.is_null() {
            read.insert(id, None);
            continue;
        }
        if let Ok(value) = serde_json::from_value::<PropertyValue>(value) {
            read.insert(id, Some(value));
        } else {
            let path = format!("properties.{}", id.chars().take(32).collect::<String>());
            problems.add(path, "Give a text, a number, true or false, a list of texts, or null.");
        }
    }
    read
}
