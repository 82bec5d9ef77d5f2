//! Rows of databases: filtered, sorted, grouped, and with the values that they show.
//!
//! What a client asks for is decided by one set of rules, whatever the database (`domain::pages::database`): rows are read in
//! order, a batch at a time, with no more of them than that takes, and only those that are answered are read whole.

use std::collections::{BTreeMap, HashMap};

use domain::{
    Timestamp,
    id::{OrgId, PageId},
    pages::{
        Page, PageKind,
        database::{GroupKey, Properties, PropertyValue, RowFacts, RowPlan, Schema, SortKey},
    },
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, sea_query::SimpleExpr};

use super::{
    relations::RelatedRows,
    row::{Column, Entity},
    walk::PageList,
};
use crate::{
    Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

/// Rows that are read at once.
const BATCH: i64 = 5_000;
/// Pages of one statement: SQLite takes 32,766 values in one.
const PAGES_PER_STATEMENT: usize = 500;

/// Which rows of a database are asked for.
#[derive(Debug)]
pub struct RowsAsked<'a> {
    /// How the rows are looked at.
    pub plan: &'a RowPlan<'a>,
    /// Only those behind this one.
    pub after: Option<SortKey>,
    /// Only those of this group: its value, or nothing for those without one.
    pub group: Option<Option<String>>,
    /// How many groups at most.
    pub groups_max: usize,
    /// How many rows at most; of each group, where there are any.
    pub limit: usize,
}

/// Rows of a database.
#[derive(Debug, Default)]
pub struct RowsPage {
    /// They, with the values that they show. None where they are in groups.
    pub rows: Vec<Page>,
    /// Where the next ones begin.
    pub next: Option<SortKey>,
    /// How many there are in all.
    pub total: u64,
    /// The groups, in their order.
    pub groups: Vec<RowGroup>,
}

/// The rows of a group.
#[derive(Debug)]
pub struct RowGroup {
    /// What they have in common; nothing for rows without a value.
    pub value: Option<String>,
    /// The first of them.
    pub rows: Vec<Page>,
    /// Where the next ones begin.
    pub next: Option<SortKey>,
    /// How many there are.
    pub total: u64,
}

row! {
    struct FactsRow {
        id: String,
        title: String,
        position: f64,
        created_at: i64,
        updated_at: i64,
        properties: Option<String>,
    }
}

/// The rows of a database that this holds for, behind a place.
macro_rules! facts {
    ($which:literal) => {
        concat!(
            "SELECT id, title, position, created_at, updated_at, properties FROM pages \
             WHERE org_id = $1 AND parent_id = $2 AND (position, id) > ($3, $4) AND ",
            $which,
            " ORDER BY position, id LIMIT $5"
        )
    };
}

const FACTS: &str = facts!("archived_at IS NULL");
const FACTS_IN_TRASH: &str = facts!("archived_with = $6");

/// What relations say, by property and row.
type Related = HashMap<String, RelatedRows>;

/// Rows in their order, of which only the first are kept whole.
#[derive(Default)]
struct Found {
    rows: Vec<(SortKey, PageId)>,
}

impl Found {
    /// The first `limit` behind `after`, and where the next ones begin.
    fn page(mut self, plan: &RowPlan<'_>, after: Option<&SortKey>, limit: usize) -> (Vec<PageId>, Option<SortKey>) {
        if let Some(after) = after {
            self.rows.retain(|(key, _)| plan.order(key, after).is_gt());
        }
        let order = |one: &(SortKey, PageId), two: &(SortKey, PageId)| plan.order(&one.0, &two.0);
        let has_more = self.rows.len() > limit;
        if has_more {
            self.rows.select_nth_unstable_by(limit, order);
            self.rows.truncate(limit);
        }
        self.rows.sort_by(order);
        let next = self.rows.last().filter(|_| has_more).map(|(key, _)| key.clone());
        (self.rows.into_iter().map(|(_, id)| id).collect(), next)
    }
}

