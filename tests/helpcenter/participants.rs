//! Who takes part in a request.

use super::*;

#[tokio::test]
async fn participants_read_and_answer_until_they_are_removed() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let (bob, cid) = (desk.server.person("bob").await, desk.server.person("cid").await);
    let gone = |answer: Answer| answer.expect_error(404, "not_found", "Request not found.");
    gone(bob.client.get(&path).send().await);
    let add = async |client: &Client, email: &str| {
        client.post(&format!("{path}/participants")).json(&json!({ "email": email })).send().await
    };
    assert_eq!(add(&desk.eve.client, "BOB@example.org").await.expect(201).json, json!({ "ok": true }));
    add(&desk.eve.client, &bob.email).await.expect(201);
    add(&bob.client, &cid.email).await.expect(201);
    let seen = bob.client.get(&path).send().await.expect(200);
    let wanted = json!([{ "id": bob.user_id, "name": "bob" }, { "id": cid.user_id, "name": "cid" }]);
    assert_eq!(seen.json["request"]["participants"], wanted);
    bob.client.post(&format!("{path}/comments")).json(&json!({ "body": "Me too" })).send().await.expect(201);
    let jql = json!({ "jql": "participants is not empty and channel = portal and requestType = 'Get help'" });
    let found = desk.ada.client.post(&format!("{}/issues/search", desk.org)).json(&jql).send().await.expect(200);
    assert_eq!(found.int("/total"), 1);
    let remove = async |client: &Client, who: &str| client.delete(&format!("{path}/participants/{who}")).send().await;
    let others = remove(&bob.client, &cid.user_id).await;
    others.expect_error(403, "reporter_only", "Only the person who raised the request can remove others.");
    assert_eq!(remove(&desk.eve.client, &cid.email).await.expect(200).json, json!({ "ok": true }));
    let twice = remove(&desk.eve.client, &cid.user_id).await;
    twice.expect_error(404, "not_found", "That person isn't a participant.");
    remove(&bob.client, &bob.user_id).await.expect(200);
    gone(bob.client.get(&path).send().await);
}

#[tokio::test]
async fn an_address_that_cannot_be_added_is_refused_without_a_reason() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "viewer").await;
    desk.configure(|config| config["portal"]["access"] = json!("org")).await;
    let path = desk.request(&bob.client, "Fire").await;
    let mut told = Vec::new();
    for email in ["nobody@example.org", desk.eve.email.as_str(), "no address"] {
        let body = json!({ "email": email });
        let answer =
            bob.client.post(&format!("{path}/participants")).json(&body).send().await.expect_problems(&["email"]);
        told.push(answer.json["problems"].clone());
    }
    assert!(
        told.iter().all(|it| *it == told[0]) && told[0][0]["message"] == "That address can't be added.",
        "{told:?}"
    );
    for length in [2, 321] {
        let body = json!({ "email": "x".repeat(length) });
        bob.client.post(&format!("{path}/participants")).json(&body).send().await.expect_problems(&["email"]);
    }
}

#[tokio::test]
async fn a_request_takes_fifty() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    let add = async |email: String, at: usize| {
        let add = desk.eve.client.post(&format!("{path}/participants")).json(&json!({ "email": email }));
        // One address has so many a minute.
        if at % 25 == 24 {
            desk.server.clock.advance(std::time::Duration::from_mins(1));
        }
        add.send().await
    };
    for at in 0..50 {
        let person = desk.server.person(&format!("p{at}")).await;
        add(person.email, at).await.expect(201);
    }
    let one_more = desk.server.person("p50").await;
    add(one_more.email, 50).await.expect_error(400, "limit_reached", "A request has at most 50 participants.");
}
