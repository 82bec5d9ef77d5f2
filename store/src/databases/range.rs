//! Items in the order of their keys: as much as a scan or query reads at once.

use domain::databases::{Direction, KeyRange, QueryRange, ReadBytes, RowKey};
use sea_orm::Value;

use super::items::read_bytes;
use crate::{Store, StoreError, reader::row, sql::Sql};

/// Where an item was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemPlace {
    /// Its row in the index that was read.
    pub index: Option<RowKey>,
    /// Its row in the table.
    pub table: RowKey,
}

/// What is read of a table.
#[derive(Clone, Debug)]
pub struct ItemRange<'r> {
    /// The table's number.
    pub table_no: i64,
    /// The index's number, where it isn't the table itself.
    pub index_no: Option<i32>,
    /// The partition and its sort keys, where it is a query.
    pub query: Option<&'r QueryRange>,
    /// Which way.
    pub direction: Direction,
    /// Behind which item; where an index is read, its place there is known.
    pub after: Option<&'r ItemPlace>,
    /// How many items, at most.
    pub limit: u32,
}

/// An item that was found.
#[derive(Clone, Debug)]
pub struct FoundItem {
    /// Where.
    pub place: ItemPlace,
    /// In which version.
    pub version: i64,
    /// Its JSON in normal form.
    pub text: String,
    /// How large it is.
    pub bytes: ReadBytes,
}

row! {
    struct TableRow {
        pk: Vec<u8>,
        sk: Vec<u8>,
        version: i64,
        size: i32,
        item: String,
    }
}

row! {
    struct IndexRow {
        ipk: Vec<u8>,
        isk: Vec<u8>,
        pk: Vec<u8>,
        sk: Vec<u8>,
        version: i64,
        size: i32,
        item: String,
    }
}

impl From<TableRow> for FoundItem {
    fn from(row: TableRow) -> Self {
        let place = ItemPlace { index: None, table: RowKey { pk: row.pk, sk: row.sk } };
        Self { place, version: row.version, bytes: read_bytes(row.size, &row.item), text: row.item }
    }
}

impl From<IndexRow> for FoundItem {
    fn from(row: IndexRow) -> Self {
        let index = Some(RowKey { pk: row.ipk, sk: row.isk });
        let place = ItemPlace { index, table: RowKey { pk: row.pk, sk: row.sk } };
        Self { place, version: row.version, bytes: read_bytes(row.size, &row.item), text: row.item }
    }
}

/// Conditions with their values.
struct Where {
    text: String,
    values: Vec<Value>,
}

impl Where {
    fn new(text: &str, value: impl Into<Value>) -> Self {
        Self { text: format!("{text} = $1"), values: vec![value.into()] }
    }

    /// Adds `columns op values`, where several columns are compared as a row.
    fn and(&mut self, columns: &str, op: &str, values: Vec<Value>) {
        let from = self.values.len() + 1;
        let places: Vec<_> = (from..from + values.len()).map(|place| format!("${place}")).collect();
        let _written =
            std::fmt::Write::write_fmt(&mut self.text, format_args!(" AND ({columns}) {op} ({})", places.join(", ")));
        self.values.extend(values);
    }

    /// Adds the partition and the range of sort keys.
    /// Behind an item, the end that it is behind of goes unsaid: the database would begin there.
    fn query(&mut self, [partition, sort]: [&str; 2], query: &QueryRange, behind: Option<Direction>) {
        self.and(partition, "=", vec![query.pk.clone().into()]);
        let KeyRange { from, until } = &query.sk;
        if !from.is_empty() && behind != Some(Direction::Forward) {
            self.and(sort, ">=", vec![from.clone().into()]);
        }
        if let Some(until) = until.as_ref().filter(|_| behind != Some(Direction::Backward)) {
            self.and(sort, "<", vec![until.clone().into()]);
        }
    }
}

impl ItemRange<'_> {
    const fn beyond(&self) -> [&'static str; 2] {
        match self.direction {
            Direction::Forward => [">", ""],
            Direction::Backward => ["<", " DESC"],
        }
    }

    /// The direction, where it goes on behind an item.
    fn behind(&self) -> Option<Direction> {
        self.after.map(|_| self.direction)
    }

    /// Orders by these columns, in the direction that is asked for.
    fn ordered(&self, columns: &[&str]) -> String {
        let [_, descending] = self.beyond();
        columns.iter().map(|column| format!("{column}{descending}")).collect::<Vec<_>>().join(", ")
    }

    fn of_table(&self) -> Sql {
        let mut which = Where::new("table_no", self.table_no);
        let [op, _] = self.beyond();
        let after = self.after.map(|place| &place.table);
        let order = if let Some(query) = self.query {
            which.query(["pk", "sk"], query, self.behind());
            if let Some(row) = after {
                which.and("sk", op, vec![row.sk.clone().into()]);
            }
            self.ordered(&["sk"])
        } else {
            if let Some(row) = after {
                which.and("pk, sk", op, vec![row.pk.clone().into(), row.sk.clone().into()]);
            }
            self.ordered(&["pk", "sk"])
        };
        let Where { text, values } = which;
        let limit = self.limit;
        Sql::new(
            format!("SELECT pk, sk, version, size, item FROM kv_items WHERE {text} ORDER BY {order} LIMIT {limit}"),
            values,
        )
    }

    fn of_index(&self, index_no: i32) -> Sql {
        let mut which = Where::new("x.table_no", self.table_no);
        which.and("x.index_no", "=", vec![index_no.into()]);
        let [op, _] = self.beyond();
        let after = self.after.and_then(|place| Some((place.index.as_ref()?, &place.table)));
        let order = if let Some(query) = self.query {
            which.query(["x.ipk", "x.isk"], query, self.behind());
            if let Some((index, table)) = after {
                let values = [&index.sk, &table.pk, &table.sk].map(|bytes| Value::from(bytes.clone()));
                which.and("x.isk, x.pk, x.sk", op, values.into());
            }
            self.ordered(&["x.isk", "x.pk", "x.sk"])
        } else {
            if let Some((index, table)) = after {
                let values = [&index.pk, &index.sk, &table.pk, &table.sk].map(|bytes| Value::from(bytes.clone()));
                which.and("x.ipk, x.isk, x.pk, x.sk", op, values.into());
            }
            self.ordered(&["x.ipk", "x.isk", "x.pk", "x.sk"])
        };
        let Where { text, values } = which;
        let limit = self.limit;
        // The index is read in its order, and each item looked up, never the other way round.
        let text = format!(
            "SELECT x.ipk AS ipk, x.isk AS isk, x.pk AS pk, x.sk AS sk, i.version AS version, i.size AS size, i.item AS item \
             FROM kv_index AS x CROSS JOIN kv_items AS i \
             WHERE i.table_no = x.table_no AND i.pk = x.pk AND i.sk = x.sk AND {text} ORDER BY {order} LIMIT {limit}"
        );
        Sql::new(text, values)
    }
}

impl Store {
    /// The next items of a range.
    pub async fn items_in(&self, range: &ItemRange<'_>) -> Result<Vec<FoundItem>, StoreError> {
        if range.query.is_some_and(|query| query.sk.is_empty()) {
            return Ok(Vec::new());
        }
        Ok(match range.index_no {
            None => {
                let rows: Vec<TableRow> = self.reader().rows(&range.of_table()).await?;
                rows.into_iter().map(FoundItem::from).collect()
            }
            Some(index_no) => {
                let rows: Vec<IndexRow> = self.reader().rows(&range.of_index(index_no)).await?;
                rows.into_iter().map(FoundItem::from).collect()
            }
        })
    }
}
