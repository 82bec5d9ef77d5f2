//! `…/items/update`

use futures::future::join_all;
use serde_json::{Value, json};

use super::{Table, Tables, user, with};
use crate::harness::Answer;

const LIMIT: usize = 400 * 1024;
const TOO_LARGE: &str = "The item is larger than DynamoDB's 400 KB limit.";
const LIST_ITEMS: usize = 300;

impl Table {
    /// Updates the user `ada` of the first moment.
    async fn update(&self, update: &str, values: Value) -> Answer {
        self.post("items/update", json!({"key": user("ada", 1), "update": update, "values": values})).await
    }

    /// The same, where a condition holds.
    async fn update_if(&self, condition: &str, update: &str, values: Value) -> Answer {
        let body = json!({"key": user("ada", 1), "update": update, "condition": condition, "values": values});
        self.post("items/update", body).await
    }
}

/// What is said of the only field at fault.
fn said(answer: Answer, field: &str) -> String {
    let answer = answer.expect_problems(&[field]);
    answer.json["problems"][0]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_update_makes_an_item_and_changes_it() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let one = json!({":one": {"N": "1"}});
    let made = table.update("SET visits = :one", one.clone()).await.expect(200);
    assert_eq!(made.json, json!({"item": with(user("ada", 1), "visits", json!({"N": "1"}))}));
    let body = json!({
        "key": user("ada", 1), "update": "SET visits = visits + :one, #tags = :tags, l = list_append(:l, :l) ADD spent :one",
        "names": {"#tags": "tags"}, "values": {":one": {"N": "1"}, ":tags": {"SS": ["b", "a"]}, ":l": {"L": [{"S": "x"}]}}
    });
    let changed = table.post("items/update", body).await.expect(200);
    let item = json!({
        "id": {"S": "ada"}, "at": {"N": "1"}, "visits": {"N": "2"}, "tags": {"SS": ["a", "b"]},
        "l": {"L": [{"S": "x"}, {"S": "x"}]}, "spent": {"N": "1"}
    });
    assert_eq!(changed.json["item"], item);
    let got = table.get(user("ada", 1)).await.expect(200);
    assert_eq!((&got.json["item"], got.header("etag")), (&item, changed.header("etag")));
    let values = json!({":gone": {"SS": ["a", "b"]}});
    let less = table.update("REMOVE l[0], spent DELETE tags :gone", values).await.expect(200);
    let rest = json!({"id": {"S": "ada"}, "at": {"N": "1"}, "visits": {"N": "2"}, "l": {"L": [{"S": "x"}]}});
    assert_eq!(less.json["item"], rest);
    // What changes nothing is answered as it is.
    let same = table.update("REMOVE nothing", json!({})).await.expect(200);
    assert_eq!((&same.json["item"], same.header("etag")), (&rest, less.header("etag")));
    assert_eq!(table.counts().await.0, 1);
    super::model::check_rows(&tables, &table).await;
    let trail = tables.ada.client.get(&format!("{}/audit", tables.org())).send().await.expect(200);
    let entries: Vec<_> = trail.list("/events").iter().filter(|event| event["action"] == "item.updated").collect();
    assert_eq!(entries.len(), 3, "an update that changes nothing isn't in the trail");
    assert_eq!(entries[0]["metadata"], json!({"key": user("ada", 1)}));
}

#[tokio::test]
async fn an_update_keeps_the_rows_of_indexes() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let by_email = async |email: &str| {
        let body = json!({"index": "by-email", "partition": {"S": email}});
        table.post("query", body).await.expect(200).int("/count")
    };
    table.update("SET email = :email", json!({":email": {"S": "a@x"}})).await.expect(200);
    assert_eq!((by_email("a@x").await, by_email("b@x").await), (1, 0));
    let values = json!({":email": {"S": "b@x"}, ":age": {"N": "7"}});
    table.update("SET email = :email, age = :age", values).await.expect(200);
    assert_eq!((by_email("a@x").await, by_email("b@x").await), (0, 1));
    super::model::check_rows(&tables, &table).await;
    let wrong = table.update("SET email = :email", json!({":email": {"N": "1"}})).await;
    wrong.expect_error(400, "invalid_key", "email must be a string.");
    let empty = table.update("SET email = :email", json!({":email": {"S": ""}})).await;
    empty.expect_error(400, "invalid_key", "email can't be empty.");
    table.update("REMOVE email, age", json!({})).await.expect(200);
    assert_eq!(by_email("b@x").await, 0);
    super::model::check_rows(&tables, &table).await;
}

