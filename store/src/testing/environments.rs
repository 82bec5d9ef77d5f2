//! Environments of repositories, for tests that need one to be there.

use domain::{Timestamp, pipelines::environments::environment_key};

use crate::{Change, Expect, git::RepositoryNo, sql::Sql};

/// Adds an environment that holds nothing back.
pub fn environment_add(change: &mut Change, no: RepositoryNo, name: &str, now: Timestamp) {
    let statement = "INSERT INTO environments (repo_no, name_key, name, reviewers, prevents_self_review, wait_minutes, \
                     branches, version, created_at) VALUES ($1, $2, $3, '[]', $4, 0, '[]', 1, $5)";
    let values = [no.0.into(), environment_key(name).into(), name.into(), false.into(), now.0.into()];
    change.run_statement(Sql::new(statement, values), Expect::Rows(1));
}
