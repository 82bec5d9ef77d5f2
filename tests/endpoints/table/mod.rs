//! The table, a page for each area.

pub use super::row::{Row, Takes, Who};

macro_rules! rows {
    ($($method:ident $path:literal $who:expr, $takes:expr;)*) => {
        &[$(Row { method: stringify!($method), path: $path, who: $who, takes: $takes },)*]
    };
}

mod accounts;
mod backup;
mod calendar;
mod databases;
mod git;
mod issues;
mod mail;
mod notifications;
mod pages;
mod pipelines;
mod platform;
mod storage;
mod vault;

const PAGES: [&[Row]; 13] = [
    accounts::ROWS,
    backup::ROWS,
    vault::ROWS,
    notifications::ROWS,
    pages::ROWS,
    platform::ROWS,
    storage::ROWS,
    databases::ROWS,
    git::ROWS,
    pipelines::ROWS,
    calendar::ROWS,
    mail::ROWS,
    issues::ROWS,
];

/// Every endpoint.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    PAGES.into_iter().flatten()
}
