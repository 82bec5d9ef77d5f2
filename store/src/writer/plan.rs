//! From the steps of several changes to as few statements as keep their meaning.
//!
//! What is done to rows (inserts, and what a [`RowStatement`] says) waits until a statement names their table, and is joined
//! with what waits already and is done the same way: what runs is equal to the changes run one after the other. It is never
//! moved to before anything else that is done to the same row, or that names its table without saying which rows; nor to
//! before what the same change does before. So tables are filled in the order in which each change fills them, and a row
//! never stands before the one that it refers to; and what a change locks first is locked first.
//!
//! A mention of a table's name anywhere in a statement's text counts, so that a table in a subquery does too.

use std::{borrow::Cow, collections::HashMap, fmt::Write as _};

use sea_orm::{DbBackend, Statement, Value};

use crate::{
    Expect,
    change::{Form, ROWS, RowStatement, Step},
    sql::dialect,
};

/// Rows of one statement; further ones go into further statements.
const ROWS_MAX: usize = 256;
/// The same where each row is a condition, which are nested.
const CONDITIONS_MAX: usize = 64;
/// Values that SQLite binds to one statement (its default `SQLITE_MAX_VARIABLE_NUMBER`).
const SQLITE_VALUES_MAX: usize = 32_766;
/// Values that PostgreSQL binds to one statement (its protocol counts them in 16 bits).
const POSTGRES_VALUES_MAX: usize = 65_535;

/// A statement, and how many rows it must meet.
#[derive(Debug)]
pub(super) struct Planned {
    pub statement: Statement,
    pub expect: Expect,
}

/// The statements for `changes`, in the order in which they must run.
pub(super) fn plan<'a>(backend: DbBackend, changes: impl IntoIterator<Item = &'a [Step]>) -> Vec<Planned> {
    let mut planner = Planner { backend, planned: Vec::new(), pending: Vec::new() };
    for steps in changes {
        planner.change(steps);
    }
    planner.flush(planner.pending.len());
    planner.planned
}

struct Planner<'a> {
    backend: DbBackend,
    planned: Vec<Planned>,
    /// What waits, in the order in which it must run.
    pending: Vec<Pending<'a>>,
}

/// What is done to rows.
#[derive(Clone, Copy)]
enum Deed<'a> {
    Insert { table: &'static str, columns: &'a [&'static str] },
    Say(&'static RowStatement),
}

/// What is done to one row.
struct Act<'a> {
    deed: Deed<'a>,
    key: Option<&'a [u8]>,
    values: &'a [Value],
}

struct Pending<'a> {
    deed: Deed<'a>,
    rows: Vec<Cow<'a, [Value]>>,
    /// Which of them has this key.
    by_key: HashMap<&'a [u8], usize>,
    /// Whether there are rows whose keys aren't known.
    has_others: bool,
}

/// What an act can do with what waits already.
#[derive(PartialEq, Eq)]
enum Fit {
    /// Neither concerns the other.
    Free,
    /// It is done the same way.
    Joins,
    /// It is done behind that.
    Follows,
}

impl Deed<'_> {
    const fn table(&self) -> &'static str {
        match self {
            Self::Insert { table, .. } => table,
            Self::Say(statement) => statement.tables[0],
        }
    }

    fn names(&self, table: &str) -> bool {
        match self {
            Self::Insert { table: own, .. } => *own == table,
            Self::Say(statement) => statement.tables.contains(&table),
        }
    }

    fn is_named_by(&self, sql: &str) -> bool {
        match self {
            Self::Insert { table, .. } => sql.contains(table),
            Self::Say(statement) => statement.tables.iter().any(|table| sql.contains(table)),
        }
    }

    fn is(&self, other: &Deed<'_>) -> bool {
        match (self, other) {
            (Self::Insert { table, columns }, Deed::Insert { table: others, columns: of_other }) => {
                table == others && columns == of_other
            }
            (Self::Say(statement), Deed::Say(other)) => {
                std::ptr::eq(*statement, *other) || statement.text == other.text
            }
            _ => false,
        }
    }
}

impl<'a> Pending<'a> {
    fn fit(&self, act: &Act<'_>) -> Fit {
        let is_same = self.deed.is(&act.deed);
        if matches!((self.deed, act.deed), (Deed::Insert { .. }, Deed::Insert { .. })) {
            // What is inserted into one table stays in its order.
            return match self.deed.table() == act.deed.table() {
                _ if is_same => Fit::Joins,
                true => Fit::Follows,
                false => Fit::Free,
            };
        }
        let (table, acts_on) = (self.deed.table(), act.deed.table());
        if table != acts_on {
            return if self.deed.names(acts_on) || act.deed.names(table) { Fit::Follows } else { Fit::Free };
        }
        let Some(key) = act.key.filter(|_| !self.has_others) else { return Fit::Follows };
        match self.by_key.get(key) {
            None if is_same => Fit::Joins,
            None => Fit::Free,
            Some(row) if is_same && self.is_summed_with(*row, act.values) => Fit::Joins,
            Some(_) => Fit::Follows,
        }
    }

