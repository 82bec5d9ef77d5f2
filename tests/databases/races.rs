//! Writes at the same time.

use futures::future::join_all;
use serde_json::json;

use super::{Table, Tables, user, users, with};
use crate::nodes::Pair;

const AT_ONCE: i64 = 16;

#[tokio::test(flavor = "multi_thread")]
async fn of_two_puts_of_one_key_one_makes_the_item() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    for round in 0..20 {
        let puts =
            (0..2).map(|by| table.put(json!({ "item": with(user("ada", round), "by", json!({"N": by.to_string()})) })));
        let answers = join_all(puts).await;
        let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        let made = answers.iter().find(|answer| answer.status == 200).unwrap();
        assert_eq!(table.get(user("ada", round)).await.json["item"], made.json["item"]);
    }
    assert_eq!(table.counts().await.0, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_writes_to_one_partition_a_refused_one_hurts_no_other() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    table.add(user("ada", 0)).await;
    let puts = (0..200).map(|at| {
        let (table, at) = (&table, if at % 40 == 20 { 0 } else { at + 1 });
        async move { (at, table.put(json!({ "item": with(user("ada", at), "n", json!({"N": at.to_string()})) })).await) }
    });
    for (at, answer) in join_all(puts).await {
        if at == 0 {
            answer.expect_error(409, "item_exists", "An item with this key already exists.");
        } else {
            answer.expect(200);
            assert_eq!(table.get(user("ada", at)).await.json["item"]["n"], json!({"N": at.to_string()}));
        }
    }
    assert_eq!(table.counts().await.0, 1 + 195);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_replacements_of_one_item_each_is_made_on_what_was_there() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    table.add(with(user("ada", 1), "n", json!({"N": "0"}))).await;
    let count_up = async |table: Table| {
        loop {
            let item = table.get(user("ada", 1)).await.expect(200).json["item"].clone();
            let n: i64 = item["n"]["N"].as_str().unwrap().parse().unwrap();
            let next = with(item.clone(), "n", json!({"N": (n + 1).to_string()}));
            match table.put(json!({ "item": next, "original": item })).await.status {
                200 => return,
                status => assert_eq!(status, 409),
            }
        }
    };
    join_all((0..AT_ONCE).map(|_| count_up(table.clone()))).await;
    assert_eq!(table.get(user("ada", 1)).await.json["item"]["n"], json!({"N": AT_ONCE.to_string()}));
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_batches_moves_and_puts_at_once_leave_exact_counts_and_indexes() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let item = |at: i64| with(user(&format!("u{}", at % 8), at), "email", json!({"S": format!("{}@x", at % 3)}));
    let rounds = (0..AT_ONCE).map(|by| {
        let table = table.clone();
        async move {
            for round in 0..6 {
                let at = (by + round) % 12;
                let answer =
                    match by % 4 {
                        0 => {
                            table
                                .post(
                                    "items/import",
                                    json!({"items": (0..12).map(item).collect::<Vec<_>>(), "mode": "overwrite"}),
                                )
                                .await
                        }
                        1 => table
                            .post(
                                "items/batch-delete",
                                json!({"keys": (0..6).map(|at| user(&format!("u{}", at % 8), at)).collect::<Vec<_>>()}),
                            )
                            .await,
                        2 => table.put(json!({"item": item(at + 100), "original": item(at)})).await,
                        _ => table.put(json!({"item": item(at)})).await,
                    };
                assert!(matches!(answer.status, 200 | 409 | 503), "{}", answer.text);
            }
        }
    });
    join_all(rounds).await;
    super::model::check_rows(&tables, &table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_tables_of_one_name_one_is_made() {
    let tables = Tables::new().await;
    for round in 0..5 {
        let answers = join_all((0..4).map(|_| tables.try_make(users(&format!("Users{round}"))))).await;
        let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409, 409, 409]);
    }
}

/// A table of users through both nodes of a pair.
async fn through_both(pair: &Pair) -> [Table; 2] {
    let [left, right] = pair.clients();
    let email = left.register("ada").await;
    let left = left.sign_in(&email, "account", "web").await;
    let path = format!("/v1/orgs/{}/databases", left.org("Acme").await);
    let made = left.post(&path).json(&users("Users")).send().await.expect(201);
    let id = made.str("/database/resourceId").to_owned();
    let one = Table { path: format!("{path}/{id}"), client: left.clone(), id };
    let other = Table { client: left.at(right.base()), ..one.clone() };
    [one, other]
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_puts_through_two_nodes_one_makes_the_item() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let [one, other] = through_both(&pair).await;
    for round in 0..20 {
        let (item, email) = (user("ada", round), json!({"S": "a@x"}));
        let puts = [&one, &other].map(|table| table.put(json!({ "item": with(item.clone(), "email", email.clone()) })));
        let mut statuses: Vec<_> = join_all(puts).await.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
    }
    for table in [&one, &other] {
        assert_eq!(table.counts().await.0, 20);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_through_two_nodes_are_each_made_on_what_was_there() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let tables = through_both(&pair).await;
    let count_up = async |table: &Table| {
        let body = json!({"key": user("ada", 1), "update": "ADD n :one", "values": {":one": {"N": "1"}}});
        for _ in 0..AT_ONCE {
            table.post("items/update", body.clone()).await.expect(200);
        }
    };
    join_all(tables.iter().map(count_up)).await;
    let item = tables[0].get(user("ada", 1)).await.expect(200).json["item"].clone();
    assert_eq!(item["n"], json!({"N": (2 * AT_ONCE).to_string()}));
}
