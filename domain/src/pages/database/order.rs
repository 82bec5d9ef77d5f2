//! The order of rows.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::{
    PropertyKind, RowFacts,
    field::{Cell, Field},
};

/// Characters of a text that count for its place. Rows whose texts begin alike for so long keep their own order.
const TEXT_LEN: usize = 100;

/// Where a row stands among others: by what it is sorted by, then by its position among its siblings, then by its age.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SortKey {
    /// Text that sorts as the values do; nothing for a row without a value.
    value: Option<String>,
    /// Text too, because a number that goes through JSON may come back as its neighbour.
    position: String,
    id: String,
}

impl SortKey {
    pub(super) fn new(value: Option<String>, row: &RowFacts<'_>) -> Self {
        Self { value, position: sortable_number(row.position), id: row.id.to_string() }
    }

    /// The order of two rows. Those without a value come last, whichever way the others are sorted.
    pub(super) fn against(&self, other: &Self, desc: bool) -> Ordering {
        let values = match (&self.value, &other.value) {
            (Some(one), Some(two)) if desc => two.cmp(one),
            (Some(one), Some(two)) => one.cmp(two),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        values.then_with(|| self.position.cmp(&other.position)).then_with(|| self.id.cmp(&other.id))
    }
}

/// Text that sorts as a row's values do.
pub(super) fn sortable(field: Field<'_>, row: &RowFacts<'_>) -> Option<String> {
    let place = |id: &str| field.option_place(id).map(|place| format!("{place:04}"));
    match field.cell(row) {
        Cell::Empty if field.kind() == PropertyKind::Checkbox => Some("0".to_owned()),
        Cell::Empty => None,
        Cell::Flag(flag) => Some(u8::from(flag).to_string()),
        Cell::Number(number, _) => Some(sortable_number(number)),
        Cell::Text(id) if field.kind() == PropertyKind::Select => place(id),
        Cell::Text(text) => Some(text.chars().take(TEXT_LEN).collect::<String>().to_lowercase()),
        Cell::Moment(moment) => Some(moment.sortable()),
        Cell::List(entries) if field.kind() == PropertyKind::MultiSelect => {
            let mut places: Vec<_> = entries.iter().filter_map(|id| place(id)).collect();
            places.sort();
            Some(places.join(" "))
        }
        Cell::List(entries) => Some(format!("{:08}", entries.len())),
    }
}

/// Hexadecimal digits that sort as the numbers do: the bits of a float are in order once those of the negative ones are
/// turned around.
fn sortable_number(number: f64) -> String {
    // Zero and minus zero are one number.
    let bits = (number + 0.0).to_bits();
    let sign = 1 << 63;
    let ordered = if bits & sign == 0 { bits | sign } else { !bits };
    format!("{ordered:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_text_sort_as_numbers() {
        let numbers = [f64::MIN, -10.0, -9.5, -1e-9, 0.0, 1e-9, 2.0, 10.0, 1e9, f64::MAX];
        let texts = numbers.map(sortable_number);
        assert!(texts.is_sorted());
        assert_eq!(sortable_number(0.0), sortable_number(-0.0));
    }
}
