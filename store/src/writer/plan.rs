//! From the steps of several changes to as few statements as keep their meaning.
//!
//! Rows are only ever inserted later than they were added, never earlier, and never later than the next statement that
//! names their table: what runs is equal to the changes run one after the other. A mention of the table's name anywhere
//! in the statement's text counts, so that a table in a subquery does too. Tables are filled in the order in which each
//! change fills them, so that a row never stands before the one that it refers to.

use sea_orm::{DbBackend, Statement, Value};

use crate::{
    Expect,
    change::{Row, Step},
};

/// Rows of one statement; further ones go into further statements.
const ROWS_MAX: usize = 256;
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
    /// Rows that wait, by table, in the order in which the tables must be filled.
    pending: Vec<Pending<'a>>,
}

struct Pending<'a> {
    table: &'static str,
    columns: &'a [&'static str],
    rows: Vec<&'a Row>,
}

impl<'a> Planner<'a> {
    fn change(&mut self, steps: &'a [Step]) {
        // How many of the pending tables come before the one that this change filled last.
        let mut filled = 0;
        for step in steps {
            match step {
                Step::Insert(row) => filled = self.insert(row, filled),
                Step::Run { statement, expect } => {
                    let named = self.pending.iter().rposition(|pending| statement.sql.contains(pending.table));
                    let flushed = named.map_or(0, |last| last + 1);
                    self.flush(flushed);
                    filled = filled.saturating_sub(flushed);
                    self.planned.push(Planned { statement: statement.clone(), expect: *expect });
                }
            }
        }
    }

    /// Adds `row` at or after the place `filled` among the pending tables; answers its place.
    fn insert(&mut self, row: &'a Row, filled: usize) -> usize {
        match self.pending.iter().position(|pending| pending.table == row.table) {
            Some(place) if place >= filled && self.pending[place].columns == row.columns => {
                self.pending[place].rows.push(row);
                return place;
            }
            Some(_) => self.flush(self.pending.len()),
            None => {}
        }
        self.pending.push(Pending { table: row.table, columns: &row.columns, rows: vec![row] });
        self.pending.len() - 1
    }

    /// Has the rows of the first `count` pending tables inserted now.
    fn flush(&mut self, count: usize) {
        for pending in self.pending.drain(..count) {
            let mut rows = pending.rows.as_slice();
            while !rows.is_empty() {
                let (now, later) = rows.split_at(chunk(self.backend, rows.len(), pending.columns.len()));
                self.planned.push(Planned {
                    statement: insert(self.backend, pending.table, pending.columns, now),
                    expect: Expect::Rows(now.len() as u64),
                });
                rows = later;
            }
        }
    }
}

/// How many of `rows` go into the next statement: the greatest power of two, so that few different statements have to be
/// prepared and each is found prepared again.
fn chunk(backend: DbBackend, rows: usize, columns: usize) -> usize {
    let values_max = if backend == DbBackend::Postgres { POSTGRES_VALUES_MAX } else { SQLITE_VALUES_MAX };
    let fitting = rows.min(ROWS_MAX).min(values_max / columns.max(1)).max(1);
    1 << fitting.ilog2()
}

