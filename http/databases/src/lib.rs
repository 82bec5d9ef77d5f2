//! Key-value databases (contract C 2.3, 4.5).

mod argument;
mod description;
mod indexes;
mod items;
mod names;
mod reading;
mod record;
mod routes;
mod search;
mod tables;
mod updates;
mod writes;

pub use self::routes::page;