impl Store {
    /// The rows of `database`, as somebody looks at them. Those in the trash are left out, unless they went there with the
    /// database.
    pub async fn page_rows(&self, database: &Page, asked: RowsAsked<'_>) -> Result<RowsPage, StoreError> {
        let RowsAsked { plan, after, group, groups_max, limit } = asked;
        let related = self.related(database, None).await?;
        let schema = database.schema.clone().unwrap_or_default();
        let mut all = Found::default();
        let mut groups: HashMap<GroupKey, Found> =
            plan.standing_groups().into_iter().map(|key| (key, Found::default())).collect();
        self.rows_each(database, |row| {
            let (id, properties) = row.read(&schema, &related)?;
            let facts = row.facts(id, &properties);
            if plan.shows(&facts) {
                let key = plan.key(&facts);
                for group in plan.groups(&facts) {
                    groups.entry(group).or_default().rows.push((key.clone(), id));
                }
                all.rows.push((key, id));
            }
            Ok(())
        })
        .await?;
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by(|(one, _), (two, _)| one.against(two));
        if let Some(value) = group {
            let rows = groups.into_iter().find(|(key, _)| key.value == value).map(|(_, rows)| rows).unwrap_or_default();
            let total = rows.rows.len() as u64;
            let (ids, next) = rows.page(plan, after.as_ref(), limit);
            let rows = self.rows_shown(database, &schema, &related, &ids).await?;
            return Ok(RowsPage { rows, next, total, groups: Vec::new() });
        }
        let total = all.rows.len() as u64;
        if groups.is_empty() {
            let (ids, next) = all.page(plan, after.as_ref(), limit);
            let rows = self.rows_shown(database, &schema, &related, &ids).await?;
            return Ok(RowsPage { rows, next, total, groups: Vec::new() });
        }
        let mut shown = Vec::new();
        for (key, rows) in groups.into_iter().take(groups_max) {
            let total = rows.rows.len() as u64;
            let (ids, next) = rows.page(plan, None, limit);
            let rows = self.rows_shown(database, &schema, &related, &ids).await?;
            shown.push(RowGroup { value: key.value, rows, next, total });
        }
        Ok(RowsPage { rows: Vec::new(), next: None, total, groups: shown })
    }

    /// The rows of `database` by position: up to 5,000, with the values that they show. Those in the trash are left out, unless
    /// they went there with the database.
    pub async fn page_rows_all(&self, database: &Page) -> Result<PageList, StoreError> {
        let select = Entity::find()
            .filter(Column::OrgId.eq(database.org_id.to_string()))
            .filter(Column::ParentId.eq(database.id.to_string()))
            .filter(is_beside(database))
            .order_by_asc(Column::Position)
            .order_by_asc(Column::Id);
        let mut list = self.page_list(select).await?;
        let related = self.related(database, None).await?;
        let schema = database.schema.clone().unwrap_or_default();
        for page in &mut list.pages {
            page.properties = Some(shown(&schema, &related, &page.id.to_string(), page.properties.take()));
        }
        Ok(list)
    }

