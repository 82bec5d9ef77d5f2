//! `GET /v1/orgs/:orgId/pages/:pageId/rows`

use serde_json::{Value, json};

use super::{Notes, schema};
use crate::{harness::Answer, pages::titles};

/// A database of seven rows, `a` to `g`.
async fn letters(notes: &Notes) -> String {
    let database = notes.database_of("Letters", schema()).await;
    for (title, values) in [
        ("a", json!({ "number": 3, "select": "low", "date": "2026-01-05", "multi_select": ["low", "high"] })),
        ("b", json!({ "number": 1, "select": "high", "checkbox": true })),
        ("c", json!({ "number": 2, "text": "Some words" })),
        ("d", json!({ "select": "low", "date": "2026-01-02T10:00" })),
        ("e", json!({ "number": 2, "select": "high", "multi_select": ["high"] })),
        ("f", json!({})),
        ("g", json!({ "number": -1, "url": "https://example.com" })),
    ] {
        notes.row(&database, title, values).await;
    }
    database
}

fn shown(answer: &Answer) -> String {
    titles(answer.list("/rows")).concat()
}

#[tokio::test]
async fn rows_stand_by_position_or_as_they_are_sorted_and_filtered() {
    let notes = Notes::new().await;
    let letters = letters(&notes).await;
    let filter = |property: &str, op: &str, value: Value| {
        json!([{ "property": property, "op": op, "value": value }]).to_string()
    };
    for (query, expected) in [
        (vec![], "abcdefg"),
        (vec![("sort", "number")], "gbceadf"),
        (vec![("sort", "number"), ("desc", "1")], "acebgdf"),
        (vec![("sort", "title"), ("desc", "1")], "gfedcba"),
        (vec![("sort", "select")], "adbecfg"),
        (vec![("sort", "date")], "dabcefg"),
        (vec![("filters", filter("number", "gt", json!(1)).as_str())], "ace"),
        (vec![("filters", filter("select", "is", json!("low")).as_str()), ("sort", "date")], "da"),
        (vec![("filters", filter("text", "contains", json!("WORD")).as_str())], "c"),
        (vec![("filters", filter("checkbox", "is_not", json!(true)).as_str())], "acdefg"),
        (vec![("filters", filter("url", "is_empty", json!(null)).as_str())], "abcdef"),
        (vec![("filters", filter("title", "after", json!("d")).as_str())], "efg"),
    ] {
        let answer = notes.look(&letters, &query).await.expect(200);
        assert_eq!(shown(&answer), expected, "{query:?}");
        assert_eq!(answer.int("/total"), i64::try_from(expected.len()).unwrap());
        assert_eq!(answer.json.get("groups"), None);
    }
}

