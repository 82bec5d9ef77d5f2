//! The items of a vault.

use domain::{
    id::UserId,
    time::Timestamp,
    vault::{Item, ItemContent, ItemHead, ItemId, Sealed},
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, Statement,
    sea_query::OnConflict,
};

use crate::{Change, Expect, Store, StoreError};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "vault_items")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub item_id: String,
        pub revision: i64,
        pub deleted: bool,
        pub created_at: i64,
        pub updated_at: i64,
        pub key: Option<String>,
        pub overview: Option<String>,
        pub details: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// An item of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemState {
    /// The item.
    pub item_id: ItemId,
    /// Where it stands.
    pub head: ItemHead,
}

impl TryFrom<row::Model> for Item {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let content = match (row.key, row.overview, row.details) {
            (Some(key), Some(overview), Some(details)) if !row.deleted => Some(ItemContent {
                key: Sealed::from_json_text(key),
                overview: Sealed::from_json_text(overview),
                details: Sealed::from_json_text(details),
            }),
            _ if row.deleted => None,
            _ => return Err(StoreError::corrupt(format_args!("item {} without its content", row.item_id))),
        };
        Ok(Self {
            item_id: item_id(&row.item_id)?,
            revision: row.revision,
            content,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

/// The index as one value: row by row, 10,000 items take six times as long, most of it on the way between threads.
const INDEX: &str = "\
    SELECT STRING_AGG(item_id || ' ' || revision || ' ' || created_at || CASE WHEN deleted THEN ' d' ELSE '' END, ',') \
    FROM vault_items WHERE user_id = $1";

/// Reads an entry of [`INDEX`].
fn unpack(entry: &str) -> Option<ItemState> {
    let mut words = entry.split(' ');
    let item_id = words.next()?.parse().ok()?;
    let revision = words.next()?.parse().ok()?;
    let created_at = Timestamp(words.next()?.parse().ok()?);
    let deleted = words.next().is_some();
    Some(ItemState { item_id, head: ItemHead { revision, deleted, created_at } })
}

fn item_id(text: &str) -> Result<ItemId, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(format_args!("item id {text}")))
}

impl Store {
    /// Where every item of a person's vault stands, tombstones included, by id. Reads no content.
    pub async fn vault_index(&self, user_id: UserId) -> Result<Vec<ItemState>, StoreError> {
        let statement =
            Statement::from_sql_and_values(self.reader().get_database_backend(), INDEX, [user_id.to_string().into()]);
        let row = self.reader().query_one_raw(statement).await?;
        let packed: Option<String> = row.map(|row| row.try_get_by_index(0)).transpose()?.flatten();
        let entries = packed.as_deref().unwrap_or_default().split_terminator(',');
        let unpacked =
            entries.map(|entry| unpack(entry).ok_or_else(|| StoreError::corrupt(format_args!("item {entry}"))));
        let mut items = unpacked.collect::<Result<Vec<_>, _>>()?;
        items.sort_unstable_by_key(|item| item.item_id);
        Ok(items)
    }

    /// Those of the items that a person's vault has, by id.
    pub async fn vault_items(&self, user_id: UserId, ids: &[ItemId]) -> Result<Vec<Item>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = row::Entity::find()
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .filter(row::Column::ItemId.is_in(ids.iter().map(ItemId::as_str)))
            .order_by_asc(row::Column::ItemId)
            .all(self.reader())
            .await?;
        rows.into_iter().map(Item::try_from).collect()
    }
}

impl Change {
    /// Writes the items as they are now, each whole. Guard it with [`vault_items_changed`](Self::vault_items_changed).
    pub fn vault_items_put(&mut self, user_id: UserId, items: impl IntoIterator<Item = Item>) {
        use row::Column::{Deleted, Details, ItemId, Key, Overview, Revision, UpdatedAt, UserId};
        let user_id = user_id.to_string();
        let rows = items.into_iter().map(|item| active(user_id.clone(), item));
        let whole = OnConflict::columns([UserId, ItemId])
            .update_columns([Revision, Deleted, UpdatedAt, Key, Overview, Details])
            .to_owned();
        self.run(row::Entity::insert_many(rows).on_conflict(whole), Expect::Any);
    }
}

pub(super) fn delete_all(change: &mut Change, user_id: &str) {
    change.run(row::Entity::delete_many().filter(row::Column::UserId.eq(user_id)), Expect::Any);
}

fn active(user_id: String, item: Item) -> row::ActiveModel {
    let deleted = item.content.is_none();
    let (key, overview, details) = item.content.map_or((None, None, None), |content| {
        (Some(content.key.into()), Some(content.overview.into()), Some(content.details.into()))
    });
    row::ActiveModel {
        user_id: Set(user_id),
        item_id: Set(item.item_id.to_string()),
        revision: Set(item.revision),
        deleted: Set(deleted),
        created_at: Set(item.created_at.0),
        updated_at: Set(item.updated_at.0),
        key: Set(key),
        overview: Set(overview),
        details: Set(details),
    }
}
