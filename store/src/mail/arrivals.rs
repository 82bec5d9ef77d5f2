//! Messages that came in and are not filed yet. Each has a job of its mailbox from the commit on that brings it.

use std::time::Duration;

use domain::{
    Timestamp,
    id::{MailArrivalId, MailboxId, OrgId},
    mail::{Arrival, RawId},
};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};

use super::NewRaw;
use crate::{
    Change, Expect, NewWork, PurgeBatch, Store, StoreError,
    change::{Form, RowStatement},
    json,
    reader::{Reads, row},
    sql::Sql,
};

/// The topic of the jobs that file what arrived. Whoever does one begins with [`Change::work_begun`], and only then looks for
/// arrivals.
pub const MAIL_FILING: &str = "mail.filing";

/// Which arrivals a job files: those of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailFiling {
    /// Whose.
    pub org_id: OrgId,
    /// Which one.
    pub mailbox_id: MailboxId,
    /// The arrival that was set aside and is filed again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub again: Option<MailArrivalId>,
}

mod arrival {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "mail_arrivals")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub arrival_id: String,
        pub org_id: String,
        pub mailbox_id: String,
        pub raw_id: String,
        pub envelope_from: String,
        pub envelope_to: String,
        pub received_at: i64,
        pub head: String,
        pub verdict: String,
        pub tries: i64,
        pub set_aside_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

row! {
    struct WaitingRow {
        waiting: i64,
    }
}

row! {
    struct SetAsideRow {
        arrival_id: String,
        raw_id: String,
        refs: Option<i64>,
    }
}

/// How long an arrival that was set aside is kept at least, whatever becomes of its dead letter.
const SET_ASIDE_FOR: Duration = Duration::from_hours(24);

static REMOVE: RowStatement = RowStatement {
    tables: &["mail_arrivals"],
    text: "DELETE FROM mail_arrivals WHERE /*rows*/",
    form: Form::Matching(&["arrival_id"]),
    key: 1,
    expect: Expect::Rows(1),
};

fn read(row: arrival::Model) -> Result<Arrival, StoreError> {
    let corrupt = || StoreError::corrupt(format_args!("mail_arrivals {}", row.arrival_id));
    Ok(Arrival {
        id: row.arrival_id.parse().map_err(|_| corrupt())?,
        org_id: row.org_id.parse().map_err(|_| corrupt())?,
        mailbox_id: row.mailbox_id.parse().map_err(|_| corrupt())?,
        raw_id: row.raw_id.parse().map_err(|_| corrupt())?,
        received_at: Timestamp(row.received_at),
        verdict: json::read("mail_arrivals.verdict", &row.verdict)?,
        tries: u32::try_from(row.tries).map_err(|_| corrupt())?,
        envelope_from: row.envelope_from,
        envelope_to: row.envelope_to,
        head: row.head,
    })
}

impl Store {
    /// What arrived for the mailbox and isn't filed yet, first come first, at most `limit`; nothing that was set aside.
    pub async fn mail_arrivals(&self, mailbox_id: MailboxId, limit: u64) -> Result<Vec<Arrival>, StoreError> {
        let select = arrival::Entity::find()
            .filter(arrival::Column::MailboxId.eq(mailbox_id.to_string()))
            .filter(arrival::Column::SetAsideAt.is_null())
            .order_by_asc(arrival::Column::ArrivalId)
            .limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(read).collect()
    }