#[tokio::test]
async fn a_condition_that_does_not_hold_is_answered_with_the_item_as_it_is() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let values = || json!({":n": {"N": "1"}});
    let none = table.update_if("attribute_exists(id)", "SET n = :n", values()).await;
    let none = none.expect_error(409, "condition_failed", "The condition doesn't hold.");
    assert_eq!(none.json["current"], Value::Null);
    table.update_if("attribute_not_exists(id)", "SET n = :n", values()).await.expect(200);
    let there = table.update_if("attribute_not_exists(id) OR n > :n", "SET n = :n", values()).await;
    let there = there.expect_error(409, "condition_failed", "The condition doesn't hold.");
    assert_eq!(there.json["current"], with(user("ada", 1), "n", json!({"N": "1"})));
    table.update_if("n <= :n AND NOT n < :n", "REMOVE n", values()).await.expect(200);
    // An operator that means nothing for an attribute isn't an error of the request.
    table.update_if("begins_with(at2, :n2)", "REMOVE n", json!({":n2": {"S": "x"}})).await.expect(409);
}

#[tokio::test]
async fn what_is_wrong_with_an_expression_is_named_with_its_place() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let one = || json!({":one": {"N": "1"}});
    for (update, values, expected) in [
        ("", json!({}), "The expression can not be empty."),
        ("SET n = = :one", one(), "At character 9: Syntax error; token: \"=\", near: \"= = :one\"."),
        ("SET name = :one", one(), "At character 5: Attribute name is a reserved keyword; reserved keyword: name."),
        (
            "SET n = :two",
            one(),
            "At character 9: An expression attribute value used in expression is not defined; attribute value: :two.",
        ),
        (
            "SET n = #two",
            json!({}),
            "At character 9: An expression attribute name used in the document path is not defined; attribute name: #two.",
        ),
        (
            "SET n = :one, n.m = :one",
            one(),
            "At character 15: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [n], path two: [n, m].",
        ),
        ("SET id = :one", one(), "Cannot update attribute id. This attribute is part of the key."),
        (
            "SET n = absent",
            json!({}),
            "The provided expression refers to an attribute that does not exist in the item: [absent].",
        ),
        ("SET m.n = :one", one(), "The document path provided in the update expression is invalid for update: [m, n]."),
        ("SET n = id + :one", one(), "An operand in the update expression has an incorrect data type: [n]."),
        (
            "SET n = :big + :big",
            json!({":big": {"N": "9E125"}}),
            "Numbers go up to 9.9999999999999999999999999999999999999E+125: [n].",
        ),
        (
            "SET n = :long + :one",
            json!({":long": {"N": "1E38"}, ":one": {"N": "1"}}),
            "Numbers have up to 38 significant digits: [n].",
        ),
    ] {
        assert_eq!(said(table.update(update, values).await, "update"), expected, "{update}");
    }
    let condition = table.update_if("n > ", "SET n = :one", one()).await;
    assert_eq!(said(condition, "condition"), "At character 5: Syntax error; token: \"<EOF>\", near: \"> \".");
    let both = table.update_if("name = :one", "ADD name :one", one()).await;
    both.expect_problems(&["update", "condition"]);
    let unused = json!({
        "key": user("ada", 1), "update": "SET n = :one", "names": {"#x": "x"}, "values": {":one": {"N": "1"}, ":y": {"S": ""}}
    });
    table.post("items/update", unused).await.expect_problems(&["names.#x", "values.:y"]);
    let wrong = json!({
        "key": {"id": {"S": "a"}, "at": {"N": "x"}}, "update": "SET n = :one", "names": {"x": "x"}, "values": {":one": {"N": "x"}}
    });
    table.post("items/update", wrong).await.expect_problems(&["key.at.N", "names.x", "values.:one.N"]);
    let key = json!({"key": {"id": {"S": "a"}}, "update": "REMOVE n"});
    table.post("items/update", key).await.expect_error(400, "invalid_key", "A key has only id and at.");
    table.post("items/update", json!({"key": user("ada", 1)})).await.expect_problems(&["update"]);
    assert_eq!(table.counts().await, (0, 0), "nothing is written");
}

#[tokio::test]
async fn expressions_have_dynamodbs_limits() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let one = || json!({":n": {"N": "1"}});
    let of_bytes = |bytes: usize| format!("REMOVE {}", "a".repeat(bytes - "REMOVE ".len()));
    table.update(&of_bytes(4_096), json!({})).await.expect(200);
    let long = said(table.update(&of_bytes(4_097), json!({})).await, "update");
    assert_eq!(long, "Expression size has exceeded the maximum allowed size; expression size: 4097.");
    let sums = |count: usize| (0..count).map(|at| format!("a{at}=:n+:n")).collect::<Vec<_>>().join(",");
    table.update(&format!("SET {}", sums(300)), one()).await.expect(200);
    let many = said(table.update(&format!("SET {}", sums(301)), one()).await, "update");
    assert!(many.ends_with("too many operators or functions; maximum: 300."), "{many}");
    let among = |count: usize| format!("a0 IN ({}) AND a0 = :n", vec![":n"; count].join(","));
    table.update_if(&among(100), "REMOVE a0", one()).await.expect(409);
    assert!(
        said(table.update_if(&among(101), "REMOVE a0", one()).await, "condition").ends_with("number of operands: 101.")
    );
    let not = |levels: usize| format!("{}a0 = :n", "NOT ".repeat(levels));
    table.update_if(&not(63), "REMOVE a0", one()).await.expect(200);
    table.update_if(&not(64), "REMOVE a0", one()).await.expect(409);
    assert!(said(table.update_if(&not(65), "REMOVE a0", one()).await, "condition").ends_with("maximum levels: 64."));
    let parentheses = "(".repeat(4_000);
    assert!(
        said(table.update_if(&parentheses, "REMOVE a0", json!({})).await, "condition").contains("nested too deeply")
    );
    let placeholder = |bytes: usize| format!(":{}", "n".repeat(bytes - 1));
    table.update(&format!("SET a0 = {}", placeholder(255)), json!({placeholder(255): {"N": "1"}})).await.expect(200);
    table.update(&format!("SET a0 = {}", placeholder(256)), json!({placeholder(256): {"N": "1"}})).await.expect(400);
}

