//! What a company fears: the database goes away under load or while jobs run, a node is told to stop under load, the disk fails.

mod database;
mod disk;
mod pipelines;
mod stop;
pub mod worker;
