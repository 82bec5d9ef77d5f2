//! Notes pages (contract B 2.6, B 4.6).

mod archive;
mod change;
mod collab;
mod comments;
mod content;
mod database;
mod live;
mod page;
mod rows;
mod search;
mod socket_right;
mod tree;
mod versions;

pub(crate) use self::{
    archive::*, change::*, collab::*, comments::*, content::*, live::*, rows::*, search::*, tree::*, versions::*,
};
