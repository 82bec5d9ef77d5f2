//! Taking rows that are due for a lease, in turns by tenant: whoever takes them works on them, and nobody else finds them
//! due meanwhile.
//!
//! One statement serves every table that is worked off so ([`Leased`]). While no more is due than there is room for, it
//! takes all of it. Otherwise the tenants with something due are looked up by an index that leads from each to the next,
//! starting behind the one that was served last, and each gets a fair share: a tenant with twenty thousand rows costs a
//! claim no more than one with two.

use std::{fmt::Write, time::Duration};

use domain::time::Timestamp;
use sea_orm::Value;

use super::Turns;
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// Tenants who get a share in one claim.
const TENANTS_PER_CLAIM: usize = 64;
/// Tenants whom one statement looks at.
const TENANTS_PER_LOOK: usize = 256;

/// A table whose rows are worked off under leases. Each has the columns `tenant`, `wake_at` and `claimed_by`, and indexes
/// over its lane's column with `wake_at`, and with `tenant` and `wake_at`.
#[derive(Debug)]
pub(crate) struct Leased {
    pub table: &'static str,
    /// The column that names what its rows wait for.
    pub lane: &'static str,
    /// The columns that name a row.
    pub key: &'static str,
    /// The order in which the rows of a tenant are taken.
    pub order: &'static str,
    /// What a claim counts.
    pub counts: &'static str,
}

/// The hold of this node on the rows that it took together.
#[derive(Debug)]
pub(crate) struct Claim {
    /// Its name, which stands in the rows.
    pub id: String,
    /// When the lease ends, which is when they are due again.
    pub until: Timestamp,
}

/// What a look for something due came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Claimed<T> {
    /// These rows were taken; more may be due.
    Taken(Vec<T>),
    /// Nothing is due.
    NothingDue,
    /// Something is due, but there is no room for it now.
    NoRoom,
}

impl<T> Claimed<T> {
    /// Each of the rows made into something else.
    pub fn map<U>(self, into: impl FnMut(T) -> U) -> Claimed<U> {
        match self {
            Self::Taken(rows) => Claimed::Taken(rows.into_iter().map(into).collect()),
            Self::NothingDue => Claimed::NothingDue,
            Self::NoRoom => Claimed::NoRoom,
        }
    }

    /// The rows that were taken.
    pub fn taken(self) -> Vec<T> {
        match self {
            Self::Taken(rows) => rows,
            Self::NothingDue | Self::NoRoom => Vec::new(),
        }
    }
}

row! {
    struct DueRow {
        due: i64,
    }
}

row! {
    struct NextRow {
        wake_at: i64,
    }
}

row! {
    struct TenantRow {
        tenant: String,
        due: i64,
    }
}

/// Which rows a claim takes.
enum Which {
    /// What is due, at most so many rows.
    All(u32),
    /// Of each tenant at most so many rows.
    Shares(Vec<(String, u32)>),
}

impl Store {
    /// The time by which leases begin and end, and by which something is due.
    pub(crate) fn lease_now(&self) -> Timestamp {
        self.now()
    }

    /// Takes rows of `lane` that are due for `lease`, as many as `turns` has room for; none on a node whose clock is off.
    pub(crate) async fn claim_in_turns(
        &self,
        leased: &Leased,
        lane: &str,
        turns: &Turns,
        lease: Duration,
    ) -> Result<Claimed<Claim>, StoreError> {
        if self.clock_is_off() {
            return Ok(Claimed::NothingDue);
        }
        let (now, free) = (self.lease_now(), turns.free());
        if free == 0 {
            return Ok(Claimed::NoRoom);
        }
        let due = self.due_count(leased, lane, now, free + 1).await?;
        let which = match due {
            0 => return Ok(Claimed::NothingDue),
            _ if due <= free && !turns.limits_tenants() => Which::All(free),
            _ => Which::Shares(turns.share(self.tenants_due(leased, lane, turns, now).await?)),
        };
        if matches!(&which, Which::Shares(shares) if shares.is_empty()) {
            return Ok(Claimed::NoRoom);
        }
        let claim = Claim { id: domain::id::new_uuid(now).to_string(), until: now.after(lease) };
        let mut change = Change::new();
        change.run_statement(taking(leased, lane, &which, now, &claim), Expect::Any);
        self.commit(change).await?;
        Ok(Claimed::Taken(vec![claim]))
    }

    /// Takes rows by the statement that is made of the moment and the claim, where those of one owner belong together; none
    /// while `next`, when the next row is due, is still to come.
    pub(crate) async fn claim_by(
        &self,
        next: Option<Timestamp>,
        lease: Duration,
        taking: impl FnOnce(Timestamp, &Claim) -> Sql,
    ) -> Result<Option<Claim>, StoreError> {
        let now = self.lease_now();
        if next.is_none_or(|next| next > now) {
            return Ok(None);
        }
        let claim = Claim { id: domain::id::new_uuid(now).to_string(), until: now.after(lease) };
        let mut change = Change::new();
        change.run_statement(taking(now, &claim), Expect::Any);
        self.commit(change).await?;
        Ok(Some(claim))
    }

    /// When the next row of `lane` is to be looked at; in the past when one is due. None on a node whose clock is off.
    pub(crate) async fn leased_next(&self, leased: &Leased, lane: &str) -> Result<Option<Timestamp>, StoreError> {
        if self.clock_is_off() {
            return Ok(None);
        }
        let Leased { table, lane: column, .. } = leased;
        let text = format!("SELECT wake_at FROM {table} WHERE {column} = $1 ORDER BY wake_at LIMIT 1");
        let next = self.reader().row::<NextRow>(&Sql::new(text, [lane.into()])).await?;
        Ok(next.map(|row| Timestamp(row.wake_at)))
    }

