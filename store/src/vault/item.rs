//! The items of a vault.

use domain::{
    id::UserId,
    time::Timestamp,
    vault::{Item, ItemContent, ItemHead, ItemId, Sealed},
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, sea_query::OnConflict,
};

use crate::{Change, Expect, Store, StoreError, reader::Reads};

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

fn item_id(text: &str) -> Result<ItemId, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(format_args!("item id {text}")))
}

impl Store {
    /// Where every item of a person's vault stands, tombstones included, by id. Reads no content.
    pub async fn vault_index(&self, user_id: UserId) -> Result<Vec<ItemState>, StoreError> {
        let rows: Vec<(String, i64, i64, bool)> = row::Entity::find()
            .select_only()
            .columns([row::Column::ItemId, row::Column::Revision, row::Column::CreatedAt, row::Column::Deleted])
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .order_by_asc(row::Column::ItemId)
            .read_all_columns(self.reader())
            .await?;
        let state = |(id, revision, created_at, deleted): (String, i64, i64, bool)| {
            let head = ItemHead { revision, deleted, created_at: Timestamp(created_at) };
            Ok(ItemState { item_id: item_id(&id)?, head })
        };
        rows.into_iter().map(state).collect()
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
            .read_all(self.reader())
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
