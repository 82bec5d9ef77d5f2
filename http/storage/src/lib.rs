//! Object storage (contract C 2.3, 4.4): buckets, and the files in them with their versions.

mod bucket;
mod copies;
mod deletions;
mod download;
mod file;
mod folders;
mod list;
mod moves;
mod object;
mod parts;
mod routes;
mod rules;
mod sending;
mod upload;
mod uploads;
mod versions;
mod whole;

pub use self::routes::page;
