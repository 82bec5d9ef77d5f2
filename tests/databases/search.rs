//! `…/scan` and `…/query`

use serde_json::{Value, json};

use super::{Table, Tables, user, with};

const BAD_CURSOR: &str = "Invalid page cursor. Run the request again.";

/// The times of the users that were answered.
fn times(items: &[Value]) -> Vec<i64> {
    items.iter().map(|item| item["at"]["N"].as_str().unwrap().parse().unwrap()).collect()
}

/// All pages of a scan or query, each checked; the items.
async fn all_pages(table: &Table, what: &str, body: Value) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = table.post(what, with(body.clone(), "cursor", cursor)).await.expect(200);
        assert_eq!(page.json["count"], page.list("/items").len());
        assert!(page.int("/scanned") >= page.int("/count"));
        items.extend(page.list("/items").to_vec());
        cursor = page.json["cursor"].clone();
        if cursor.is_null() {
            return items;
        }
    }
}

/// Ten users of one partition, each with an address, an age and a text, and one of another.
async fn filled(tables: &Tables) -> Table {
    let table = tables.users().await;
    for at in 0..10_i64 {
        let user = with(user("ada", at), "email", json!({"S": format!("{}@x", at % 2)}));
        let user = with(user, "age", json!({"N": (10 - at).to_string()}));
        table.add(with(user, "text", json!({"S": format!("text {at}")}))).await;
    }
    table.add(user("ben", 5)).await;
    table
}

#[tokio::test]
async fn a_query_reads_one_partition_by_its_sort_keys() {
    let tables = Tables::new().await;
    let table = filled(&tables).await;
    let query = async |sort: Value, forward: bool| {
        let body = json!({"partition": {"S": "ada"}, "sort": sort, "forward": forward});
        let answer = table.post("query", body).await.expect(200);
        assert_eq!(answer.json.get("cursor"), None);
        times(answer.list("/items"))
    };
    let n = |number: i64| json!({"N": number.to_string()});
    assert_eq!(query(Value::Null, true).await, (0..10).collect::<Vec<_>>());
    assert_eq!(query(Value::Null, false).await, (0..10).rev().collect::<Vec<_>>());
    for (op, found) in
        [("=", vec![4]), ("<", vec![0, 1, 2, 3]), ("<=", vec![0, 1, 2, 3, 4]), (">", vec![5, 6, 7, 8, 9])]
    {
        assert_eq!(query(json!({"op": op, "value": n(4)}), true).await, found, "{op}");
    }
    assert_eq!(query(json!({"op": ">=", "value": n(8)}), false).await, [9, 8]);
    assert_eq!(query(json!({"op": "between", "value": n(2), "value2": n(4)}), true).await, [2, 3, 4]);
    assert_eq!(query(json!({"op": "between", "value": n(4), "value2": n(2)}), true).await, Vec::<i64>::new());
    let by_email = json!({"index": "by-email", "partition": {"S": "1@x"}});
    assert_eq!(times(&all_pages(&table, "query", by_email).await), [1, 3, 5, 7, 9]);
    let by_age = json!({"index": "by-age", "partition": {"S": "ada"}, "sort": {"op": "<=", "value": n(3)}});
    let found = table.post("query", by_age).await.expect(200);
    assert_eq!(times(found.list("/items")), [9, 8, 7]);
    // The index shows keys only.
    assert_eq!(found.json["items"][0], with(user("ada", 9), "age", n(1)));
    assert_eq!(times(&all_pages(&table, "query", json!({"partition": {"S": "nobody"}})).await), Vec::<i64>::new());
}

