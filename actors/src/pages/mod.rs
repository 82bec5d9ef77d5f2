//! Notes pages: who owns what, and what is live (contract B 2.6, B 4.6).

mod author;
pub mod comments;
pub mod import;
pub mod live;
pub mod session;
pub mod tree;
