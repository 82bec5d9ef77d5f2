//! What is known of one issue, as far as queries ask.

use std::collections::BTreeMap;

use super::{fields::FieldKey, plan::ValueId};
use crate::Timestamp;

/// What queries ask of an issue.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The number in which issues were made; what nothing else orders goes by it.
    pub seq: i64,
    /// Things, people and labels.
    pub values: BTreeMap<FieldKey, Vec<ValueId>>,
    /// Numbers, seconds, milliseconds and days.
    pub numbers: BTreeMap<FieldKey, Vec<f64>>,
    /// Documents: each text of a field, and each comment, is one.
    pub texts: BTreeMap<FieldKey, Vec<String>>,
    /// Changes, the first one first.
    pub changes: Vec<HistoryEntry>,
    /// What fields were, and how long.
    pub spans: Vec<ValueSpan>,
    /// What the issue is sorted by.
    pub sort: BTreeMap<FieldKey, SortKey>,
}

/// A change of a field. An empty list is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Which field.
    pub field: FieldKey,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: ValueId,
    /// What it held.
    pub from: Vec<ValueId>,
    /// What it holds since.
    pub to: Vec<ValueId>,
}

/// A time in which a field held a value, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSpan {
    /// Which field.
    pub field: FieldKey,
    /// The value; nothing where there was none.
    pub value: Option<ValueId>,
    /// The instant at which that began.
    pub from: Timestamp,
    /// The instant at which that ended; nothing while it goes on.
    pub to: Option<Timestamp>,
    /// Whoever began it.
    pub by: ValueId,
}

/// What issues are sorted by.
#[derive(Clone, Debug, PartialEq)]
pub enum SortKey {
    /// A number, or the place among things of its kind.
    Number(f64),
    /// A text, in the order of its bytes.
    Text(String),
}

/// The spans of a field: what it was since the issue was made, by its changes in their order, and what it holds now where it never
/// changed.
pub fn spans(
    field: &FieldKey,
    created: (Timestamp, &ValueId),
    current: &[ValueId],
    changes: &[HistoryEntry],
) -> Vec<ValueSpan> {
    let mut spans: Vec<ValueSpan> = Vec::new();
    let first = changes.first().map_or(current, |change| &change.from);
    let began = [(created.0, created.1, first)];
    let later = changes.iter().map(|change| (change.at, &change.by, change.to.as_slice()));
    for (at, by, values) in began.into_iter().chain(later) {
        let holds = |value: &Option<ValueId>| value.as_ref().map_or(values.is_empty(), |value| values.contains(value));
        for span in spans.iter_mut().filter(|span| span.to.is_none() && !holds(&span.value)) {
            span.to = Some(at);
        }
        let wanted: Vec<Option<ValueId>> =
            if values.is_empty() { vec![None] } else { values.iter().cloned().map(Some).collect() };
        for value in wanted {
            if !spans.iter().any(|span| span.to.is_none() && span.value == value) {
                spans.push(ValueSpan { field: field.clone(), value, from: at, to: None, by: by.clone() });
            }
        }
    }
    spans
}
