//! Rows of a database, as somebody looks at them.

use std::{fmt, str::FromStr};

use domain::{
    Error,
    id::PageId,
    pages::{
        Page, PageKind,
        database::{Filter, RowPlan, SortKey, View, ViewSort, Views},
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    cursor,
    error::Result,
    org::Org,
    owned::Owned,
    paging::{LIMIT_DEFAULT, LIMIT_MAX},
    permission::KnowledgeRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::pages::{RowGroup, RowsAsked};
use utoipa::{IntoParams, ToSchema};

use super::{
    database::{FilterBody, read_filters},
    page::PageBody,
};

/// Groups that are answered; rows of further ones are found by naming their group.
const GROUPS_MAX: usize = 50;
/// Bytes of the hash that tells one way of looking at rows from another.
const HASH_LEN: usize = 8;

/// How the rows are looked at.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RowsQuery {
    /// A view of the database. What stands beside it takes the place of what the view says.
    view: Option<String>,
    /// Filters as a JSON list of `{property, op, value}`; up to 20.
    #[param(example = "[{\"property\": \"priority\", \"op\": \"is\", \"value\": \"high\"}]")]
    filters: Option<String>,
    /// What they are sorted by: a property, or `title`, `createdAt` or `updatedAt`. Otherwise by their positions.
    sort: Option<String>,
    /// `1` where the greatest comes first; otherwise `0`.
    desc: Option<String>,
    /// What they are grouped by. The answer has groups then, each with its first rows.
    group_by: Option<String>,
    /// Only the rows of this group; empty for those without a value.
    group: Option<String>,
    /// Where the page starts: the `cursor` of the page, or of the group, before it.
    cursor: Option<String>,
    /// Rows of the page, or of each group, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl RequestQuery for RowsQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.limit.is_none_or(|limit| (1..=LIMIT_MAX).contains(&limit));
        problems.require(fits, "limit", "Must be from 1 to 100.");
        let desc = self.desc.as_deref().is_none_or(|text| matches!(text, "0" | "1"));
        problems.require(desc, "desc", "Use 0 or 1.");
    }
}

/// A way of looking at rows, as it was asked for.
#[derive(Serialize)]
struct Look {
    filters: Vec<Filter>,
    sort: Option<ViewSort>,
    group_by: Option<String>,
    group: Option<String>,
}

impl Look {
    fn of(query: &RowsQuery, views: Option<&Views>) -> domain::Result<Self> {
        let view = query.view.as_deref().map(|id| view(views, id)).transpose()?;
        let filters = query.filters.as_deref().map(filters).transpose()?;
        let sort = query.sort.as_ref().map(|by| ViewSort { by: by.clone(), desc: false });
        let mut sort = sort.or_else(|| view.and_then(|view| view.sort.clone()));
        if let (Some(sort), Some(desc)) = (&mut sort, &query.desc) {
            sort.desc = desc == "1";
        }
        let look = Self {
            filters: filters.or_else(|| view.map(|view| view.filters.clone())).unwrap_or_default(),
            sort,
            group_by: query.group_by.clone().or_else(|| view.and_then(|view| view.group_by.clone())),
            group: query.group.clone(),
        };
        if look.group.is_some() && look.group_by.is_none() {
            return Err(Error::invalid("group", "Say what the rows are grouped by."));
        }
        Ok(look)
    }

    /// The name of this list in its cursors: one of another way of looking, or of another database, is none of it.
    fn list(&self, database: PageId, group: Option<&str>) -> String {
        let look = serde_json::json!([database, self.filters, self.sort, self.group_by, group]);
        let hash = Sha256::digest(look.to_string());
        hash[..HASH_LEN].iter().fold("rows ".to_owned(), |name, byte| format!("{name}{byte:02x}"))
    }
}

fn view<'a>(views: Option<&'a Views>, id: &str) -> domain::Result<&'a View> {
    let view = views.and_then(|views| views.view(id));
    view.ok_or_else(|| Error::invalid("view", "The database has no such view."))
}

fn filters(text: &str) -> domain::Result<Vec<Filter>> {
    let read: Vec<FilterBody> = serde_json::from_str(text)
        .map_err(|_| Error::invalid("filters", "Give a JSON list of filters with property, op and value."))?;
    let mut problems = Problems::new();
    let filters = read_filters(read, "filters", &mut problems);
    problems.into_result().map(|()| filters)
}

