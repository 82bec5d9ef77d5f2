//! Whom a mailbox wrote to and heard from, whom it keeps out, and what it chose for senders.

use std::{collections::BTreeSet, time::Duration};

use domain::{
    Email, Timestamp,
    id::{MailMessageId, MailboxId, OrgId},
    mail::{ANSWERED_FOR, Correspondent, MailCategory, RawId, Vacation},
};
use sea_orm::Value;

use super::{NewRaw, conversations::placeholders};
use crate::{Change, Expect, Purge, PurgeBatch, Store, StoreError, json, reader::row, sql::Sql};

/// How long the bytes are kept of what the server sends for a mailbox: longer than it is tried.
const AUTOMATIC_FOR: Duration = Duration::from_hours(5 * 24);

row! {
    struct AddressRow {
        address: String,
    }
}

row! {
    struct ChosenRow {
        address: String,
        category: Option<String>,
        blocked: i64,
    }
}

row! {
    struct PersonRow {
        address: String,
        name: String,
        written: i64,
    }
}

row! {
    struct VacationRow {
        vacation: String,
    }
}

row! {
    struct AutomaticRow {
        message_id: String,
        raw_id: String,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// What a mailbox chose for a sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenSender {
    /// The sender.
    pub address: String,
    /// The category of what they send, where one is chosen.
    pub category: Option<MailCategory>,
    /// Whether what they send is spam.
    pub is_blocked: bool,
}

/// Somebody whom a mailbox wrote to or heard from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPerson {
    /// Their name, where a message said it, and their address.
    pub person: Correspondent,
    /// Whether the mailbox wrote to them.
    pub is_written_to: bool,
}

impl Store {
    /// Those of these addresses that the mailbox keeps out.
    pub async fn mail_blocked(
        &self,
        mailbox_id: MailboxId,
        addresses: &BTreeSet<&str>,
    ) -> Result<BTreeSet<String>, StoreError> {
        if addresses.is_empty() {
            return Ok(BTreeSet::new());
        }
        let text = format!(
            "SELECT address FROM mail_blocked WHERE mailbox_id = $1 AND address IN ({})",
            placeholders(2, addresses.len())
        );
        let all = std::iter::once(mailbox_id.to_string().into()).chain(addresses.iter().map(|it| Value::from(*it)));
        let rows: Vec<AddressRow> = self.reader().rows(&Sql::new(text, all)).await?;
        Ok(rows.into_iter().map(|row| row.address).collect())
    }

