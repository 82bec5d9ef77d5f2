//! Groups of rows: the columns of a board.

use super::{
    PropertyKind, RowFacts,
    field::{Cell, Field},
    order::sortable,
};

/// Characters of a text that tell groups apart.
const TEXT_LEN: usize = 100;

/// What the rows of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupKey {
    /// The option's or the row's id, the day, the number, the text, `true` or `false`; nothing for rows without a value.
    pub value: Option<String>,
    /// Sorts groups; those without a value come last.
    order: Option<String>,
}

impl GroupKey {
    /// Where its group stands among the others: as the options or the values do, rows without one last.
    pub fn against(&self, other: &Self) -> std::cmp::Ordering {
        let rank = |key: &Self| (key.value.is_none(), key.order.clone(), key.value.clone());
        rank(self).cmp(&rank(other))
    }
}

/// The groups that a row is in: one, or one for each entry of its list.
pub(super) fn groups(field: Field<'_>, row: &RowFacts<'_>) -> Vec<GroupKey> {
    let one = |value: String| vec![GroupKey { value: Some(value), order: sortable(field, row) }];
    match field.cell(row) {
        Cell::Empty if field.kind() == PropertyKind::Checkbox => one("false".to_owned()),
        Cell::Empty => vec![GroupKey { value: None, order: None }],
        Cell::Flag(flag) => one(flag.to_string()),
        Cell::Number(_, number) => one(number.to_string()),
        Cell::Text(text) => one(text.chars().take(TEXT_LEN).collect()),
        Cell::Moment(moment) => {
            let day = moment.day.to_string();
            vec![GroupKey { value: Some(day.clone()), order: Some(day) }]
        }
        Cell::List(entries) => entries.iter().map(|entry| group_of_entry(field, entry)).collect(),
    }
}

fn group_of_entry(field: Field<'_>, entry: &str) -> GroupKey {
    let order = field.option_place(entry).map(|place| format!("{place:04}"));
    GroupKey { value: Some(entry.to_owned()), order: Some(order.unwrap_or_else(|| entry.to_owned())) }
}

/// The groups that are there before any row is: one for each option.
pub(super) fn standing(field: Field<'_>) -> Vec<GroupKey> {
    match field {
        Field::Property(property) if property.kind.has_options() => {
            let options = property.options.iter().flatten();
            options.map(|option| group_of_entry(field, &option.id)).collect()
        }
        Field::Property(property) if property.kind == PropertyKind::Checkbox => ["false", "true"]
            .into_iter()
            .enumerate()
            .map(|(place, value)| GroupKey { value: Some(value.to_owned()), order: Some(place.to_string()) })
            .collect(),
        _ => Vec::new(),
    }
}
