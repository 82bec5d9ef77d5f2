//! Who takes part in a request beside whoever raised it.

use domain::{
    Timestamp,
    id::{IssueId, UserId},
};

use crate::{Change, Expect, sql::Sql};

impl Change {
    /// Has somebody take part in a request; stale where they do.
    pub fn issue_participant_add(&mut self, id: IssueId, person: UserId, (by, at): (UserId, Timestamp)) {
        let statement = "INSERT INTO issue_participants (issue_id, person_id, added_by, added_at) \
                         VALUES ($1, $2, $3, $4) ON CONFLICT (issue_id, person_id) DO NOTHING";
        let values = [id.to_string().into(), person.to_string().into(), by.to_string().into(), at.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Has somebody take part no more; stale where they don't.
    pub fn issue_participant_remove(&mut self, id: IssueId, person: UserId) {
        let statement = "DELETE FROM issue_participants WHERE issue_id = $1 AND person_id = $2";
        let values = [id.to_string().into(), person.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