    /// How many senders the mailbox keeps out.
    pub async fn mail_blocked_count(&self, mailbox_id: MailboxId) -> Result<i64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM mail_blocked WHERE mailbox_id = $1";
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        Ok(row.map_or(0, |row| row.count))
    }

    /// Senders for whom the mailbox chose something, in the order of their addresses, behind this one.
    pub async fn mail_senders_chosen(
        &self,
        mailbox_id: MailboxId,
        behind: &str,
        limit: u64,
    ) -> Result<Vec<ChosenSender>, StoreError> {
        let statement = "SELECT address, MAX(category) AS category, CAST(SUM(blocked) AS BIGINT) AS blocked FROM \
                         (SELECT address, category, 0 AS blocked FROM mail_senders WHERE mailbox_id = $1 AND address > $2 \
                         UNION ALL SELECT address, NULL AS category, 1 AS blocked FROM mail_blocked \
                         WHERE mailbox_id = $1 AND address > $2) AS chosen GROUP BY address ORDER BY address LIMIT $3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [mailbox_id.to_string().into(), behind.into(), limit.into()];
        let rows: Vec<ChosenRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let read = |row: ChosenRow| {
            let corrupt = || StoreError::corrupt("mail_senders.category");
            let category = row.category.map(|name| MailCategory::from_name(&name).ok_or_else(corrupt)).transpose()?;
            Ok(ChosenSender { address: row.address, category, is_blocked: row.blocked > 0 })
        };
        rows.into_iter().map(read).collect()
    }

    /// Whom the mailbox wrote to and heard from last, at most `limit`.
    pub async fn mail_people(&self, mailbox_id: MailboxId, limit: u32) -> Result<Vec<KnownPerson>, StoreError> {
        let statement = "SELECT address, name, written FROM mail_people WHERE mailbox_id = $1 \
                         ORDER BY last_at DESC, address LIMIT $2";
        let values = [mailbox_id.to_string().into(), i64::from(limit).into()];
        let rows: Vec<PersonRow> = self.reader().rows_of_many(&Sql::new(statement, values)).await?;
        let read = |row: PersonRow| {
            let name = Some(row.name).filter(|name| !name.is_empty());
            KnownPerson { person: Correspondent { name, email: row.address }, is_written_to: row.written > 0 }
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Whether the mailbox wrote to an address.
    pub async fn mail_wrote_to(&self, mailbox_id: MailboxId, address: &Email) -> Result<bool, StoreError> {
        let statement =
            "SELECT COUNT(*) AS count FROM mail_people WHERE mailbox_id = $1 AND address = $2 AND written > 0";
        let values = [mailbox_id.to_string().into(), address.as_str().into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.is_some_and(|row| row.count > 0))
    }

    /// Whether an address is one of the organization's mailboxes', or of one of its members.
    pub async fn mail_is_of_org(&self, org_id: OrgId, address: &Email) -> Result<bool, StoreError> {
        let statement = "SELECT (SELECT COUNT(*) FROM mail_addresses WHERE org_id = $1 AND address = $2) + \
                         (SELECT COUNT(*) FROM members AS m JOIN people AS p ON p.id = m.user_id \
                         WHERE m.org_id = $1 AND p.email = $2) AS count";
        let values = [org_id.to_string().into(), address.as_str().into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.is_some_and(|row| row.count > 0))
    }

    /// What the mailbox answers while its people are away; nothing where that was never said.
    pub async fn mail_vacation(&self, mailbox_id: MailboxId) -> Result<Vacation, StoreError> {
        let statement = "SELECT vacation FROM mail_vacations WHERE mailbox_id = $1";
        let row: Option<VacationRow> = self.reader().row(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        row.map_or_else(|| Ok(Vacation::default()), |row| json::read("mail_vacations.vacation", &row.vacation))
    }

    /// Whether who writes from an address was answered since then.
    pub async fn mail_vacation_told(
        &self,
        mailbox_id: MailboxId,
        address: &Email,
        since: Timestamp,
    ) -> Result<bool, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM mail_vacation_told \
                         WHERE mailbox_id = $1 AND address = $2 AND told_at > $3";
        let values = [mailbox_id.to_string().into(), address.as_str().into(), since.0.into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.is_some_and(|row| row.count > 0))
    }

    /// What the server sent for a mailbox so long ago that its bytes are let go, or all of it; at most `limit`. Answers the change
    /// that lets them go.
    pub async fn mail_automatic_next(
        &self,
        mailbox_id: MailboxId,
        is_all: bool,
        limit: u32,
    ) -> Result<PurgeBatch, StoreError> {
        let (mut batch, now) = (PurgeBatch::default(), self.now());
        let until = if is_all { Timestamp(i64::MAX) } else { now.before(AUTOMATIC_FOR) };
        let statement = "SELECT message_id, raw_id FROM mail_automatic WHERE mailbox_id = $1 AND created_at <= $2 \
                         ORDER BY created_at, message_id LIMIT $3";
        let values = [mailbox_id.to_string().into(), until.0.into(), i64::from(limit).into()];
        let rows: Vec<AutomaticRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let mut raw_ids = Vec::with_capacity(rows.len());
        for row in &rows {
            raw_ids.push(row.raw_id.parse().map_err(|_| StoreError::corrupt("mail_automatic.raw_id"))?);
            let statement = "DELETE FROM mail_automatic WHERE mailbox_id = $1 AND message_id = $2";
            let values = [mailbox_id.to_string().into(), row.message_id.as_str().into()];
            batch.change.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
        batch.change.mail_raw_release(now, raw_ids);
        if !rows.is_empty() {
            batch.rows.push(("automatic messages", u32::try_from(rows.len()).unwrap_or(limit)));
        }
        Ok(batch)
    }

    /// Whether a message is one that the server passes on for a mailbox.
    pub async fn mail_is_forward(&self, mailbox_id: MailboxId, id: MailMessageId) -> Result<bool, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM mail_automatic \
                         WHERE mailbox_id = $1 AND message_id = $2 AND is_forward = $3";
        let values = [mailbox_id.to_string().into(), id.to_string().into(), true.into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.is_some_and(|row| row.count > 0))
    }

    /// Whether the server sent anything for a mailbox whose bytes are kept still.
    pub async fn mail_has_automatic(&self, mailbox_id: MailboxId) -> Result<bool, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM mail_automatic WHERE mailbox_id = $1";
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        Ok(row.is_some_and(|row| row.count > 0))
    }
}