#[tokio::test]
async fn what_is_asked_wrongly_is_said() {
    let tables = Tables::new().await;
    let table = filled(&tables).await;
    let plain = tables.make(json!({"name": "Plain", "partitionKey": {"name": "id", "type": "S"}})).await;
    let ada = json!({"S": "ada"});
    for (table, what, body, message) in [
        (&table, "scan", json!({"index": "by-name"}), "No index named by-name."),
        (&table, "query", json!({"index": "by-name", "partition": ada}), "No index named by-name."),
        (&table, "scan", json!({"filters": [{"attribute": "a", "op": "="}]}), "A condition is missing its value."),
        (
            &table,
            "scan",
            json!({"filters": [{"attribute": "a", "op": "between", "value": ada}]}),
            "A condition is missing its value.",
        ),
        (&table, "scan", json!({"cursor": "AAAA"}), BAD_CURSOR),
        (&table, "scan", json!({"cursor": "A".repeat(8_001)}), BAD_CURSOR),
        (
            &plain,
            "query",
            json!({"partition": ada, "sort": {"op": "=", "value": ada}}),
            "This table or index has no sort key.",
        ),
        (&table, "query", json!({"partition": ada, "sort": {"op": "="}}), "The sort key condition is missing a value."),
        (
            &table,
            "query",
            json!({"partition": ada, "sort": {"op": "between", "value": {"N": "1"}}}),
            "The sort key condition is missing a value.",
        ),
        (
            &table,
            "query",
            json!({"partition": ada, "sort": {"op": "begins_with", "value": {"N": "1"}}}),
            "begins_with works on string and binary sort keys only.",
        ),
        (&table, "query", json!({"partition": {"N": "1"}}), "id must be a string."),
    ] {
        let refused = table.post(what, body).await.expect(400);
        assert_eq!(refused.json["error"], message);
    }
    let filter = json!({"attribute": "a", "op": "exists"});
    for (body, paths) in [
        (json!({"limit": 0}), &["limit"][..]),
        (json!({"limit": 101}), &["limit"]),
        (json!({"filters": vec![filter.clone(); 11]}), &["filters"]),
        // What is wrong with each of too many isn't listed.
        (json!({"filters": vec![json!({"attribute": "", "op": "like"}); 1_000]}), &["filters"]),
        (json!({"filters": [{"attribute": "", "op": "exists"}]}), &["filters[0].attribute"]),
        (json!({"filters": [{"attribute": "a\u{1}", "op": "exists"}]}), &["filters[0].attribute"]),
        (
            json!({"filters": [{"attribute": "a", "op": "like", "value": {"X": "a"}}]}),
            &["filters[0].op", "filters[0].value.X"],
        ),
        (json!({"projection": vec!["a"; 51]}), &["projection"]),
        (json!({"match": "some"}), &["match"]),
        (json!({"index": "i".repeat(256)}), &["index"]),
    ] {
        table.post("scan", body).await.expect_problems(paths);
    }
    table.post("query", json!({})).await.expect_problems(&["partition"]);
    let most = json!({"limit": 100, "filters": vec![filter; 10], "projection": vec!["a"; 50]});
    table.post("scan", most).await.expect(200);
    table.post("scan", json!({"index": "i".repeat(255)})).await.expect(400);
}

#[tokio::test]
async fn filters_keep_items_off_a_page_and_projections_cut_them() {
    let tables = Tables::new().await;
    let table = filled(&tables).await;
    let filters =
        json!([{"attribute": "age", "op": ">", "value": {"N": "6"}}, {"attribute": "email", "op": "not_exists"}]);
    let some = table.post("scan", json!({"filters": filters})).await.expect(200);
    assert_eq!((some.int("/count"), some.int("/scanned")), (0, 11));
    let any = table.post("scan", json!({"filters": filters, "match": "any", "projection": ["at", "age", "no"]})).await;
    let any = any.expect(200);
    assert_eq!((any.int("/count"), any.int("/scanned")), (5, 11));
    assert!(any.list("/items").iter().any(|item| *item == json!({"at": {"N": "5"}})));
    assert!(any.list("/items").iter().any(|item| *item == json!({"at": {"N": "0"}, "age": {"N": "10"}})));
    // `limit` counts what passes.
    let body = json!({"filters": [{"attribute": "age", "op": "exists"}], "limit": 3});
    let page = table.post("scan", body.clone()).await.expect(200);
    assert_eq!(page.int("/count"), 3);
    assert_eq!(all_pages(&table, "scan", body).await.len(), 10);
    assert_eq!(page.json["consumed"], 0.5);
}

