//! Until when what is read is of use to whoever reads it.
//!
//! A request's deadline travels beside the code that serves it, so that no read has to be told of it: a read that is not
//! done by then is broken off, and fails as [`StoreError::Unavailable`](crate::StoreError). SQLite stops at once, PostgreSQL
//! at the latest when the statement has taken what any may take.

use std::time::{Duration, Instant};

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Does `work`, whose reads are of use until `deadline`.
pub async fn within<T>(deadline: Instant, work: impl Future<Output = T>) -> T {
    DEADLINE.scope(deadline, work).await
}

/// When a read that begins now must be done: at the deadline of the work that it is part of, and after `at_most` anyhow.
pub(crate) fn of_read(at_most: Duration) -> Instant {
    let at_last = Instant::now() + at_most;
    DEADLINE.try_with(|deadline| at_last.min(*deadline)).unwrap_or(at_last)
}
