//! Reads of the tree.

use domain::{
    Timestamp,
    id::{OrgId, PageId},
    pages::{LIST_MAX, Page, position::Neighbours},
};
use sea_orm::{ColumnTrait, Condition, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect};

use super::row::{Column, Entity};
use crate::{
    Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

/// A way through the tree ends here, however it came about.
const STEPS_MAX: i64 = 64;

/// A part of an organization's pages.
#[derive(Clone, Debug, PartialEq)]
pub struct PageList {
    /// They.
    pub pages: Vec<Page>,
    /// Whether there are more.
    pub truncated: bool,
}

/// What lies around a position among the pages under one parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Siblings {
    /// What lies next to it.
    pub around: Neighbours,
    /// How many lie below it.
    pub place: u64,
}

/// A page of a subtree, as far as the trash goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubtreePage {
    /// It.
    pub id: PageId,
    /// Where it is in the trash: the page whose archiving put it there, perhaps itself.
    pub archived_with: Option<PageId>,
    /// Whether it is, or was, edited together.
    pub has_document: bool,
}

impl TryFrom<SubtreeRow> for SubtreePage {
    type Error = StoreError;

    fn try_from(row: SubtreeRow) -> Result<Self, StoreError> {
        let read = |text: &str| text.parse::<PageId>().map_err(|_| StoreError::corrupt("pages.id"));
        let id = read(&row.id)?;
        let archived_with = row.archived_with.as_deref().map(read).transpose()?;
        Ok(Self {
            id,
            archived_with: row.archived_at.map(|_| archived_with.unwrap_or(id)),
            has_document: row.document.is_some(),
        })
    }
}

row! {
    struct StepRow {
        id: String,
    }
}

row! {
    struct HeightRow {
        height: i64,
    }
}

row! {
    struct SubtreeRow {
        id: String,
        archived_at: Option<i64>,
        archived_with: Option<String>,
        document: Option<String>,
    }
}

impl StepRow {
    fn id(&self) -> Result<PageId, StoreError> {
        self.id.parse().map_err(|_| StoreError::corrupt("pages.id"))
    }
}

impl Store {
    /// The organization's page with this id, be it in the trash or not.
    pub async fn page(&self, org_id: OrgId, id: PageId) -> Result<Option<Page>, StoreError> {
        let found = of_organization(org_id).add(Column::Id.eq(id.to_string()));
        Entity::find().filter(found).read_one(self.reader()).await?.map(Page::try_from).transpose()
    }

    /// The organization's pages that are not in the trash, siblings in their order. Beyond 5,000 some are left out: rows of
    /// databases first, then whatever was made last.
    pub async fn pages(&self, org_id: OrgId) -> Result<PageList, StoreError> {
        let select = Entity::find()
            .filter(of_organization(org_id).add(Column::ArchivedAt.is_null()))
            .order_by_asc(Column::IsRow)
            .order_by_asc(Column::Id);
        let mut list = self.page_list(select).await?;
        list.pages.sort_by(|one, other| one.position.total_cmp(&other.position).then(one.id.cmp(&other.id)));
        Ok(list)
    }

    /// The organization's trash: what was put there last comes first, before what it took along.
    pub async fn pages_archived(&self, org_id: OrgId) -> Result<PageList, StoreError> {
        let select = Entity::find()
            .filter(of_organization(org_id).add(Column::ArchivedAt.is_not_null()))
            .order_by_desc(Column::ArchivedAt)
            .order_by(Column::ArchivedWith.is_not_null(), Order::Asc)
            .order_by_asc(Column::Id);
        self.page_list(select).await
    }

    pub(super) async fn page_list(&self, select: sea_orm::Select<Entity>) -> Result<PageList, StoreError> {
        let rows = select.limit(LIST_MAX + 1).read_list(self.reader()).await?;
        let mut pages = rows.into_iter().map(Page::try_from).collect::<Result<Vec<_>, _>>()?;
        let most = usize::try_from(LIST_MAX).unwrap_or(usize::MAX);
        let truncated = pages.len() > most;
        pages.truncate(most);
        Ok(PageList { pages, truncated })
    }

    /// The page and everything above it, up to the root.
    pub async fn page_path(&self, org_id: OrgId, id: PageId) -> Result<Vec<PageId>, StoreError> {
        let statement = "WITH RECURSIVE up(id, parent_id, depth) AS (\
             SELECT id, parent_id, CAST(1 AS BIGINT) FROM pages WHERE org_id = $1 AND id = $2 \
             UNION ALL SELECT pages.id, pages.parent_id, up.depth + 1 FROM pages JOIN up ON pages.id = up.parent_id \
             WHERE up.depth < $3) SELECT id FROM up ORDER BY depth";
        let values = [org_id.to_string().into(), id.to_string().into(), STEPS_MAX.into()];
        let steps = self.reader().rows::<StepRow>(&Sql::new(statement, values)).await?;
        steps.iter().map(StepRow::id).collect()
    }

