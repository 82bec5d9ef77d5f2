//! `PATCH /v1/orgs/:orgId/pages/:pageId`: the order of siblings

use serde_json::json;

use super::{Notes, titles};

/// Pages of these titles at the root, in this order; their ids.
async fn pages<const N: usize>(notes: &Notes, titles: [&str; N]) -> Vec<String> {
    let mut ids = Vec::new();
    for title in titles {
        ids.push(notes.page("root", title).await);
    }
    ids
}

async fn put(notes: &Notes, id: &str, position: f64) -> f64 {
    let moved = notes.patch(id, json!({ "position": position })).await.expect(200);
    moved.json["page"]["position"].as_f64().unwrap()
}

fn assert_at(position: f64, expected: f64) {
    assert!((position - expected).abs() < 1e-9, "{position} is not {expected}");
}

#[tokio::test]
async fn a_page_goes_between_two_others() {
    let notes = Notes::new().await;
    let ids = pages(&notes, ["a", "b", "c"]).await;
    assert_at(put(&notes, &ids[2], 1.5).await, 1.5);
    assert_eq!(titles(&notes.list().await), ["a", "c", "b"]);
    assert_at(put(&notes, &ids[1], 0.0).await, 0.0);
    assert_eq!(titles(&notes.list().await), ["b", "a", "c"]);
}

#[tokio::test]
async fn positions_are_numbers_from_zero_up() {
    let notes = Notes::new().await;
    let id = notes.page("root", "a").await;
    notes.patch(&id, json!({ "position": -0.5 })).await.expect_problems(&["position"]);
    notes.patch(&id, json!({ "position": 0 })).await.expect(200);
    let path = notes.at(&id);
    let infinite = notes.ada.client.patch(&path).raw(r#"{"position": 1e999}"#).send().await;
    assert_eq!(infinite.status, 400, "{}", infinite.text);
    notes.patch(&id, json!({ "position": f64::MAX })).await.expect(200);
}

#[tokio::test]
async fn of_two_at_one_position_the_one_that_came_last_goes_first() {
    let notes = Notes::new().await;
    let ids = pages(&notes, ["a", "b", "c"]).await;
    assert_at(put(&notes, &ids[2], 1.0).await, 1.0);
    assert_eq!(titles(&notes.list().await), ["c", "a", "b"]);
    let positions: Vec<_> = notes.list().await.iter().map(|page| page["position"].as_f64().unwrap()).collect();
    for (position, expected) in positions.into_iter().zip([1.0, 2.0, 3.0]) {
        assert_at(position, expected);
    }
    assert_at(put(&notes, &ids[1], 2.0).await, 2.0);
    assert_eq!(titles(&notes.list().await), ["c", "b", "a"]);
}

#[tokio::test]
async fn siblings_that_come_too_close_are_numbered_anew_and_keep_their_order() {
    let notes = Notes::new().await;
    let ids = pages(&notes, ["a", "b", "c", "d"]).await;
    let mut renumbered = false;
    for round in 0..60 {
        // Always between the first and the second, by halves.
        let listed = notes.list().await;
        let at = |place: usize| listed[place]["position"].as_f64().unwrap();
        let middle = f64::midpoint(at(0), at(1));
        let moved = ids.iter().find(|id| listed[3]["pageId"] == **id).unwrap();
        let mut expected: Vec<_> = listed.iter().map(|page| page["pageId"].clone()).collect();
        let last = expected.pop().unwrap();
        expected.insert(1, last);
        renumbered |= (put(&notes, moved, middle).await - middle).abs() > 1e-9;
        let order: Vec<_> = notes.list().await.iter().map(|page| page["pageId"].clone()).collect();
        assert_eq!(order, expected, "round {round}");
    }
    assert!(renumbered);
}

#[tokio::test]
async fn a_page_goes_behind_one_at_the_end_of_all_numbers() {
    let notes = Notes::new().await;
    let ids = pages(&notes, ["a", "b"]).await;
    put(&notes, &ids[0], f64::MAX).await;
    notes.page("root", "c").await;
    assert_eq!(titles(&notes.list().await), ["b", "a", "c"]);
    put(&notes, &ids[1], 1e9).await;
    notes.page("root", "d").await;
    notes.page("root", "e").await;
    assert_eq!(titles(&notes.list().await), ["a", "c", "b", "d", "e"]);
}

#[tokio::test]
async fn a_move_may_say_its_position_too() {
    let notes = Notes::new().await;
    let ids = pages(&notes, ["a", "b"]).await;
    notes.page(&ids[0], "x").await;
    notes.page(&ids[0], "y").await;
    let moved = notes.patch(&ids[1], json!({ "parentId": ids[0], "position": 1.5 })).await.expect(200);
    assert_at(moved.json["page"]["position"].as_f64().unwrap(), 1.5);
    let below: Vec<_> = notes.list().await.into_iter().filter(|page| page["parentId"] == *ids[0]).collect();
    assert_eq!(titles(&below), ["x", "b", "y"]);
}