    /// Calls `each` with every row that the database shows, by position.
    async fn rows_each(
        &self,
        database: &Page,
        mut each: impl FnMut(FactsRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let (mut position, mut id) = (f64::MIN, String::new());
        loop {
            let mut values = vec![
                database.org_id.to_string().into(),
                database.id.to_string().into(),
                position.into(),
                id.clone().into(),
                BATCH.into(),
            ];
            let group = database.is_archived().then(|| database.archive_group().to_string().into());
            let facts = if group.is_some() { FACTS_IN_TRASH } else { FACTS };
            values.extend(group);
            let batch = self.reader().rows::<FactsRow>(&Sql::new(facts, values)).await?;
            let is_last = i64::try_from(batch.len()).unwrap_or(i64::MAX) < BATCH;
            if let Some(last) = batch.last() {
                (position, id) = (last.position, last.id.clone());
            }
            batch.into_iter().try_for_each(&mut each)?;
            if is_last {
                return Ok(());
            }
            // Whoever waits on this thread comes first.
            tokio::task::yield_now().await;
        }
    }

    /// What the relations of a database say: of one row, or of all.
    async fn related(&self, database: &Page, of: Option<PageId>) -> Result<Related, StoreError> {
        let mut related = Related::new();
        for (property, relation) in database.schema.iter().flat_map(|schema| schema.relations(database.id)) {
            related.insert(property.to_owned(), self.page_related(&relation, of).await?);
        }
        Ok(related)
    }

    /// These rows whole, in this order, with the values that they show.
    async fn rows_shown(
        &self,
        database: &Page,
        schema: &Schema,
        related: &Related,
        ids: &[PageId],
    ) -> Result<Vec<Page>, StoreError> {
        let mut found = HashMap::with_capacity(ids.len());
        for some in ids.chunks(PAGES_PER_STATEMENT) {
            let select = Entity::find()
                .filter(Column::Id.is_in(some.iter().map(PageId::to_string)))
                .filter(Column::ParentId.eq(database.id.to_string()));
            for row in select.read_all(self.reader()).await? {
                let mut page = Page::try_from(row)?;
                page.properties = Some(shown(schema, related, &page.id.to_string(), page.properties.take()));
                found.insert(page.id, page);
            }
        }
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// Pages with the values that those among them show that are rows: what fits their databases' schemas, with relations.
    pub async fn pages_shown(&self, org_id: OrgId, mut pages: Vec<Page>) -> Result<Vec<Page>, StoreError> {
        let mut databases: BTreeMap<PageId, Vec<PageId>> = BTreeMap::new();
        for page in pages.iter().filter(|page| page.is_row) {
            databases.extend(page.parent_id.filter(|id| !databases.contains_key(id)).map(|id| (id, Vec::new())));
            if let Some(rows) = page.parent_id.and_then(|id| databases.get_mut(&id)) {
                rows.push(page.id);
            }
        }
        let mut known = HashMap::new();
        for (id, rows) in databases {
            let Some(database) = self.page(org_id, id).await?.filter(|page| page.kind == PageKind::Database) else {
                continue;
            };
            let one = rows.first().copied().filter(|_| rows.len() == 1);
            let related = self.related(&database, one).await?;
            known.insert(id, (database.schema.unwrap_or_default(), related));
        }
        for page in pages.iter_mut().filter(|page| page.is_row) {
            if let Some((schema, related)) = page.parent_id.and_then(|id| known.get(&id)) {
                page.properties = Some(shown(schema, related, &page.id.to_string(), page.properties.take()));
            }
        }
        Ok(pages)
    }
}

impl FactsRow {
    fn read(&self, schema: &Schema, related: &Related) -> Result<(PageId, Properties), StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("pages {}", self.id));
        let id = self.id.parse().map_err(|_| corrupt())?;
        let properties = self.properties.as_deref().map(serde_json::from_str).transpose().map_err(|_| corrupt())?;
        Ok((id, shown(schema, related, &self.id, properties)))
    }

    fn facts<'r>(&'r self, id: PageId, properties: &'r Properties) -> RowFacts<'r> {
        RowFacts {
            id,
            title: &self.title,
            position: self.position,
            created_at: Timestamp(self.created_at),
            updated_at: Timestamp(self.updated_at),
            properties,
        }
    }
}

/// Whether a row is where its database is: outside of the trash, or there since the database went there.
fn is_beside(database: &Page) -> SimpleExpr {
    if database.is_archived() {
        Column::ArchivedWith.eq(database.archive_group().to_string())
    } else {
        Column::ArchivedAt.is_null()
    }
}

/// The values that a row shows, of those that are kept.
fn shown(schema: &Schema, related: &Related, row: &str, kept: Option<Properties>) -> Properties {
    let mut values = schema.visible(kept.unwrap_or_default());
    for (property, rows) in related {
        if let Some(named) = rows.get(row) {
            values.insert(property.clone(), PropertyValue::List(named.clone()));
        }
    }
    values
}
