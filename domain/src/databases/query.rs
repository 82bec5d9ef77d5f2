//! What a scan or query reads: the table or an index of it, and for a query the rows of one partition.

use super::{
    AttributeValue, Index, Item, KeyRange, KeySchema, KeyType, KeyValue, Table, begins_with_on_number, no_sort_key,
    sort_value_missing,
};
use crate::{app::names, error::Result};

names! {
    /// How a query compares sort keys (contract C 4.5).
    SortOp {
        Equal = "=", Less = "<", LessOrEqual = "<=", Greater = ">", GreaterOrEqual = ">=", BeginsWith = "begins_with",
        Between = "between",
    }
}

/// A table, or one of its indexes.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    /// The table.
    pub table: &'t Table,
    /// The index, where it isn't the table itself.
    pub index: Option<&'t Index>,
}

impl Source<'_> {
    /// What the keys are made of.
    pub fn schema(&self) -> &KeySchema {
        self.index.map_or(&self.table.schema, |index| &index.schema)
    }

    /// What is shown of an item that was found there.
    pub fn shown(&self, item: Item) -> Item {
        match self.index {
            Some(index) => index.shown(item, &self.table.schema),
            None => item,
        }
    }
}

/// What a query asks of the sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortCondition {
    /// How it compares.
    pub op: SortOp,
    /// With what.
    pub value: Option<AttributeValue>,
    /// The upper end of `between`.
    pub value2: Option<AttributeValue>,
}

impl SortCondition {
    /// The sort keys for which it holds; where the ends of `between` are the wrong way round, none.
    pub fn range(&self, schema: &KeySchema) -> Result<KeyRange> {
        let sort = schema.sort.as_ref().ok_or_else(no_sort_key)?;
        let given = |value: &Option<AttributeValue>| -> Result<Vec<u8>> {
            let value = value.as_ref().ok_or_else(sort_value_missing)?;
            Ok(schema.sort_value(value)?.as_ref().map(KeyValue::bytes).unwrap_or_default())
        };
        if self.op == SortOp::BeginsWith && sort.key_type == KeyType::N {
            return Err(begins_with_on_number());
        }
        let value = given(&self.value)?;
        Ok(match self.op {
            SortOp::Equal => KeyRange::exactly(value),
            SortOp::Less => KeyRange::below(value),
            SortOp::LessOrEqual => KeyRange::up_to(value),
            SortOp::Greater => KeyRange::above(value),
            SortOp::GreaterOrEqual => KeyRange::starting_at(value),
            SortOp::BeginsWith => KeyRange::with_prefix(value),
            SortOp::Between => KeyRange::between(value, given(&self.value2)?),
        })
    }
}

/// The rows that a query reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRange {
    /// The partition.
    pub pk: Vec<u8>,
    /// The sort keys.
    pub sk: KeyRange,
}

impl QueryRange {
    /// The rows of the partition with this key, as far as the condition holds for them.
    pub fn new(schema: &KeySchema, partition: &AttributeValue, sort: Option<&SortCondition>) -> Result<Self> {
        let pk = schema.partition_value(partition)?.pk();
        let sk = sort.map_or_else(|| Ok(KeyRange::all()), |sort| sort.range(schema))?;
        Ok(Self { pk, sk })
    }
}

#[cfg(test)]
mod tests;
