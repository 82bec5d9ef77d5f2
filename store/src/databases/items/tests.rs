use super::*;
use crate::{Clock, testing::Scratch};

row! {
    struct PlanRow {
        detail: String,
    }
}

/// How SQLite goes about the query.
async fn plan(store: &Store, query: Sql) -> String {
    let explain = Sql::new(format!("EXPLAIN QUERY PLAN {}", query.text), query.values);
    let rows: Vec<PlanRow> = store.reader().rows(&explain).await.unwrap();
    rows.into_iter().map(|row| row.detail).collect::<Vec<_>>().join("; ")
}

#[tokio::test]
async fn items_are_looked_up_by_their_whole_keys_however_many_they_are() {
    let scratch = Scratch::sqlite().unwrap();
    let store = scratch.store(Clock::system()).await.unwrap();
    for count in [1, 2, 3, 100, 200] {
        let rows: Vec<_> = (0..count).map(|at: u8| RowKey { pk: vec![at], sk: vec![at] }).collect();
        for columns in ["", BESIDE_KEY] {
            let plan = plan(&store, at_rows(columns, 1, &rows)).await;
            let lookup = "SEARCH i USING PRIMARY KEY (table_no=? AND pk=? AND sk=?)";
            assert!(plan.contains(lookup), "{count}: {plan}");
        }
    }
}

#[tokio::test]
async fn items_at_rows_are_those_that_lie_there() {
    let scratch = Scratch::new().await.unwrap();
    let store = scratch.store(Clock::system()).await.unwrap();
    let place = |at: u8| RowKey { pk: vec![at, 0xff, 0], sk: if at == 0 { Vec::new() } else { vec![0, at] } };
    let mut change = Change::new();
    for at in 0..4 {
        let RowKey { pk, sk } = place(at);
        let values = [i64::from(at % 2).into(), pk.into(), sk.into(), i64::from(at).into()];
        let statement = "INSERT INTO kv_items (table_no, pk, sk, version, size, item) VALUES ($1, $2, $3, $4, 1, '{}')";
        change.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
    store.commit(change).await.unwrap();
    let rows: Vec<_> = (0..9).map(place).collect();
    let mut found = store.items_at(0, &rows).await.unwrap();
    found.sort_by_key(|item| item.version);
    assert_eq!(found.iter().map(|item| item.row.clone()).collect::<Vec<_>>(), [place(0), place(2)]);
    let mut taken = store.rows_taken(1, &rows).await.unwrap();
    taken.sort();
    assert_eq!(taken, [place(1), place(3)]);
    assert_eq!(store.rows_taken(1, &[]).await.unwrap(), []);
    assert_eq!(store.items_at(0, &rows[1..2]).await.unwrap(), []);
}
