//! Scans and queries.

use actix_web::{HttpResponse, http::StatusCode};
use domain::{
    databases::{
        AttributeValue, CursorScope, Direction, FILTERS_MAX, Filter, FilterMatch, FilterOp, Filters, PAGE_ITEMS,
        PAGE_ITEMS_DEFAULT, QueryRange, QueryScope, SortCondition, SortOp, projection_check,
    },
    problems::{Problems, all},
};
use http_shell::{
    answer::{Answer, written},
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    permission::ResourcesRead,
    state::State,
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    argument::Table,
    names::named,
    reading::{Page, Reading},
};

/// Characters of the name of an index.
const INDEX_LEN_MAX: usize = 255;

/// A condition on an attribute.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"attribute": "age", "op": ">=", "value": {"N": "18"}}))]
pub(crate) struct ItemFilter {
    /// The attribute's name: 1 to 255 characters.
    attribute: String,
    /// `=`, `<>`, `<`, `<=`, `>`, `>=`, `begins_with`, `contains`, `between`, `exists` or `not_exists`.
    op: String,
    /// What it is compared with: a value with exactly one type.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    value: Option<Value>,
    /// The upper end of `between`.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    value2: Option<Value>,
}

/// A value that may be left out.
fn read_value(path: &str, value: Option<Value>) -> domain::Result<Option<AttributeValue>> {
    value.map(|value| AttributeValue::read(path, value)).transpose()
}

impl ItemFilter {
    fn read(self, place: usize) -> domain::Result<Filter> {
        let path = |field: &str| format!("filters[{place}].{field}");
        let (op, value, value2) = all((
            named(&path("op"), &self.op, FilterOp::ALL, FilterOp::as_str),
            read_value(&path("value"), self.value),
            read_value(&path("value2"), self.value2),
        ))?;
        Ok(Filter { attribute: self.attribute, op, value, value2 })
    }
}

/// A condition on the sort key.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"op": "between", "value": {"N": "1"}, "value2": {"N": "9"}}))]
pub(crate) struct ItemSort {
    /// `=`, `<`, `<=`, `>`, `>=`, `begins_with` or `between`.
    op: String,
    /// What it is compared with: a value with exactly one type.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    value: Option<Value>,
    /// The upper end of `between`.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    value2: Option<Value>,
}

impl ItemSort {
    fn read(self) -> domain::Result<SortCondition> {
        let (op, value, value2) = all((
            named("sort.op", &self.op, SortOp::ALL, SortOp::as_str),
            read_value("sort.value", self.value),
            read_value("sort.value2", self.value2),
        ))?;
        Ok(SortCondition { op, value, value2 })
    }
}

/// What is read of a table or an index.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"limit": 25, "filters": [{"attribute": "admin", "op": "exists"}]}))]
pub(crate) struct ItemsScan {
    /// The index that is read, instead of the table: up to 255 characters.
    index: Option<String>,
    /// How many items, 1 to 100; 25 where it isn't said.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// Of the page before: up to 8,000 characters.
    cursor: Option<String>,
    /// What items have to pass: up to 10 filters.
    filters: Option<Vec<ItemFilter>>,
    /// Whether `all` filters have to hold, which holds where it isn't said, or `any` of them.
    #[serde(rename = "match")]
    matching: Option<String>,
    /// The attributes that are answered, up to 50; all of them where none is named.
    projection: Option<Vec<String>>,
}

/// What is read of one partition.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"partition": {"S": "ada"}, "sort": {"op": ">", "value": {"N": "17"}}, "forward": false}))]
pub(crate) struct ItemsQuery {
    /// The value of the partition key.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    partition: Value,
    /// What is asked of the sort key.
    sort: Option<ItemSort>,
    /// Whether the smallest sort keys come first; true where it isn't said.
    forward: Option<bool>,
    /// The index that is read, instead of the table: up to 255 characters.
    index: Option<String>,
    /// How many items, 1 to 100; 25 where it isn't said.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// Of the page before: up to 8,000 characters.
    cursor: Option<String>,
    /// What items have to pass: up to 10 filters.
    filters: Option<Vec<ItemFilter>>,
    /// Whether `all` filters have to hold, which holds where it isn't said, or `any` of them.
    #[serde(rename = "match")]
    matching: Option<String>,
    /// The attributes that are answered, up to 50; all of them where none is named.
    projection: Option<Vec<String>>,
}

/// Notes where the index or the limit can't be, or there are more filters than are read.
fn bounds_check(index: Option<&str>, limit: Option<u32>, filters: Option<&Vec<ItemFilter>>, problems: &mut Problems) {
    let is_few = filters.is_none_or(|filters| filters.len() <= FILTERS_MAX);
    problems.require(is_few, "filters", "Send up to 10 filters.");
    let is_short = index.is_none_or(|index| index.chars().count() <= INDEX_LEN_MAX);
    problems.require(is_short, "index", "Names of indexes have up to 255 characters.");
    let is_within = limit.is_none_or(|limit| usize::try_from(limit).is_ok_and(|limit| PAGE_ITEMS.contains(&limit)));
    problems.require(is_within, "limit", "Must be 1 to 100.");
}

impl RequestBody for ItemsScan {
    fn check(&self, problems: &mut Problems) {
        bounds_check(self.index.as_deref(), self.limit, self.filters.as_ref(), problems);
    }
}

impl RequestBody for ItemsQuery {
    fn check(&self, problems: &mut Problems) {
        bounds_check(self.index.as_deref(), self.limit, self.filters.as_ref(), problems);
    }
}

/// The partition that a query reads.
struct Partition {
    value: AttributeValue,
    sort: Option<SortCondition>,
    direction: Direction,
}