    /// How many messages aren't filed yet, counted to `most`, without those that were set aside.
    pub async fn mail_arrivals_waiting(&self, most: u64) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS waiting FROM (SELECT 1 FROM mail_arrivals WHERE set_aside_at IS NULL LIMIT $1) AS found";
        let values = [i64::try_from(most).unwrap_or(i64::MAX).into()];
        let row: Option<WaitingRow> = self.reader().row(&Sql::new(statement, values)).await?;
        u64::try_from(row.map_or(0, |row| row.waiting)).map_err(StoreError::corrupt)
    }

    /// The next arrivals that were set aside and whose dead letters are gone, at most `limit`; answers the change that takes them away
    /// and lets their bytes go, where these are there. It is stale where one is taken up again by then.
    pub async fn mail_set_aside_sweep_next(&self, limit: u32) -> Result<PurgeBatch, StoreError> {
        let (mut batch, now) = (PurgeBatch::default(), self.now());
        let statement = "SELECT a.arrival_id, a.raw_id, r.refs FROM mail_arrivals AS a \
                         LEFT JOIN mail_raw AS r ON r.raw_id = a.raw_id WHERE a.set_aside_at <= $1 AND NOT EXISTS \
                         (SELECT 1 FROM work AS w WHERE w.topic = $2 AND w.key = a.arrival_id) \
                         ORDER BY a.arrival_id LIMIT $3";
        let values = [now.before(SET_ASIDE_FOR).0.into(), MAIL_FILING.into(), i64::from(limit).into()];
        let rows: Vec<SetAsideRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let mut raw_ids: Vec<RawId> = Vec::new();
        for row in &rows {
            let statement = "DELETE FROM mail_arrivals WHERE arrival_id = $1 AND set_aside_at IS NOT NULL";
            batch.change.run_statement(Sql::new(statement, [row.arrival_id.as_str().into()]), Expect::Rows(1));
            if row.refs.is_some_and(|refs| refs > 0) {
                raw_ids.push(row.raw_id.parse().map_err(|_| StoreError::corrupt("mail_arrivals.raw_id"))?);
            }
        }
        batch.change.mail_raw_release(now, raw_ids);
        if !rows.is_empty() {
            batch.rows.push(("messages set aside", u32::try_from(rows.len()).unwrap_or(limit)));
        }
        Ok(batch)
    }
}

impl Change {
    /// Takes a message in: its bytes, and an arrival for each mailbox that it goes to. From the commit on each mailbox has a job
    /// that files it.
    pub fn mail_arrive(&mut self, now: Timestamp, raw: &NewRaw, arrivals: &[Arrival]) {
        self.mail_raw_keep(now, raw, arrivals.len());
        for arrival in arrivals {
            let row = arrival::Model {
                arrival_id: arrival.id.to_string(),
                org_id: arrival.org_id.to_string(),
                mailbox_id: arrival.mailbox_id.to_string(),
                raw_id: arrival.raw_id.to_string(),
                envelope_from: arrival.envelope_from.clone(),
                envelope_to: arrival.envelope_to.clone(),
                received_at: arrival.received_at.0,
                head: arrival.head.clone(),
                verdict: json::text(&arrival.verdict),
                tries: arrival.tries.into(),
                set_aside_at: None,
            };
            self.insert(row.into_active_model());
        }
        for arrival in arrivals {
            let filing = MailFiling { org_id: arrival.org_id, mailbox_id: arrival.mailbox_id, again: None };
            let work = NewWork::new(MAIL_FILING, filing.org_id, &filing).with_key(filing.mailbox_id.to_string());
            self.work_wanted(now, work);
        }
    }

    /// Takes arrivals away that are filed: the messages that they became name their bytes from then on. Stale where somebody else
    /// filed one. Of what is dropped instead, the bytes are [let go](Self::mail_raw_release).
    pub fn mail_arrivals_remove(&mut self, ids: impl IntoIterator<Item = MailArrivalId>) {
        for id in ids {
            self.row(&REMOVE, [id.to_string().into()]);
        }
    }

    /// Sets an arrival aside that can't be filed: it is kept with its bytes, in nobody's way, and is a dead letter. Repeating that
    /// files it [again](Self::mail_arrival_take_up).
    pub fn mail_arrival_set_aside(&mut self, now: Timestamp, arrival: &Arrival, error: &str) {
        let statement = "UPDATE mail_arrivals SET set_aside_at = $2 WHERE arrival_id = $1";
        let values = [arrival.id.to_string().into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
        let (org_id, mailbox_id, id) = (arrival.org_id, arrival.mailbox_id, arrival.id);
        let work = NewWork::new(MAIL_FILING, org_id, &MailFiling { org_id, mailbox_id, again: Some(id) });
        self.work_add_given_up(now, work.with_key(id.to_string()), error);
    }

    /// Has an arrival be filed again, as one that failed `tries` times, where it is set aside.
    pub fn mail_arrival_take_up(&mut self, id: MailArrivalId, tries: u32) {
        let statement = "UPDATE mail_arrivals SET set_aside_at = NULL, tries = $2 \
                         WHERE arrival_id = $1 AND set_aside_at IS NOT NULL";
        self.run_statement(Sql::new(statement, [id.to_string().into(), i64::from(tries).into()]), Expect::Any);
    }

    /// Counts that filing these failed once more.
    pub fn mail_arrivals_failed(&mut self, ids: impl IntoIterator<Item = MailArrivalId>) {
        for id in ids {
            let statement = "UPDATE mail_arrivals SET tries = tries + 1 WHERE arrival_id = $1";
            self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
        }
    }
}
