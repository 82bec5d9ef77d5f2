//! Who watches an issue, and who votes for it.

use domain::issues::limits::FOLLOWERS_MAX;
use store::{Change, issues::StoredIssue};

use super::*;

impl Desk {
    /// The issue with as many people on each list as this, who are nobody in particular.
    async fn followed_by(&self, key: &str, count: usize) {
        let store = self.server.store().await;
        let org_id = self.org().rsplit('/').next().unwrap().parse().unwrap();
        let before = store.issue_named(org_id, key).await.unwrap().unwrap();
        let mut after: StoredIssue = before.clone();
        let people: Vec<_> = (0..count).map(|_| domain::id::UserId::new(self.server.clock.now())).collect();
        after.issue.watchers = people.clone();
        after.issue.voters = people;
        after.issue.version += 1;
        let mut change = Change::new();
        change.issue_set(&after, &before);
        store.commit(change).await.unwrap();
    }
}

#[tokio::test]
async fn who_votes_counts_once_and_is_found() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let cem = desk.member("cem", "developer").await;
    let (one, two) = (desk.issue(json!({ "summary": "One" })).await, desk.issue(json!({ "summary": "Two" })).await);
    let before = desk.shown(&one).await.json["issue"].clone();
    let vote = format!("{}/{one}/vote", desk.path);
    for (person, count) in [(&bob, 1), (&bob, 1), (&cem, 2)] {
        let voted = person.client.post(&vote).send().await.expect(200);
        assert_eq!(voted.list("/issue/voters").len(), count);
    }
    let after = desk.shown(&one).await.json["issue"].clone();
    assert_eq!(after["voters"], json!([bob.user_id, cem.user_id]));
    assert_eq!(after["updatedAt"], before["updatedAt"]);
    // The one that counted nothing anew wrote nothing.
    assert_eq!(after["version"].as_i64(), before["version"].as_i64().map(|version| version + 2));
    let history = desk.ada.client.get(&format!("{}/{one}/history", desk.path)).send().await.expect(200);
    assert_eq!(history.list("/changes").len(), 0, "{}", history.json);
    for (jql, keys) in [
        ("votes = 2", &[&one][..]),
        ("votes = 0", &[&two]),
        ("votes > 2", &[]),
        ("voter = cem", &[&one]),
        ("voter != cem", &[]),
        ("voter is empty", &[&two]),
        ("order by votes desc", &[&one, &two]),
        ("order by votes asc", &[&two, &one]),
    ] {
        assert_eq!(
            desk.found(&desk.ada, jql).await,
            keys.iter().map(|key| (*key).clone()).collect::<Vec<_>>(),
            "{jql}"
        );
    }
    assert_eq!(desk.found(&bob, "key in votedIssues()").await, [one.as_str()]);
    assert_eq!(desk.found(&desk.ada, "key in votedIssues()").await, [""; 0]);
    for _ in 0..2 {
        let left = bob.client.delete(&vote).send().await.expect(200);
        assert_eq!(left.list("/issue/voters").len(), 1);
    }
    assert_eq!(desk.found(&bob, "key in votedIssues()").await, [""; 0]);
}

#[tokio::test]
async fn nobody_votes_for_what_they_reported_or_what_is_resolved() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let key = desk.issue(json!({ "summary": "One" })).await;
    let vote = format!("{}/{key}/vote", desk.path);
    let own = "You can't vote for an issue that you reported.";
    desk.ada.client.post(&vote).send().await.expect_error(409, "own_issue", own);
    desk.ada.client.delete(&vote).send().await.expect(200);
    bob.client.post(&vote).send().await.expect(200);
    let path = format!("{}/{key}/transitions", desk.path);
    desk.ada.client.post(&path).json(&json!({ "to": "done" })).send().await.expect(200);
    let over = "This issue is resolved: its votes stay as they are.";
    bob.client.delete(&vote).send().await.expect_error(409, "resolved", over);
    bob.client.post(&vote).send().await.expect_error(409, "resolved", over);
    assert_eq!(desk.shown(&key).await.json["issue"]["voters"], json!([bob.user_id]));
}

