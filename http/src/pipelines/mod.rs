//! Workflows, runs, jobs and runners (contract C 2.1, 4.1, 4.2).

mod argument;
mod artifacts;
mod body;
mod caches;
mod checkout;
mod files;
mod log_archive;
mod log_reader;
mod log_reading;
mod log_socket;
mod logs;
mod reading;
mod reports;
mod runner;
mod runners;
mod runs;
mod why;
mod workflows;

pub(crate) use self::{
    artifacts::*, caches::*, checkout::*, files::*, log_archive::*, log_reading::*, log_socket::*, logs::*, reports::*,
    runner::*, runners::*, runs::*, why::*, workflows::*,
};
