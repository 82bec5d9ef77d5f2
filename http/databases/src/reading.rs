//! Reading a page of a scan or query: a batch of items after the other, until the page is full or nothing is left.

use actors::databases::OpenTable;
use domain::databases::{
    Direction, Filters, Index, Item, PageTally, Position, ProjectionType, QueryRange, RowKey, Source,
    invalid_page_cursor,
};
use http_shell::error::Result;
use store::{
    Store,
    databases::{FoundItem, ItemPlace, ItemRange, KeptIndex},
};

/// Items that are read at once: few enough that nobody else waits for them.
const BATCH: usize = 50;
/// Items that are read at once where they may be large: 400 KB each.
const BATCH_OF_LARGE: usize = 10;
/// How large the texts of a batch are together, where a larger batch of such items does no harm.
const BATCH_BYTES: usize = 256 * 1024;

/// What is read.
pub(super) struct Reading<'r> {
    pub store: &'r Store,
    pub open: &'r OpenTable,
    pub source: Source<'r>,
    /// The partition and its sort keys, where it is a query.
    pub query: Option<QueryRange>,
    pub direction: Direction,
    pub filters: &'r Filters,
    /// The attributes that are shown; all of them where none is named.
    pub projection: &'r [String],
}

/// A page.
pub(super) struct Page {
    /// The items, as they are answered.
    pub items: Vec<String>,
    pub tally: PageTally,
    /// Where the last item was read that the page looked at, if there is one behind it.
    pub next: Option<Position>,
}

impl Reading<'_> {
    fn kept_index(&self) -> Option<&KeptIndex> {
        let index = self.source.index?;
        self.open.kept.indexes.iter().find(|kept| kept.index.name == index.name)
    }

    /// The place that a cursor goes on behind.
    pub(super) async fn place(&self, position: &Position) -> Result<ItemPlace> {
        let table = position.table_row().clone();
        let Some(index) = self.source.index else {
            return match position {
                Position::Table(_) => Ok(ItemPlace { index: None, table }),
                Position::Index { .. } | Position::IndexByHash { .. } => Err(invalid_page_cursor().into()),
            };
        };
        let now = match position {
            Position::IndexByHash { .. } => self.row_now(index, &table).await?,
            Position::Table(_) | Position::Index { .. } => None,
        };
        Ok(ItemPlace { index: Some(position.index_row(now)?), table })
    }

    /// The row that the item at a row of the table has in the index now.
    async fn row_now(&self, index: &Index, table: &RowKey) -> Result<Option<RowKey>> {
        let Some(found) = self.store.item_at(self.open.kept.no, table).await? else { return Ok(None) };
        Ok(index.row_of(&Item::from_text(&found.text)?))
    }

    /// The page of up to `limit` items behind `after`.
    pub(super) async fn page(&self, mut after: Option<ItemPlace>, limit: usize) -> Result<Page> {
        let mut page = Page { items: Vec::new(), tally: PageTally::new(limit), next: None };
        let mut most = BATCH_OF_LARGE;
        loop {
            let batch = self.batch(&page, limit).min(most);
            let found = self.next(after.as_ref(), batch).await?;
            let is_last = found.len() < batch;
            let bytes: usize = found.iter().map(|item| item.text.len()).sum();
            most = if bytes <= BATCH_BYTES { BATCH } else { BATCH_OF_LARGE };
            for item in found {
                if page.tally.is_full() {
                    page.next = after.map(position);
                    return Ok(page);
                }
                after = Some(item.place.clone());
                self.look(item, &mut page)?;
            }
            if is_last {
                return Ok(page);
            }
            // Many items may be looked at for few: others have their turns meanwhile.
            tokio::task::yield_now().await;
        }
    }

    /// How many items to read next: one more than the page has room for, to know whether it is the last one.
    fn batch(&self, page: &Page, limit: usize) -> usize {
        let room = if page.tally.is_full() { 0 } else { limit - page.tally.items() };
        if self.filters.is_empty() || room == 0 { BATCH.min(room + 1) } else { BATCH }
    }

    async fn next(&self, after: Option<&ItemPlace>, batch: usize) -> Result<Vec<FoundItem>> {
        let range = ItemRange {
            table_no: self.open.kept.no,
            index_no: self.kept_index().map(|kept| kept.no),
            query: self.query.as_ref(),
            direction: self.direction,
            after,
            limit: u32::try_from(batch).unwrap_or(u32::MAX),
        };
        Ok(self.store.items_in(&range).await?)
    }

    /// Puts an item on the page, where it passes.
    fn look(&self, found: FoundItem, page: &mut Page) -> Result<()> {
        if self.shows_all() && self.filters.is_empty() {
            page.tally.take(found.bytes);
            page.items.push(found.text);
            return Ok(());
        }
        let item = self.source.shown(Item::from_text(&found.text)?);
        if !self.filters.hold(&item) {
            page.tally.pass(found.bytes);
            return Ok(());
        }
        page.tally.take(found.bytes);
        let names = self.projection.iter().map(String::as_str);
        let item = if self.projection.is_empty() { item } else { item.project(names) };
        page.items.push(item.to_text());
        Ok(())
    }

    fn shows_all(&self) -> bool {
        let is_whole = |index: &Index| index.projection.projection_type == ProjectionType::All;
        self.projection.is_empty() && self.source.index.is_none_or(is_whole)
    }
}

fn position(place: ItemPlace) -> Position {
    match place.index {
        None => Position::Table(place.table),
        Some(index) => Position::Index { index, table: place.table },
    }
}
