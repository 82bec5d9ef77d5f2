//! The socket of a repository.

use serde_json::{Value, json};

use super::{Workshop, key};
use crate::harness::{Socket, Ticket};

/// The next messages, as many as there should be.
async fn heard(socket: &mut Socket, count: usize) -> Vec<Value> {
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        all.push(socket.raw_message().await);
    }
    all
}

#[tokio::test]
async fn whoever_watches_hears_of_pushes_pull_requests_reviews_and_checks() {
    let shop = Workshop::forked().await;
    let dev = shop.repos.member("dev", "developer").await;
    let mut socket = Ticket::issue_at(&dev.client, &shop.repos.at("web/live")).await.open().await.expect("a socket");
    assert_eq!(socket.raw_message().await, json!({ "type": "reset" }));

    shop.open("feature", "main").await.expect(201);
    assert_eq!(socket.raw_message().await, json!({ "type": "pull.changed", "number": 1, "version": 1 }));

    // A push that moves the head is told with the pull request, one that is refused isn't.
    let refused = shop.try_git("ada", &["push", "--quiet", "origin", ":main"]).await;
    assert!(!refused.is_ok);
    shop.tick();
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.commit("ada", "more", "more\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    let pushes = shop.ask("pushes").await.expect(200);
    let told = heard(&mut socket, 2).await;
    assert_eq!((&told[0]["type"], &told[0]["pushId"]), (&json!("refs.moved"), &pushes.json["pushes"][0]["pushId"]));
    assert_eq!(told[1], json!({ "type": "pull.changed", "number": 1, "version": 2 }));

    shop.review(&dev, json!({ "verdict": "approve" })).await.expect(201);
    assert_eq!(socket.raw_message().await, json!({ "type": "review.changed", "number": 1 }));

    let commit = shop.oid("feature").await;
    let path = shop.repos.at(&format!("web/commits/{commit}/statuses"));
    let status = json!({ "context": "build", "state": "success" });
    shop.repos.ada.client.post(&path).json(&status).send().await.expect(201);
    let told = socket.raw_message().await;
    assert_eq!(told, json!({ "type": "status.changed", "commitId": commit, "context": "build" }));

    shop.merge(1, "merge").await.expect(200);
    let told = heard(&mut socket, 2).await;
    assert_eq!(told[0]["type"], "refs.moved");
    assert_eq!(told[1], json!({ "type": "pull.changed", "number": 1, "version": 3 }));
}

#[tokio::test]
async fn a_socket_of_a_repository_is_for_who_has_a_part_in_it() {
    let shop = Workshop::pushed(1).await;
    let dev = shop.repos.member("dev", "developer").await;
    let live = shop.repos.at("web/live");
    let ticket = Ticket::issue_at(&dev.client, &live).await;
    let other = shop.repos.make("other", "organization").await;
    // A ticket opens what it was given for.
    let elsewhere = Ticket { url: format!("{}/{other}", ticket.url.rsplit_once('/').unwrap().0), ..ticket.clone() };
    assert_eq!(elsewhere.open().await.err(), Some(401));
    let ticket = Ticket::issue_at(&dev.client, &live).await;
    let body = json!({ "visibility": "restricted" });
    shop.repos.ada.client.patch(&shop.repos.at("web")).json(&body).send().await.expect(200);
    assert_eq!(ticket.open().await.err(), Some(404));
    dev.client.get(&live).send().await.expect_error(404, "not_found", "Repository not found");
    // A key is no person.
    let key = key(&shop.repos, &shop.repos.ada.client, &["git:read"]).await;
    let answer = shop.repos.server.client().with_token(&key).get(&live).send().await.expect(200);
    assert_eq!(answer.json, json!({ "socket": null }));
}
