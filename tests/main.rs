//! Black-box tests: each starts a real server on a free port with its own empty store, and talks to it as a client would.
//!
//! One binary, one module per area. With `TROUPE_TEST_DATABASE_URL` and `TROUPE_TEST_REDIS_URL` set, the same tests run
//! on PostgreSQL and Redis.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on says so by panicking")]

mod accounts;
mod backup;
mod calendar;
mod chaos;
mod configuration;
mod crash;
mod databases;
mod deployment;
mod doctor;
mod endpoints;
mod faults;
mod git;
mod harness;
mod helpcenter;
mod http_rules;
mod issues;
mod live;
mod mail;
mod nodes;
mod notifications;
mod observability;
mod outages;
mod pages;
mod pipelines;
mod platform;
mod post;
mod runner;
mod s3;
mod security;
mod storage;
mod supply_chain;
mod tidy;
mod traces;
mod vault;

/// Counts what is in use, for the tests of what memory a server keeps.
#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);
