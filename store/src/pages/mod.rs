//! Notes pages (contract B 2.6): the rows of the tree, content, and what else hangs on a page.
//!
//! Whatever changes the tree counts its revision up ([`Tree`]), and is stale when somebody else did so since it was read.

mod archive;
mod comments;
mod content;
mod documents;
mod imports;
mod relations;
mod remains;
mod removal;
mod row;
mod rows;
pub(crate) mod search;
mod tree;
mod versions;
mod walk;

pub use self::{
    comments::CommentFilter,
    content::{PageContentWrite, WrittenContent},
    documents::{NewPageUpdate, PageDocument, PageFold, PageHead, PageHistory, PageUpdate, PageUpdateId},
    remains::{StagedPage, Staging},
    rows::{RowGroup, RowsAsked, RowsPage},
    search::PageHit,
    tree::Tree,
    versions::{PageVersion, PageVersionHead},
    walk::{PageList, Siblings, SubtreePage},
};
