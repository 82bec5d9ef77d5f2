//! The writer against both databases, with a table of its own.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicU32, atomic::Ordering},
    time::{Duration, Instant},
};

use futures::future::join_all;
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, Value,
    sea_query::{Expr, ExprTrait},
};

use self::proxy::Proxy;
use super::{GROUP_BYTES_MAX, GROUP_STEPS_MAX};
use crate::{
    Change, Clock, CommitError, Expect, Store, StoreError, StoreOptions,
    change::{Form, RowStatement},
    reader::Reads,
    testing::{self, Scratch},
};

mod proxy;

/// How long something is waited for that must come.
const PATIENCE: Duration = Duration::from_secs(60);
/// Much less than a group may take in a database that hangs.
const PROMPTLY: Duration = Duration::from_secs(25);
/// How often a change is decided again.
const AGAIN_MAX: usize = 8;

mod thing {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "things")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        pub version: i64,
        #[sea_orm(unique)]
        pub name: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

fn insert(id: i64, name: impl Into<String>) -> Change {
    let mut change = Change::new();
    change.insert(thing::ActiveModel { id: Set(id), version: Set(1), name: Set(name.into()) });
    change
}

fn rename(id: i64, seen: i64, name: &str) -> Change {
    let mut change = Change::new();
    let update = thing::Entity::update_many()
        .col_expr(thing::Column::Name, Expr::value(name))
        .col_expr(thing::Column::Version, Expr::value(seen + 1))
        .filter(thing::Column::Id.eq(id))
        .filter(thing::Column::Version.eq(seen));
    change.run(update, Expect::Rows(1));
    change
}

/// Touches nothing, with a text of so many bytes.
fn rename_of(id: i64, bytes: usize) -> Change {
    let mut change = Change::new();
    let update = thing::Entity::update_many()
        .col_expr(thing::Column::Name, Expr::value("x".repeat(bytes)))
        .filter(thing::Column::Id.eq(id));
    change.run(update, Expect::Any);
    change
}

fn delete(id: i64) -> Change {
    let mut change = Change::new();
    change.run(thing::Entity::delete_many().filter(thing::Column::Id.eq(id)), Expect::Rows(1));
    change
}

/// What the writer joins.
static RENAME: RowStatement = RowStatement {
    tables: &["things"],
    text: "UPDATE things SET name = new.column3, version = things.version + 1 FROM (/*rows*/) AS new \
           WHERE things.id = new.column1 AND things.version = new.column2",
    form: Form::Listed,
    key: 1,
    expect: Expect::Rows(1),
};
static DELETE: RowStatement = RowStatement {
    tables: &["things"],
    text: "DELETE FROM things WHERE /*rows*/",
    form: Form::Matching(&["id", "version"]),
    key: 1,
    expect: Expect::Rows(1),
};
static COUNT: RowStatement = RowStatement {
    tables: &["things"],
    text: "UPDATE things SET version = things.version + new.column2 FROM (/*rows*/) AS new WHERE things.id = new.column1",
    form: Form::Summed(1),
    key: 1,
    expect: Expect::Rows(1),
};

fn say(statement: &'static RowStatement, values: impl IntoIterator<Item = Value>) -> Change {
    let mut change = Change::new();
    change.row(statement, values);
    change
}

