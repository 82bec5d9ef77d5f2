//! People are told where a text mentions them.

use super::*;

impl Desk {
    /// The titles of what a person was told of mentions, the last first.
    async fn mentions_of(&self, person: &Person) -> Vec<String> {
        let told = person.client.get("/v1/me/notifications").send().await.expect(200);
        let told = told.list("/notices").iter().filter(|notice| notice["event"] == "issue.mentioned");
        told.map(|notice| notice["title"].as_str().expect("a title").to_owned()).collect()
    }

    /// Waits until a person was told of so many mentions.
    async fn hears(&self, person: &Person, count: usize) -> Vec<String> {
        let all = async || Some(self.mentions_of(person).await).filter(|all| all.len() >= count);
        self.server.eventually("a mention", all).await
    }

    /// Waits until somebody who is mentioned behind what is to be looked at was told so.
    async fn told_until_now(&self, last: &Person) {
        let count = self.mentions_of(last).await.len();
        let body = json!({ "summary": "Last", "description": format!("<@{}>", last.user_id) });
        self.issue(body).await;
        let more = async || (self.mentions_of(last).await.len() > count).then_some(());
        self.server.eventually("the last mention", more).await;
    }
}

#[tokio::test]
async fn whoever_is_mentioned_anew_is_told_once() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let cem = desk.member("cem", "developer").await;
    let (at_bob, at_cem) = (format!("<@{}>", bob.user_id), format!("<@{}>", cem.user_id));
    let of = |title: &str| format!("You are mentioned in {title}");
    let key = desk.issue(json!({ "summary": "Fire", "description": format!("{at_bob}, {at_bob}: look") })).await;
    assert_eq!(desk.hears(&bob, 1).await, [of("WEB-1: Fire")]);
    // An edit that leaves the mention as it was tells nobody, one more mention its person alone.
    let path = format!("{}/{key}", desk.path);
    let body = json!({ "description": format!("{at_bob} and {at_cem}"), "summary": "Smoke" });
    desk.ada.client.patch(&path).json(&body).send().await.expect(200);
    assert_eq!(desk.hears(&cem, 1).await, [of("WEB-1: Smoke")]);
    desk.told_until_now(&cem).await;
    assert_eq!(desk.mentions_of(&bob).await.len(), 1);
    // So do comments, and what is mentioned in one is no matter of another.
    let body = json!({ "body": format!("{at_bob}?") });
    let comment = bob.client.post(&format!("{path}/comments")).json(&body).send().await.expect(201);
    let comment = format!("{path}/comments/{}", comment.str("/comment/commentId"));
    desk.told_until_now(&cem).await;
    assert_eq!(desk.mentions_of(&bob).await.len(), 1, "nobody is told of what they wrote themselves");
    desk.ada.client.post(&format!("{path}/comments")).json(&body).send().await.expect(201);
    let body = json!({ "body": format!("{at_bob}? {at_cem}!") });
    bob.client.patch(&comment).json(&body).send().await.expect(200);
    bob.client.patch(&comment).json(&json!({ "body": format!("{at_cem}, {at_bob}") })).send().await.expect(200);
    let told = desk.hears(&cem, 4).await;
    desk.told_until_now(&cem).await;
    assert_eq!(desk.hears(&bob, 2).await.len(), 2);
    assert_eq!(told.iter().filter(|title| **title == of("WEB-1: Smoke")).count(), 2, "{told:?}");
}

#[tokio::test]
async fn who_cannot_see_an_issue_hears_nothing_of_it() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    let cem = desk.member("cem", "developer").await;
    let eve = desk.server.person("eve").await;
    let hidden = json!({ "key": "SAFE", "name": "Safe", "template": "basic" });
    desk.ada.client.post(&format!("{}/spaces", desk.path)).json(&hidden).send().await.expect(201);
    let private = json!({ "config": { "access": { "visibility": "private" } } });
    desk.ada.client.patch(&format!("{}/spaces/SAFE", desk.path)).json(&private).send().await.expect(200);
    let all = format!("<@{}> <@{}> <@{}>", bob.user_id, eve.user_id, desk.ada.user_id);
    let key = desk.issue(json!({ "space": "SAFE", "summary": "Secret", "description": all })).await;
    let path = format!("{}/{key}/comments", desk.path);
    desk.ada.client.post(&path).json(&json!({ "body": all })).send().await.expect(201);
    desk.told_until_now(&cem).await;
    for person in [&bob, &eve, &desk.ada] {
        assert_eq!(desk.mentions_of(person).await, [""; 0]);
    }
}
