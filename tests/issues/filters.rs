//! Saved filters.

use super::*;

#[tokio::test]
async fn a_filter_is_private_until_it_is_shared() {
    let desk = Desk::new().await;
    let path = format!("{}/filters", desk.path);
    let ann = desk.member("ann", "developer").await;
    let bob = desk.member("bob", "developer").await;
    let body = json!({ "name": " Mine ", "jql": "assignee = currentUser()" });
    let made = ann.client.post(&path).json(&body).send().await.expect(201);
    assert_eq!((made.str("/filter/name"), made.int("/filter/version")), ("Mine", 1));
    let one = format!("{path}/{}", made.str("/filter/filterId"));
    bob.client.get(&one).send().await.expect_error(404, "not_found", "Filter not found.");
    let shared = json!({ "sharing": { "org": false, "teams": [], "users": [bob.user_id] } });
    ann.client.patch(&one).json(&shared).send().await.expect(200);
    let seen = bob.client.get(&one).send().await.expect(200);
    assert_eq!(seen.json["filter"]["editable"], false);
    let refused = bob.client.patch(&one).json(&json!({ "name": "x" })).send().await;
    refused.expect_error(403, "not_owner", "Only its owner or an admin can change this filter.");
    let starred = bob.client.post(&format!("{one}/star")).json(&json!({ "starred": true })).send().await.expect(200);
    assert_eq!(starred.json["filter"]["starred"], true);
    let own = ann.client.get(&one).send().await.expect(200);
    assert_eq!(own.json["filter"]["starred"], false, "stars are everybody's own");
    assert_eq!(bob.client.get(&path).send().await.expect(200).list("/filters").len(), 1);
    let gone = ann.client.delete(&one).send().await.expect(200);
    assert_eq!(gone.str("/filterId"), made.str("/filter/filterId"));
    bob.client.get(&one).send().await.expect_error(404, "not_found", "Filter not found.");
}

#[tokio::test]
async fn filters_stand_in_queries_and_run_with_the_readers_rights() {
    let desk = Desk::new().await;
    let key = desk.issue(json!({ "summary": "One", "labels": ["x"] })).await;
    let filter = json!({ "name": "Labelled", "jql": "labels = x" });
    desk.ada.client.post(&format!("{}/filters", desk.path)).json(&filter).send().await.expect(201);
    assert_eq!(desk.found(&desk.ada, "filter = labelled").await, [key]);
    assert_eq!(desk.found(&desk.ada, "filter != Labelled").await, [""; 0]);
    let bob = desk.member("bob", "developer").await;
    desk.search_as(&bob, "filter = Labelled").await.expect(400);
}

#[tokio::test]
async fn what_a_filter_says_is_checked() {
    let desk = Desk::new().await;
    let path = format!("{}/filters", desk.path);
    for (length, status) in [(0, 400), (1, 201), (99, 201), (100, 201), (101, 400)] {
        let body = json!({ "name": "x".repeat(length), "jql": "" });
        assert_eq!(desk.ada.client.post(&path).json(&body).send().await.status, status, "{length}");
    }
    let wrong = json!({ "name": "x", "jql": "status =" });
    assert_eq!(desk.ada.client.post(&path).json(&wrong).send().await.expect(400).str("/code"), "jql");
    let unknown = json!({ "name": "x", "jql": "somewhere = elsewhere" });
    let made = desk.ada.client.post(&path).json(&unknown).send().await.expect(201);
    let stranger = json!({ "sharing": { "org": false, "teams": [], "users": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"] } });
    let one = format!("{path}/{}", made.str("/filter/filterId"));
    desk.ada.client.patch(&one).json(&stranger).send().await.expect_problems(&["sharing.users.0"]);
    let subscription = format!("{one}/subscription");
    for (hour, status) in [(-1, 400), (0, 200), (23, 200), (24, 400)] {
        let body = json!({ "subscription": { "frequency": "weekly", "hour": hour } });
        assert_eq!(desk.ada.client.put(&subscription).json(&body).send().await.status, status, "{hour}");
    }
    let set = desk.ada.client.get(&one).send().await.expect(200);
    assert_eq!(set.int("/filter/subscriptions/0/weekday"), 1);
    let none = desk.ada.client.put(&subscription).json(&json!({ "subscription": null })).send().await.expect(200);
    assert_eq!(none.json["filter"]["subscriptions"], json!([]));
}