#[tokio::test]
async fn pages_of_rows_follow_one_another_whatever_the_order() {
    let notes = Notes::new().await;
    let letters = letters(&notes).await;
    for (query, expected) in [
        (vec![], "abcdefg"),
        (vec![("sort", "number")], "gbceadf"),
        (vec![("sort", "number"), ("desc", "1")], "acebgdf"),
    ] {
        let mut query: Vec<_> = query.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
        query.push(("limit", "2".to_owned()));
        let mut found = String::new();
        loop {
            let pairs: Vec<_> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let answer = notes.look(&letters, &pairs).await.expect(200);
            found.push_str(&shown(&answer));
            query.retain(|(name, _)| *name != "cursor");
            match answer.json["cursor"].as_str() {
                Some(cursor) => query.push(("cursor", cursor.to_owned())),
                None => break,
            }
        }
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn a_cursor_belongs_to_its_way_of_looking() {
    let notes = Notes::new().await;
    let letters = letters(&notes).await;
    let first = notes.look(&letters, &[("limit", "2"), ("sort", "number")]).await.expect(200);
    let cursor = first.str("/cursor").to_owned();
    for query in [vec![], vec![("sort", "title")], vec![("sort", "number"), ("desc", "1")]] {
        let query: Vec<_> = query.into_iter().chain([("cursor", cursor.as_str())]).collect();
        notes.look(&letters, &query).await.expect_error(400, "invalid_cursor", "Invalid cursor");
    }
    notes.look(&letters, &[("cursor", "AAAA")]).await.expect_error(400, "invalid_cursor", "Invalid cursor");
}

#[tokio::test]
async fn rows_stand_in_groups_each_with_its_first_rows() {
    let notes = Notes::new().await;
    let letters = letters(&notes).await;
    let answer = notes.look(&letters, &[("groupBy", "select"), ("limit", "2")]).await.expect(200);
    let groups: Vec<_> = answer.list("/groups").iter().map(group).collect();
    assert_eq!(groups, ["\"low\" ad 2", "\"high\" be 2", "null cf 3"]);
    assert_eq!((answer.int("/total"), answer.list("/rows").len()), (7, 0));
    let cursor = answer.str("/groups/2/cursor");
    let query = [("groupBy", "select"), ("group", ""), ("cursor", cursor)];
    assert_eq!(shown(&notes.look(&letters, &query).await.expect(200)), "g");
    let query = [("groupBy", "multi_select"), ("group", "high")];
    assert_eq!(shown(&notes.look(&letters, &query).await.expect(200)), "ae");
    let answer = notes.look(&letters, &[("groupBy", "checkbox")]).await.expect(200);
    let groups: Vec<_> = answer.list("/groups").iter().map(group).collect();
    assert_eq!(groups, ["\"false\" acdefg 6", "\"true\" b 1"]);
}

fn group(group: &Value) -> String {
    format!("{} {} {}", group["value"], titles(group["rows"].as_array().unwrap()).concat(), group["total"])
}

#[tokio::test]
async fn a_view_says_how_to_look_and_the_query_may_say_otherwise() {
    let notes = Notes::new().await;
    let letters = letters(&notes).await;
    let views = json!([
        { "id": "high", "name": "High", "layout": "table", "sort": { "by": "number", "desc": true },
          "filters": [{ "property": "select", "op": "is", "value": "high" }] },
        { "id": "board", "name": "Board", "layout": "board", "groupBy": "select", "filters": [] },
    ]);
    notes.patch(&letters, json!({ "views": views })).await.expect(200);
    assert_eq!(shown(&notes.look(&letters, &[("view", "high")]).await.expect(200)), "eb");
    assert_eq!(shown(&notes.look(&letters, &[("view", "high"), ("desc", "0")]).await.expect(200)), "be");
    assert_eq!(shown(&notes.look(&letters, &[("view", "high"), ("filters", "[]")]).await.expect(200)), "acebgdf");
    assert_eq!(notes.look(&letters, &[("view", "board")]).await.expect(200).list("/groups").len(), 3);
    notes.look(&letters, &[("view", "gone")]).await.expect_problems(&["view"]);
}

#[tokio::test]
async fn what_a_query_gets_wrong_is_named() {
    let notes = Notes::new().await;
    let letters = letters(&notes).await;
    for (query, path) in [
        (("filters", "{"), "filters"),
        (("filters", "[{\"property\": \"text\"}]"), "filters"),
        (("filters", "[{\"property\": \"text\", \"op\": \"like\"}]"), "filters[0].op"),
        (("filters", "[{\"property\": \"number\", \"op\": \"is\", \"value\": \"x\"}]"), "filters[0].value"),
        (("desc", "yes"), "desc"),
        (("limit", "0"), "limit"),
        (("limit", "101"), "limit"),
        (("group", "low"), "group"),
    ] {
        notes.look(&letters, &[query]).await.expect_problems(&[path]);
    }
    for query in [("sort", "gone"), ("groupBy", "gone"), ("filters", "[{\"property\": \"gone\", \"op\": \"is\"}]")] {
        notes.look(&letters, &[query]).await.expect_error(400, "unknown_property", "Unknown property.");
    }
    for (limit, count) in [("1", 1), ("99", 7), ("100", 7)] {
        assert_eq!(notes.look(&letters, &[("limit", limit)]).await.expect(200).list("/rows").len(), count);
    }
    let missing = notes.look("doc_01jd7rt4m5e9fv2w8x3c6k0hqz", &[]).await;
    missing.expect_error(404, "not_found", "Page not found");
}

#[tokio::test]
async fn rows_in_the_trash_are_left_out() {
    let notes = Notes::new().await;
    let letters = letters(&notes).await;
    let rows = notes.look(&letters, &[]).await.expect(200);
    notes.patch(rows.str("/rows/1/pageId"), json!({ "archived": true })).await.expect(200);
    assert_eq!(shown(&notes.look(&letters, &[]).await.expect(200)), "acdefg");
    assert_eq!(titles(notes.get(&letters).await.expect(200).list("/rows")).concat(), "acdefg");
}

#[tokio::test]
async fn a_database_in_the_trash_shows_the_rows_that_went_there_with_it() {
    let notes = Notes::new().await;
    let letters = letters(&notes).await;
    let rows = notes.look(&letters, &[]).await.expect(200);
    notes.archive(rows.str("/rows/1/pageId")).await;
    let folder = notes.page("root", "Folder").await;
    notes.patch(&letters, json!({ "parentId": folder })).await.expect(200);
    for top in [&letters, &folder] {
        notes.archive(top).await;
        assert_eq!(titles(notes.get(&letters).await.expect(200).list("/rows")).concat(), "acdefg", "{top}");
        assert_eq!(shown(&notes.look(&letters, &[]).await.expect(200)), "acdefg", "{top}");
        notes.restore(top).await;
    }
}
