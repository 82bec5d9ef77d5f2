//! A page, without its content.

use super::database::{Properties, Schema, Views};
use super::draft::Parent;
use crate::{
    Timestamp,
    app::names,
    id::{OrgId, PageId, UserId},
};

names! {
    /// What a page is (contract B 2.6).
    PageKind { Doc = "doc", Database = "database", }
}

/// A page, without its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Its id.
    pub id: PageId,
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// What it is under; none at the root.
    pub parent_id: Option<PageId>,
    /// What it is.
    pub kind: PageKind,
    /// Whether its parent is a database.
    pub is_row: bool,
    /// What it is called; may be empty.
    pub title: String,
    /// An emoji or the name of a picture.
    pub icon: Option<String>,
    /// Whether it takes the whole width of the window.
    pub full_width: Option<bool>,
    /// Orders it among its siblings, the lower first.
    pub position: f64,
    /// Since when it is in the trash.
    pub archived_at: Option<Timestamp>,
    /// The page whose archiving took this one along; none for one that was archived itself.
    pub archived_with: Option<PageId>,
    /// Counts how often its content was written.
    pub content_version: i64,
    /// What a row says under the properties of its database. A page that left its database keeps them for its return.
    pub properties: Option<Properties>,
    /// The properties that a database's rows have; none for a document.
    pub schema: Option<Schema>,
    /// The ways in which a database is looked at; none for a document.
    pub views: Option<Views>,
    /// Counts how often its row was written by the tree's owner.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// The person who made it, or who made the key that did.
    pub created_by: UserId,
    /// When it or its content last changed.
    pub updated_at: Timestamp,
    /// Who changed it last; none before the first change.
    pub updated_by: Option<UserId>,
}

impl Page {
    /// The parent as requests name it: its id, or `root`.
    pub fn parent_text(&self) -> String {
        self.parent_id.map_or_else(|| Parent::ROOT.to_owned(), |id| id.to_string())
    }

    /// Whether it is in the trash.
    pub const fn is_archived(&self) -> bool {
        self.archived_at.is_some()
    }

    /// The page whose archiving put it into the trash; itself where it was archived itself.
    pub fn archive_group(&self) -> PageId {
        self.archived_with.unwrap_or(self.id)
    }
}

/// What a page says. Before somebody wrote it: nothing, at version 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageContent {
    /// Counts how often it was written.
    pub version: i64,
    /// An editor's blocks, as JSON text of a list; none where it was written as Markdown.
    pub blocks: Option<String>,
    /// The same as Markdown.
    pub markdown: String,
}