fn insert(backend: DbBackend, table: &str, columns: &[&str], rows: &[&Row]) -> Statement {
    use std::fmt::Write as _;

    let mut sql = String::with_capacity(64 + columns.len() * (16 + rows.len() * 6));
    let _ = write!(sql, "INSERT INTO \"{table}\" ");
    for (place, column) in columns.iter().enumerate() {
        let _ = write!(sql, "{}\"{column}\"", if place == 0 { "(" } else { ", " });
    }
    sql.push_str(if columns.is_empty() { "DEFAULT VALUES" } else { ") VALUES " });
    let mut values: Vec<Value> = Vec::with_capacity(columns.len() * rows.len());
    for (line, row) in rows.iter().enumerate() {
        if line > 0 {
            sql.push_str(", ");
        }
        for (place, value) in row.values.iter().enumerate() {
            sql.push(if place == 0 { '(' } else { ',' });
            values.push(value.clone());
            if backend == DbBackend::Postgres {
                let _ = write!(sql, "${}", values.len());
            } else {
                sql.push('?');
            }
        }
        sql.push(')');
    }
    Statement::from_sql_and_values(backend, sql, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(table: &'static str, columns: &[&'static str]) -> Step {
        let values = columns.iter().map(|_| Value::from(1_i64)).collect();
        Step::Insert(Row { table, columns: columns.to_vec(), values })
    }

    fn run(sql: &str) -> Step {
        Step::Run { statement: Statement::from_string(DbBackend::Sqlite, sql), expect: Expect::Rows(1) }
    }

    fn planned(changes: &[Vec<Step>]) -> Vec<String> {
        let changes = changes.iter().map(Vec::as_slice);
        plan(DbBackend::Sqlite, changes).into_iter().map(|planned| planned.statement.sql).collect()
    }

    #[test]
    fn rows_of_several_changes_go_into_one_statement() {
        let change = || vec![row("things", &["a", "b"])];
        assert_eq!(planned(&[change(), change()]), ["INSERT INTO \"things\" (\"a\", \"b\") VALUES (?,?), (?,?)"]);
    }

    #[test]
    fn a_statement_that_names_a_table_runs_after_the_rows_added_before_it_and_before_those_added_later() {
        let delete_then_insert = || vec![run("DELETE FROM \"things\""), row("things", &["a"])];
        assert_eq!(
            planned(&[delete_then_insert(), delete_then_insert()]),
            [
                "DELETE FROM \"things\"",
                "INSERT INTO \"things\" (\"a\") VALUES (?)",
                "DELETE FROM \"things\"",
                "INSERT INTO \"things\" (\"a\") VALUES (?)"
            ]
        );
    }

    #[test]
    fn statements_on_other_tables_do_not_keep_rows_from_being_merged() {
        let change = || vec![row("audit", &["a"]), run("UPDATE \"vaults\" SET a = 1")];
        assert_eq!(
            planned(&[change(), change()]),
            [
                "UPDATE \"vaults\" SET a = 1",
                "UPDATE \"vaults\" SET a = 1",
                "INSERT INTO \"audit\" (\"a\") VALUES (?), (?)"
            ]
        );
    }

    #[test]
    fn a_row_never_stands_before_the_row_of_the_same_change_that_it_refers_to() {
        let child = vec![row("children", &["a"])];
        let parent_and_child = vec![row("parents", &["a"]), row("children", &["a"])];
        assert_eq!(
            planned(&[child, parent_and_child]),
            [
                "INSERT INTO \"children\" (\"a\") VALUES (?)",
                "INSERT INTO \"parents\" (\"a\") VALUES (?)",
                "INSERT INTO \"children\" (\"a\") VALUES (?)"
            ]
        );
    }

    #[test]
    fn other_columns_of_the_same_table_go_into_another_statement() {
        assert_eq!(
            planned(&[vec![row("things", &["a"])], vec![row("things", &["b"])]]),
            ["INSERT INTO \"things\" (\"a\") VALUES (?)", "INSERT INTO \"things\" (\"b\") VALUES (?)"]
        );
    }

    #[test]
    fn no_statement_binds_more_values_than_the_database_takes() {
        let columns: Vec<&'static str> = vec!["c"; 1_000];
        let changes: Vec<Vec<Step>> = (0..100).map(|_| vec![row("wide", &columns)]).collect();
        for (backend, values_max) in [(DbBackend::Sqlite, 32_766), (DbBackend::Postgres, 65_535)] {
            let planned = plan(backend, changes.iter().map(Vec::as_slice));
            let bound = planned.iter().map(|planned| planned.statement.values.as_ref().map_or(0, |v| v.0.len()));
            assert!(bound.clone().all(|count| count <= values_max));
            assert_eq!(bound.sum::<usize>(), 100_000);
        }
    }
}