#[tokio::test]
async fn what_is_said_of_rows_is_one_statement_and_a_row_that_is_another_hurts_only_its_own_change() {
    for scratch in testing::backends().await {
        let store = open(&scratch.options()).await;
        let made = commit_together(&store, (1..=6).map(|id| insert(id, format!("old {id}"))).collect()).await;
        assert!(made.iter().all(Result::is_ok));
        let rename = |id: i64, seen: i64| say(&RENAME, [id.into(), seen.into(), format!("new {id}").into()]);
        let delete = |id: i64, seen: i64| say(&DELETE, [id.into(), seen.into()]);
        let together = commit_together(&store, vec![rename(1, 1), rename(2, 1), delete(3, 1), delete(4, 1)]).await;
        assert!(together.iter().all(Result::is_ok), "{together:?}");
        assert_eq!(store.writer_stats().reruns, 0);
        let mixed = commit_together(&store, vec![rename(1, 2), rename(2, 1), delete(5, 9), delete(6, 1)]).await;
        let stale = |outcome: &Result<(), CommitError>| matches!(outcome, Err(CommitError::Stale));
        assert_eq!(mixed.iter().map(stale).collect::<Vec<_>>(), [false, true, true, false]);
        assert_eq!(store.writer_stats().reruns, 1);
        let left = ["new 1", "new 2", "old 5"].map(str::to_owned);
        assert_eq!(names(&store).await, BTreeSet::from(left));
    }
}

#[tokio::test]
async fn what_many_changes_add_to_one_row_is_added_up() {
    for scratch in testing::backends().await {
        let store = open(&scratch.options()).await;
        store.commit(insert(1, "counted")).await.expect("commits");
        let adds = (1..=100_i64).map(|sum| say(&COUNT, [1_i64.into(), sum.into()])).collect();
        assert!(commit_together(&store, adds).await.iter().all(Result::is_ok));
        let thing = thing::Entity::find_by_id(1).read_one(store.reader()).await.expect("reads").expect("is there");
        assert_eq!((thing.version, store.writer_stats().reruns), (5_051, 0));
    }
}

async fn names(store: &Store) -> BTreeSet<String> {
    let things = thing::Entity::find().read_all(store.reader()).await.expect("reads");
    things.into_iter().map(|thing| thing.name).collect()
}

/// A connection for reads may be one of those that broke; it is replaced once that shows.
async fn names_after_a_break(store: &Store) -> BTreeSet<String> {
    for _ in 0..20 {
        match thing::Entity::find().read_all(store.reader()).await {
            Ok(things) => return things.into_iter().map(|thing| thing.name).collect(),
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error}"),
        }
    }
    panic!("the connections for reads were not replaced");
}

async fn open(options: &StoreOptions) -> Store {
    let store = Store::connect(options, Clock::system()).await.expect("connects");
    let table = "CREATE TABLE IF NOT EXISTS things \
                 (id BIGINT PRIMARY KEY, version BIGINT NOT NULL, name TEXT NOT NULL UNIQUE)";
    store.parts.connections.writer.execute_unprepared(table).await.expect("makes the table");
    store
}

/// Commits `changes` so that they all wait at the same moment: the lane doesn't run before this yields.
async fn commit_together(store: &Store, changes: Vec<Change>) -> Vec<Result<(), CommitError>> {
    join_all(changes.into_iter().map(|change| store.commit(change))).await
}

#[tokio::test]
async fn changes_that_wait_together_become_one_transaction() {
    for scratch in testing::backends().await {
        let store = open(&scratch.options()).await;
        let changes = (0..100).map(|id| insert(id, format!("thing {id}"))).collect();
        assert!(commit_together(&store, changes).await.iter().all(Result::is_ok));
        let stats = store.writer_stats();
        assert_eq!((stats.groups, stats.committed, stats.reruns), (1, 100, 0));
        assert_eq!(names(&store).await.len(), 100);
    }
}

#[tokio::test]
async fn more_than_a_group_waits_for_the_next_one() {
    for scratch in testing::backends().await {
        let store = open(&StoreOptions { write_lanes: 1, ..scratch.options() }).await;
        let count = i64::try_from(GROUP_STEPS_MAX).expect("fits") + 1;
        let changes = (0..count).map(|id| insert(id, format!("thing {id}"))).collect();
        assert!(commit_together(&store, changes).await.iter().all(Result::is_ok));
        assert_eq!(store.writer_stats().groups, 2);
        assert_eq!(names(&store).await.len(), GROUP_STEPS_MAX + 1);
    }
}

