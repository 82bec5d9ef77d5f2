//! What is known of a workflow file beside its text.

use crate::{Change, Expect, Store, StoreError, git::RepositoryNo, reader::row, sql::Sql};

row! {
    struct StateRow {
        file: String,
        disabled: bool,
        last_number: i64,
        version: i64,
    }
}

/// What is known of a workflow file beside its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowState {
    /// The file's name in the folder of workflows.
    pub file: String,
    /// Whether somebody disabled the workflow.
    pub is_disabled: bool,
    /// The number of the newest run.
    pub last_number: i64,
    /// Counts the commits that decide on it; 0 where nothing was written of it yet.
    pub version: i64,
}

impl Store {
    /// What is known of the repository's workflow files, by their names.
    pub async fn workflow_states(&self, no: RepositoryNo) -> Result<Vec<WorkflowState>, StoreError> {
        let statement =
            "SELECT file, disabled, last_number, version FROM workflow_states WHERE repo_no = $1 ORDER BY file";
        let rows: Vec<StateRow> = self.reader().rows(&Sql::new(statement, [no.0.into()])).await?;
        let read = |StateRow { file, disabled, last_number, version }| WorkflowState {
            file,
            is_disabled: disabled,
            last_number,
            version,
        };
        Ok(rows.into_iter().map(read).collect())
    }
}

impl Change {
    /// Writes what is known of a workflow file; stale where it isn't in the version that was read.
    pub fn workflow_state_put(&mut self, no: RepositoryNo, state: &WorkflowState) {
        let statement = "INSERT INTO workflow_states (repo_no, file, disabled, last_number, version) \
                         VALUES ($1, $2, $3, $4, 1) ON CONFLICT (repo_no, file) DO UPDATE SET \
                         disabled = excluded.disabled, last_number = excluded.last_number, \
                         version = workflow_states.version + 1 WHERE workflow_states.version = $5";
        let values = [
            no.0.into(),
            state.file.as_str().into(),
            state.is_disabled.into(),
            state.last_number.into(),
            state.version.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