    /// Whether values are added to those of a row that is there.
    fn is_summed_with(&self, row: usize, values: &[Value]) -> bool {
        let Deed::Say(RowStatement { form: Form::Summed(from), .. }) = self.deed else { return false };
        self.rows[row][..*from] == values[..*from]
    }

    fn add(&mut self, act: &Act<'a>) {
        let row = act.key.and_then(|key| self.by_key.get(key));
        if let (Some(row), Deed::Say(RowStatement { form: Form::Summed(from), .. })) = (row, self.deed) {
            let sums = self.rows[*row].to_mut()[*from..].iter_mut();
            sums.zip(&act.values[*from..]).for_each(|(sum, value)| add(sum, value));
            return;
        }
        match act.key {
            Some(key) => drop(self.by_key.insert(key, self.rows.len())),
            None => self.has_others = true,
        }
        self.rows.push(Cow::Borrowed(act.values));
    }

    /// The rows in the order in which they are sent: that of their keys where it is free, which all groups lock them in.
    fn ordered(mut self) -> Vec<Cow<'a, [Value]>> {
        if matches!(self.deed, Deed::Insert { .. }) || self.has_others {
            return self.rows;
        }
        let mut keys: Vec<_> = self.by_key.into_iter().collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, row)| std::mem::take(&mut self.rows[row])).collect()
    }
}

fn add(sum: &mut Value, value: &Value) {
    if let (Value::BigInt(Some(sum)), Value::BigInt(Some(value))) = (sum, value) {
        *sum = sum.saturating_add(*value);
    }
}

impl<'a> Planner<'a> {
    fn change(&mut self, steps: &'a [Step]) {
        // How many of what waits comes before what this change did last, and before what it last said of a row.
        let (mut done, mut said) = (0, 0);
        for step in steps {
            match step {
                Step::Insert(row) => {
                    let deed = Deed::Insert { table: row.table, columns: &row.columns };
                    done = self.act(&Act { deed, key: row.key.as_deref(), values: &row.values }, done);
                }
                Step::Row { statement, key, values } => {
                    done = self.act(&Act { deed: Deed::Say(statement), key: key.as_deref(), values }, done);
                    said = done + 1;
                }
                Step::Run { statement, expect } => {
                    let named = self.pending.iter().rposition(|pending| pending.deed.is_named_by(&statement.sql));
                    let flushed = named.map_or(0, |last| last + 1).max(said);
                    self.flush(flushed);
                    (done, said) = (done.saturating_sub(flushed), 0);
                    self.planned.push(Planned { statement: statement.clone(), expect: *expect });
                }
                // As behind another change: what names the same row keeps its order anyway.
                Step::Next => (done, said) = (0, 0),
            }
        }
    }

    /// Adds an act at or after the place `done` among what waits; answers its place.
    fn act(&mut self, act: &Act<'a>, done: usize) -> usize {
        let mut joins = None;
        for (place, pending) in self.pending.iter().enumerate().skip(done).rev() {
            match pending.fit(act) {
                Fit::Free => {}
                Fit::Joins => joins = Some(place),
                Fit::Follows => break,
            }
        }
        let place = joins.unwrap_or(self.pending.len());
        if joins.is_none() {
            let (rows, by_key) = (Vec::new(), HashMap::new());
            self.pending.push(Pending { deed: act.deed, rows, by_key, has_others: false });
        }
        self.pending[place].add(act);
        place
    }

    /// Has what the first `count` of those that wait do done now.
    fn flush(&mut self, count: usize) {
        for pending in self.pending.drain(..count) {
            let deed = pending.deed;
            let rows = pending.ordered();
            let mut rows = rows.as_slice();
            while let Some(first) = rows.first() {
                let (now, later) = rows.split_at(chunk(self.backend, deed, rows.len(), first.len()));
                self.planned.push(match deed {
                    Deed::Insert { table, columns } => Planned {
                        statement: insert(self.backend, table, columns, now),
                        expect: Expect::Rows(now.len() as u64),
                    },
                    Deed::Say(statement) => Planned {
                        statement: say(self.backend, statement, now),
                        expect: match statement.expect {
                            Expect::Any => Expect::Any,
                            Expect::Rows(each) => Expect::Rows(each * now.len() as u64),
                        },
                    },
                });
                rows = later;
            }
        }
    }
}

