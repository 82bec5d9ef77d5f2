//! Two nodes, one truth: two real programs on one `PostgreSQL` and one Redis, and clients that talk to both.
//!
//! Without `TROUPE_TEST_DATABASE_URL` and `TROUPE_TEST_REDIS_URL` these tests say so and end.

mod changes;
mod coediting;
mod limits;
mod pair;
mod pipelines;
mod platform;
mod pushes;
mod revocation;
mod tickets;

pub use pair::Pair;
