//! What rows can be filtered, sorted and grouped by: the properties, and what every page has.

use super::{Properties, Property, PropertyKind, PropertyValue, RowFacts, Schema, date::Moment};

/// The title of a row, in filters, orders and groups.
const TITLE: &str = "title";
/// When a row was made.
const CREATED_AT: &str = "createdAt";
/// When a row last changed.
const UPDATED_AT: &str = "updatedAt";

/// Something that every row has a value of, or none.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field<'s> {
    /// A property of the schema.
    Property(&'s Property),
    /// The title.
    Title,
    /// When the row was made.
    CreatedAt,
    /// When it last changed.
    UpdatedAt,
}

/// What a row has there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'r> {
    Empty,
    Flag(bool),
    Number(f64, &'r serde_json::Number),
    Text(&'r str),
    Moment(Moment),
    List(&'r [String]),
}

impl<'s> Field<'s> {
    /// The field of this name. A property goes before what every page has.
    pub fn find(schema: &'s Schema, name: &str) -> Option<Self> {
        let built_in = || match name {
            TITLE => Some(Self::Title),
            CREATED_AT => Some(Self::CreatedAt),
            UPDATED_AT => Some(Self::UpdatedAt),
            _ => None,
        };
        schema.property(name).map(Self::Property).or_else(built_in)
    }

    /// What its values are.
    pub const fn kind(self) -> PropertyKind {
        match self {
            Self::Property(property) => property.kind,
            Self::Title => PropertyKind::Text,
            Self::CreatedAt | Self::UpdatedAt => PropertyKind::Date,
        }
    }

    /// The place of an option among those of the property.
    pub fn option_place(self, id: &str) -> Option<usize> {
        match self {
            Self::Property(property) => property.option_place(id),
            _ => None,
        }
    }

    /// What a row has there. Values that don't fit the schema are empty.
    pub fn cell<'r>(self, row: &RowFacts<'r>) -> Cell<'r> {
        match self {
            Self::Property(property) => self.property_cell(property, row.properties),
            Self::Title if row.title.is_empty() => Cell::Empty,
            Self::Title => Cell::Text(row.title),
            Self::CreatedAt => Moment::of_millis(row.created_at.0).map_or(Cell::Empty, Cell::Moment),
            Self::UpdatedAt => Moment::of_millis(row.updated_at.0).map_or(Cell::Empty, Cell::Moment),
        }
    }

    fn property_cell<'r>(self, property: &Property, values: &'r Properties) -> Cell<'r> {
        match (property.kind, values.get(&property.id)) {
            (PropertyKind::Checkbox, Some(PropertyValue::Flag(flag))) => Cell::Flag(*flag),
            (PropertyKind::Number, Some(PropertyValue::Number(number))) => {
                number.as_f64().map_or(Cell::Empty, |value| Cell::Number(value, number))
            }
            (PropertyKind::Date, Some(PropertyValue::Text(text))) => {
                Moment::parse(text).map_or(Cell::Empty, Cell::Moment)
            }
            (PropertyKind::Select, Some(PropertyValue::Text(id))) if self.option_place(id).is_some() => Cell::Text(id),
            (PropertyKind::Text | PropertyKind::Url, Some(PropertyValue::Text(text))) if !text.is_empty() => {
                Cell::Text(text)
            }
            (PropertyKind::MultiSelect | PropertyKind::Relation, Some(PropertyValue::List(entries)))
                if !entries.is_empty() =>
            {
                Cell::List(entries)
            }
            _ => Cell::Empty,
        }
    }
}
