//! What a cursor goes on with.

use crate::{
    databases::{AttributeValue, FilterMatch, Filters, SortCondition, TableName},
    id::ResourceId,
};

/// Which way a query reads its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the smallest sort key on.
    Forward,
    /// From the greatest sort key back.
    Backward,
}

/// What a query adds to a scan.
#[derive(Clone, Copy, Debug)]
pub struct QueryScope<'s> {
    /// The partition.
    pub partition: &'s AttributeValue,
    /// What is asked of the sort key.
    pub sort: Option<&'s SortCondition>,
    /// Which way it is read.
    pub direction: Direction,
}

/// What is asked, page after page.
#[derive(Clone, Copy, Debug)]
pub struct CursorScope<'s> {
    /// The table.
    pub table: ResourceId,
    /// The index, where one is read.
    pub index: Option<&'s TableName>,
    /// The partition, where it is a query.
    pub query: Option<QueryScope<'s>>,
    /// What items have to pass.
    pub filters: &'s Filters,
}

impl CursorScope<'_> {
    /// All that it consists of, in texts that are the same for what means the same.
    pub(super) fn parts(&self) -> Vec<Vec<u8>> {
        let mut parts = vec![self.table.to_string().into_bytes(), self.index.map(text_of).unwrap_or_default()];
        match &self.query {
            None => parts.push(b"scan".to_vec()),
            Some(query) => {
                let direction: &[u8] = if query.direction == Direction::Forward { b"forward" } else { b"backward" };
                parts.extend([direction.to_vec(), text_of(query.partition)]);
                parts.extend(query.sort.map(sort_parts).into_iter().flatten());
            }
        }
        parts.push(if self.filters.matching() == FilterMatch::Any { b"any".to_vec() } else { b"all".to_vec() });
        for filter in self.filters.as_slice() {
            parts.extend([filter.attribute.clone().into_bytes(), filter.op.as_str().into()]);
            parts.extend([&filter.value, &filter.value2].map(|value| value.as_ref().map(text_of).unwrap_or_default()));
        }
        parts
    }
}

fn sort_parts(sort: &SortCondition) -> [Vec<u8>; 3] {
    let [value, value2] = [&sort.value, &sort.value2].map(|value| value.as_ref().map(text_of).unwrap_or_default());
    [sort.op.as_str().into(), value, value2]
}

/// The JSON of a value or a name, which is never empty.
fn text_of<T: serde::Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
