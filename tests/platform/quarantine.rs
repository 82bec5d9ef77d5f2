//! A crash loop, as operators see it and end it.

use std::time::Duration;

use serde_json::json;

use super::organization;
use crate::harness::{Answer, Client, Server};

/// Longer than any pause between the first crashes, and short enough that six of them lie within a minute.
const BETWEEN_CRASHES: Duration = Duration::from_secs(2);

async fn create_page(client: &Client, org_id: &str) -> Answer {
    let body = json!({ "parentId": "root", "title": "A page", "kind": "doc" });
    client.post(&format!("/v1/orgs/{org_id}/pages")).json(&body).send().await
}

/// A server on which the pages of an organization crashed until they were put in quarantine; a member, and the organization.
async fn in_quarantine() -> (Server, Client, String) {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let org_id = ada.org("Acme").await;
    server.faults.set(&format!("handler:page_tree@{org_id}=panic")).expect("a rule");
    for _ in 0..6 {
        create_page(&ada, &org_id).await.expect(500);
        server.clock.advance(BETWEEN_CRASHES);
    }
    (server, ada, org_id)
}

#[tokio::test]
async fn a_crash_loop_ends_in_quarantine_which_is_shown_with_what_led_to_it() {
    let (server, ada, org_id) = in_quarantine().await;
    let refused = create_page(&ada, &org_id).await;
    assert!(refused.header("retry-after").is_some());
    refused.expect_error(503, "quarantined", "This is out of order right now; try again later.");

    let operator = server.owner();
    let path = "/v1/platform/actors/page_tree";
    let shown = operator.get(&format!("{path}/{org_id}")).send().await.expect(200);
    let actor = &shown.json["actor"];
    assert_eq!((&actor["crashes"], &actor["lastError"]), (&json!(6), &json!("an injected panic")));
    assert_eq!(actor["quarantineMs"], json!(60_000 - 2_000));
    let outcomes: Vec<_> = shown.list("/recent").iter().map(|command| command["outcome"].clone()).collect();
    assert_eq!(outcomes, vec![json!("crashed"); 6]);
    for query in ["state=quarantined", "state=crashed", "q=INJECTED", "sort=crashes&limit=1"] {
        let found = operator.get(&format!("{path}?{query}")).send().await.expect(200);
        assert_eq!((found.str("/actors/0/key"), &found.json["total"]), (org_id.as_str(), &json!(1)), "{query}");
    }
    let crashes = operator.get("/v1/platform/crashes").send().await.expect(200);
    let (last, first) = (&crashes.list("/crashes")[0], &crashes.list("/crashes")[5]);
    assert_eq!((&last["key"], &last["crashes"], &first["crashes"]), (&json!(org_id), &json!(6), &json!(1)));
    assert_eq!((&last["command"], &last["error"]), (&json!("create_page"), &json!("an injected panic")));
    assert!(last["quarantinedUntil"].is_i64() && first["quarantinedUntil"].is_null(), "{}", crashes.text);
    let kinds = operator.get("/v1/platform/actors").send().await.expect(200);
    let kind = kinds.list("/kinds").iter().find(|kind| kind["kind"] == "page_tree").expect("the kind");
    let counts = ["crashes", "quarantined", "quarantines", "refused"].map(|count| kind[count].as_u64());
    assert_eq!(counts, [6, 1, 1, 1].map(Some));
}

#[tokio::test]
async fn the_owners_are_told_of_a_quarantine() {
    let (server, _, org_id) = in_quarantine().await;
    let operator = server.owner();
    let told = server
        .eventually("an e-mail about it", async || {
            let deliveries = operator.get("/v1/platform/deliveries").send().await.expect(200);
            let of_it = |kept: &&serde_json::Value| kept.to_string().contains(&org_id);
            deliveries.list("/kept").iter().find(of_it).cloned()
        })
        .await;
    assert_eq!((&told["to"], &told["channel"]), (&json!(server.owner_email), &json!("email")));
}

#[tokio::test]
async fn only_a_release_ends_a_quarantine_early_and_it_is_written_down() {
    let (server, ada, org_id) = in_quarantine().await;
    let operator = server.owner();
    let path = format!("/v1/platform/actors/page_tree/{org_id}");
    server.faults.clear();
    let refused = operator.post(&format!("{path}/passivate")).send().await;
    refused.expect_error(409, "quarantined", "It is in quarantine; release it first.");
    operator.post(&format!("{path}/restart")).send().await.expect(200);
    create_page(&ada, &org_id).await.expect(503);
    operator.post(&format!("{path}/release")).send().await.expect(200);
    create_page(&ada, &org_id).await.expect(201);
    let shown = operator.get(&path).send().await.expect(200);
    assert_eq!((&shown.json["actor"]["crashes"], &shown.json["actor"]["quarantineMs"]), (&json!(0), &json!(null)));
    let again = operator.post(&format!("{path}/release")).send().await;
    again.expect_error(409, "not_quarantined", "It has no crashes to forget.");
    let trail = format!("{}/audit?action=actor.released", organization(&operator).await);
    let trail = operator.get(&trail).send().await.expect(200);
    assert_eq!(trail.list("/events").len(), 1, "{}", trail.text);
    assert_eq!(
        (trail.str("/events/0/target/id"), trail.str("/events/0/metadata/kind")),
        (org_id.as_str(), "page_tree")
    );
}
