use std::time::{Duration, Instant};

use domain::{Token, TokenKind};
use futures::{
    FutureExt,
    future::{Either, join_all, select},
};

use super::row;
use crate::{
    Clock, Store, StoreError, StoreOptions,
    deadline::within,
    sql::Sql,
    testing::{self, Scratch},
};

/// Reads for as long as it is let.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 - i FROM n) SELECT COUNT(*) AS count FROM n";

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
    #[derive(Debug)]
    struct Counted {
        count: i64,
    }
}

row! {
    struct Text {
        text: String,
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
async fn a_text_of_other_bytes_is_an_error_and_not_another_text() {
    let found = with_sqlite(async |store| store.reader().row::<Text>(&sql("SELECT CAST(x'ff' AS TEXT) AS text")).await);
    assert!(matches!(found.await.map(drop), Err(StoreError::Failed(_))));
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

#[tokio::test]
async fn a_read_ends_with_the_request_that_it_is_for() {
    for scratch in testing::backends().await {
        let store = scratch.store(Clock::system()).await.unwrap();
        let deadline = Instant::now() + Duration::from_millis(50);
        let read = within(deadline, store.reader().row::<Counted>(&sql(ENDLESS))).await;
        assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
        assert!(Instant::now() >= deadline);
    }
}

#[tokio::test]
async fn a_read_that_no_request_waits_for_ends_too() {
    for scratch in testing::backends().await {
        let options = StoreOptions { read_timeout: Duration::from_millis(50), ..scratch.options() };
        let store = Store::connect(&options, Clock::system()).await.unwrap();
        let read = store.reader().row::<Counted>(&sql(ENDLESS)).await;
        assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
    }
}

#[tokio::test]
async fn a_database_breaks_off_itself_what_takes_too_long() {
    let Some(scratch) = testing::postgres().await else { return };
    let options = StoreOptions { read_timeout: Duration::from_millis(12_345), ..scratch.options() };
    let store = Store::connect(&options, Clock::system()).await.unwrap();
    for reader in [store.reader(), store.credential_reader()] {
        let limit = reader.row::<Text>(&sql("SELECT current_setting('statement_timeout') AS text")).await.unwrap();
        assert_eq!(limit.unwrap().text, "12345ms");
    }
}

#[tokio::test]
async fn a_credential_is_looked_up_while_every_other_connection_reads() {
    for scratch in testing::backends().await {
        let store = scratch.store(Clock::system()).await.unwrap();
        let until = Instant::now() + Duration::from_secs(5);
        let endless = sql(ENDLESS);
        let slow = (0..8).map(|_| within(until, store.reader().row::<Counted>(&endless)).map(drop).boxed());
        let looked_up = async {
            // Behind the others, each of which has taken a connection, or waits for one.
            tokio::task::yield_now().await;
            let token = Token::generate(TokenKind::SignIn).unwrap();
            assert_eq!(store.credential(&token).await.unwrap(), None);
        };
        let first = select(join_all(slow).boxed(), looked_up.boxed()).await;
        assert!(matches!(first, Either::Right(_)), "the look-up waited for reads");
    }
}
