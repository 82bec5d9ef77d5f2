//! Workflows, runs, jobs and runners (contract C 2.1, 4.1, 4.2).

mod argument;
mod artifacts;
mod caches;
mod checkout;
mod files;
mod log_archive;
mod log_reader;
mod log_reading;
mod log_socket;
mod logs;
mod reading;

pub(crate) use self::{
    artifacts::*, caches::*, checkout::*, files::*, log_archive::*, log_reading::*, log_socket::*, logs::*,
};
