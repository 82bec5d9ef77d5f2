//! Every endpoint, in one table, driven by everybody who may not call it.
//!
//! The table says who may; the description that the server serves must list the same endpoints, and must tell of every
//! answer that this test gets.

mod cast;
mod description;
mod guards;
mod row;
mod sent;
mod table;
