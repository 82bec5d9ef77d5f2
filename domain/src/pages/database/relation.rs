//! Relations: pairs of rows, which both sides show.
//!
//! A pair is kept once, under the relation property that it was made in, with the row and the row that it names. A property
//! that is the other side of one ([`Property::inverse_of`]) shows the same pairs from the named row.

use super::{Property, PropertyKind, Schema};
use crate::id::PageId;

/// From which end a property sees its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationEnd {
    /// Its values are the rows that its row names.
    Row,
    /// Its values are the rows that name its row.
    Target,
}

/// The pairs that a relation property shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The database under which they are kept.
    pub database_id: PageId,
    /// The property under which they are kept.
    pub property_id: String,
    /// From which end they are seen.
    pub end: RelationEnd,
    /// The database that the values are rows of.
    pub values_of: PageId,
}

impl Property {
    /// The pairs that this relation of `database` shows; nothing for other properties.
    pub fn relation(&self, database: PageId) -> Option<Relation> {
        let values_of = self.database_id.filter(|_| self.kind == PropertyKind::Relation)?;
        Some(match &self.inverse_of {
            None => Relation { database_id: database, property_id: self.id.clone(), end: RelationEnd::Row, values_of },
            Some(other) => {
                Relation { database_id: values_of, property_id: other.clone(), end: RelationEnd::Target, values_of }
            }
        })
    }
}

impl Schema {
    /// The relations of `database`, by property.
    pub fn relations(&self, database: PageId) -> impl Iterator<Item = (&str, Relation)> {
        self.properties()
            .iter()
            .filter_map(move |property| property.relation(database).map(|relation| (property.id.as_str(), relation)))
    }

    /// Whether a property of `other` can be the other side of this schema's property `id`: it is a relation to `other`, and
    /// not itself the other side of one.
    pub fn can_have_inverse(&self, id: &str, other: PageId) -> bool {
        self.property(id).is_some_and(|property| property.database_id == Some(other) && property.inverse_of.is_none())
    }
}
