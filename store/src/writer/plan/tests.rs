use super::*;
use crate::change::{Row, name_of};

fn row(table: &'static str, columns: &[&'static str]) -> Step {
    let values = columns.iter().map(|_| Value::from(1_i64)).collect();
    Step::Insert(Row { table, columns: columns.to_vec(), values, key: None })
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
        ["UPDATE \"vaults\" SET a = 1", "UPDATE \"vaults\" SET a = 1", "INSERT INTO \"audit\" (\"a\") VALUES (?), (?)"]
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

static UPDATE: RowStatement = RowStatement {
    tables: &["things"],
    text: "UPDATE things SET a = new.column2 FROM (/*rows*/) AS new WHERE things.id = new.column1",
    form: Form::Listed,
    key: 1,
    expect: Expect::Rows(1),
};
static DELETE: RowStatement = RowStatement {
    tables: &["things"],
    text: "DELETE FROM things WHERE /*rows*/",
    form: Form::Matching(&["id", "a"]),
    key: 1,
    expect: Expect::Rows(1),
};
static ADD: RowStatement = RowStatement {
    tables: &["counts", "owners"],
    text: "UPDATE counts SET a = a + new.column3 FROM (/*rows*/) AS new, owners WHERE counts.id = new.column1",
    form: Form::Summed(2),
    key: 1,
    expect: Expect::Rows(1),
};

fn say(statement: &'static RowStatement, values: &[i64]) -> Step {
    let values: Vec<Value> = values.iter().map(|value| Value::from(*value)).collect();
    Step::Row { statement, key: name_of(&values[..statement.key]), values }
}

fn named(table: &'static str, id: i64) -> Step {
    let values = vec![Value::from(id)];
    Step::Insert(Row { table, columns: vec!["id"], key: name_of(&values), values })
}

/// Each statement by its first word, with its values.
fn said(changes: &[Vec<Step>]) -> Vec<(String, Vec<i64>)> {
    let planned = plan(DbBackend::Sqlite, changes.iter().map(Vec::as_slice));
    let integer = |value: Value| if let Value::BigInt(Some(number)) = value { number } else { -1 };
    let said = |Statement { sql, values, .. }: Statement| {
        let values = values.map(|values| values.0.into_iter().map(integer).collect()).unwrap_or_default();
        (sql.split(' ').next().unwrap_or_default().to_owned(), values)
    };
    planned.into_iter().map(|planned| said(planned.statement)).collect()
}

fn word(word: &str, values: &[i64]) -> (String, Vec<i64>) {
    (word.to_owned(), values.to_vec())
}

#[test]
fn what_is_said_of_rows_is_joined_and_each_row_is_counted() {
    let changes = [vec![say(&UPDATE, &[2, 20])], vec![say(&UPDATE, &[1, 10])]];
    let planned = plan(DbBackend::Postgres, changes.iter().map(Vec::as_slice));
    assert_eq!(
        planned[0].statement.sql,
        "UPDATE things SET a = new.column2 FROM (VALUES (CAST($1 AS BIGINT),CAST($2 AS BIGINT)), ($3,$4)) AS new \
         WHERE things.id = new.column1"
    );
    assert_eq!((planned.len(), planned[0].expect), (1, Expect::Rows(2)));
    assert_eq!(said(&changes), [word("UPDATE", &[1, 10, 2, 20])]);
}

#[test]
fn what_is_done_to_one_row_keeps_its_order() {
    let changes = [
        vec![say(&DELETE, &[1, 7]), named("things", 1)],
        vec![say(&UPDATE, &[2, 20])],
        vec![say(&UPDATE, &[1, 10])],
        vec![say(&DELETE, &[2, 20])],
        vec![say(&DELETE, &[3, 30])],
    ];
    assert_eq!(
        said(&changes),
        [
            word("DELETE", &[1, 7, 3, 30]),
            word("INSERT", &[1]),
            word("UPDATE", &[1, 10, 2, 20]),
            word("DELETE", &[2, 20])
        ]
    );
}

#[test]
fn rows_that_are_deleted_are_conditions() {
    assert_eq!(
        planned(&[vec![say(&DELETE, &[1, 7])], vec![say(&DELETE, &[2, 8])]]),
        ["DELETE FROM things WHERE (id = ? AND a = ?) OR (id = ? AND a = ?)"]
    );
}

#[test]
fn what_is_added_to_one_row_is_added_up_unless_it_rests_on_something_else() {
    let add = |id, epoch, sum| vec![say(&ADD, &[id, epoch, sum])];
    assert_eq!(
        said(&[add(1, 5, 100), add(2, 5, 7), add(1, 5, -30), add(1, 6, 1)]),
        [word("UPDATE", &[1, 5, 70, 2, 5, 7]), word("UPDATE", &[1, 6, 1])]
    );
}

#[test]
fn a_statement_waits_for_what_names_its_tables_and_for_what_its_change_said_before() {
    let changes = [vec![say(&ADD, &[1, 5, 1]), run("UPDATE owners SET a = 1")], vec![say(&ADD, &[1, 5, 1])]];
    assert_eq!(said(&changes), [word("UPDATE", &[1, 5, 1]), word("UPDATE", &[]), word("UPDATE", &[1, 5, 1])]);
    let changes = [vec![say(&UPDATE, &[1, 5])], vec![say(&UPDATE, &[2, 5]), run("DELETE FROM others")]];
    assert_eq!(said(&changes), [word("UPDATE", &[1, 5, 2, 5]), word("DELETE", &[])]);
}

#[test]
fn a_row_whose_key_is_not_known_is_any_row() {
    let changes = [vec![say(&UPDATE, &[1, 5])], vec![row("things", &["a"])], vec![say(&UPDATE, &[2, 5])]];
    assert_eq!(said(&changes), [word("UPDATE", &[1, 5]), word("INSERT", &[1]), word("UPDATE", &[2, 5])]);
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