#[tokio::test]
async fn pages_follow_one_another_until_nothing_is_left() {
    let tables = Tables::new().await;
    let table = filled(&tables).await;
    let whole = all_pages(&table, "scan", json!({"limit": 100})).await;
    assert_eq!(whole.len(), 11);
    for limit in [1, 2, 3, 10, 11, 12] {
        assert_eq!(all_pages(&table, "scan", json!({"limit": limit})).await, whole, "{limit}");
        for forward in [true, false] {
            let body = json!({"partition": {"S": "ada"}, "forward": forward, "limit": limit});
            let mut found = times(&all_pages(&table, "query", body).await);
            assert!(forward || found.first() == Some(&9));
            found.sort_unstable();
            assert_eq!(found, (0..10).collect::<Vec<_>>());
            let body = json!({"index": "by-email", "partition": {"S": "1@x"}, "forward": forward, "limit": limit});
            assert_eq!(all_pages(&table, "query", body).await.len(), 5);
        }
        assert_eq!(all_pages(&table, "scan", json!({"index": "by-email", "limit": limit})).await.len(), 10);
    }
    // A page that has all that there is needs no other.
    assert_eq!(table.post("scan", json!({"limit": 11})).await.expect(200).json.get("cursor"), None);
    assert!(table.post("scan", json!({"limit": 10})).await.expect(200).json["cursor"].is_string());
}

#[tokio::test]
async fn a_cursor_goes_on_with_what_it_came_from_only() {
    let tables = Tables::new().await;
    let table = filled(&tables).await;
    let other = tables.make(super::users("Others")).await;
    let cursor = table.post("scan", json!({"limit": 1})).await.expect(200).str("/cursor").to_owned();
    table.post("scan", json!({"limit": 100, "cursor": cursor, "projection": ["id"]})).await.expect(200);
    let refused = async |table: &Table, what: &str, body: Value| {
        table.post(what, body).await.expect_error(400, "invalid_cursor", BAD_CURSOR);
    };
    refused(&other, "scan", json!({ "cursor": cursor })).await;
    refused(&table, "scan", json!({ "cursor": cursor, "index": "by-email" })).await;
    refused(&table, "scan", json!({ "cursor": cursor, "filters": [{"attribute": "a", "op": "exists"}] })).await;
    refused(&table, "query", json!({ "cursor": cursor, "partition": {"S": "ada"} })).await;
    for place in (0..cursor.len()).step_by(7) {
        let mut bytes = cursor.clone().into_bytes();
        bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
        let damaged = String::from_utf8(bytes).unwrap();
        refused(&table, "scan", json!({ "cursor": damaged })).await;
    }
}

#[tokio::test]
async fn a_cursor_of_the_longest_keys_fits_and_knows_when_its_item_has_moved() {
    let tables = Tables::new().await;
    let long = |letter: &str, bytes: usize| json!({"S": letter.repeat(bytes)});
    let keys =
        [("pk", "S"), ("sk", "S"), ("ipk", "S"), ("isk", "S")].map(|(name, kind)| json!({"name": name, "type": kind}));
    let [pk, sk, ipk, isk] = keys;
    let index = json!({"name": "long", "partitionKey": ipk, "sortKey": isk, "kind": "global"});
    let table = tables.make(json!({"name": "Long", "partitionKey": pk, "sortKey": sk, "indexes": [index]})).await;
    let item = |letter: &str| json!({"pk": long(letter, 2_048), "sk": long(letter, 1_024), "ipk": long("i", 2_048), "isk": long(letter, 1_024)});
    for letter in ["a", "b", "c"] {
        table.add(item(letter)).await;
    }
    let body = json!({"index": "long", "partition": long("i", 2_048), "limit": 1});
    assert_eq!(all_pages(&table, "query", body.clone()).await, ["a", "b", "c"].map(item));
    let first = table.post("query", body.clone()).await.expect(200);
    assert!(first.str("/cursor").len() <= 8_000);
    table.put(json!({"item": with(item("a"), "isk", json!({"S": "z"})), "original": item("a")})).await.expect(200);
    let next = table.post("query", with(body, "cursor", first.json["cursor"].clone())).await;
    next.expect_error(400, "invalid_cursor", BAD_CURSOR);
}

#[tokio::test]
async fn a_page_ends_at_a_megabyte() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    for at in 0..5 {
        table.add(with(user("ada", at), "text", json!({"S": "x".repeat(300_000)}))).await;
    }
    let page = table.post("query", json!({"partition": {"S": "ada"}})).await.expect(200);
    assert_eq!((page.int("/count"), page.int("/scanned")), (4, 4));
    // Four items of 300,014 bytes, half a unit for each 4 KB.
    assert_eq!(page.json["consumed"], 146.5);
    let rest = table.post("query", json!({"partition": {"S": "ada"}, "cursor": page.json["cursor"]})).await.expect(200);
    assert_eq!((rest.int("/count"), rest.json.get("cursor")), (1, None));
}