    /// How deep the pages lie from this one down, itself included; the trash counts too.
    pub async fn page_height(&self, id: PageId) -> Result<u32, StoreError> {
        let statement = "WITH RECURSIVE down(id, depth) AS (\
             SELECT id, CAST(1 AS BIGINT) FROM pages WHERE id = $1 \
             UNION ALL SELECT pages.id, down.depth + 1 FROM pages JOIN down ON pages.parent_id = down.id \
             WHERE down.depth < $2) SELECT COALESCE(MAX(depth), 0) AS height FROM down";
        let sql = Sql::new(statement, [id.to_string().into(), STEPS_MAX.into()]);
        let row = self.reader().row::<HeightRow>(&sql).await?;
        Ok(row.map_or(0, |row| u32::try_from(row.height).unwrap_or(u32::MAX)))
    }

    /// The page, and then everything below it.
    pub async fn page_subtree(&self, id: PageId) -> Result<Vec<SubtreePage>, StoreError> {
        let statement = "WITH RECURSIVE down(id, archived_at, archived_with, depth) AS (\
             SELECT id, archived_at, archived_with, CAST(1 AS BIGINT) FROM pages WHERE id = $1 \
             UNION ALL SELECT pages.id, pages.archived_at, pages.archived_with, down.depth + 1 \
             FROM pages JOIN down ON pages.parent_id = down.id WHERE down.depth < $2) \
             SELECT down.id AS id, archived_at, archived_with, page_docs.page_id AS document \
             FROM down LEFT JOIN page_docs ON page_docs.page_id = down.id ORDER BY depth, down.id";
        let sql = Sql::new(statement, [id.to_string().into(), STEPS_MAX.into()]);
        self.reader().rows::<SubtreeRow>(&sql).await?.into_iter().map(SubtreePage::try_from).collect()
    }

    /// Pages that were archived themselves before `before`, those first that are in the trash for longest.
    pub async fn pages_trash_over(
        &self,
        org_id: OrgId,
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<Page>, StoreError> {
        let over = of_organization(org_id).add(Column::ArchivedAt.lt(before.0)).add(Column::ArchivedWith.is_null());
        let select = Entity::find().filter(over).order_by_asc(Column::ArchivedAt).order_by_asc(Column::Id).limit(limit);
        select.read_all(self.reader()).await?.into_iter().map(Page::try_from).collect()
    }

    /// The highest position among the pages under `parent`, the root's where there is none; the trash counts too.
    pub async fn page_last_position(&self, org_id: OrgId, parent: Option<PageId>) -> Result<Option<f64>, StoreError> {
        let select = Entity::find().filter(under(org_id, parent)).select_only().column(Column::Position);
        let last = select.order_by_desc(Column::Position).read_columns::<(f64,)>(self.reader()).await?;
        Ok(last.map(|(position,)| position))
    }

    /// What lies around `position` among the pages under `parent`, `moved` aside; the trash counts too.
    pub async fn page_siblings(
        &self,
        org_id: OrgId,
        parent: Option<PageId>,
        position: f64,
        moved: PageId,
    ) -> Result<Siblings, StoreError> {
        let others = under(org_id, parent).add(Column::Id.ne(moved.to_string()));
        let below = Entity::find().filter(others.clone().add(Column::Position.lt(position)));
        let above = Entity::find().filter(others.add(Column::Position.gte(position)));
        let next_below = below.clone().select_only().column(Column::Position).order_by_desc(Column::Position);
        let next_above = above.select_only().column(Column::Position).order_by_asc(Column::Position);
        let reader = self.reader();
        let around = Neighbours {
            below: next_below.read_columns::<(f64,)>(reader).await?.map(|(position,)| position),
            above: next_above.read_columns::<(f64,)>(reader).await?.map(|(position,)| position),
        };
        Ok(Siblings { around, place: below.read_count(reader).await? })
    }

    /// When the page came into the organization's trash that came there first, of those that did at `from` or later.
    pub async fn page_trash_next(&self, org_id: OrgId, from: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let archived = of_organization(org_id).add(Column::ArchivedAt.gte(from.0));
        let select = Entity::find().filter(archived).select_only().column(Column::ArchivedAt);
        let oldest = select.order_by_asc(Column::ArchivedAt).read_columns::<(Option<i64>,)>(self.reader()).await?;
        Ok(oldest.and_then(|(at,)| at).map(Timestamp))
    }
}

fn of_organization(org_id: OrgId) -> Condition {
    Condition::all().add(Column::OrgId.eq(org_id.to_string()))
}

fn under(org_id: OrgId, parent: Option<PageId>) -> Condition {
    let parent = match parent {
        Some(id) => Column::ParentId.eq(id.to_string()),
        None => Column::ParentId.is_null(),
    };
    of_organization(org_id).add(parent)
}
