//! What is left of issues that are gone.

use std::time::Duration;

use domain::id::OrgId;
use store::{Purge, Store};

use super::*;

/// How many rows an organization has of issue tracking, or the trash before a moment.
async fn rows(store: &Store, purges: &[Purge]) -> u32 {
    store.purge_next(purges, 1_000).await.unwrap().rows.iter().map(|(_, count)| *count).sum()
}

async fn busy(desk: &Desk) -> String {
    let one = desk.issue(json!({ "summary": "One", "labels": ["x"], "description": "Words" })).await;
    let two = desk.issue(json!({ "summary": "Two" })).await;
    let path = format!("{}/{one}", desk.path);
    desk.ada.client.post(&format!("{path}/comments")).json(&json!({ "body": "Hello" })).send().await.expect(201);
    desk.ada
        .client
        .post(&format!("{path}/links"))
        .json(&json!({ "type": "blocks", "to": two }))
        .send()
        .await
        .expect(201);
    desk.ada.client.post(&format!("{path}/transitions")).json(&json!({ "to": "done" })).send().await.expect(200);
    let filter = json!({ "name": "All", "jql": "" });
    let made = desk.ada.client.post(&format!("{}/filters", desk.path)).json(&filter).send().await.expect(201);
    let filter = format!("{}/filters/{}", desk.path, made.str("/filter/filterId"));
    desk.ada.client.post(&format!("{filter}/star")).json(&json!({ "starred": true })).send().await.expect(200);
    let body = json!({ "space": "WEB", "format": "csv", "content": "Summary\nThree\n" });
    desk.ada.client.post(&format!("{}/import", desk.path)).json(&body).send().await.expect(200);
    one
}

#[tokio::test]
async fn a_deleted_organization_leaves_no_issue() {
    let desk = Desk::new().await;
    let store = desk.server.store().await;
    busy(&desk).await;
    let other = org(&desk.ada, "Elsewhere").await;
    let space = json!({ "key": "WEB", "name": "A space", "template": "basic" });
    desk.ada.client.post(&format!("{other}/issues/spaces")).json(&space).send().await.expect(201);
    desk.ada.client.post(&format!("{other}/issues")).json(&json!({ "summary": "Stays" })).send().await.expect(201);
    let id = |path: &str| path.rsplit('/').next().unwrap().parse::<OrgId>().unwrap();
    let (gone, stays) = (Purge::issues_of_organization(id(desk.org())), Purge::issues_of_organization(id(&other)));
    let before = rows(&store, &stays).await;
    assert!(rows(&store, &gone).await > 20 && before > 5);
    desk.ada.client.delete(desk.org()).send().await.expect_success();
    desk.server.eventually("nothing", async || (rows(&store, &gone).await == 0).then_some(())).await;
    assert_eq!(rows(&store, &stays).await, before);
    desk.ada.client.get(&format!("{other}/issues/WEB-1")).send().await.expect(200);
}

#[tokio::test]
async fn a_deleted_issue_is_gone_at_once_and_for_good_after_thirty_days() {
    let desk = Desk::new().await;
    let store = desk.server.store().await;
    let one = busy(&desk).await;
    let kept = Purge::issues_of_organization(desk.org().rsplit('/').next().unwrap().parse().unwrap());
    let before = rows(&store, &kept).await;
    desk.ada.client.delete(&format!("{}/{one}", desk.path)).send().await.expect(204);
    desk.ada.client.get(&format!("{}/{one}", desk.path)).send().await.expect_error(
        404,
        "not_found",
        "Issue not found.",
    );
    assert_eq!(desk.found(&desk.ada, "order by key").await, ["WEB-2", "WEB-3"]);
    let trash = Purge::issues_thrown_away(desk.server.clock.now().after(Duration::from_millis(1)));
    let thrown = rows(&store, &trash).await;
    assert!(thrown > 5);
    desk.server.clock.advance(Duration::from_hours(30 * 24 - 1));
    assert_eq!(rows(&store, &trash).await, thrown);
    desk.server.clock.advance(Duration::from_hours(48));
    desk.server.in_time("an empty trash", async || (rows(&store, &trash).await == 0).then_some(())).await;
    // The row of the import is as old, and goes by itself; the link was counted at either end.
    let are_left = async || (rows(&store, &kept).await == before - thrown - 2).then_some(());
    desk.server.in_time("what is left", are_left).await;
    assert_eq!(desk.found(&desk.ada, "order by key").await, ["WEB-2", "WEB-3"]);
}
