use super::row;
use crate::{Clock, Store, StoreError, sql::Sql, testing::Scratch};

row! {
    #[derive(Debug, PartialEq)]
    struct Kinds {
        bytes: Vec<u8>,
        text: String,
        number: i64,
        flag: bool,
        absent: Option<i64>,
    }
}

row! {
    struct Counted {
        count: i64,
    }
}

async fn with_sqlite<T>(body: impl AsyncFnOnce(Store) -> T) -> T {
    let scratch = Scratch::sqlite().unwrap();
    body(scratch.store(Clock::system()).await.unwrap()).await
}

fn sql(text: &'static str) -> Sql {
    Sql::new(text, [])
}

#[tokio::test]
async fn columns_are_found_by_their_names_whatever_their_order() {
    let found = with_sqlite(async |store| {
        let sql = sql("SELECT 1 AS flag, -7 AS number, NULL AS absent, 'ü' AS text, x'00ff' AS bytes");
        store.reader().row::<Kinds>(&sql).await
    });
    let expected = Kinds { bytes: vec![0, 255], text: "ü".into(), number: -7, flag: true, absent: None };
    assert_eq!(found.await.unwrap(), Some(expected));
}

#[tokio::test]
async fn a_column_of_another_kind_is_an_error_and_not_a_guess() {
    let found =
        with_sqlite(async |store| store.reader().row::<Counted>(&sql("SELECT 'many' AS count")).await.map(drop));
    assert!(matches!(found.await, Err(StoreError::Failed(_))));
}

#[tokio::test]
async fn a_read_that_takes_long_ends_all_the_same() {
    const COUNT: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) \
                         SELECT COUNT(*) AS count FROM n";
    let found = with_sqlite(async |store| store.reader().row::<Counted>(&sql(COUNT)).await);
    assert_eq!(found.await.unwrap().map(|counted| counted.count), Some(300_000));
}

#[tokio::test]
async fn a_reader_writes_nothing() {
    let refused = with_sqlite(async |store| store.reader().rows::<Counted>(&sql("DELETE FROM people")).await.map(drop));
    assert!(refused.await.is_err());
}

row! {
    #[derive(Debug, PartialEq)]
    struct Pair {
        one: i64,
        two: i64,
    }
}

#[tokio::test]
async fn values_go_where_their_numbers_stand_whatever_comes_first() {
    let found = with_sqlite(async |store| {
        let sql = Sql::new("SELECT $2 + $2 AS two, $1 AS one", [1_i64.into(), 2_i64.into()]);
        store.reader().row::<Pair>(&sql).await
    });
    assert_eq!(found.await.unwrap(), Some(Pair { one: 1, two: 4 }));
}
