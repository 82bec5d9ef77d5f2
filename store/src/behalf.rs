//! On whose behalf something is committed, and whether somebody waits for it.
//!
//! The writer takes what waits in turns by [`Tenant`], and what somebody waits for before what nobody does. Whose turn it is
//! travels beside the code that commits, so that no commit has to be told of it: a command's is its resource's (see
//! [`Store::commit_at`](crate::Store::commit_at)), and whatever runs within [`behind`] is work that nobody waits for.

use domain::Tenant;

tokio::task_local! {
    static BEHIND: Tenant;
}

/// Does `work` of `tenant`, whose commits stand behind those that somebody waits for.
pub async fn behind<T>(tenant: Tenant, work: impl Future<Output = T>) -> T {
    BEHIND.scope(tenant, work).await
}

/// Whose turn a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behalf {
    /// Somebody waits for it.
    Asked(Tenant),
    /// Nobody does.
    Behind(Tenant),
}

impl Behalf {
    /// Of a commit that is made here: of the work that it is part of, of `asking` otherwise.
    pub fn of_commit(asking: impl FnOnce() -> Tenant) -> Self {
        BEHIND.try_with(|tenant| Self::Behind(*tenant)).unwrap_or_else(|_| Self::Asked(asking()))
    }
}