impl Change {
    /// Keeps a sender out, or lets them in again.
    pub fn mail_block_set(&mut self, mailbox_id: MailboxId, address: &str, is_blocked: bool, now: Timestamp) {
        let (mailbox, address) = (Value::from(mailbox_id.to_string()), Value::from(address));
        if is_blocked {
            let statement = "INSERT INTO mail_blocked (mailbox_id, address, created_at) VALUES ($1, $2, $3) \
                             ON CONFLICT (mailbox_id, address) DO NOTHING";
            self.run_statement(Sql::new(statement, [mailbox, address, now.0.into()]), Expect::Any);
        } else {
            let statement = "DELETE FROM mail_blocked WHERE mailbox_id = $1 AND address = $2";
            self.run_statement(Sql::new(statement, [mailbox, address]), Expect::Any);
        }
    }

    /// Notes that the mailbox heard from somebody.
    pub fn mail_person_heard(&mut self, mailbox_id: MailboxId, person: &Correspondent, at: Timestamp) {
        self.mail_person_met(mailbox_id, person, [0, 1], at);
    }

    /// Notes that the mailbox wrote to somebody.
    pub fn mail_person_written(&mut self, mailbox_id: MailboxId, person: &Correspondent, at: Timestamp) {
        self.mail_person_met(mailbox_id, person, [1, 0], at);
    }

    fn mail_person_met(&mut self, mailbox_id: MailboxId, person: &Correspondent, counts: [i64; 2], at: Timestamp) {
        let statement = "INSERT INTO mail_people (mailbox_id, address, name, written, heard, last_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (mailbox_id, address) DO UPDATE SET \
                         name = CASE WHEN excluded.name = '' THEN mail_people.name ELSE excluded.name END, \
                         written = mail_people.written + excluded.written, heard = mail_people.heard + excluded.heard, \
                         last_at = excluded.last_at";
        let [written, heard] = counts;
        let values: [Value; 6] = [
            mailbox_id.to_string().into(),
            person.email.clone().into(),
            person.name.clone().unwrap_or_default().into(),
            written.into(),
            heard.into(),
            at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes what the mailbox answers while its people are away.
    pub fn mail_vacation_set(&mut self, mailbox_id: MailboxId, vacation: &Vacation) {
        let statement = "INSERT INTO mail_vacations (mailbox_id, vacation) VALUES ($1, $2) \
                         ON CONFLICT (mailbox_id) DO UPDATE SET vacation = excluded.vacation";
        let values = [mailbox_id.to_string().into(), json::text(vacation).into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that who writes from an address was answered.
    pub fn mail_vacation_tell(&mut self, mailbox_id: MailboxId, address: &Email, now: Timestamp) {
        let statement = "INSERT INTO mail_vacation_told (mailbox_id, address, told_at) VALUES ($1, $2, $3) \
                         ON CONFLICT (mailbox_id, address) DO UPDATE SET told_at = excluded.told_at";
        let values = [mailbox_id.to_string().into(), address.as_str().into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Keeps the bytes of a message that the server sends for a mailbox, and that stands in no conversation.
    pub fn mail_automatic_add(&mut self, mailbox_id: MailboxId, id: MailMessageId, raw: &NewRaw, now: Timestamp) {
        self.mail_raw_name(now, raw);
        self.mail_automatic_note(mailbox_id, (id, raw.id(), false), now);
    }

    /// Keeps the bytes of a message that something names already, for another one by which the server passes it on.
    pub fn mail_forward_add(&mut self, mailbox_id: MailboxId, id: MailMessageId, raw_id: RawId, now: Timestamp) {
        let statement = "UPDATE mail_raw SET refs = refs + 1, loose_at = NULL WHERE raw_id = $1";
        self.run_statement(Sql::new(statement, [raw_id.to_string().into()]), Expect::Rows(1));
        self.mail_automatic_note(mailbox_id, (id, raw_id, true), now);
    }

    fn mail_automatic_note(
        &mut self,
        mailbox_id: MailboxId,
        (id, raw_id, is_forward): (MailMessageId, RawId, bool),
        now: Timestamp,
    ) {
        let statement = "INSERT INTO mail_automatic (mailbox_id, message_id, raw_id, is_forward, created_at) \
                         VALUES ($1, $2, $3, $4, $5)";
        let (mailbox, id, raw) = (mailbox_id.to_string(), id.to_string(), raw_id.to_string());
        let values = [mailbox.into(), id.into(), raw.into(), is_forward.into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}

impl Purge {
    /// Who was answered so long ago that they are answered again.
    pub fn mail_vacation_told(now: Timestamp) -> Self {
        let names = ["mail_vacation_told", "mailbox_id, address", "told_at < $1"];
        Self::new("answered senders", names, now.before(ANSWERED_FOR).0)
    }
}