/// Where a page of rows starts.
struct Start(SortKey);

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Start {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        serde_json::from_str(text).map(Self)
    }
}

/// Rows.
#[derive(Serialize, ToSchema)]
pub(crate) struct RowsAnswer {
    /// The rows; none where they stand in groups.
    rows: Vec<PageBody>,
    /// Where the next page starts; null on the last one.
    cursor: Option<String>,
    /// How many rows there are in all.
    total: u64,
    /// The groups in their order, at most 50; only where the rows are grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<RowGroupBody>>,
}

/// Rows that have something in common.
#[derive(Serialize, ToSchema)]
pub(crate) struct RowGroupBody {
    /// The option's or row's id, the day, the number, the text, or `true` or `false`; null for rows without a value.
    value: Option<String>,
    /// The group's first rows.
    rows: Vec<PageBody>,
    /// Where its next rows start, with `group` as it is here.
    cursor: Option<String>,
    /// How many rows it has.
    total: u64,
}

/// The rows of a database
///
/// Filtered, sorted and grouped as a view says, or as the query does. Rows in the trash are left out. A row with several
/// values of what is grouped by stands in several groups.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/{pageId}/rows", responses(
    (status = 400, description = "Unknown property.\n\nOnly databases have rows.")
))]
pub(crate) async fn page_rows(
    _: Org<KnowledgeRead>,
    query: Query<RowsQuery>,
    database: Owned<Page>,
    state: State,
) -> Result<Json<RowsAnswer>> {
    if database.kind != PageKind::Database {
        return Err(Error::bad_request("not_a_database", "Only databases have rows.").into());
    }
    let look = Look::of(&query, database.views.as_ref())?;
    let schema = database.schema.clone().unwrap_or_default();
    let plan = RowPlan::new(&schema, &look.filters, look.sort.as_ref(), look.group_by.as_deref())?;
    let list = look.list(database.id, look.group.as_deref());
    let after = query.cursor.as_deref().map(|text| cursor::read::<Start>(&list, text)).transpose()?;
    let limit = usize::try_from(query.limit.unwrap_or(LIMIT_DEFAULT)).unwrap_or(usize::MAX);
    let group = look.group.clone().map(|value| Some(value).filter(|value| !value.is_empty()));
    let is_grouped = look.group_by.is_some() && group.is_none();
    let asked = RowsAsked { plan: &plan, after: after.map(|start| start.0), group, groups_max: GROUPS_MAX, limit };
    let page = state.store.page_rows(&database, asked).await?;
    let groups = page.groups.into_iter().map(|group| group_body(group, &look, database.id));
    Ok(Json(RowsAnswer {
        rows: page.rows.into_iter().map(PageBody::from).collect(),
        cursor: page.next.map(|key| cursor::write(&list, Start(key))),
        total: page.total,
        groups: is_grouped.then(|| groups.collect()),
    }))
}

fn group_body(group: RowGroup, look: &Look, database: PageId) -> RowGroupBody {
    let list = look.list(database, Some(group.value.as_deref().unwrap_or_default()));
    RowGroupBody {
        value: group.value,
        rows: group.rows.into_iter().map(PageBody::from).collect(),
        cursor: group.next.map(|key| cursor::write(&list, Start(key))),
        total: group.total,
    }
}

/// A query for rows of some database, for fuzzing. A cursor is one of the very list that it was made for.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzzing_rows(query: &str) {
    use std::sync::LazyLock;

    use domain::{Timestamp, pages::database::Schema};

    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let json = r#"[{"id": "n", "name": "N", "type": "number"}, {"id": "due", "name": "Due", "type": "date"},
            {"id": "state", "name": "State", "type": "select", "options": [{"id": "open", "name": "Open"}]}]"#;
        serde_json::from_str(json).expect("a schema")
    });
    let Ok(query) = http_shell::query::parse::<RowsQuery>(query) else { return };
    let database = PageId::new(Timestamp(0));
    let Ok(look) = Look::of(&query, None) else { return };
    let plan = RowPlan::new(&SCHEMA, &look.filters, look.sort.as_ref(), look.group_by.as_deref());
    plan.map_or_else(|error| assert_eq!(error.status(), 400), drop);
    let list = look.list(database, look.group.as_deref());
    if let Some(start) = query.cursor.as_deref().and_then(|text| cursor::read::<Start>(&list, text).ok()) {
        assert!(cursor::read::<Start>("another", &cursor::write(&list, start)).is_err());
    }
}
