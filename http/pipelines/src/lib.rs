//! Workflows, runs, jobs and runners (contract C 2.1, 4.1, 4.2).

mod approvals;
mod argument;
mod artifacts;
mod body;
mod caches;
mod check;
mod checkout;
mod environments;
mod files;
mod live;
mod log_archive;
mod log_reader;
mod log_reading;
mod log_socket;
mod logs;
mod reading;
mod reports;
mod routes;
mod runner;
mod runners;
mod runs;
mod secrets;
mod why;
mod workflows;

pub use self::routes::page;