#[tokio::test]
async fn a_bad_change_in_a_group_hurts_nobody_else() {
    for scratch in testing::backends().await {
        let store = open(&scratch.options()).await;
        store.commit(insert(1, "taken")).await.expect("commits");
        let mut half = insert(4, "half");
        half.append(rename(1, 7, "never"));
        let changes = vec![
            insert(2, "before"),
            insert(3, "taken"),
            half,
            rename(9, 1, "never"),
            insert(5, "after"),
            rename(1, 1, "kept"),
        ];
        let outcomes = commit_together(&store, changes).await;
        assert!(matches!(&outcomes[1], Err(CommitError::Duplicate { constraint }) if constraint.contains("name")));
        assert_eq!(outcomes[2], Err(CommitError::Stale));
        assert_eq!(outcomes[3], Err(CommitError::Stale));
        assert!([0, 4, 5].iter().all(|place| outcomes[*place].is_ok()));
        assert_eq!(names(&store).await, BTreeSet::from(["before", "after", "kept"].map(String::from)));
        assert_eq!(store.writer_stats().reruns, 1);
    }
}

#[tokio::test]
async fn a_lone_bad_change_says_what_is_wrong_without_a_second_run() {
    for scratch in testing::backends().await {
        let store = open(&scratch.options()).await;
        store.commit(insert(1, "taken")).await.expect("commits");
        assert!(matches!(store.commit(insert(2, "taken")).await, Err(CommitError::Duplicate { .. })));
        assert_eq!(store.commit(rename(1, 2, "other")).await, Err(CommitError::Stale));
        let mut both = insert(3, "three");
        both.append(delete(8));
        assert_eq!(store.commit(both).await, Err(CommitError::Stale));
        assert_eq!(store.writer_stats().reruns, 0);
        assert_eq!(names(&store).await, BTreeSet::from(["taken".to_owned()]));
    }
}

#[tokio::test]
async fn of_two_decisions_on_one_version_one_stands() {
    for scratch in testing::backends().await {
        let store = open(&scratch.options()).await;
        store.commit(insert(1, "first")).await.expect("commits");
        let outcomes = commit_together(&store, vec![rename(1, 1, "second"), rename(1, 1, "other")]).await;
        assert_eq!(outcomes, [Ok(()), Err(CommitError::Stale)]);
        assert_eq!(names(&store).await, BTreeSet::from(["second".to_owned()]));
    }
}

#[tokio::test]
async fn changes_of_one_row_in_one_group_happen_in_their_order() {
    for scratch in testing::backends().await {
        let store = open(&StoreOptions { write_lanes: 1, ..scratch.options() }).await;
        let mut replaced = delete(1);
        replaced.append(insert(1, "again"));
        let changes = vec![insert(1, "first"), rename(1, 1, "renamed"), replaced, insert(2, "renamed"), delete(2)];
        let outcomes = commit_together(&store, changes).await;
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(store.writer_stats().reruns, 0);
        assert_eq!(names(&store).await, BTreeSet::from(["again".to_owned()]));
    }
}

#[tokio::test]
async fn a_full_queue_refuses_at_once() {
    let scratch = Scratch::sqlite().expect("makes a folder");
    let store = open(&StoreOptions { write_queue_len_max: 4, ..scratch.options() }).await;
    let changes = (0..5).map(|id| insert(id, format!("thing {id}"))).collect();
    let outcomes = commit_together(&store, changes).await;
    assert!(outcomes[..4].iter().all(Result::is_ok));
    assert!(matches!(outcomes[4], Err(CommitError::Unavailable(_))));
    assert_eq!(names(&store).await.len(), 4);
}

