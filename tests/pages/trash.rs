//! The trash: `archived` of `PATCH`, `GET …?archived=1`, `DELETE /v1/orgs/:orgId/pages/:pageId`

use std::time::Duration;

use serde_json::json;

use super::{Notes, places, titles, trash};
use crate::harness::Coeditor;

const DAY: Duration = Duration::from_hours(24);

#[tokio::test]
async fn a_page_takes_what_lies_below_into_the_trash_and_back() {
    let notes = Notes::new().await;
    let ids = notes.chain("root", 3).await;
    let other = notes.page("root", "other").await;
    let archived = notes.patch(&ids[0], json!({ "archived": true })).await.expect(200);
    assert_eq!(archived.json["page"]["archived"], true);
    assert_eq!(archived.int("/page/archivedAt"), notes.server.clock.now().0);
    assert_eq!(titles(&notes.list().await), ["other"]);
    let expected = [("0", "root"), ("1", ids[0].as_str()), ("2", &ids[1])];
    assert_eq!(places(&trash(&notes).await), expected);
    for id in &ids {
        assert_eq!(notes.get(id).await.expect(200).json["page"]["archived"], true);
    }
    let restored = notes.patch(&ids[0], json!({ "archived": false })).await.expect(200);
    assert_eq!(restored.json["page"]["archived"], false);
    assert_eq!(restored.json["page"].get("archivedAt"), None);
    assert_eq!(trash(&notes).await, Vec::<serde_json::Value>::new());
    let expected = [("0", "root"), ("1", ids[0].as_str()), ("2", &ids[1]), ("other", "root")];
    assert_eq!(places(&notes.list().await), expected);
    notes.get(&other).await.expect(200);
}

#[tokio::test]
async fn what_was_in_the_trash_before_stays_there() {
    let notes = Notes::new().await;
    let ids = notes.chain("root", 3).await;
    notes.archive(&ids[1]).await;
    notes.archive(&ids[0]).await;
    notes.restore(&ids[0]).await;
    assert_eq!(titles(&notes.list().await), ["0"]);
    assert_eq!(titles(&trash(&notes).await), ["1", "2"]);
    notes.restore(&ids[1]).await;
    assert_eq!(notes.list().await.len(), 3);
}

#[tokio::test]
async fn a_page_whose_parent_is_in_the_trash_comes_back_at_the_root_with_what_is_below() {
    let notes = Notes::new().await;
    let ids = notes.chain("root", 3).await;
    notes.archive(&ids[0]).await;
    notes.restore(&ids[1]).await;
    assert_eq!(places(&notes.list().await), [("1", "root"), ("2", ids[1].as_str())]);
    notes.restore(&ids[0]).await;
    assert_eq!(places(&notes.list().await), [("0", "root"), ("1", "root"), ("2", ids[1].as_str())]);
}

#[tokio::test]
async fn a_restored_page_may_be_changed_and_moved_at_once() {
    let notes = Notes::new().await;
    let (id, target) = (notes.page("root", "id").await, notes.page("root", "target").await);
    notes.archive(&id).await;
    let body = json!({ "archived": false, "title": "back", "parentId": target });
    notes.patch(&id, body).await.expect(200);
    assert_eq!(places(&notes.list().await), [("back", target.as_str()), ("target", "root")]);
    let archived = notes.patch(&id, json!({ "archived": true, "title": "gone", "parentId": "root" })).await.expect(200);
    assert_eq!((archived.str("/page/title"), archived.str("/page/parentId")), ("gone", "root"));
}

#[tokio::test]
async fn a_page_in_the_trash_is_not_edited_until_it_is_restored() {
    let notes = Notes::new().await;
    let ids = notes.chain("root", 2).await;
    notes.archive(&ids[0]).await;
    let told = "This page is in the trash. Restore it to edit.";
    for body in [
        json!({ "title": "x" }),
        json!({ "icon": null }),
        json!({ "fullWidth": true }),
        json!({ "parentId": "root" }),
        json!({ "position": 7 }),
        json!({ "archived": true, "title": "x" }),
    ] {
        for id in &ids {
            notes.patch(id, body.clone()).await.expect_error(409, "in_trash", told);
        }
    }
    let again = notes.patch(&ids[1], json!({ "archived": true })).await.expect(200);
    assert_eq!(again.json["page"]["archived"], true);
    let refused = notes.try_make(json!({ "parentId": ids[1] })).await;
    refused.expect_error(400, "parent_in_trash", "The parent page is in the trash.");
    notes.restore(&ids[0]).await;
    notes.patch(&ids[1], json!({ "title": "x" })).await.expect(200);
}

