//! Workflows, runs, jobs and runners (contract C 2.1, 4.1, 4.2).

mod argument;