#[tokio::test]
async fn changes_beyond_the_bytes_that_may_wait_are_refused_at_once() {
    const TEXT: usize = 1024 * 1024;
    let scratch = Scratch::sqlite().expect("makes a folder");
    let store = open(&StoreOptions { write_queue_bytes_max: 3 * TEXT, ..scratch.options() }).await;
    let changes = (0..5).map(|id| insert(id, format!("{id}{}", "x".repeat(TEXT)))).collect();
    let outcomes = commit_together(&store, changes).await;
    assert!(outcomes[..2].iter().all(Result::is_ok), "{outcomes:?}");
    for outcome in &outcomes[2..] {
        assert!(matches!(outcome, Err(CommitError::Unavailable(_))), "{outcomes:?}");
    }
    let alone = insert(9, "y".repeat(4 * TEXT));
    assert_eq!(store.commit(alone).await, Ok(()), "a change by itself may be of any size");
    assert_eq!(names(&store).await.len(), 3);
}

#[tokio::test]
async fn a_group_takes_so_many_bytes_and_leaves_the_rest_to_the_next_one() {
    let text = GROUP_BYTES_MAX / 3;
    for scratch in testing::backends().await {
        let store = open(&StoreOptions { write_lanes: 1, ..scratch.options() }).await;
        let changes = (0..5).map(|id| rename_of(id, text)).collect();
        assert!(commit_together(&store, changes).await.iter().all(Result::is_ok));
        assert_eq!(store.writer_stats().groups, 3);
    }
}

#[tokio::test]
async fn closing_commits_what_waits_and_refuses_what_comes_later() {
    for scratch in testing::backends().await {
        let store = open(&scratch.options()).await;
        let changes = (0..20).map(|id| insert(id, format!("thing {id}"))).collect();
        let (outcomes, ()) = tokio::join!(commit_together(&store, changes), store.close());
        assert!(outcomes.iter().all(Result::is_ok));
        assert!(matches!(store.commit(insert(99, "late")).await, Err(CommitError::Unavailable(_))));
        assert_eq!(names(&open(&scratch.options()).await).await.len(), 20);
    }
}

#[tokio::test]
async fn an_empty_change_needs_no_transaction() {
    let scratch = Scratch::sqlite().expect("makes a folder");
    let store = open(&scratch.options()).await;
    assert_eq!(store.commit(Change::new()).await, Ok(()));
    assert_eq!(store.writer_stats().groups, 0);
}

/// Each writer commits pairs; the runtime is torn down under them, as a killed process would be.
#[test]
fn nothing_acknowledged_is_lost_and_nothing_half_written_when_the_runtime_dies() {
    let outer = tokio::runtime::Runtime::new().expect("a runtime");
    for scratch in outer.block_on(testing::backends()) {
        let acknowledged = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let doomed = tokio::runtime::Runtime::new().expect("a runtime");
        let store = doomed.block_on(open(&scratch.options()));
        let next = Arc::new(AtomicU32::new(0));
        for _ in 0..16 {
            let (store, next, acknowledged) = (store.clone(), Arc::clone(&next), Arc::clone(&acknowledged));
            doomed.spawn(async move {
                loop {
                    let id = i64::from(next.fetch_add(1, Ordering::Relaxed)) * 2;
                    let mut pair = insert(id, format!("left {id}"));
                    pair.append(insert(id + 1, format!("right {id}")));
                    if store.commit(pair).await.is_ok() {
                        acknowledged.lock().push(id);
                    }
                }
            });
        }
        while acknowledged.lock().len() < 300 {
            std::thread::yield_now();
        }
        doomed.shutdown_background();
        // What is acknowledged from here on may be committed later than it is looked at.
        let acknowledged = acknowledged.lock().clone();
        drop(store);
        let names = outer.block_on(async { names(&open(&scratch.options()).await).await });
        for id in &acknowledged {
            assert!(names.contains(&format!("left {id}")), "{id} was acknowledged and is lost");
        }
        for name in &names {
            let (side, id) = name.split_once(' ').expect("a name has two words");
            let other = if side == "left" { "right" } else { "left" };
            assert!(names.contains(&format!("{other} {id}")), "{name} is half of a change");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_lanes_that_take_rows_in_opposite_orders_all_get_through() {
    let Some(scratch) = testing::postgres().await else { return };
    let store = open(&StoreOptions { write_lanes: 4, ..scratch.options() }).await;
    for id in 0..8 {
        store.commit(insert(id, format!("thing {id}"))).await.expect("commits");
    }
    let touch = |id: i64| {
        thing::Entity::update_many()
            .col_expr(thing::Column::Version, ExprTrait::add(Expr::col("version"), 1))
            .filter(thing::Column::Id.eq(id))
    };
    let writers = (0..16_i64).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for round in 0..20 {
                let first = (writer + round) % 8;
                let mut outcome = Err(CommitError::Stale);
                // Whom others get in the way of time and again decides once more, as actors do.
                for _ in 0..AGAIN_MAX {
                    let mut change = Change::new();
                    change.run(touch(first), Expect::Rows(1));
                    change.run(touch(7 - first), Expect::Rows(1));
                    outcome = store.commit(change).await;
                    if outcome != Err(CommitError::Stale) {
                        break;
                    }
                }
                outcome?;
            }
            Ok::<(), CommitError>(())
        })
    });
    for writer in join_all(writers).await {
        assert_eq!(writer.expect("does not panic"), Ok(()));
    }
    let things = thing::Entity::find().read_all(store.reader()).await.expect("reads");
    assert_eq!(things.iter().map(|thing| thing.version - 1).sum::<i64>(), 16 * 20 * 2);
}