/// What a scan or query asks for, read.
struct Search {
    index: Option<String>,
    limit: usize,
    cursor: Option<String>,
    filters: Filters,
    projection: Vec<String>,
    partition: Option<Partition>,
}

impl ItemsScan {
    fn read(self, partition: Option<Partition>) -> domain::Result<Search> {
        let mut problems = Problems::new();
        let mut filters = Vec::new();
        for (place, filter) in self.filters.unwrap_or_default().into_iter().enumerate() {
            filters.extend(problems.keep(filter.read(place))?);
        }
        problems.into_result()?;
        let matching = self.matching.as_deref().unwrap_or(FilterMatch::All.as_str());
        let matching = named("match", matching, FilterMatch::ALL, FilterMatch::as_str)?;
        let (projection, filters) =
            all((projection_check(self.projection.unwrap_or_default()), Filters::check(filters, matching)))?;
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(PAGE_ITEMS_DEFAULT);
        Ok(Search { index: self.index, limit, cursor: self.cursor, filters, projection, partition })
    }
}

impl ItemsQuery {
    fn read(self) -> domain::Result<Search> {
        let (value, sort) =
            all((AttributeValue::read("partition", self.partition), self.sort.map(ItemSort::read).transpose()))?;
        let direction = if self.forward.unwrap_or(true) { Direction::Forward } else { Direction::Backward };
        let scan = ItemsScan {
            index: self.index,
            limit: self.limit,
            cursor: self.cursor,
            filters: self.filters,
            matching: self.matching,
            projection: self.projection,
        };
        scan.read(Some(Partition { value, sort, direction }))
    }
}

impl Search {
    /// The page that is asked for.
    async fn run(&self, state: &State, Table(open): &Table) -> Result<ItemsAnswer> {
        let source = open.table.source(self.index.as_deref())?;
        open.index_check(source.index)?;
        let partition = self.partition.as_ref();
        let query = partition.map(|it| QueryRange::new(source.schema(), &it.value, it.sort.as_ref())).transpose()?;
        let scope = CursorScope {
            table: open.kept.id,
            index: source.index.map(|index| &index.name),
            query: partition.map(|it| QueryScope {
                partition: &it.value,
                sort: it.sort.as_ref(),
                direction: it.direction,
            }),
            filters: &self.filters,
        };
        let reading = Reading {
            store: &state.store,
            open,
            source,
            query,
            direction: partition.map_or(Direction::Forward, |partition| partition.direction),
            filters: &self.filters,
            projection: &self.projection,
        };
        let key = state.store.databases_cursor_key();
        let after = match &self.cursor {
            None => None,
            Some(cursor) => Some(reading.place(&key.read(&scope, cursor)?).await?),
        };
        let Page { items, tally, next } = reading.page(after, self.limit).await?;
        let cursor = next.map(|position| key.write(&scope, &position));
        Ok(ItemsAnswer { count: items.len(), items, scanned: tally.scanned(), cursor, consumed: tally.consumed() })
    }
}

/// A page of items.
#[derive(ToSchema)]
#[schema(example = json!({
    "items": [{"userId": {"S": "ada"}, "at": {"N": "1767225600"}}], "count": 1, "scanned": 1, "consumed": 0.5
}))]
pub(crate) struct ItemsAnswer {
    /// The items.
    #[schema(value_type = Vec<std::collections::BTreeMap<String, Value>>)]
    items: Vec<String>,
    /// How many these are.
    count: usize,
    /// How many items were read, before filters.
    scanned: usize,
    /// For the next page; absent on the last one.
    #[schema(required = false)]
    cursor: Option<String>,
    /// Half a unit for each 4 KB that were read, as DynamoDB counts.
    consumed: f64,
}

impl Answer for ItemsAnswer {
    fn describe(facts: &mut Facts) {
        facts.answer::<Self>(200, "Done.");
    }

    /// Items are written as the texts that they are kept as.
    fn respond(self, _: &Call) -> Result<HttpResponse> {
        let Self { items, count, scanned, cursor, consumed } = self;
        let items = items.join(",");
        // A cursor has nothing that JSON escapes.
        let cursor = cursor.map(|cursor| format!(r#""cursor":"{cursor}","#)).unwrap_or_default();
        let json =
            format!(r#"{{"items":[{items}],"count":{count},"scanned":{scanned},{cursor}"consumed":{consumed}}}"#);
        Ok(written(StatusCode::OK, json.into_bytes()))
    }
}

/// Scan a table
///
/// Items in no order that means anything, or in that of an index's partitions. A page ends when it has its items, or 1 MB was
/// read.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases/{databaseId}/scan", responses(
    (status = 400, description = "No index named ….\n\nA condition is missing its value.\n\n\
        Invalid page cursor. Run the request again."),
    (status = 409, description = "This index is being created.\n\n\
        This index could not be made. Make it again, or delete it."),
))]
pub(crate) async fn database_scan(
    _org: Org<ResourcesRead>,
    body: Body<ItemsScan>,
    table: Table,
    state: State,
) -> Result<ItemsAnswer> {
    body.into_inner().read(None)?.run(&state, &table).await
}

/// Query a table
///
/// The items of one partition, by their sort keys.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/databases/{databaseId}/query", responses(
    (status = 400, description = "No index named ….\n\nA condition is missing its value.\n\n\
        Invalid page cursor. Run the request again.\n\nThis table or index has no sort key.\n\n\
        The sort key condition is missing a value.\n\nbegins_with works on string and binary sort keys only."),
    (status = 409, description = "This index is being created.\n\n\
        This index could not be made. Make it again, or delete it."),
))]
pub(crate) async fn database_query(
    _org: Org<ResourcesRead>,
    body: Body<ItemsQuery>,
    table: Table,
    state: State,
) -> Result<ItemsAnswer> {
    body.into_inner().read()?.run(&state, &table).await
}