#[tokio::test]
async fn people_watch_and_have_others_watch_who_can_see_it() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let eve = desk.server.person("eve").await;
    let key = desk.issue(json!({ "summary": "One" })).await;
    let path = format!("{}/{key}/watchers", desk.path);
    desk.ada.client.delete(&path).send().await.expect(200);
    assert_eq!(desk.shown(&key).await.json["issue"]["watchers"], json!([]));
    bob.client.post(&path).send().await.expect(200);
    assert_eq!(desk.found(&bob, "key in watchedIssues()").await, [key.as_str()]);
    let ada = format!("{path}/{}", desk.ada.user_id);
    let both = bob.client.post(&ada).send().await.expect(200);
    assert_eq!(both.json["issue"]["watchers"], json!([bob.user_id, desk.ada.user_id]));
    let left = bob.client.delete(&ada).send().await.expect(200);
    assert_eq!(left.json["issue"]["watchers"], json!([bob.user_id]));
    let strange = bob.client.post(&format!("{path}/{}", eve.user_id)).send().await;
    strange.expect_problems(&["userId"]);
    // Whom a private space doesn't list sees nothing of it, and is not made to watch.
    let private = json!({ "config": { "access": { "visibility": "private" } } });
    desk.ada.client.patch(&format!("{}/spaces/WEB", desk.path)).json(&private).send().await.expect(200);
    bob.client.post(&path).send().await.expect_error(404, "not_found", "Issue not found.");
    let unseen = desk.ada.client.post(&format!("{path}/{}", bob.user_id)).send().await;
    unseen.expect_problems(&["userId"]);
    // Who left can be taken off by others.
    let left = desk.ada.client.delete(&format!("{path}/{}", bob.user_id)).send().await.expect(200);
    assert_eq!(left.json["issue"]["watchers"], json!([]));
}

#[tokio::test]
async fn viewers_of_a_space_watch_and_have_nobody_else_watch() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let access =
        json!({ "visibility": "private", "members": [{ "type": "user", "id": bob.user_id, "role": "viewer" }] });
    let key = desk.issue(json!({ "summary": "One" })).await;
    let space = format!("{}/spaces/WEB", desk.path);
    desk.ada.client.patch(&space).json(&json!({ "config": { "access": access } })).send().await.expect(200);
    let path = format!("{}/{key}/watchers", desk.path);
    bob.client.post(&path).send().await.expect(200);
    bob.client.post(&format!("{}/{key}/vote", desk.path)).send().await.expect(200);
    let other = format!("{path}/{}", desk.ada.user_id);
    for answer in [bob.client.post(&other).send().await, bob.client.delete(&other).send().await] {
        assert_eq!((answer.status, answer.str("/error")), (403, "You can't edit issues in this space."));
    }
    desk.ada.client.post(&format!("{space}/archive")).send().await.expect(200);
    bob.client.delete(&path).send().await.expect_error(409, "space_archived", "This space is archived.");
}

#[tokio::test]
async fn a_thousand_people_watch_and_a_thousand_vote() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let cem = desk.member("cem", "developer").await;
    let key = desk.issue(json!({ "summary": "One" })).await;
    desk.followed_by(&key, FOLLOWERS_MAX - 1).await;
    for at in ["vote", "watchers"] {
        let path = format!("{}/{key}/{at}", desk.path);
        bob.client.post(&path).send().await.expect(200);
        let full = cem.client.post(&path).send().await;
        full.expect_error(400, "limit_reached", "At most 1000 people watch an issue, and as many vote for it.");
        bob.client.delete(&path).send().await.expect(200);
        cem.client.post(&path).send().await.expect(200);
    }
    // Whoever isn't asked whether they watch goes on without it.
    let comments = format!("{}/{key}/comments", desk.path);
    bob.client.post(&comments).json(&json!({ "body": "Late" })).send().await.expect(201);
    assert!(!desk.shown(&key).await.json["issue"]["watchers"].as_array().unwrap().contains(&json!(bob.user_id)));
    let (_, watched) = desk.bulk(&bob, &json!({ "issues": [&key], "watch": true })).await;
    let full = "At most 1000 people watch an issue, and as many vote for it.";
    assert_eq!(watched, [(key, Some(full.to_owned()))]);
}
