//! What a company fears: the database goes away under load, a node is told to stop under load,
//! the disk fails.

mod database;
mod disk;
mod stop;
pub mod worker;
