//! `PATCH /v1/orgs/:orgId/pages/:pageId`: where a page lies

use serde_json::json;

use super::{Notes, places};

#[tokio::test]
async fn a_page_moves_with_everything_below_it() {
    let notes = Notes::new().await;
    let (one, two) = (notes.page("root", "one").await, notes.page("root", "two").await);
    let below = notes.page(&one, "below").await;
    notes.page(&below, "deeper").await;
    let moved = notes.patch(&below, json!({ "parentId": two })).await.expect(200);
    assert_eq!((moved.str("/page/parentId"), moved.json["page"]["position"].as_f64()), (two.as_str(), Some(1.0)));
    let listed = notes.list().await;
    let expected = [("below", two.as_str()), ("deeper", &below), ("one", "root"), ("two", "root")];
    assert_eq!(places(&listed), expected);
    let moved = notes.patch(&below, json!({ "parentId": "root" })).await.expect(200);
    assert_eq!((moved.str("/page/parentId"), moved.json["page"]["position"].as_f64()), ("root", Some(3.0)));
}

#[tokio::test]
async fn a_page_moves_neither_into_itself_nor_below_itself() {
    let notes = Notes::new().await;
    let chain = notes.chain("root", 4).await;
    let refused = notes.patch(&chain[0], json!({ "parentId": chain[0] })).await;
    refused.expect_error(400, "into_itself", "A page can't be moved into itself.");
    for below in &chain[1..] {
        let refused = notes.patch(&chain[0], json!({ "parentId": below })).await;
        refused.expect_error(400, "into_subpage", "A page can't be moved into one of its subpages.");
    }
    notes.patch(&chain[3], json!({ "parentId": chain[0] })).await.expect(200);
}

#[tokio::test]
async fn the_target_must_be_there_and_outside_of_the_trash() {
    let notes = Notes::new().await;
    let (moved, gone) = (notes.page("root", "moved").await, notes.page("root", "gone").await);
    let below = notes.page(&gone, "below").await;
    let org = notes.ada.client.org("Other").await;
    let elsewhere = notes.ada.client.post(&format!("/v1/orgs/{org}/pages")).json(&json!({})).send().await.expect(201);
    for target in ["doc_01jd7rt4m5e9fv2w8x3c6k0hqz", "nowhere", "", &"p".repeat(64), elsewhere.str("/page/pageId")] {
        let refused = notes.patch(&moved, json!({ "parentId": target, "title": "kept back" })).await;
        refused.expect_error(400, "target_not_found", "Target page not found.");
    }
    notes.archive(&gone).await;
    for target in [&gone, &below] {
        let refused = notes.patch(&moved, json!({ "parentId": target })).await;
        refused.expect_error(400, "target_in_trash", "The target page is in the trash.");
    }
    assert_eq!(notes.get(&moved).await.expect(200).str("/page/title"), "moved");
}

#[tokio::test]
async fn what_lies_below_a_moved_page_counts_for_its_depth() {
    let notes = Notes::new().await;
    let (deep, tall) = (notes.chain("root", 17).await, notes.chain("root", 4).await);
    let refused = notes.patch(&tall[0], json!({ "parentId": deep[16] })).await;
    refused.expect_error(400, "too_deep", "Pages are nested too deeply.");
    notes.patch(&tall[0], json!({ "parentId": deep[15] })).await.expect(200);
    let refused = notes.try_make(json!({ "parentId": tall[3] })).await;
    refused.expect_error(400, "too_deep", "Pages are nested too deeply.");
}

#[tokio::test]
async fn what_is_in_the_trash_below_a_moved_page_counts_too() {
    let notes = Notes::new().await;
    let (deep, tall) = (notes.chain("root", 17).await, notes.chain("root", 4).await);
    notes.archive(&tall[2]).await;
    let refused = notes.patch(&tall[0], json!({ "parentId": deep[16] })).await;
    refused.expect_error(400, "too_deep", "Pages are nested too deeply.");
    notes.patch(&tall[0], json!({ "parentId": deep[15] })).await.expect(200);
    notes.restore(&tall[2]).await;
    assert_eq!(notes.get(&tall[2]).await.expect(200).str("/page/parentId"), tall[1]);
}

#[tokio::test]
async fn a_page_under_a_database_is_its_row_until_it_leaves() {
    let notes = Notes::new().await;
    let database = notes.database("root", "Tasks").await;
    let page = notes.page("root", "Task").await;
    assert_eq!(notes.get(&page).await.expect(200).json["page"].get("properties"), None);
    let row = notes.patch(&page, json!({ "parentId": database })).await.expect(200);
    assert_eq!(row.json["page"]["properties"], json!({}));
    let page = notes.patch(&page, json!({ "parentId": "root" })).await.expect(200);
    assert_eq!(page.json["page"].get("properties"), None);
}
