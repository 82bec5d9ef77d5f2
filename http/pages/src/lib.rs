//! Notes pages (contract B 2.6, B 4.6).

mod archive;
mod change;
mod collab;
mod comments;
mod content;
mod database;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod live;
mod page;
mod routes;
mod rows;
mod search;
mod socket_right;
mod tree;
mod versions;

pub use self::routes::page;