#[tokio::test]
async fn only_pages_in_the_trash_are_deleted_with_everything_below() {
    let notes = Notes::new().await;
    let ids = notes.chain("root", 3).await;
    notes.page("root", "other").await;
    notes.delete(&ids[0]).await.expect_error(409, "not_in_trash", "Only pages in the trash can be deleted.");
    notes.archive(&ids[0]).await;
    let deleted = notes.delete(&ids[0]).await.expect(200);
    assert_eq!(deleted.json, json!({ "ok": true }));
    for id in &ids {
        notes.get(id).await.expect_error(404, "not_found", "Page not found");
        notes.delete(id).await.expect_error(404, "not_found", "Page not found");
    }
    assert_eq!(titles(&notes.list().await), ["other"]);
    assert_eq!(trash(&notes).await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn what_came_into_the_trash_last_stands_first() {
    let notes = Notes::new().await;
    let (one, two) = (notes.page("root", "one").await, notes.page("root", "two").await);
    notes.page(&two, "below two").await;
    for id in [&one, &two] {
        notes.server.clock.advance(Duration::from_secs(1));
        notes.archive(id).await;
    }
    assert_eq!(titles(&trash(&notes).await), ["two", "below two", "one"]);
}

#[tokio::test]
async fn after_thirty_days_in_the_trash_a_page_is_gone() {
    let notes = Notes::new().await;
    let ids = notes.chain("root", 2).await;
    let later = notes.page("root", "later").await;
    notes.archive(&ids[0]).await;
    notes.server.clock.advance(DAY);
    notes.archive(&later).await;
    notes.server.clock.advance(29 * DAY - Duration::from_millis(1));
    notes.get(&ids[1]).await.expect(200);
    notes.server.clock.advance(Duration::from_millis(1));
    let is_gone = async |id: &str| (notes.get(id).await.status == 404).then_some(());
    notes.server.eventually("the first two are gone", async || is_gone(&ids[0]).await).await;
    notes.get(&ids[1]).await.expect(404);
    notes.get(&later).await.expect(200);
    notes.server.clock.advance(DAY);
    notes.server.in_time("the third is gone", async || is_gone(&later).await).await;
}

#[tokio::test]
async fn a_restored_page_outlives_its_thirty_days() {
    let notes = Notes::new().await;
    let (restored, kept) = (notes.page("root", "restored").await, notes.page("root", "kept").await);
    notes.archive(&restored).await;
    notes.server.clock.advance(DAY);
    notes.restore(&restored).await;
    notes.archive(&kept).await;
    notes.server.clock.advance(30 * DAY);
    notes.server.in_time("the other is gone", async || (notes.get(&kept).await.status == 404).then_some(())).await;
    assert_eq!(titles(&notes.list().await), ["restored"]);
}

#[tokio::test]
async fn a_deleted_organization_takes_its_pages_along() {
    let notes = Notes::new().await;
    let id = notes.page("root", "Plans").await;
    notes.write(&id, 0, "Something").await;
    let store = notes.server.store().await;
    let org = notes.path.trim_end_matches("/pages");
    let org_id = org.rsplit('/').next().unwrap().parse().unwrap();
    let page_id = id.parse().unwrap();
    assert!(store.page(org_id, page_id).await.unwrap().is_some());
    notes.ada.client.delete(org).send().await.expect(200);
    notes.get(&id).await.expect(404);
    assert_eq!(store.page_tree(org_id).await.unwrap().revision, 0);
    let is_gone = async || {
        let is_there = store.page(org_id, page_id).await.unwrap().is_some()
            || store.page_remains_next(org_id).await.unwrap().is_some()
            || !store.page_contents(&[page_id]).await.unwrap().is_empty();
        (!is_there).then_some(())
    };
    notes.server.eventually("the pages are deleted, with all that hung on them", is_gone).await;
}

#[tokio::test]
async fn what_hangs_on_a_deleted_page_goes_after_it_whatever_happens_in_between() {
    let notes = Notes::new().await;
    let ids = notes.chain("root", 2).await;
    notes.write(&ids[1], 0, "Something").await;
    let store = notes.server.store().await;
    let below = ids[1].parse().unwrap();
    let is_there = async || !store.page_contents(&[below]).await.unwrap().is_empty();
    notes.archive(&ids[0]).await;
    notes.server.faults.set("commit:pages.removal=fail").unwrap();
    notes.ada.client.delete(&notes.at(&ids[0])).send().await.expect(200);
    notes.get(&ids[1]).await.expect(404);
    assert!(is_there().await, "the page is gone, and what it said is not deleted yet");
    notes.server.faults.clear();
    let is_deleted = async || {
        notes.server.clock.advance(Duration::from_secs(60));
        (!is_there().await).then_some(())
    };
    notes.server.eventually("what it said is deleted", is_deleted).await;
}

#[tokio::test]
async fn whoever_edits_a_page_that_goes_into_the_trash_or_for_good_is_shut_out() {
    let notes = Notes::new().await;
    let ids = notes.chain("root", 2).await;
    let org = notes.path.split('/').nth(3).unwrap();
    for id in &ids {
        let mut editor = Coeditor::new(&notes.ada.client, org, id);
        editor.connect().await;
        notes.archive(&ids[0]).await;
        assert_eq!(editor.closed().await, Some(4404), "{id}");
        notes.restore(&ids[0]).await;
    }
    notes.archive(&ids[0]).await;
    notes.delete(&ids[0]).await.expect(200);
    let store = notes.server.store().await;
    for id in &ids {
        assert!(store.page_document(id.parse().unwrap()).await.unwrap().is_none(), "{id} left its document behind");
    }
}