#[tokio::test]
async fn connections_that_the_database_closed_are_replaced() {
    let Some(scratch) = testing::postgres().await else { return };
    let store = open(&scratch.options()).await;
    store.commit(insert(1, "before")).await.expect("commits");
    let (_, name) = scratch.url().rsplit_once("application_name=").expect("the URL names the test");
    let terminate = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'");
    let outside = scratch.url().replace(name, "outside");
    let outside = sea_orm::Database::connect(outside).await.expect("connects");
    outside.execute_unprepared(&terminate).await.expect("terminates");
    assert_eq!(store.commit(insert(2, "after")).await, Ok(()));
    assert_eq!(names_after_a_break(&store).await.len(), 2);
}

#[tokio::test]
async fn while_the_database_is_away_commits_say_so_promptly_and_recover_by_themselves() {
    let Some(scratch) = testing::postgres().await else { return };
    let proxy = Proxy::start(scratch.url()).await;
    let options =
        StoreOptions { url: proxy.url().to_owned(), connect_timeout: Duration::from_secs(1), ..scratch.options() };
    let store = open(&options).await;
    store.commit(insert(1, "before")).await.expect("commits");
    proxy.cut();
    for _ in 0..2 {
        let asked = Instant::now();
        assert!(matches!(store.commit(insert(2, "meanwhile")).await, Err(CommitError::Unavailable(_))));
        assert!(asked.elapsed() < PROMPTLY, "{:?}", asked.elapsed());
    }
    proxy.mend();
    let mended = Instant::now();
    while let Err(error) = store.commit(insert(3, "after")).await {
        assert!(matches!(error, CommitError::Unavailable(_)) && mended.elapsed() < PATIENCE, "{error}");
    }
    assert_eq!(names_after_a_break(&store).await, BTreeSet::from(["before", "after"].map(String::from)));
}

#[cfg(feature = "faults")]
#[tokio::test]
async fn a_full_disk_refuses_what_needs_room_and_writing_goes_on_once_there_is_some() {
    for scratch in testing::backends().await {
        let options = scratch.options();
        let store = open(&options).await;
        store.commit(insert(1, "before")).await.expect("commits");
        options.faults.set("disk=full").expect("rules");
        let long = "x".repeat(100_000);
        let waiting = join_all((2..6).map(|id| store.commit(insert(id, format!("{id}{long}"))))).await;
        for outcome in waiting {
            assert!(matches!(outcome, Err(CommitError::Unavailable(_))), "{outcome:?}");
        }
        options.faults.clear();
        store.commit(insert(7, "after")).await.expect("commits");
        assert_eq!(names_after_a_break(&store).await, BTreeSet::from(["before", "after"].map(String::from)));
    }
}
