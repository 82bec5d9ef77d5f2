//! A page, on the wire.

use domain::pages::{
    Page, PageContent,
    database::{Properties, Schema, Views},
};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::database::{PropertyBody, ViewBody};

/// A page.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "pageId": "doc_01jd7rt4m5e9fv2w8x3c6k0hqz", "parentId": "root", "kind": "doc", "title": "Onboarding", "icon": "🚀",
    "position": 1.0, "archived": false, "contentVersion": 4, "createdAt": 1_767_225_600_000_i64,
    "updatedAt": 1_767_229_200_000_i64, "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"
}))]
pub(crate) struct PageBody {
    /// The page's id.
    page_id: String,
    /// The id of what it is under, or `root`.
    parent_id: String,
    /// `doc` or `database`. A page under a database is one of its rows.
    kind: &'static str,
    /// What it is called; may be empty.
    title: String,
    /// An emoji or the name of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    /// Whether it takes the whole width of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_width: Option<bool>,
    /// Orders it among its siblings, the lower first.
    position: f64,
    /// Whether it is in the trash.
    archived: bool,
    /// Since when it is in the trash.
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<i64>,
    /// Counts how often its content was written.
    content_version: i64,
    /// When it was made.
    created_at: i64,
    /// When it or its content last changed.
    updated_at: i64,
    /// The person who made it, or who made the key that did.
    created_by: String,
    /// The person who changed the page last.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_by: Option<String>,
    /// Of a database: the properties that its rows have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<PropertyBody>>)]
    schema: Option<Schema>,
    /// Of a database: the ways in which it is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<ViewBody>>)]
    views: Option<Views>,
    /// Of a row: what it says under its database's properties, by their ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>)]
    properties: Option<Properties>,
}

impl From<Page> for PageBody {
    fn from(page: Page) -> Self {
        Self {
            page_id: page.id.to_string(),
            parent_id: page.parent_text(),
            kind: page.kind.as_str(),
            archived: page.is_archived(),
            title: page.title,
            icon: page.icon,
            full_width: page.full_width,
            position: page.position,
            archived_at: page.archived_at.map(domain::Timestamp::as_millis),
            content_version: page.content_version,
            created_at: page.created_at.as_millis(),
            updated_at: page.updated_at.as_millis(),
            created_by: page.created_by.to_string(),
            updated_by: page.updated_by.map(|id| id.to_string()),
            schema: page.schema,
            views: page.views,
            properties: page.is_row.then(|| page.properties.unwrap_or_default()),
        }
    }
}

/// What a page says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "version": 4, "blocks": [{"type": "paragraph", "text": "Hello"}], "markdown": "Hello\n"
}))]
pub(crate) struct ContentBody {
    /// Counts how often it was written; 0 before the first time.
    version: i64,
    /// An editor's blocks, as they were sent; null where it was written as Markdown.
    #[schema(value_type = Option<Vec<Value>>)]
    blocks: Option<Box<RawValue>>,
    /// The same as Markdown.
    markdown: String,
}

impl TryFrom<PageContent> for ContentBody {
    type Error = domain::Error;

    fn try_from(content: PageContent) -> domain::Result<Self> {
        let stored = |error| domain::Error::internal(format_args!("blocks are stored as no JSON: {error}"));
        let blocks = content.blocks.map(RawValue::from_string).transpose().map_err(stored)?;
        Ok(Self { version: content.version, blocks, markdown: content.markdown })
    }
}
