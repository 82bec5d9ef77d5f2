//! Workflows, runs, jobs and runners (contract C 2.1, 4.1, 4.2).

mod argument;
mod body;
mod reports;
mod runner;
mod runners;
mod runs;
mod why;
mod workflows;

pub(crate) use self::{reports::*, runner::*, runners::*, runs::*, why::*, workflows::*};