    /// How many rows of `lane` are due, counted to `most`.
    async fn due_count(&self, leased: &Leased, lane: &str, now: Timestamp, most: u32) -> Result<u32, StoreError> {
        let Leased { table, lane: column, .. } = leased;
        let text = format!(
            "SELECT COUNT(*) AS due FROM \
             (SELECT 1 FROM {table} WHERE {column} = $1 AND wake_at <= $2 ORDER BY wake_at LIMIT $3) AS due_rows"
        );
        let counted = Sql::new(text, [lane.into(), now.0.into(), i64::from(most).into()]);
        let due = self.reader().row::<DueRow>(&counted).await?.map_or(0, |row| row.due);
        Ok(u32::try_from(due).unwrap_or(most))
    }

    /// Tenants with something due on `lane` for whom there is room, each once, in turn behind the one that was served last.
    async fn tenants_due(
        &self,
        leased: &Leased,
        lane: &str,
        turns: &Turns,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let first = turns.served_last();
        let wanted = usize::try_from(turns.free()).unwrap_or(TENANTS_PER_CLAIM).min(TENANTS_PER_CLAIM);
        let mut found = Vec::new();
        // From behind the first to the last tenant there is, then from the very first on.
        for lap in [Lap::Behind, Lap::FromTheStart] {
            let (mut behind, mut lap_of) = (if lap == Lap::Behind { first.clone() } else { String::new() }, lap);
            loop {
                let looked = self.tenants_after(leased, lane, lap_of, &behind, now).await?;
                let is_last = looked.len() < TENANTS_PER_LOOK;
                for TenantRow { tenant, due } in looked {
                    let seen = lap == Lap::FromTheStart && tenant > first;
                    if seen || found.len() == wanted {
                        return Ok(found);
                    }
                    behind.clone_from(&tenant);
                    if due > 0 && turns.has_room(&tenant) && !found.contains(&tenant) {
                        found.push(tenant);
                    }
                }
                if is_last {
                    break;
                }
                if !found.is_empty() {
                    return Ok(found);
                }
                lap_of = Lap::Behind;
            }
        }
        Ok(found)
    }

    /// The next tenants of `lane`, each with whether something of theirs is due.
    async fn tenants_after(
        &self,
        leased: &Leased,
        lane: &str,
        lap: Lap,
        behind: &str,
        now: Timestamp,
    ) -> Result<Vec<TenantRow>, StoreError> {
        let Leased { table, lane: column, .. } = leased;
        let from = if lap == Lap::Behind { ">" } else { ">=" };
        let text = format!(
            "WITH RECURSIVE turn(tenant, place) AS (\
             SELECT (SELECT tenant FROM {table} WHERE {column} = $1 AND tenant {from} $2 ORDER BY tenant LIMIT 1), 1 \
             UNION ALL \
             SELECT (SELECT t.tenant FROM {table} t WHERE t.{column} = $1 AND t.tenant > turn.tenant \
             ORDER BY t.tenant LIMIT 1), place + 1 FROM turn WHERE turn.tenant IS NOT NULL AND place < $4) \
             SELECT tenant, CAST(CASE WHEN EXISTS (SELECT 1 FROM {table} t WHERE t.{column} = $1 AND t.tenant = turn.tenant \
             AND t.wake_at <= $3) THEN 1 ELSE 0 END AS BIGINT) AS due FROM turn WHERE tenant IS NOT NULL ORDER BY place"
        );
        let most = i64::try_from(TENANTS_PER_LOOK).unwrap_or(i64::MAX);
        self.reader().rows(&Sql::new(text, [lane.into(), behind.into(), now.0.into(), most.into()])).await
    }
}

/// Where a look for tenants starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lap {
    /// Behind a tenant.
    Behind,
    /// At the first tenant there is, which may be Troupe itself.
    FromTheStart,
}

/// The statement that takes the rows.
fn taking(leased: &Leased, lane: &str, which: &Which, now: Timestamp, claim: &Claim) -> Sql {
    let Leased { table, lane: column, key, order, counts } = leased;
    let mut values: Vec<Value> = vec![claim.id.as_str().into(), claim.until.0.into(), now.0.into(), lane.into()];
    let due = match which {
        Which::All(limit) => {
            values.push(i64::from(*limit).into());
            format!(
                "SELECT {key} FROM {table} WHERE {column} = $4 AND wake_at <= $3 ORDER BY {order} LIMIT $5 /*skip locked*/"
            )
        }
        Which::Shares(shares) => {
            let mut text = String::new();
            for (tenant, share) in shares {
                values.push(tenant.as_str().into());
                let (union, place) = (if text.is_empty() { "" } else { " UNION ALL " }, values.len());
                // Writing to a text never fails.
                let _ = write!(
                    text,
                    "{union}SELECT * FROM (SELECT {key} FROM {table} WHERE {column} = $4 AND tenant = ${place} \
                     AND wake_at <= $3 ORDER BY {order} LIMIT {share} /*skip locked*/) AS turn{place}"
                );
            }
            text
        }
    };
    // Materialized: PostgreSQL may otherwise run the selection several times, and take more than it says.
    let text = format!(
        "WITH due AS MATERIALIZED ({due}) UPDATE {table} SET claimed_by = $1, wake_at = $2, {counts} \
         WHERE {column} = $4 AND wake_at <= $3 AND ({key}) IN (SELECT {key} FROM due)"
    );
    Sql::new(text, values)
}
