//! A page's row.

use std::str::FromStr;

use domain::{
    Timestamp,
    id::{OrgId, PageId, UserId},
    pages::{Page, PageKind},
};
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ColumnTrait, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter,
};
use serde::de::DeserializeOwned;

use crate::{Change, Expect, StoreError, json};

pub(super) use self::entity::{ActiveModel, Column, Entity, Model};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "pages")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub parent_id: Option<String>,
        pub kind: String,
        pub is_row: bool,
        pub title: String,
        pub icon: Option<String>,
        pub full_width: Option<bool>,
        pub position: f64,
        pub archived_at: Option<i64>,
        pub archived_with: Option<String>,
        pub content_version: i64,
        pub properties: Option<String>,
        pub schema: Option<String>,
        pub views: Option<String>,
        pub version: i64,
        pub created_at: i64,
        pub created_by: String,
        pub updated_at: i64,
        pub updated_by: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl Model {
    fn of(page: &Page) -> Self {
        Self {
            id: page.id.to_string(),
            org_id: page.org_id.to_string(),
            parent_id: page.parent_id.map(|id| id.to_string()),
            kind: page.kind.as_str().to_owned(),
            is_row: page.is_row,
            title: page.title.clone(),
            icon: page.icon.clone(),
            full_width: page.full_width,
            position: page.position,
            archived_at: page.archived_at.map(Timestamp::as_millis),
            archived_with: page.archived_with.map(|id| id.to_string()),
            content_version: page.content_version,
            properties: page.properties.as_ref().map(json::text),
            schema: page.schema.as_ref().map(json::text),
            views: page.views.as_ref().map(json::text),
            version: page.version,
            created_at: page.created_at.0,
            created_by: page.created_by.to_string(),
            updated_at: page.updated_at.0,
            updated_by: page.updated_by.map(|id| id.to_string()),
        }
    }
}

/// JSON of a column that may hold none.
fn read_json<T: DeserializeOwned>(text: Option<&str>) -> Result<Option<T>, serde_json::Error> {
    text.map(serde_json::from_str).transpose()
}

/// An id of a column that may hold none.
fn read_id<T: FromStr>(text: Option<&str>) -> Result<Option<T>, T::Err> {
    text.map(str::parse).transpose()
}

impl TryFrom<Model> for Page {
    type Error = StoreError;

    fn try_from(row: Model) -> Result<Self, StoreError> {
        let id = row.id.clone();
        row.read().ok_or_else(|| StoreError::corrupt(format_args!("pages {id}")))
    }
}

impl Model {
    /// The page; none where the row doesn't read as one.
    fn read(self) -> Option<Page> {
        Some(Page {
            id: self.id.parse::<PageId>().ok()?,
            org_id: self.org_id.parse::<OrgId>().ok()?,
            parent_id: read_id(self.parent_id.as_deref()).ok()?,
            kind: PageKind::from_name(&self.kind)?,
            is_row: self.is_row,
            title: self.title,
            icon: self.icon,
            full_width: self.full_width,
            position: self.position,
            archived_at: self.archived_at.map(Timestamp),
            archived_with: read_id(self.archived_with.as_deref()).ok()?,
            content_version: self.content_version,
            properties: read_json(self.properties.as_deref()).ok()?,
            schema: read_json(self.schema.as_deref()).ok()?,
            views: read_json(self.views.as_deref()).ok()?,
            version: self.version,
            created_at: Timestamp(self.created_at),
            created_by: self.created_by.parse::<UserId>().ok()?,
            updated_at: Timestamp(self.updated_at),
            updated_by: read_id(self.updated_by.as_deref()).ok()?,
        })
    }
}

impl Change {
    /// Adds a page to its tree.
    pub fn page_add(&mut self, page: &Page) {
        self.page_add_staged(page);
        self.page_title_save(page.id, page.org_id, &page.title);
    }

    /// Adds a page to its tree whose words are there already ([`pages_stage`](Self::pages_stage)).
    pub fn page_add_staged(&mut self, page: &Page) {
        self.insert(Model::of(page).into_active_model());
    }

    /// Writes what the tree's owner decides of the page, under the next version. What counts its content stays as it is,
    /// because the page's session writes that meanwhile.
    pub fn page_set(&mut self, page: &Page) {
        let mut whole: ActiveModel =
            Model { version: page.version + 1, ..Model::of(page) }.into_active_model().reset_all();
        whole.content_version = NotSet;
        let at_version = Column::Id.eq(page.id.to_string()).and(Column::Version.eq(page.version));
        self.run(Entity::update_many().set(whole).filter(at_version), Expect::Rows(1));
        self.page_title_save(page.id, page.org_id, &page.title);
    }
}