/// How many of `rows` go into the next statement: the greatest power of two, so that few different statements have to be
/// prepared and each is found prepared again.
fn chunk(backend: DbBackend, deed: Deed<'_>, rows: usize, columns: usize) -> usize {
    let values_max = if backend == DbBackend::Postgres { POSTGRES_VALUES_MAX } else { SQLITE_VALUES_MAX };
    let rows_max = match deed {
        Deed::Say(RowStatement { form: Form::Matching(_), .. }) => CONDITIONS_MAX,
        Deed::Insert { .. } | Deed::Say(_) => ROWS_MAX,
    };
    let fitting = rows.min(rows_max).min(values_max / columns.max(1)).max(1);
    1 << fitting.ilog2()
}

fn insert(backend: DbBackend, table: &str, columns: &[&str], rows: &[Cow<'_, [Value]>]) -> Statement {
    let mut text = Text::new(backend, 64 + columns.len() * (16 + rows.len() * 6));
    let _ = write!(text.sql, "INSERT INTO \"{table}\" ");
    for (place, column) in columns.iter().enumerate() {
        let _ = write!(text.sql, "{}\"{column}\"", if place == 0 { "(" } else { ", " });
    }
    text.sql.push_str(if columns.is_empty() { "DEFAULT VALUES" } else { ") VALUES " });
    text.list(rows, Types::Known);
    text.into_statement()
}

/// What a statement says of these rows.
fn say(backend: DbBackend, statement: &RowStatement, rows: &[Cow<'_, [Value]>]) -> Statement {
    let mut text = Text::new(backend, statement.text.len() + rows.len() * 64);
    let (before, behind) = statement.text.split_once(ROWS).unwrap_or((statement.text, ""));
    text.sql.push_str(&dialect(backend, before));
    match statement.form {
        Form::Listed | Form::Summed(_) => {
            text.sql.push_str("VALUES ");
            text.list(rows, Types::Said);
        }
        Form::Matching(columns) => text.conditions(rows, columns),
    }
    text.sql.push_str(&dialect(backend, behind));
    text.into_statement()
}

/// A statement that is being written.
struct Text {
    backend: DbBackend,
    sql: String,
    values: Vec<Value>,
}

/// Whether PostgreSQL knows the types of a list's values from where it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Types {
    Known,
    /// Those of the first row are said.
    Said,
}

impl Text {
    fn new(backend: DbBackend, len: usize) -> Self {
        Self { backend, sql: String::with_capacity(len), values: Vec::new() }
    }

    fn list(&mut self, rows: &[Cow<'_, [Value]>], types: Types) {
        for (line, row) in rows.iter().enumerate() {
            if line > 0 {
                self.sql.push_str(", ");
            }
            let said = types == Types::Said && line == 0 && self.backend == DbBackend::Postgres;
            for (place, value) in row.iter().enumerate() {
                self.sql.push(if place == 0 { '(' } else { ',' });
                match type_of(value).filter(|_| said) {
                    Some(name) => {
                        self.sql.push_str("CAST(");
                        self.value(value);
                        let _ = write!(self.sql, " AS {name})");
                    }
                    None => self.value(value),
                }
            }
            self.sql.push(')');
        }
    }

    fn conditions(&mut self, rows: &[Cow<'_, [Value]>], columns: &[&str]) {
        for (line, row) in rows.iter().enumerate() {
            self.sql.push_str(if line == 0 { "(" } else { " OR (" });
            for (place, (column, value)) in columns.iter().zip(row.iter()).enumerate() {
                let _ = write!(self.sql, "{}{column} = ", if place == 0 { "" } else { " AND " });
                self.value(value);
            }
            self.sql.push(')');
        }
    }

    fn value(&mut self, value: &Value) {
        self.values.push(value.clone());
        if self.backend == DbBackend::Postgres {
            let _ = write!(self.sql, "${}", self.values.len());
        } else {
            self.sql.push('?');
        }
    }

    fn into_statement(self) -> Statement {
        Statement::from_sql_and_values(self.backend, self.sql, self.values)
    }
}

/// What PostgreSQL calls the type of a value.
const fn type_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Bool(_) => Some("BOOLEAN"),
        Value::Int(_) => Some("INTEGER"),
        Value::BigInt(_) => Some("BIGINT"),
        Value::String(_) => Some("TEXT"),
        Value::Bytes(_) => Some("BYTEA"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
