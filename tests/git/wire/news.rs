//! What people are told of pull requests that wait for them.

use serde_json::json;

use super::Workshop;
use crate::harness::{Person, Ticket};

impl Workshop {
    /// The subjects of the e-mails about pull requests that somebody got, in any order, once there are so many.
    async fn letters(&self, to: &Person, count: usize) -> Vec<String> {
        let path = format!("/kept?to={}", to.email);
        let ask = async || {
            let kept = self.repos.server.operator().get(&path).send().await.expect(200);
            let subjects = kept.list("/messages").iter().filter_map(|message| message["subject"].as_str());
            let mut found: Vec<_> = subjects.filter(|it| it.contains("(web #")).map(str::to_owned).collect();
            found.sort_unstable();
            (found.len() >= count).then_some(found)
        };
        self.repos.server.eventually(&format!("{count} e-mails"), ask).await
    }
}

#[tokio::test]
async fn people_are_told_what_waits_for_them_and_what_became_of_their_own() {
    let shop = Workshop::forked().await;
    let bob = shop.repos.member("bob", "developer").await;
    let dev = shop.repos.member("dev", "developer").await;
    let teams = format!("{}/teams", shop.repos.org);
    let team = shop.repos.ada.client.post(&teams).json(&json!({ "name": "Core" })).send().await.expect(201);
    let team = team.str("/team/teamId").to_owned();
    for member in [&dev, &shop.repos.ada] {
        let member = json!({ "userId": member.user_id });
        shop.repos.ada.client.post(&format!("{teams}/{team}/members")).json(&member).send().await.expect_success();
    }
    let mut bobs = Ticket::issue(&bob.client).await.open().await.expect("a socket");
    let mut adas = Ticket::issue(&shop.repos.ada.client).await.open().await.expect("a socket");

    shop.open("feature", "main").await.expect(201);
    let body = json!({ "people": [bob.user_id], "teams": [team] });
    shop.repos.ada.client.put(&shop.pull_at("reviewers")).json(&body).send().await.expect(200);
    let told = bobs.message_of("pull.review_asked").await;
    assert_eq!((&told["number"], &told["repository"]["name"]), (&json!(1), &json!("web")));
    let asked = "Review asked for: Add feature (web #1)";
    assert_eq!(shop.letters(&bob, 1).await, [asked]);
    assert_eq!(shop.letters(&dev, 1).await, [asked]);

    // What is only said, and what somebody did themselves, is told to nobody.
    shop.review(&bob, json!({ "verdict": "comment", "body": "Hm." })).await.expect(201);
    shop.review(&bob, json!({ "verdict": "changes", "body": "No." })).await.expect(201);
    assert_eq!(adas.message_of("pull.reviewed").await["number"], 1);
    shop.approve(&dev).await;
    let merge = json!({ "method": "merge", "head": shop.oid("feature").await });
    bob.client.post(&shop.pull_at("merge")).json(&merge).send().await.expect(200);
    assert_eq!(adas.message_of("pull.merged").await["number"], 1);
    let told =
        ["Approved: Add feature (web #1)", "Changes asked for: Add feature (web #1)", "Merged: Add feature (web #1)"];
    assert_eq!(shop.letters(&shop.repos.ada, 3).await, told);
    assert_eq!(shop.letters(&bob, 1).await, [asked]);
}
