//! Searching: a resolved query becomes statements on the narrow table.
//!
//! Nothing is ever found outside the spaces that the caller may browse: they are named, as numbers, in every statement. The total
//! is counted before the page is read, and both of one snapshot, so that they are of the same issues. Values that no issue ever had
//! have no number, and match nothing.

mod clocks;
mod condition;
mod fields;
mod numbers;
mod order;

use domain::{
    Error, Result, Timestamp,
    id::{OrgId, SpaceId},
    issues::{
        issue::Issue,
        jql::meaning::{Fallback, Plan},
    },
};
use sea_orm::{DbBackend, Value};

use self::{condition::Conditions, numbers::Numbers};
use crate::{
    Store,
    reader::{Reader, row},
    sql::Sql,
};

row! {
    struct SeqRow {
        seq: i64,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub struct IssueSearch<'a> {
    /// The organization.
    pub org_id: OrgId,
    /// The spaces that are looked through: those that the caller may browse, in the order of their keys.
    pub spaces: &'a [SpaceId],
    /// The query.
    pub plan: &'a Plan,
    /// The order where the query asks for none.
    pub fallback: Fallback,
    /// In which order things of catalogs stand.
    pub orders: &'a Orders,
    /// The clocks that the query asks for.
    pub clocks: &'a [ClockNow],
    /// Now.
    pub now: Timestamp,
    /// Issues that are passed over.
    pub start: u64,
    /// Issues that are answered at most.
    pub limit: u64,
    /// Issues that are counted at most.
    pub counted: i64,
}

/// A clock of a desk, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockNow {
    /// What it goes by.
    pub key: String,
    /// Milliseconds of business time that counted since a fixed instant.
    pub business: i64,
    /// Milliseconds of all time that counted since then.
    pub always: i64,
    /// Whether now is business time.
    pub is_open: bool,
}

/// The ids of catalogs, in their order.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    /// Statuses.
    pub statuses: Vec<String>,
    /// Types.
    pub types: Vec<String>,
    /// Priorities, the least urgent first.
    pub priorities: Vec<String>,
    /// Resolutions.
    pub resolutions: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundIssues {
    /// The page.
    pub issues: Vec<Issue>,
    /// How many there are in all, as far as they are counted.
    pub total: u64,
}

/// What was found, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSeqs {
    /// The page.
    pub seqs: Vec<i64>,
    /// How many there are in all, as far as they are counted.
    pub total: u64,
}

/// A statement that is being written: its values have the places in which they were added.
#[derive(Debug, Default)]
struct Bound(Vec<Value>);

impl Bound {
    /// Adds a value; what stands for it in the statement.
    fn add(&mut self, value: impl Into<Value>) -> String {
        self.0.push(value.into());
        format!("${}", self.0.len())
    }

    /// Adds numbers, one behind the other.
    fn list(&mut self, numbers: &[i64]) -> String {
        numbers.iter().map(|number| self.add(*number)).collect::<Vec<_>>().join(", ")
    }
}

/// 400, where a query can't be asked of the database.
fn too_expensive() -> Error {
    Error::bad_request("jql_too_expensive", "This query takes too long. Narrow it down, by space or by date.")
}

impl Store {
    /// The issues that a query finds.
    ///
    /// # Errors
    /// 400 `jql_too_expensive` where the query is nested too deep to be asked.
    pub async fn issues_search(&self, search: &IssueSearch<'_>) -> Result<FoundIssues> {
        let reader = self.reader().snapshot().await?;
        let FoundSeqs { seqs, total } = self.issue_seqs_in(&reader, search).await?;
        let mut found = self.issues_at(&reader, &seqs).await?;
        let issues = seqs.iter().filter_map(|seq| found.remove(seq)).map(|stored| stored.issue).collect();
        Ok(FoundIssues { issues, total })
    }

    /// The numbers of the issues that a query finds.
    ///
    /// # Errors
    /// As [`Store::issues_search`].
    pub async fn issue_seqs(&self, search: &IssueSearch<'_>) -> Result<FoundSeqs> {
        let reader = self.reader().snapshot().await?;
        self.issue_seqs_in(&reader, search).await
    }

    async fn issue_seqs_in(&self, reader: &Reader, search: &IssueSearch<'_>) -> Result<FoundSeqs> {
        let numbers = Numbers::read(reader, search).await?;
        let spaces: Vec<i64> = search.spaces.iter().filter_map(|id| numbers.of("space", &id.to_string())).collect();
        let Some(org_no) = numbers.of("org", &search.org_id.to_string()) else { return Ok(FoundSeqs::default()) };
        if spaces.is_empty() {
            return Ok(FoundSeqs::default());
        }
        let is_postgres = self.parts.connections.backend() == DbBackend::Postgres;
        let mut bound = Bound::default();
        let org = bound.add(org_no);
        let within = bound.list(&spaces);
        let mut conditions = Conditions { bound: &mut bound, numbers: &numbers, search, is_postgres };
        let asked = conditions.of(search.plan)?;
        let from = format!(
            "FROM issues i WHERE i.org_no = {org} AND i.space_no IN ({within}) AND i.deleted_at IS NULL AND ({asked})"
        );
        let counted =
            format!("SELECT COUNT(*) AS count FROM (SELECT 1 AS one {from} LIMIT {}) AS counted", search.counted);
        let count: Option<CountRow> =
            reader.rows_of_many(&Sql::new(counted, bound.0.clone())).await?.into_iter().next();
        let total = u64::try_from(count.map_or(0, |row| row.count)).unwrap_or(0);
        if total <= search.start || search.limit == 0 {
            return Ok(FoundSeqs { seqs: Vec::new(), total });
        }
        let order = order::of(search, &numbers, &mut bound, is_postgres);
        let (limit, start) = (bound.add(number(search.limit)), bound.add(number(search.start)));
        let paged = format!("SELECT i.seq AS seq {from} ORDER BY {order} LIMIT {limit} OFFSET {start}");
        let page: Vec<SeqRow> = reader.rows_of_many(&Sql::new(paged, bound.0)).await?;
        Ok(FoundSeqs { seqs: page.into_iter().map(|row| row.seq).collect(), total })
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
