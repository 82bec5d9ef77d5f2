//! Work that is wanted again while it is being done.
//!
//! A key keeps a second entry out for as long as the first one is there, also while whoever works on it has looked for the last
//! time. Where what comes then must be done as well, it is wanted in this way: the commit that wants it holds the entry's row, and
//! who works on it gives the key up before the first look. So a look sees what was committed before, and what is committed
//! afterwards has an entry of its own.

use domain::time::Timestamp;

use super::{NewWork, Work};
use crate::{
    Change, Expect,
    change::{Form, RowStatement},
    sql::Sql,
};

/// Topic, key; tenant, payload, due, and when it is added. What several want in a millisecond is one row.
static WANTED: RowStatement = RowStatement {
    tables: &["work"],
    // The update holds the row until the commit, and has what was given up tried again.
    text: "INSERT INTO work (topic, key, tenant, payload, wake_at, created_at) \
           SELECT column1, column2, column3, column4, column5, column6 FROM (/*rows*/) AS new WHERE true \
           ON CONFLICT (topic, key) WHERE key IS NOT NULL DO UPDATE SET wake_at = \
           CASE WHEN work.wake_at = 9223372036854775807 THEN excluded.wake_at ELSE work.wake_at END",
    form: Form::Summed(6),
    key: 2,
    expect: Expect::Rows(1),
};

impl Change {
    /// Has `work` done after this commit, also where an entry of its key is being worked on; see [`work_begun`](Self::work_begun).
    pub fn work_wanted(&mut self, now: Timestamp, work: NewWork) {
        let Some(key) = work.key.clone() else { return self.work_add(now, work) };
        self.wakes_work(work.topic);
        let due = work.due.unwrap_or(Timestamp(0));
        let values = [
            work.topic.into(),
            key.into(),
            work.tenant.to_string().into(),
            work.payload.into(),
            due.0.into(),
            now.0.into(),
        ];
        self.row(&WANTED, values);
    }

    /// Gives up the key of `work`: what is wanted from then on is an entry of its own. To be committed before looking for what is
    /// to be done; stale when somebody else has claimed the entry since.
    pub fn work_begun(&mut self, work: &Work) {
        let statement = "UPDATE work SET key = NULL WHERE seq = $1 AND fence = $2";
        self.run_statement(Sql::new(statement, [work.seq.into(), work.fence.into()]), Expect::Rows(1));
    }
}