#[tokio::test]
async fn an_item_has_four_hundred_kilobytes_after_an_update_too() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    // `id` and `ada`, `at` and a number of two bytes, `text`.
    let text = |bytes: usize| json!({":t": {"S": "x".repeat(bytes - 5 - 4 - 1)}});
    table.update("SET t = :t", text(LIMIT)).await.expect(200);
    assert_eq!(table.counts().await.1, i64::try_from(LIMIT).unwrap());
    table.update("SET t = :t", text(LIMIT + 1)).await.expect_error(413, "too_large", TOO_LARGE);
    table.update("SET n = :n", json!({":n": {"N": "1"}})).await.expect_error(413, "too_large", TOO_LARGE);
    table.update("SET u = t", json!({})).await.expect_error(413, "too_large", TOO_LARGE);
    table.update("REMOVE t", json!({})).await.expect(200);
    let entries: Vec<_> = (0..LIST_ITEMS).map(|at| json!({"S": format!("{at}{}", "x".repeat(900))})).collect();
    table.update("SET l = :l", json!({":l": {"L": entries}})).await.expect(200);
    let more = table.update("SET l = list_append(l, :l)", json!({":l": {"L": [{"S": "last"}]}})).await.expect(200);
    assert_eq!(more.list("/item/l/L").len(), LIST_ITEMS + 1);
    let twice = table.update("SET m = list_append(l, l)", json!({})).await;
    twice.expect_error(413, "too_large", TOO_LARGE);
    let nested = |levels: usize| (1..levels).fold(json!({"N": "1"}), |value, _| json!({"L": [value]}));
    let put = async |levels: usize| table.update("SET m.v = :v", json!({":v": nested(levels)})).await;
    table.update("SET m = :m", json!({":m": {"M": {}}})).await.expect(200);
    put(31).await.expect(200);
    assert_eq!(said(put(32).await, "update"), "Values can be nested up to 32 levels deep: [m, v].");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_updates_of_one_item_each_is_made_on_what_was_there() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let mut counts = join_all((0..200).map(|at| {
        let table = table.clone();
        async move {
            let values = json!({":one": {"N": "1"}, ":at": {"NS": [at.to_string()]}});
            let answer = table.update("ADD n :one, seen :at", values).await.expect(200);
            answer.json["item"]["n"]["N"].as_str().unwrap().parse::<u32>().unwrap()
        }
    }))
    .await;
    counts.sort_unstable();
    assert_eq!(counts, (1..=200).collect::<Vec<_>>(), "each has seen the one before it, and no other has");
    let item = table.get(user("ada", 1)).await.expect(200).json["item"].clone();
    assert_eq!((&item["n"], item["seen"]["NS"].as_array().unwrap().len()), (&json!({"N": "200"}), 200));
    // Of those that make the item, one does.
    let made = join_all((0..20).map(|_| async {
        let body = json!({"key": user("ben", 1), "update": "ADD n :one", "condition": "attribute_not_exists(id)", "values": {":one": {"N": "1"}}});
        table.post("items/update", body).await.status
    }));
    assert_eq!(made.await.into_iter().filter(|status| *status == 200).count(), 1);
}

#[tokio::test]
async fn a_repeated_update_counts_once() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let ask = async |key: &str| {
        let request = tables.ada.client.post(&format!("{}/items/update", table.path)).header("idempotency-key", key);
        let body = json!({"key": user("ada", 1), "update": "ADD n :one", "values": {":one": {"N": "1"}}});
        request.json(&body).send().await.expect(200)
    };
    let (first, again) = (ask("one").await, ask("one").await);
    assert_eq!((&again.json, again.header("etag")), (&first.json, first.header("etag")));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(ask("two").await.json["item"]["n"], json!({"N": "2"}));
}

#[tokio::test]
async fn items_are_updated_by_who_may() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let viewer = Table { client: tables.member("vic", "viewer").await.client, ..table.clone() };
    let message = "This needs the resources:write permission.";
    viewer.update("SET n = :n", json!({":n": {"N": "1"}})).await.expect_error(403, "missing_scope", message);
    assert_eq!(table.counts().await.0, 0);
}
