//! Black-box tests: each starts a real server on a free port with its own empty store, and talks to it as a client would.
//!
//! One binary, one module per area. With `TROUPE_TEST_DATABASE_URL` and `TROUPE_TEST_REDIS_URL` set, the same tests run
//! on PostgreSQL and Redis.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on says so by panicking")]

mod accounts;
mod backup;
mod configuration;
mod crash;
mod doctor;
mod endpoints;
mod harness;
mod http_rules;
mod live;
mod nodes;
mod security;
mod tidy;
mod vault;
