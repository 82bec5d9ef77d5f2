//! How much mail to desks came to nothing, and why.

use domain::{
    Timestamp,
    id::{OrgId, SpaceId},
    issues::mailing::MailRefusal,
};

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// Characters of a sender's address that are kept.
const FROM_LEN_MAX: usize = 320;

/// Mail that came to nothing for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedMail {
    /// Why.
    pub reason: String,
    /// How many messages.
    pub count: i64,
    /// Who says that they wrote the last one; may be empty.
    pub last_from: String,
    /// When that came.
    pub last_at: Timestamp,
}

row! {
    struct RefusedRow {
        reason: String,
        count: i64,
        last_from: String,
        last_at: i64,
    }
}

impl Store {
    /// What of a space's mail came to nothing, by reason.
    pub async fn issue_mail_refused(&self, space_id: SpaceId) -> Result<Vec<RefusedMail>, StoreError> {
        let statement =
            "SELECT reason, count, last_from, last_at FROM issue_mail_refused WHERE space_id = $1 ORDER BY reason";
        let rows: Vec<RefusedRow> = self.reader().rows(&Sql::new(statement, [space_id.to_string().into()])).await?;
        let read = |row: RefusedRow| RefusedMail {
            reason: row.reason,
            count: row.count,
            last_from: row.last_from,
            last_at: Timestamp(row.last_at),
        };
        Ok(rows.into_iter().map(read).collect())
    }
}

impl Change {
    /// Counts a message that came to nothing.
    pub fn issue_mail_refuse(
        &mut self,
        (org_id, space_id): (OrgId, SpaceId),
        (reason, from): (MailRefusal, &str),
        at: Timestamp,
    ) {
        let statement = "INSERT INTO issue_mail_refused (space_id, reason, org_id, count, last_from, last_at) \
                         VALUES ($1, $2, $3, 1, $4, $5) ON CONFLICT (space_id, reason) DO UPDATE SET \
                         count = issue_mail_refused.count + 1, last_from = excluded.last_from, last_at = excluded.last_at";
        let from: String = from.chars().take(FROM_LEN_MAX).collect();
        let values =
            [space_id.to_string().into(), reason.as_str().into(), org_id.to_string().into(), from.into(), at.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
