//! Long lists: how much at once, and where to go on.

use serde_json::json;

use crate::harness::{Client, Server};

/// An organization with some entries in its audit list; the path of the list.
async fn audit_list(ada: &Client) -> String {
    let org_id = ada.org("Acme").await;
    for number in 0..12 {
        let body = json!({ "name": format!("Team {number}") });
        ada.post(&format!("/v1/orgs/{org_id}/teams")).json(&body).send().await.expect(201);
    }
    format!("/v1/orgs/{org_id}/audit")
}

#[tokio::test]
async fn following_the_cursor_shows_everything_once() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let path = audit_list(&ada).await;
    let whole = ada.get(&path).send().await.expect(200);
    let mut seen = Vec::new();
    let mut next = format!("{path}?limit=5");
    loop {
        let page = ada.get(&next).send().await.expect(200);
        assert!(page.list("/events").len() <= 5);
        seen.extend(page.list("/events").to_vec());
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        next = format!("{path}?limit=5&cursor={cursor}");
    }
    assert_eq!(seen, whole.list("/events"));
    assert!(seen.len() >= 13);
}

#[tokio::test]
async fn a_damaged_cursor_is_refused() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let path = audit_list(&ada).await;
    let page = ada.get(&format!("{path}?limit=5")).send().await.expect(200);
    let good = page.str("/cursor").to_owned();
    let swapped = if good.ends_with('A') { "B" } else { "A" };
    let tampered = format!("{}{swapped}", &good[..good.len() - 1]);
    for cursor in ["nonsense", "%20", "1", &good[1..], &format!("{good}A"), &tampered] {
        let answer = ada.get(&format!("{path}?limit=5&cursor={cursor}")).send().await;
        assert_eq!(
            (answer.status, answer.json["error"].as_str()),
            (400, Some("Invalid cursor")),
            "{cursor}: {}",
            answer.text
        );
    }
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let path = audit_list(&ada).await;
    ada.org("Another").await;
    let other = ada.get("/v1/orgs?limit=1").send().await.expect(200);
    let answer = ada.get(&format!("{path}?cursor={}", other.str("/cursor"))).send().await.expect(400);
    assert_eq!(answer.json["error"], "Invalid cursor");
}

#[tokio::test]
async fn a_page_has_1_to_100_entries() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let path = audit_list(&ada).await;
    for (limit, entries) in [("1", 1), ("100", 13)] {
        let page = ada.get(&format!("{path}?limit={limit}")).send().await.expect(200);
        assert_eq!(page.list("/events").len(), entries, "{limit}");
    }
    for limit in ["0", "101", "-1", "many", "1.5", "99999999999999999999"] {
        ada.get(&format!("{path}?limit={limit}")).send().await.expect_problems(&["limit"]);
    }
}
